"""What a pilot identifies of a tournament: gains of effort, its cost, and the bonus.

Effort is never observed in ordinary logs, so they identify neither. A pilot that *assigns* effort
to reviews identifies both gains, and with recorded costs the bonus. One that assigns *pay* alone
identifies lower bounds, if unpaid reviewers are taken to work with low effort.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.stats.intervals import percentiles

Floats = NDArray[np.float64]

# Fewer reviewers in an arm: the bootstrap over them says little, and no interval is given.
FEWEST = 10


class PilotReview(Struct, frozen=True, kw_only=True):
    """One review of a pilot: who, with what score, and what was assigned.

    ``effort`` is "low", "high" or "" (not assigned), ``pay`` the assigned bonus or NaN, ``cost``
    what the review cost the reviewer (time at a wage, or the least pay accepted) or NaN.
    """

    reviewer: str
    score: float
    group: str = ""
    effort: str = ""
    pay: float = math.nan
    cost: float = math.nan


class Range(Struct, frozen=True):
    """An estimate with its interval; NaN or infinite ends where the data give none."""

    value: float
    low: float
    high: float


class Calibration(Struct, frozen=True, kw_only=True):
    """What a pilot says of one group, at one bar.

    ``identified``: "all" (effort and costs), "gains" (effort, no costs), "bounds" (pay alone) or
    "nothing"; ``why`` says what is missing. ``gain_low`` and ``gain_high`` are what high effort
    adds to the chance of the bonus; with "bounds", lower bounds of the first and of the gain at the
    rate of effort that the pay bought. ``bonus`` is the cost over the least gain, infinite where no
    bonus is supported.
    """

    group: str
    bar: float
    identified: str
    why: str
    n_low: int
    n_high: int
    gain_low: Range
    gain_high: Range
    least_gain: Range
    cost: Range
    bonus: Range


_UNKNOWN = Range(math.nan, math.nan, math.nan)


def calibrate(
    reviews: Sequence[PilotReview],
    bar: float,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> tuple[Calibration, ...]:
    """Return the calibration of each group, in the order of their names, at one bar.

    A tie of scores earns no bonus: the higher score must be strictly higher (equation 3). Intervals
    are percentile bootstrap over reviewers; that of a quantity made of several (the least gain, the
    bonus) contains it whenever the intervals of all its parts do, each at a higher level.
    """
    groups: dict[str, list[PilotReview]] = {}
    for review in reviews:
        groups.setdefault(review.group, []).append(review)
    rng = np.random.default_rng(seed)
    return tuple(
        _of_group(name, groups[name], bar, confidence, n_resamples, rng) for name in sorted(groups)
    )


def _of_group(
    name: str,
    reviews: Sequence[PilotReview],
    bar: float,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Calibration:
    low = [each for each in reviews if each.effort == "low"]
    high = [each for each in reviews if each.effort == "high"]
    if low and high:
        return _from_effort(name, low, high, bar, confidence, n_resamples, rng)
    unpaid = [each for each in reviews if each.pay == 0]
    paid = [each for each in reviews if each.pay > 0]
    levels = sorted({each.pay for each in paid})
    if unpaid and len(levels) == 1:
        return _from_pay(name, unpaid, paid, bar, confidence, n_resamples, rng)
    return Calibration(
        group=name, bar=bar, identified="nothing", why=_missing(low, high, unpaid, levels),
        n_low=len(low), n_high=len(high), gain_low=_UNKNOWN, gain_high=_UNKNOWN,
        least_gain=_UNKNOWN, cost=_UNKNOWN, bonus=_UNKNOWN,
    )  # fmt: skip


def _missing(
    low: Sequence[object], high: Sequence[object], unpaid: Sequence[object], levels: Sequence[float]
) -> str:
    if low or high:
        return "reviews of high effort" if low else "reviews of low effort"
    if unpaid or levels:
        return "reviews at one bonus above 0" if unpaid else "reviews without a bonus"
    return "assigned effort or pay"


class _Arms(Struct, frozen=True):
    """Sums over pairs of reviewers, each (reviewers, reviewers): wins and pairs by two arms."""

    wins: Floats
    pairs: Floats


def _pair_sums(
    mine: Sequence[PilotReview], other: Sequence[PilotReview], who: dict[str, int], bar: float
) -> _Arms:
    """Sum wins of reviews of ``mine`` over reviews of ``other`` by other reviewers."""
    n = len(who)
    wins, pairs = np.zeros((n, n)), np.zeros((n, n))
    rivals = np.array([each.score for each in other])
    owners = np.array([who[each.reviewer] for each in other])
    counts = np.bincount(owners, minlength=n).astype(np.float64)
    for review in mine:
        own = who[review.reviewer]
        pairs[own] += counts
        if review.score >= bar:
            wins[own] += np.bincount(owners[rivals < review.score], minlength=n)
    np.fill_diagonal(wins, 0.0)
    np.fill_diagonal(pairs, 0.0)
    return _Arms(wins, pairs)


def _shares(arms: _Arms, weights: Floats) -> Floats:
    """Return the share of wins for each row of reviewers' weights; NaN without a pair."""
    wins = np.einsum("bi,ij,bj->b", weights, arms.wins, weights, optimize=True)
    pairs = np.einsum("bi,ij,bj->b", weights, arms.pairs, weights, optimize=True)
    return np.asarray(np.divide(wins, pairs, out=np.full(len(wins), np.nan), where=pairs > 0))


