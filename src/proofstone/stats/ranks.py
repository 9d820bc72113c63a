"""Rank intervals from paired comparisons on the same items, Holm-adjusted.

The interval of a rank is [1 + those significantly better, m - those significantly worse]. Holm's
step-down (1979) over all pairs keeps the family-wise error rate at 1 - confidence, so all rank
intervals hold jointly.
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
    unknown,
)
from proofstone.stats.multiple_comparisons import holm, over_known
from proofstone.stats.resampling import Strata, bootstrap_counts, generator, ranks_of

Floats = NDArray[np.float64]


class Comparison(Struct, frozen=True, kw_only=True):
    """``first`` minus ``second`` (columns of the values) on the same units.

    ``low`` and ``high`` are the unadjusted interval of this difference. ``p_holm`` is Holm-adjusted
    for all pairs; ``resolved`` is True if it is below 1 - confidence.
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
    """Rank range, from 1: the ranks compatible with all comparisons."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """All pairs of m models, and the rank interval of each; ``better[a, b]``: a is significantly
    better.
    """

    comparisons: tuple[Comparison, ...]
    intervals: tuple[RankInterval, ...]
    better: NDArray[np.bool_]


def rank_all(spread: Spread, *, confidence: float = 0.95) -> Ranking:
    """Compare every pair by the clustered variance of its difference.

    With fewer than two effective groups no pair is significant. m = 1 has no pair and rank 1.
    """
    _first, _second, difference, variance = spread.pairs()
    p = _two_sided(difference, variance, spread.groups)
    half = _half_widths(variance, spread.groups, confidence)
    return _ranking(len(spread.means), difference, half, p, confidence)


def _ranking(m: int, difference: Floats, half: Floats, p: Floats, confidence: float) -> Ranking:
    """Return the ranking from the pairwise differences of m models (in ``np.triu_indices`` order).

    ``half`` holds the half-widths of their intervals; p-values are Holm-adjusted here.
    """
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
    """Return the longest runs [first, last] of neighbors without a significant difference.

    Runs have two or more members. ``better`` is in ranking order. Runs may overlap: not being
    significantly different is not transitive.
    """
    resolved = better | better.T
    runs: list[tuple[int, int]] = []
    end = 0
    for start in range(len(resolved)):
        # A run from here reaches at least as far as the one from the previous position.
        end = max(end, start)
        while end + 1 < len(resolved) and not resolved[end + 1, start : end + 1].any():
            end += 1
        if end > start and not (runs and end <= runs[-1][1]):
            runs.append((start, end))
    return tuple(runs)


def tiers(better: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return runs [first, last] that partition all models so that each tier beats all lower tiers.

    ``better`` is in ranking order. Two models of different tiers are significantly different;
    within a tier neighbors are connected by ties, possibly through a third model.
    """
    m = len(better)
    clean = [cut for cut in range(1, m) if better[:cut, cut:].all()]
    ends = [0, *clean, m]
    return tuple((start, end - 1) for start, end in pairwise(ends) if end > start)


