"""Ranks that say what the data cannot resolve: paired comparisons on the same items, then Holm.

The interval of a rank is [1 + those resolved better, m - those resolved worse]. Holm's step-down
(1979) over all pairs keeps the chance of any false "better" at 1 - confidence, so all rank
intervals hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special
from scipy.special import gammaincc

from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate
from proofstone.stats.estimates import BootstrapMeans, Spread
from proofstone.stats.intervals import (
    NO_SPREAD_BELOW,
    covariance_root,
    is_rare,
    normal_quantile,
    normal_two_sided_p,
    percentiles,
    share_interval,
    t_quantile,
    t_two_sided_p,
)
from proofstone.stats.multiple_comparisons import holm, over_known
from proofstone.stats.resampling import Strata, bootstrap_counts, generator, ranks_of

Floats = NDArray[np.float64]


class Comparison(Struct, frozen=True, kw_only=True):
    """``first`` minus ``second`` (columns of the values) on the same units.

    ``low`` and ``high`` bound this one difference, before any correction; ``p_holm`` is corrected
    for all pairs, and ``resolved`` says whether it is below 1 - confidence.
    """

    first: int
    second: int
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    resolved: bool


class RankInterval(Struct, frozen=True):
    """The ranks, counted from 1, that the data leave open."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """All pairs of m respondents, and the rank interval of each; ``better[a, b]``: a beats b."""

    comparisons: tuple[Comparison, ...]
    intervals: tuple[RankInterval, ...]
    better: NDArray[np.bool_]


def rank_all(spread: Spread, *, confidence: float = 0.95) -> Ranking:
    """Compares every pair by the clustered variance of its difference.

    With fewer than two effective groups nothing is resolved. m = 1 has no pair and rank 1.
    """
    _first, _second, difference, variance = spread.pairs()
    p = _two_sided(difference, variance, spread.groups)
    half = _half_widths(variance, spread.groups, confidence)
    return _ranking(len(spread.means), difference, half, p, confidence)


def _ranking(m: int, difference: Floats, half: Floats, p: Floats, confidence: float) -> Ranking:
    """The ranking by the differences of all pairs of m (as ``np.triu_indices`` has them), half the
    widths of their intervals, and p-values that Holm corrects."""
    first, second = np.triu_indices(m, 1)
    adjusted = holm(p)
    resolved = adjusted < 1.0 - confidence
    better = np.zeros((m, m), dtype=bool)
    better[first, second] = resolved & (difference > 0)
    better[second, first] = resolved & (difference < 0)
    ends = np.maximum(difference - half, -1.0), np.minimum(difference + half, 1.0)
    columns = (first, second, difference, *ends, p, adjusted, resolved)
    comparisons = tuple(
        Comparison(first=a, second=b, difference=d, low=low, high=high, p=p, p_holm=h, resolved=r)
        for a, b, d, low, high, p, h, r in zip(*(each.tolist() for each in columns), strict=True)
    )
    return Ranking(comparisons, rank_intervals(better), better)


def tied_runs(better: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """The longest runs [first, last] of neighbours in which no one beats another, two or more.

    ``better`` is in the order of the ranking. Runs may overlap: being tied is not transitive.
    """
    resolved = better | better.T
    runs: list[tuple[int, int]] = []
    end = 0
    for start in range(len(resolved)):
        # A run from here reaches at least as far as the one from the place before.
        end = max(end, start)
        while end + 1 < len(resolved) and not resolved[end + 1, start : end + 1].any():
            end += 1
        if end > start and not (runs and end <= runs[-1][1]):
            runs.append((start, end))
    return tuple(runs)


def tiers(better: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Runs [first, last] that together hold everyone: all of a tier beat all of the tiers below.

    ``better`` is in the order of the ranking. Two respondents of different tiers are told apart;
    within a tier each neighbour is tied to the others at least through a third.
    """
    m = len(better)
    clean = [cut for cut in range(1, m) if better[:cut, cut:].all()]
    ends = [0, *clean, m]
    return tuple((start, end - 1) for start, end in pairwise(ends) if end > start)


def top_group(better: NDArray[np.bool_]) -> tuple[int, ...]:
    """Those that nobody beats: with the confidence of the comparisons, the best is among them."""
    return tuple(np.flatnonzero(~better.any(axis=0)).tolist())