def _weights(
    arms: Sequence[Sequence[PilotReview]], who: dict[str, int], n: int, rng: np.random.Generator
) -> Floats:
    """Return resampled weights of reviewers, the first row the sample itself.

    Reviewers who were assigned to the same arms are resampled among themselves.
    """
    seen = {name: tuple(any(e.reviewer == name for e in arm) for arm in arms) for name in who}
    weights = np.ones((n + 1, len(who)))
    for pattern in sorted(set(seen.values())):
        places = np.array([who[name] for name in who if seen[name] == pattern])
        drawn = rng.multinomial(len(places), np.full(len(places), 1 / len(places)), size=n)
        weights[1:, places] = drawn
    return weights


def _range(drawn: Floats, confidence: float, *, is_known: bool) -> Range:
    """The value of the sample (first) and the percentile interval of the rest."""
    low, high = percentiles(drawn[1:], confidence) if is_known else (math.nan, math.nan)
    return Range(float(drawn[0]), low, high)


def _from_effort(
    name: str,
    low: Sequence[PilotReview],
    high: Sequence[PilotReview],
    bar: float,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Calibration:
    who = _places([*low, *high])
    weights = _weights([low, high], who, n_resamples, rng)
    gain_low = _shares(_pair_sums(high, low, who, bar), weights) - _shares(
        _pair_sums(low, low, who, bar), weights
    )
    gain_high = _shares(_pair_sums(high, high, who, bar), weights) - _shares(
        _pair_sums(low, high, who, bar), weights
    )
    enough = min(len({e.reviewer for e in arm}) for arm in (low, high)) >= FEWEST
    costs = _cost_drawn(low, high, who, weights)
    parts = 2 if costs is None else 3
    shared = 1.0 - (1.0 - confidence) / parts
    ranges = [_range(each, shared, is_known=enough) for each in (gain_low, gain_high)]
    least = Range(*(min(getattr(r, end) for r in ranges) for end in ("value", "low", "high")))
    cost, bonus = _UNKNOWN, _UNKNOWN
    if costs is not None:
        joint = _range(costs, shared, is_known=enough)
        cost, bonus = _range(costs, confidence, is_known=enough), _bonus(joint, least)
    alone = [_range(each, confidence, is_known=enough) for each in (gain_low, gain_high)]
    why = "" if costs is not None else "costs of reviews"
    return Calibration(
        group=name, bar=bar, identified="gains" if costs is None else "all", why=why,
        n_low=len(low), n_high=len(high), gain_low=alone[0], gain_high=alone[1],
        least_gain=least, cost=cost, bonus=bonus,
    )  # fmt: skip


def _places(reviews: Sequence[PilotReview]) -> dict[str, int]:
    return {name: place for place, name in enumerate(sorted({e.reviewer for e in reviews}))}


def _cost_drawn(
    low: Sequence[PilotReview], high: Sequence[PilotReview], who: dict[str, int], weights: Floats
) -> Floats | None:
    """Return the difference of mean costs by resample; None if a review lacks its cost."""
    means = []
    for arm in (high, low):
        costs = np.array([each.cost for each in arm])
        if np.isnan(costs).any():
            return None
        owners = np.array([who[each.reviewer] for each in arm])
        sums = np.bincount(owners, weights=costs, minlength=len(who))
        counts = np.bincount(owners, minlength=len(who)).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append((weights @ sums) / (weights @ counts))
    return np.asarray(means[0] - means[1])


def _bonus(cost: Range, gain: Range) -> Range:
    """Return cost over gain: 0 for a cost not above 0, and infinite for a gain not above 0."""

    def over(amount: float, by: float) -> float:
        if math.isnan(amount) or math.isnan(by):
            return math.nan
        if amount <= 0:
            return 0.0
        return amount / by if by > 0 else math.inf

    return Range(over(cost.value, gain.value), over(cost.low, gain.high), over(cost.high, gain.low))


def _from_pay(
    name: str,
    unpaid: Sequence[PilotReview],
    paid: Sequence[PilotReview],
    bar: float,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Calibration:
    """Return lower bounds: paid reviewers are a mixture, of which an unknown share works harder."""
    who = _places([*unpaid, *paid])
    weights = _weights([unpaid, paid], who, n_resamples, rng)
    against_unpaid = _shares(_pair_sums(paid, unpaid, who, bar), weights) - _shares(
        _pair_sums(unpaid, unpaid, who, bar), weights
    )
    against_paid = _shares(_pair_sums(paid, paid, who, bar), weights) - _shares(
        _pair_sums(unpaid, paid, who, bar), weights
    )
    enough = min(len({e.reviewer for e in arm}) for arm in (unpaid, paid)) >= FEWEST
    return Calibration(
        group=name, bar=bar, identified="bounds", why="assigned effort",
        n_low=len(unpaid), n_high=len(paid),
        gain_low=_range(against_unpaid, confidence, is_known=enough),
        gain_high=_range(against_paid, confidence, is_known=enough),
        least_gain=_UNKNOWN, cost=_UNKNOWN, bonus=_UNKNOWN,
    )  # fmt: skip


def bars_around(reviews: Sequence[PilotReview], bar: float) -> tuple[float, ...]:
    """Return bars for a table of sensitivity: the stated one, and deciles of all scores."""
    scores = np.array([each.score for each in reviews])
    deciles = np.quantile(scores, np.linspace(0.1, 0.9, 9))
    return tuple(sorted({bar, *(float(each) for each in deciles)}))