def top_group(better: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the models that no other beats; at the comparisons' confidence, the best is among
    them.
    """
    return tuple(np.flatnonzero(~better.any(axis=0)).tolist())


def _two_sided(difference: Floats, variance: Floats, groups: float) -> Floats:
    """Return paired t-test p-values; a sign test over the groups where a difference is constant."""
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
    """Return [1 + those that beat it, m - those that it beats] for each of m."""
    beaten_by, beats = better.sum(axis=0), better.sum(axis=1)
    m = len(better)
    return tuple(
        RankInterval(1 + int(over), m - int(under))
        for over, under in zip(beaten_by, beats, strict=True)
    )


# Shares with only a value and a number of items: intervals and ranks.
#
# Nothing is known per item, so comparisons are unpaired, as if each share had its own items. Where
# all use the same items, scores of a pair are mostly positively correlated. Then an unpaired test
# has less power than a paired one.

# The counted unit: target population and resampled unit of the intervals.
_COUNTED: Mapping[str, tuple[str, str]] = {
    "items": ("questions like these", "each item asked once, independent of the others"),
    "entities": ("entities like these", "each entity once"),
}


def share_estimate(
    value: float, n: int, confidence: float, *, of: Literal["items", "entities"] = "items"
) -> Estimate:
    """Return the estimate of a share of ``n`` independent items or entities by ``share_interval``.

    No interval if ``n`` is 0 (unknown).
    """
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
    """Return a score with the normal interval of its stated standard error, within [0, 1].

    No interval without a standard error. ``n`` is 0 if unknown.
    """
    half = normal_quantile(confidence) * stderr
    is_known = not np.isnan(half)
    return Estimate(
        value=value,
        n=n,
        low=max(value - half, 0.0) if is_known else float("nan"),
        high=min(value + half, 1.0) if is_known else float("nan"),
        level=confidence,
        population=_COUNTED["items"][0],
        made_by="normal, from the stated standard error" if is_known else "none",
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
    """Return all pairs of m shares of ``n`` items each (one number, or one per share),
    Holm-adjusted.

    The test is the normal test for two independent shares with their pooled variance, or with
    standard errors ``stderr`` (m) if given. Pairs with n = 0 are never significant.
    """
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
    """Return which pairs of means on different items differ significantly (m, m), Holm-adjusted.

    Each standard error is the interval's half-width divided by the normal quantile, whatever method
    made the interval. Without an interval nothing is significant.
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


# Rank correlation of two benchmarks on the same models: Kendall's tau-b and Spearman's rho.
#
# Each has two intervals. Over *models*: other models like these, on the same items (bootstrap of
# models; a model sampled twice is tied with itself, which counts for neither coefficient). Over
# *items*: these models, on other items like these.

RankCoefficient = Literal["Kendall's tau-b", "Spearman's rho"]


_PURPOSE = 7


# With fewer models, most resamples repeat the same ones.
FEWEST_MODELS = 5


# Below this self-agreement of a benchmark, sampling error dominates and an interval is misleading.
_HIDDEN = 0.9


_MOST_LOOKED_AT = 200


class RankAgreement(Struct, frozen=True, kw_only=True):
    """Rank correlation of two benchmarks over ``n_models``, in [-1, 1], with both intervals.

    NaN where one of them gives all models the same score.
    """

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
    """Return tau-b and rho of the same m models, in the same order, on two benchmarks.

    Models without a mean on one of them are left out.
    """
    x, y = first.means, second.means
    if len(x) != len(y):
        raise BadUsage(
            f"expected the same models on both benchmarks, got {len(x)} and {len(y)}",
            hint="pass the same models in the same order",
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
    """Return Spearman's rho of two scores of the same m things, ties with midranks.

    NaN where either is constant (Spearman 1904).
    """
    return float(_rho(first[:, None], second[:, None], np.ones((1, len(first))))[0])


def models_drawn(m: int, n_resamples: int, seed: int) -> Floats:
    """Return how often each of m models is sampled with replacement (resamples, m)."""
    rng = generator(seed, _PURPOSE)
    return np.asarray(bootstrap_counts(Strata.of(None, m), n_resamples, rng), dtype=np.float64)


def _tau(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Return tau-b in each resample; x and y (m, resamples or 1), counts (resamples, m) of each
    model.
    """
    a, b = np.triu_indices(len(x), 1)
    pairs = (counts[:, a] * counts[:, b]).T
    sx, sy = np.sign(x[a] - x[b]), np.sign(y[a] - y[b])
    scale = np.sqrt((pairs * sx**2).sum(axis=0) * (pairs * sy**2).sum(axis=0))
    agreed = (pairs * (sx * sy)).sum(axis=0)
    return np.where(scale > 0, agreed / np.where(scale > 0, scale, 1.0), np.nan)


def _rho(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Return rho in each resample: Pearson's correlation of midranks among those sampled."""
    w = counts.T
    return weighted_correlation(_midranks(x, w), _midranks(y, w), w)


def weighted_correlation(x: Floats, y: Floats, w: Floats) -> Floats:
    """Return Pearson's correlation of columns (m, resamples) with counts ``w`` (m, resamples).

    NaN where either is constant.
    """
    total = np.maximum(w.sum(axis=0), 1.0)
    dx = x - (w * x).sum(axis=0) / total
    dy = y - (w * y).sum(axis=0) / total
    scale = np.sqrt((w * dx**2).sum(axis=0) * (w * dy**2).sum(axis=0))
    varies = scale > 1e-15
    return np.where(varies, (w * dx * dy).sum(axis=0) / np.where(varies, scale, 1.0), np.nan)


def _midranks(values: Floats, w: Floats) -> Floats:
    """Return the midrank of each value among those sampled (m, resamples), from the lowest."""
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
        made_by=f"bootstrap, percentile, {len(drawn)} resamples, seed {seed}" if enough else "none",
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
    # Resampling adds noise, so agreement falls; the reflected interval corrects for that, and the
    # union of both is conservative.
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
    """Return the mean tau-b of a benchmark with itself on resampled items; 1 where it has no
    order.
    """
    kept = ~np.isnan(benchmark.means)
    drawn = benchmark.drawn[kept, :_MOST_LOOKED_AT]
    tau = _tau(benchmark.means[kept, None], drawn, np.ones((drawn.shape[1], int(kept.sum()))))
    known = tau[~np.isnan(tau)]
    return float(known.mean()) if len(known) else 1.0


_COEFFICIENTS: tuple[tuple[RankCoefficient, Callable[[Floats, Floats, Floats], Floats]], ...] = (
    ("Kendall's tau-b", _tau),
    ("Spearman's rho", _rho),
)


# Which models move on a second benchmark by more than sampling error of the items?
#
# A rank changes when a neighbor's does, so moves are tested on scores: the distance of a model's
# mean on the second benchmark from the line that most models follow. The line is Passing and
# Bablok's (1983), the median of the slopes of all pairs. So one model that falls does not make the
# others seem to rise, and the slope does not depend on the order of the benchmarks, as both have
# errors.

# With fewer models each of them has too much influence on the line.
_FEWEST = 5


class RankMove(Struct, frozen=True, kw_only=True):
    """Move of ``model`` (index) between ``rank_first`` and ``rank_second`` among the common models.

    ``move`` is the first rank less the second, above 0 where it climbs, with the interval ``low``
    to ``high`` over other items. ``shift`` is its mean on the second benchmark less the prediction
    from the first. ``p_holm`` is adjusted for all models; ``moved`` is True if it is below 1 -
    confidence. NaN with fewer than five models, or where most are equal on one of the two.
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
    """Return one move per model that has a mean on both benchmarks, in their order."""
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
    """Return the residual of y from the line through the models (m, resamples); NaN without a line.

    Slopes are compared with ``scale``, the y per x.
    """
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
    """Return the median of each sorted column (pairs, resamples; NaN last), shifted by the slopes
    below -1.

    The shift makes the line the same from either side.
    """
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
    """Return the median distance of two models; 0 where most are equal."""
    first, second = np.triu_indices(len(means), 1)
    return float(np.median(np.abs(means[first] - means[second]))) if len(first) else 0.0


def _deviations(drawn: Floats) -> Floats:
    """Return the standard deviation over resamples that have a value (m); NaN where most have
    none.
    """
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


# Simultaneous rank intervals by the maximum of all paired statistics; tighter than Holm.
#
# Pairs share models, and models share items, so their statistics are correlated; Holm (`rank_all`)
# allows for any dependence and is conservative. Here the statistics of all pairs are sampled
# jointly from the estimated covariance of the means (a multivariate t on the groups' degrees of
# freedom: the Gaussian form of the multiplier bootstrap). Step-down p-values come from the largest
# of those not yet rejected (Westfall and Young 1993; Romano and Wolf 2005). Confidence sets for all
# ranks from such a set of differences: Mogstad, Romano, Shaikh and Wilhelm, Review of Economic
# Studies 91 (2024), sections 3.2 and 3.3. For independent means of equal variance it is Tukey's
# range test.

_JOINT_RANKS_PURPOSE = 2


# Bounds memory: pairs times samples of one block, in single precision.
_MOST_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class JointRanking:
    """Jointly adjusted pairs of m models, and the rank interval of each.

    ``p`` (m, m) is symmetric, with ones on its diagonal; ``better[a, b]``: a is significantly
    better. ``made_by`` is "max-t", or "Holm" where a pair has a constant difference, for which the
    normal approximation fails.
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
    """Return the simultaneous ranks of all models of ``spread``, at joint ``confidence``.

    With fewer than two effective groups, of one model or of all, nothing is significant. A p-value
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
    """Return the step-down p-value of each pair.

    It is how often the largest sampled statistic among the pair and all smaller ones reaches its
    own, and is never below that of a larger one.
    """
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
    """Return the normal deviates with the same tail probability as t statistics on their
    degrees.
    """
    return np.asarray(-special.ndtri(t_two_sided_p(statistic, degrees) / 2.0))


def _drawn(root: Floats, degrees: float, number: int, rng: np.random.Generator) -> Floats:
    """Return means under equal skill (m, number), each divided by a sampled common scale.

    Infinite degrees leave the scale at 1.
    """
    normal = np.asarray(root @ rng.standard_normal((root.shape[1], number)))
    if np.isinf(degrees):
        return normal
    return np.asarray(normal / np.sqrt(rng.chisquare(degrees, number) / degrees))


# Agreement of two orders, and a test of equal group means.


def tau_b(first: Floats, second: Floats) -> float:
    """Return Kendall's tau-b of two scores of the same m things, in [-1, 1]; ties count for
    neither.

    NaN where either is constant, or there are fewer than two (Kendall 1945).
    """
    return float(_tau(first[:, None], second[:, None], np.ones((1, len(first))))[0])


class Homogeneity(Struct, frozen=True, kw_only=True):
    """Test of equal group means: statistic, degrees of freedom and p-value.

    ``least_expected`` is the smallest expected count of correct or wrong values in a group: with
    less than ``LEAST_EXPECTED`` the chi-square approximation does not hold.
    """

    chi_square: float
    df: int
    p: float
    least_expected: float


# Smallest expected count at which the chi-square approximation is taken to hold (Cochran 1954).
LEAST_EXPECTED = 5


def homogeneity(values: Floats, groups: NDArray[np.int32]) -> Homogeneity:
    """Test if the mean of ``values`` (n, no NaN) is the same in all ``groups`` (n codes).

    Pearson's chi-square for values of 0 and 1 (k groups by correct or wrong); for shares the same
    with their own variance. Units are treated as independent. NaN with fewer than two groups, or
    where all values are equal.
    """
    codes, place = np.unique(groups, return_inverse=True)
    df = len(codes) - 1
    variance = float(values.var()) if len(values) else 0.0
    if df < 1 or variance == 0.0:
        return unknown(Homogeneity, df=max(df, 0))
    sizes = np.bincount(place)
    means = np.bincount(place, weights=values) / sizes
    statistic = float((sizes * (means - values.mean()) ** 2).sum() / variance)
    mean = float(values.mean())
    return Homogeneity(
        chi_square=statistic,
        df=df,
        p=float(gammaincc(df / 2, statistic / 2)),
        least_expected=float(sizes.min()) * min(mean, 1 - mean),
    )