def _two_sided(difference: Floats, variance: Floats, groups: float) -> Floats:
    """The paired t-test; a sign test over the groups where a difference is the same everywhere."""
    if groups < 2.0:
        return np.ones_like(difference)
    alike = variance < NO_SPREAD_BELOW
    t = difference / np.sqrt(np.where(alike, 1.0, variance))
    by_sign = np.where(difference == 0.0, 1.0, min(1.0, 2.0 * 0.5**groups))
    return np.where(alike, by_sign, t_two_sided_p(t, groups - 1.0))


def _half_widths(variance: Floats, groups: float, confidence: float) -> Floats:
    if groups < 2.0:
        return np.full_like(variance, np.inf)
    return np.asarray(t_quantile(groups - 1.0, confidence) * np.sqrt(variance))


def rank_intervals(better: NDArray[np.bool_]) -> tuple[RankInterval, ...]:
    """[1 + those that beat one, m - those that it beats], for each of m."""
    beaten_by, beats = better.sum(axis=0), better.sum(axis=1)
    m = len(better)
    return tuple(
        RankInterval(1 + int(over), m - int(under))
        for over, under in zip(beaten_by, beats, strict=True)
    )


# Shares of which only the value and the number of items are known: intervals, and ranks.
#
# Nothing is known item by item, so pairs cannot be paired: each share is taken to rest on items of
# its own. Where all rest on the same items, scores of a pair mostly rise and fall together, and
# this finds fewer differences than a paired comparison would; never more, but by chance.

# What is counted: what intervals speak of, and what was taken of it.
_COUNTED: Mapping[str, tuple[str, str]] = {
    "items": ("questions like these", "each item asked once and independent of the others"),
    "entities": ("entities like these", "each entity once"),
}


def share_estimate(
    value: float, n: int, confidence: float, *, of: Literal["items", "entities"] = "items"
) -> Estimate:
    """Return a share of ``n`` independent items or entities with ``share_interval``; no interval
    where ``n`` is 0, not known."""
    population, how = _COUNTED[of]
    low, high, made_by = float("nan"), float("nan"), "none"
    if n and not np.isnan(value):
        share, size = np.array([value]), np.array([float(n)])
        low, high = (float(end[0]) for end in share_interval(share, size, confidence))
        made_by = f"{'Clopper-Pearson' if is_rare(share, size)[0] else 'Wilson'}, {how}"
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        population=population,
        made_by=made_by,
        resampled=of if n else "",
        effective_n=float(n),
    )


def stated_estimate(value: float, stderr: float, n: int, confidence: float) -> Estimate:
    """A score with the normal interval of its stated standard error, within [0, 1]; no interval
    where there is none. ``n`` is 0 where it is not known."""
    half = normal_quantile(confidence) * stderr
    is_known = not np.isnan(half)
    return Estimate(
        value=value,
        n=n,
        low=max(value - half, 0.0) if is_known else float("nan"),
        high=min(value + half, 1.0) if is_known else float("nan"),
        level=confidence,
        population=_COUNTED["items"][0],
        made_by="normal, by the standard error as stated" if is_known else "none",
        resampled="items" if is_known else "",
        effective_n=float(n),
    )


def rank_shares(
    shares: Floats,
    n: int | NDArray[np.int64],
    *,
    confidence: float,
    stderr: Floats | None = None,
) -> Ranking:
    """All pairs of m shares of ``n`` items each, one number for all or one each (m), by the normal
    test for two independent shares with their common variance, then Holm over all pairs; with
    ``stderr`` (m) by these standard errors instead. Where n is 0 nothing is resolved."""
    m = len(shares)
    first, second = np.triu_indices(m, 1)
    difference = shares[first] - shares[second]
    sizes = np.broadcast_to(np.asarray(n, dtype=np.float64), (m,))
    with np.errstate(invalid="ignore", divide="ignore"):
        if stderr is None:
            weight = sizes[first] + sizes[second]
            pooled = (shares[first] * sizes[first] + shares[second] * sizes[second]) / weight
            variance = pooled * (1 - pooled) * (1 / sizes[first] + 1 / sizes[second])
            own = shares * (1 - shares) / sizes
        else:
            own = stderr**2
            variance = own[first] + own[second]
        variance = np.where(np.isnan(variance), np.inf, variance)
        own = np.where(np.isnan(own), np.inf, own)
        z = np.where(difference == 0, 0.0, np.abs(difference) / np.sqrt(variance))
    half = normal_quantile(confidence) * np.sqrt(own[first] + own[second])
    return _ranking(m, difference, half, normal_two_sided_p(z), confidence)


def differ_significantly(estimates: Sequence[Estimate]) -> NDArray[np.bool_]:
    """Which pairs of means on different items differ (m, m), after Holm's correction over all.

    Each standard error is half the width of the estimate's interval by the normal quantile, so
    that it holds whatever made the interval. Without an interval nothing differs.
    """
    m = len(estimates)
    first, second = np.triu_indices(m, 1)
    value = np.array([each.value for each in estimates])
    error = np.array(
        [(each.high - each.low) / 2 / normal_quantile(each.level) for each in estimates]
    )
    spread = np.sqrt(error[first] ** 2 + error[second] ** 2)
    gap = np.abs(value[first] - value[second])
    z = np.where(spread > 0, gap / np.where(spread > 0, spread, 1.0), 0.0)
    p = np.where(np.isnan(z), 1.0, normal_two_sided_p(np.nan_to_num(z)))
    level = min((each.level for each in estimates), default=0.95)
    differs = np.zeros((m, m), dtype=bool)
    differs[first, second] = holm(p) < 1.0 - level
    return differs | differs.T


# How far two benchmarks put the same models in the same order: Kendall's tau-b and Spearman's rho.
#
# Each has two intervals, named apart. Over *models*: other models like these, on the same items
# (the bootstrap of models, by how often each is drawn; a model drawn twice is tied with itself,
# which counts for neither coefficient's order). Over *items*: these very models, on other items
# like these.

RankCoefficient = Literal["Kendall's tau-b", "Spearman's rho"]


_PURPOSE = 7


# With fewer models a draw of them is mostly the same one again.
FEWEST_MODELS = 5


# Below this agreement of a benchmark with itself, noise hides more than an interval makes good.
_HIDDEN = 0.9


_MOST_LOOKED_AT = 200


class RankAgreement(Struct, frozen=True, kw_only=True):
    """A rank correlation of two benchmarks over ``n_models``, in [-1, 1], with both intervals; NaN
    where one of them gives all models the same score."""

    coefficient: RankCoefficient
    models: Estimate
    items: Estimate
    n_models: int


def rank_agreement(
    first: BootstrapMeans,
    second: BootstrapMeans,
    *,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[RankAgreement, RankAgreement]:
    """Tau-b and rho of the same m models, in the same order, on two benchmarks. A model without a
    mean on one of them is left out."""
    x, y = first.means, second.means
    if len(x) != len(y):
        raise BadUsage(
            f"the two benchmarks have {len(x)} and {len(y)} models",
            hint="give both the same models, in the same order",
        )
    kept = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[kept], y[kept]
    number = min(first.drawn.shape[1], second.drawn.shape[1])
    drawn = first.drawn[kept, :number], second.drawn[kept, :number]
    counts = models_drawn(len(x), n_resamples, seed)
    once = np.ones((1, len(x)))
    found = []
    for name, of in _COEFFICIENTS:
        value = float(of(x[:, None], y[:, None], once)[0])
        over_models = of(x[:, None], y[:, None], counts)
        over_items = of(*drawn, np.ones((number, len(x))))
        found.append(
            RankAgreement(
                coefficient=name,
                models=_over_models(value, over_models, len(x), seed, confidence),
                items=_over_items(value, over_items, first, second, len(x), confidence),
                n_models=len(x),
            )
        )
    return found[0], found[1]


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's rho of two scores of the same m things, ties sharing the mean of their ranks; NaN
    where either gives all the same (Spearman 1904)."""
    return float(_rho(first[:, None], second[:, None], np.ones((1, len(first))))[0])


def models_drawn(m: int, n_resamples: int, seed: int) -> Floats:
    """How often each of m models is drawn (draws, m), with replacement."""
    rng = generator(seed, _PURPOSE)
    return np.asarray(bootstrap_counts(Strata.of(None, m), n_resamples, rng), dtype=np.float64)


def _tau(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Tau-b in each draw; x and y (m, draws or 1), counts (draws, m) of each model."""
    a, b = np.triu_indices(len(x), 1)
    pairs = (counts[:, a] * counts[:, b]).T
    sx, sy = np.sign(x[a] - x[b]), np.sign(y[a] - y[b])
    scale = np.sqrt((pairs * sx**2).sum(axis=0) * (pairs * sy**2).sum(axis=0))
    agreed = (pairs * (sx * sy)).sum(axis=0)
    return np.where(scale > 0, agreed / np.where(scale > 0, scale, 1.0), np.nan)


def _rho(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Rho in each draw: Pearson's correlation of midranks among those drawn."""
    w = counts.T
    return weighted_correlation(_midranks(x, w), _midranks(y, w), w)


def weighted_correlation(x: Floats, y: Floats, w: Floats) -> Floats:
    """Pearson's correlation of columns (m, draws) with counts ``w`` (m, draws); NaN where either
    is constant."""
    total = np.maximum(w.sum(axis=0), 1.0)
    dx = x - (w * x).sum(axis=0) / total
    dy = y - (w * y).sum(axis=0) / total
    scale = np.sqrt((w * dx**2).sum(axis=0) * (w * dy**2).sum(axis=0))
    varies = scale > 1e-15
    return np.where(varies, (w * dx * dy).sum(axis=0) / np.where(varies, scale, 1.0), np.nan)


def _midranks(values: Floats, w: Floats) -> Floats:
    """The midrank of each value among those drawn (m, draws), from the lowest."""
    ranks = np.empty(np.broadcast_shapes(values.shape, w.shape))
    for place, own in enumerate(values):
        below = (w * (values < own)).sum(axis=0)
        alike = (w * (values == own)).sum(axis=0)
        ranks[place] = below + (alike + 1.0) / 2.0
    return ranks


def _over_models(value: float, drawn: Floats, m: int, seed: int, confidence: float) -> Estimate:
    enough = m >= FEWEST_MODELS and not np.isnan(value)
    low, high = percentiles(drawn, confidence) if enough else (-1.0, 1.0)
    return Estimate(
        value=value,
        n=m,
        low=min(low, value),
        high=max(high, value),
        level=confidence,
        population="models like these, on these items",
        made_by=f"bootstrap, percentile, {len(drawn)} draws, seed {seed}" if enough else "none",
        resampled="models" if enough else "",
        effective_n=float(m),
        flags=() if enough else ("too-few-models",),
    )


def _over_items(
    value: float,
    drawn: Floats,
    first: BootstrapMeans,
    second: BootstrapMeans,
    m: int,
    confidence: float,
) -> Estimate:
    low, high = percentiles(drawn, confidence)
    # A draw is noisier than the data, so agreement falls; the mirrored interval corrects for that,
    # and both together hold what either would miss.
    low, high = min(low, 2.0 * value - high), max(high, 2.0 * value - low)
    return Estimate(
        value=value,
        n=min(first.n_units, second.n_units),
        low=max(low, -1.0),
        high=min(high, 1.0),
        level=confidence,
        population="these models, on items like these",
        made_by=first.made_by,
        resampled=first.resampled,
        effective_n=float(m),
        flags=("order-hidden",) if min(_kept_order(first), _kept_order(second)) < _HIDDEN else (),
    )


def _kept_order(benchmark: BootstrapMeans) -> float:
    """The mean tau-b of a benchmark with itself on other items; 1 where it has no order."""
    kept = ~np.isnan(benchmark.means)
    drawn = benchmark.drawn[kept, :_MOST_LOOKED_AT]
    tau = _tau(benchmark.means[kept, None], drawn, np.ones((drawn.shape[1], int(kept.sum()))))
    known = tau[~np.isnan(tau)]
    return float(known.mean()) if len(known) else 1.0


_COEFFICIENTS: tuple[tuple[RankCoefficient, Callable[[Floats, Floats, Floats], Floats]], ...] = (
    ("Kendall's tau-b", _tau),
    ("Spearman's rho", _rho),
)


# Which models stand elsewhere on a second benchmark, by more than the items' noise.
#
# A rank moves when a neighbour does, so moves are tested on scores: by how much a model's mean on
# the second benchmark misses the line that most models follow from the first. The line is Passing
# and Bablok's (1983): the median of the slopes of all pairs, so that one model that falls does not
# make the others seem to rise, and of the same slope whichever benchmark comes first, for both are
# noisy.

# With fewer models the line goes where each of them wants it.
_FEWEST = 5


class RankMove(Struct, frozen=True, kw_only=True):
    """``model`` (its place) has ``rank_first`` and ``rank_second`` among the models of both;
    ``move`` is the first less the second, above 0 where it climbs, within ``low`` and ``high`` over
    other items.

    ``shift`` is by how much its mean on the second lies above what the first lets expect;
    ``p_holm`` is corrected for all models, and ``moved`` says whether it is below 1 - confidence.
    NaN with fewer than five models, or where most are alike on one of the two.
    """

    model: int
    rank_first: int
    rank_second: int
    move: int
    low: float
    high: float
    shift: Estimate
    p: float
    p_holm: float
    moved: bool


def rank_moves(
    first: BootstrapMeans, second: BootstrapMeans, *, confidence: float = 0.95
) -> tuple[RankMove, ...]:
    """One move a model that has a mean on both benchmarks, in their order."""
    kept = np.flatnonzero(~np.isnan(first.means) & ~np.isnan(second.means))
    number = min(first.drawn.shape[1], second.drawn.shape[1])
    if not len(kept) or not number:
        return ()
    means = [each.means[kept, None] for each in (first, second)]
    drawn = [each.drawn[kept, :number] for each in (first, second)]
    ranks = [ranks_of(each)[:, 0] for each in means]
    moved = ranks_of(drawn[0]) - ranks_of(drawn[1])
    spreads = [_spread(each[:, 0]) for each in means]
    scale = spreads[1] / spreads[0] if min(spreads) > 0.0 else 0.0
    shift = _misses(means[0], means[1], scale)
    over = _misses(drawn[0], drawn[1], scale)
    errors = _deviations(over)
    p = _p(shift[:, 0], errors)
    adjusted = over_known(holm, p)
    found = []
    for place, model in enumerate(kept.tolist()):
        low, high = percentiles(moved[place].astype(np.float64), confidence)
        move = int(ranks[0][place] - ranks[1][place])
        found.append(
            RankMove(
                model=model,
                rank_first=int(ranks[0][place]),
                rank_second=int(ranks[1][place]),
                move=move,
                low=min(low, move),
                high=max(high, move),
                shift=_shift(float(shift[place, 0]), errors[place], first, second, confidence),
                p=float(p[place]),
                p_holm=float(adjusted[place]),
                moved=bool(adjusted[place] < 1.0 - confidence),
            )
        )
    return tuple(found)


def _misses(x: Floats, y: Floats, scale: float) -> Floats:
    """How far y lies above the line through the models (m, draws); NaN where there is none. Slopes
    are compared with ``scale``, the y that one x is worth."""
    m = len(x)
    if m < _FEWEST or not scale > 0.0:
        return np.full_like(y, np.nan)
    first, second = np.triu_indices(m, 1)
    dx, dy = (x[first] - x[second]) * scale, y[first] - y[second]
    vertical = np.where(dy == 0.0, np.nan, np.copysign(np.inf, dy))
    slopes = np.where(dx == 0.0, vertical, dy / np.where(dx == 0.0, 1.0, dx))
    slopes[slopes == -1.0] = np.nan
    slope = scale * _shifted_median(np.sort(slopes, axis=0))
    above = y - np.where(np.isfinite(slope), slope, np.nan) * x
    return above - np.median(above, axis=0)


def _shifted_median(slopes: Floats) -> Floats:
    """The median of each sorted column (pairs, draws; NaN last), as many places further as there
    are slopes below -1: the same line from either side."""
    number = (~np.isnan(slopes)).sum(axis=0)
    shift = (slopes < -1.0).sum(axis=0)
    last = np.maximum(number - 1, 0)
    low = np.minimum((number - 1) // 2 + shift, last)
    high = np.minimum(number // 2 + shift, last)
    ends = (np.take_along_axis(slopes, place[None, :], axis=0)[0] for place in (low, high))
    low_slope, high_slope = ends
    either = np.isinf(low_slope) | np.isinf(high_slope) | (number == 0)
    return np.where(either, np.nan, (low_slope + high_slope) / 2.0)


def _spread(means: Floats) -> float:
    """The median distance of two models; 0 where most are alike."""
    first, second = np.triu_indices(len(means), 1)
    return float(np.median(np.abs(means[first] - means[second]))) if len(first) else 0.0


def _deviations(drawn: Floats) -> Floats:
    """The standard deviation over the draws that have a value (m); NaN where most have none."""
    known = ~np.isnan(drawn)
    number = known.sum(axis=1)
    mean = np.nansum(drawn, axis=1) / np.maximum(number, 1)
    square = np.nansum((drawn - mean[:, None]) ** 2, axis=1) / np.maximum(number - 1, 1)
    return np.where(2 * number > drawn.shape[1], np.sqrt(square), np.nan)


def _p(shift: Floats, errors: Floats) -> Floats:
    varies = errors > 1e-12
    z = np.abs(shift) / np.where(varies, errors, 1.0)
    without = np.where(np.abs(shift) > 1e-9, 0.0, 1.0)
    p = np.where(varies, normal_two_sided_p(z), without)
    return np.where(np.isnan(shift) | np.isnan(errors), np.nan, p)


def _shift(
    value: float, error: float, first: BootstrapMeans, second: BootstrapMeans, confidence: float
) -> Estimate:
    half = normal_quantile(confidence) * error
    return Estimate(
        value=value,
        n=min(first.n_units, second.n_units),
        low=value - half,
        high=value + half,
        level=confidence,
        population="these models, on items like these",
        made_by=f"normal, error by {first.made_by}",
        resampled=first.resampled,
        effective_n=float(min(first.n_units, second.n_units)),
    )


# Ranks that hold together, by the largest of all paired statistics: tighter than Holm.
#
# Pairs share respondents, and respondents share items, so their statistics move together; Holm
# (`rank_all`) allows for any dependence, and pays. Here the statistic of every pair is drawn
# jointly from the estimated covariance of the means (a multivariate t on the groups' degrees of
# freedom: the Gaussian form of the multiplier bootstrap), and step-down p-values come from the
# largest of those not yet passed (Westfall and Young 1993; Romano and Wolf 2005). Confidence sets
# for all ranks from such a set of differences: Mogstad, Romano, Shaikh and Wilhelm, Review of
# Economic Studies 91 (2024), sections 3.2 and 3.3. For independent means of equal variance it is
# Tukey's range test.

_JOINT_RANKS_PURPOSE = 2


# Statistics held at once: pairs times draws of one block, in single precision.
_MOST_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class JointRanking:
    """Pairs of m respondents corrected together, and the rank interval of each.

    ``p`` (m, m) is symmetric, with ones on its diagonal; ``better[a, b]``: a beats b. ``made_by``
    is "max-t" or, where a pair differs without spread, "Holm": a normal law says nothing there.
    """

    p: Floats
    better: NDArray[np.bool_]
    intervals: tuple[RankInterval, ...]
    made_by: str
    n_resamples: int
    seed: int


def rank_jointly(
    spread: Spread, *, confidence: float = 0.95, n_resamples: int = 10_000, seed: int = 0
) -> JointRanking:
    """The simultaneous ranks of all respondents of ``spread``, at ``confidence`` for all together.

    With fewer than two effective groups nothing is resolved, of a respondent or of all. A p-value
    is at least 1 / (n_resamples + 1).
    """
    m = len(spread.means)
    first, second, difference, variance = spread.pairs()
    alike = variance < NO_SPREAD_BELOW
    own = spread.own_groups
    if (own is None and spread.groups < 2.0) or (alike & (difference != 0.0)).any():
        return _by_holm(spread, confidence, seed)
    known = ~alike
    degrees = np.full(len(first), spread.groups - 1.0)
    if own is not None:
        degrees = np.minimum(own[first], own[second]) - 1.0
        known &= degrees >= 1.0
    adjusted = np.ones(len(first))
    if known.any():
        statistic = np.abs(difference[known]) / np.sqrt(variance[known])
        common = spread.groups - 1.0
        if own is not None:
            statistic, common = _as_normal(statistic, degrees[known]), np.inf
        pairs = (first[known], second[known])
        rng = generator(seed, _JOINT_RANKS_PURPOSE)
        adjusted[known] = _stepped_down(
            statistic, pairs, spread.covariance(), common, n_resamples, rng
        )
    p = np.ones((m, m))
    p[first, second] = p[second, first] = adjusted
    better = (p < 1.0 - confidence) & (spread.means[:, None] > spread.means[None, :])
    return JointRanking(p, better, rank_intervals(better), "max-t", n_resamples, seed)


def _by_holm(spread: Spread, confidence: float, seed: int) -> JointRanking:
    ranking = rank_all(spread, confidence=confidence)
    p = np.ones((len(spread.means), len(spread.means)))
    for pair in ranking.comparisons:
        p[pair.first, pair.second] = p[pair.second, pair.first] = pair.p_holm
    return JointRanking(p, ranking.better, ranking.intervals, "Holm", 0, seed)


def _stepped_down(
    statistic: Floats,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    covariance: Floats,
    degrees: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """The p-value of each pair: how often the largest drawn statistic among it and all smaller
    ones reaches its own; never below that of a larger one."""
    order = np.argsort(statistic, kind="stable")
    first, second = pairs[0][order], pairs[1][order]
    root = covariance_root(covariance)
    scale = np.sqrt(((root[first] - root[second]) ** 2).sum(axis=1))
    scale = np.where(scale > 0.0, scale, 1.0)
    ascending = statistic[order].astype(np.float32)
    reached = np.zeros(len(order), dtype=np.int64)
    block = max(1, _MOST_AT_ONCE // len(order))
    for start in range(0, n_resamples, block):
        number = min(block, n_resamples - start)
        drawn = _drawn(root, degrees, number, rng)
        tied = np.abs((drawn[first] - drawn[second]) / scale[:, None]).astype(np.float32)
        largest = np.maximum.accumulate(tied, axis=0)
        reached += (largest >= ascending[:, None]).sum(axis=1)
    p = (reached + 1.0) / (n_resamples + 1.0)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[::-1])[::-1]
    return adjusted


def _as_normal(statistic: Floats, degrees: Floats) -> Floats:
    """The normal deviates that are as unlikely as t statistics on their own degrees."""
    return np.asarray(-special.ndtri(t_two_sided_p(statistic, degrees) / 2.0))


def _drawn(root: Floats, degrees: float, number: int, rng: np.random.Generator) -> Floats:
    """Means under equal skill (m, number), each draw over one draw of their common scale; infinite
    degrees leave that as it is."""
    normal = np.asarray(root @ rng.standard_normal((root.shape[1], number)))
    if np.isinf(degrees):
        return normal
    return np.asarray(normal / np.sqrt(rng.chisquare(degrees, number) / degrees))


# How far two orders agree, and whether groups differ by more than chance.


def tau_b(first: Floats, second: Floats) -> float:
    """Kendall's tau-b of two scores of the same m things, in [-1, 1]; ties count for neither.

    NaN where either gives all things the same score, or there are fewer than two (Kendall 1945).
    """
    return float(_tau(first[:, None], second[:, None], np.ones((1, len(first))))[0])


class Homogeneity(Struct, frozen=True, kw_only=True):
    """A test that groups have one mean: its statistic, degrees of freedom and p-value."""

    chi_square: float
    df: int
    p: float


def homogeneity(values: Floats, groups: NDArray[np.int32]) -> Homogeneity:
    """Whether the mean of ``values`` (n, no NaN) is the same in all ``groups`` (n codes).

    Pearson's chi-square for values of 0 and 1 (k groups by right or wrong); for shares the same
    with their own variance. Units count as independent. NaN with fewer than two groups, or where
    all values are alike.
    """
    codes, place = np.unique(groups, return_inverse=True)
    df = len(codes) - 1
    variance = float(values.var()) if len(values) else 0.0
    if df < 1 or variance == 0.0:
        return Homogeneity(chi_square=float("nan"), df=max(df, 0), p=float("nan"))
    sizes = np.bincount(place)
    means = np.bincount(place, weights=values) / sizes
    statistic = float((sizes * (means - values.mean()) ** 2).sum() / variance)
    return Homogeneity(chi_square=statistic, df=df, p=float(gammaincc(df / 2, statistic / 2)))
