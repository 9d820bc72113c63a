"""Statistical power: detectable differences, required sample sizes, and the value of samples.

The two-sided paired test at level 1 - confidence detects a true difference d with the given power
where d is at least (t_alpha + t_power) standard errors of the difference (Lehr; Cohen 1988, 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special
from scipy.special import gammaln

from proofstone.records.runs import Assumed
from proofstone.stats.estimates import Spread
from proofstone.stats.intervals import divided, t_quantile, unknown
from proofstone.stats.resampling import generator

Floats = NDArray[np.float64]


# Below this many independent groups a t-test has too few degrees of freedom to plan with.
_FEWEST_GROUPS = 3.0


class Resolution(Struct, frozen=True, kw_only=True):
    """Minimum detectable effect: the smallest true ``difference`` between two models found with
    ``power``.

    ``standard_error`` is that of a paired difference over ``groups`` independent units. NaN with
    too few groups.
    """

    difference: float
    standard_error: float
    n_units: int
    groups: float
    confidence: float
    power: float


class Separation(Struct, frozen=True, kw_only=True):
    """How many units separate ``first`` from ``second`` if the observed difference is the true one.

    ``needed`` counts units like these (infinite for a difference of 0); ``times`` is the same as a
    multiple of the present ones. Not adjusted for the number of pairs.
    """

    first: int
    second: int
    difference: float
    standard_error: float
    needed: float
    times: float


def resolution_before(
    n_units: int,
    assumed: Assumed,
    *,
    samples: int = 1,
    confidence: float = 0.95,
    power: float = 0.8,
) -> Resolution:
    """Return the minimum detectable effect of ``n_units`` items with ``samples`` answers each,
    under assumptions.
    """
    groups = n_units / assumed.design_effect
    error = float(np.sqrt(assumed.unit_variance(samples) / n_units)) if n_units else float("nan")
    return _resolution(error, n_units, groups, confidence, power)


def units_for(
    difference: float,
    assumed: Assumed,
    *,
    samples: int = 1,
    confidence: float = 0.95,
    power: float = 0.8,
) -> float:
    """Return how many items detect ``difference`` under the assumptions; infinite for 0."""
    if difference == 0.0:
        return float("inf")
    variance = assumed.unit_variance(samples) / assumed.design_effect
    needed = _groups_needed(np.array([variance / difference**2]), confidence, power)
    return float(needed[0]) * assumed.design_effect


def resolution_after(spread: Spread, *, confidence: float = 0.95, power: float = 0.8) -> Resolution:
    """Return the minimum detectable effect of the scores behind ``spread``, for the median pair of
    models.
    """
    variances = spread.pairs()[-1]
    error = float(np.sqrt(np.median(variances))) if len(variances) else float("nan")
    return _resolution(error, spread.n_units, spread.groups, confidence, power)


def separations(
    spread: Spread,
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
) -> tuple[Separation, ...]:
    """Return how many units each of ``pairs`` needs (default: neighbors in order of the means)."""
    if pairs is None:
        order = np.argsort(-spread.means, kind="stable").tolist()
        pairs = list(pairwise(order))
    variances = spread.difference_variances()
    return tuple(
        _separation(spread, first, second, float(variances[first, second]), confidence, power)
        for first, second in pairs
    )


def _separation(
    spread: Spread, first: int, second: int, variance: float, confidence: float, power: float
) -> Separation:
    difference = float(spread.means[first] - spread.means[second])
    groups, times = spread.groups, float("inf")
    if groups < 2.0:
        times = float("nan")
    elif difference != 0.0:
        ratio = np.array([variance * groups / difference**2])
        times = float(_groups_needed(ratio, confidence, power)[0]) / groups
    return Separation(
        first=first,
        second=second,
        difference=difference,
        standard_error=float(np.sqrt(variance)),
        needed=times * spread.n_units,
        times=times,
    )


def _resolution(
    error: float, n_units: int, groups: float, confidence: float, power: float
) -> Resolution:
    enough = groups >= 2.0
    difference = _multiple(np.array([groups - 1.0]), confidence, power)[0] * error
    return Resolution(
        difference=float(difference) if enough else float("nan"),
        standard_error=error,
        n_units=n_units,
        groups=groups,
        confidence=confidence,
        power=power,
    )


def _groups_needed(variance_by_square: Floats, confidence: float, power: float) -> Floats:
    """Return the number of independent groups that detects each difference, by fixed point.

    ``groups = multiple(groups - 1)**2 * variance / difference**2``, at least three.
    """
    infinite = np.full_like(variance_by_square, np.inf)
    groups = _multiple(infinite, confidence, power) ** 2 * variance_by_square
    for _ in range(30):
        degrees = np.maximum(groups, _FEWEST_GROUPS) - 1.0
        step = _multiple(degrees, confidence, power) ** 2 * variance_by_square
        groups = np.sqrt(groups * step)  # damped: the step shrinks as groups grow
    return np.maximum(groups, _FEWEST_GROUPS)


def _multiple(degrees: Floats, confidence: float, power: float) -> Floats:
    """Return the number of standard errors a difference needs, on ``degrees`` of freedom (or
    infinite).
    """
    endless = special.ndtri(0.5 + confidence / 2) + special.ndtri(power)
    safe = np.where(np.isfinite(degrees) & (degrees > 0), degrees, 1.0)
    by_t = special.stdtrit(safe, 0.5 + confidence / 2) + special.stdtrit(safe, power)
    return np.asarray(np.where(np.isinf(degrees), endless, by_t))


# Variance of a mean split into between-item variance and sampling within items.


class VarianceSplit(Struct, frozen=True, kw_only=True):
    """Variance of one answer's score: ``items`` between items, ``samples`` within an item.

    ``repeatability = items / (items + samples)`` is the intraclass correlation of an item's
    answers; NaN where nothing varies. Standard errors of the mean over independent items: ``error``
    as run, ``error_of_one`` with one sample per item, and ``error_at_best`` with infinitely many.
    One-way random effects by the analysis of variance (Searle, Casella and McCulloch 1992, section
    3.6), ``items`` floored at 0. NaN with fewer than two units, or no unit with two samples.
    """

    items: float
    samples: float
    repeatability: float
    error: float
    error_of_one: float
    error_at_best: float
    n_units: int
    mean_samples: float


def split_variance(scores: Floats) -> VarianceSplit:
    """Return the split of one model's ``scores`` (units, samples), NaN where missing."""
    number = (~np.isnan(scores)).sum(axis=1)
    scores, number = scores[number > 0], number[number > 0]
    n, total = len(number), int(number.sum())
    if n < 2 or total <= n:
        return unknown(VarianceSplit, n_units=n, mean_samples=total / n if n else 0.0)
    means = np.nansum(scores, axis=1) / number
    within = float(np.nansum((scores - means[:, None]) ** 2) / (total - n))
    grand = float(np.nansum(scores)) / total
    between = float((number * (means - grand) ** 2).sum() / (n - 1))
    typical = (total - float((number**2).sum()) / total) / (n - 1)
    items = max((between - within) / typical, 0.0)
    # Units have equal weight in a mean, whatever their number of samples.
    own = items + within * float((1.0 / number).mean())
    return VarianceSplit(
        items=items,
        samples=within,
        repeatability=items / (items + within) if items + within > 0 else float("nan"),
        error=float(np.sqrt(own / n)),
        error_of_one=float(np.sqrt((items + within) / n)),
        error_at_best=float(np.sqrt(items / n)),
        n_units=n,
        mean_samples=total / n,
    )


def chance_correlation(first: Floats, second: Floats) -> float:
    """Return the correlation of two models' success probabilities over items, within [-1, 1].

    Both inputs are (units, samples). It is the covariance of their means over units, divided by the
    root of the ``items`` variances (Spearman 1904), so sampling noise is removed. NaN where either
    variance is 0. With `VarianceSplit.repeatability` it is an input of `Assumed` for planning the
    next test.
    """
    a, b = (sample_means(scores) for scores in (first, second))
    both = ~np.isnan(a) & ~np.isnan(b)
    scale = split_variance(first[both]).items * split_variance(second[both]).items
    if both.sum() < 2 or not scale > 0:
        return float("nan")
    covariance = float(np.cov(a[both], b[both])[0, 1])
    return float(np.clip(covariance / np.sqrt(scale), -1.0, 1.0))


# Forecast of a total from samples of its parts: a prediction interval.
#
# Each group has ``left`` remaining units, of which only a random sample without replacement is
# known. With n sampled values of mean m and variance s^2,
#
#     likely = left * m,    variance = s^2 * (left + left^2 / n),
#
# the second term is for the unknown mean, the first for the remaining units. (Together, with the
# sampled part known, this is the variance of an expanded total in sampling without replacement:
# Cochran, Sampling Techniques, ch. 2). Groups are summed; the degrees of freedom are
# Satterthwaite's.
#
# Costs are skewed to the right: most responses are short, a few are long. Then totals exceed
# Student's interval far more often than they fall below it. So its upper end is raised by the
# second-order term of the Edgeworth expansion of the studentized error (Hall, The Bootstrap and
# Edgeworth Expansion, ch. 2), with the sampled third moments; the lower end is never changed.
# Measured coverage at 20 of 500 and 95%: normal costs 95% (Student 95%); lognormal costs of sigma
# 0.5, 1 and 1.5: 95%, 90% and 83% (Student 93%, 86%, 77%). Values too rare to occur in the sample
# are not covered.


class Sampled(Struct, frozen=True):
    """A group: the ``values`` of its sampled units, and how many other units are ``left``."""

    values: Sequence[float]
    left: int


class Forecast(Struct, frozen=True):
    """Forecast total, with the ends of its prediction interval."""

    likely: float
    low: float
    high: float


class _Moments(Struct, frozen=True):
    """Moments of the error of one group's total.

    ``variance``, third cumulant, half the covariance with the estimate of the variance (``drift``),
    and the degrees of freedom of that estimate.
    """

    likely: float
    variance: float
    third: float
    drift: float
    degrees: int


def forecast_total(groups: Sequence[Sampled], confidence: float = 0.95) -> Forecast:
    """Return the forecast total of what is left in all groups.

    The interval is bounded by 0 if values cannot be negative. Groups with nothing left are ignored.
    Raises ValueError if a group with units left has fewer than two values: no interval exists then.
    """
    left = [group for group in groups if group.left > 0]
    unit = max((abs(value) for group in left for value in group.values), default=0.0) or 1.0
    parts = [_moments(group, unit) for group in left]  # in this unit no power overflows
    likely = sum(part.likely for part in parts)
    variance = sum(part.variance for part in parts)
    if not variance:
        return Forecast(likely * unit, likely * unit, likely * unit)
    degrees = 1 / sum((part.variance / variance) ** 2 / part.degrees for part in parts)
    t = t_quantile(degrees, confidence)
    drift, third = sum(part.drift for part in parts), sum(part.third for part in parts)
    lean = (drift + (third + 6 * drift) * (t * t - 1) / 6) / variance**1.5
    half = variance**0.5
    low, high = likely - t * half, likely + half * (t + max(0.0, lean))
    return Forecast(likely * unit, max(0.0, low) * unit, high * unit)


def _moments(group: Sampled, unit: float) -> _Moments:
    values = np.sort(np.asarray(group.values, dtype=np.float64)) / unit  # independent of order
    n, left = len(values), group.left
    if n < 2:
        raise ValueError(f"an interval needs at least two sampled values, got {n}")
    mean = float(values.mean())
    spread = float(values.var(ddof=1))
    lean = _third_moment(values - mean)
    per_unit = left + left**2 / n
    return _Moments(
        likely=left * mean,
        variance=per_unit * spread,
        third=lean * (left - left**3 / n**2),
        drift=per_unit * left * lean / (2 * n),
        degrees=n - 1,
    )


def _third_moment(deviations: NDArray[np.float64]) -> float:
    """Return the unbiased third central moment; 0 for two values, whose skewness is undefined."""
    n = len(deviations)
    return float((deviations**3).sum()) * n / ((n - 1) * (n - 2)) if n > 2 else 0.0


# Measures from several samples per item: unit values (units, models) of every kind.
#
# Each function takes scores (units, models, samples), NaN where missing, and returns one value per
# unit and model, NaN with too few samples. So each has the same mean, interval and ranking as any
# unit value (`mean_estimates`).

# AVG@k: the mean and the spread of k samples' means over the same items.


class AverageAtK(Struct, frozen=True, kw_only=True):
    """AVG@k: ``mean`` over the means ``by_sample`` of k samples, ``sd`` over them with k - 1.

    ``sd`` is NaN for k = 1. ``sd_population`` divides by k, as some papers print it.
    """

    k: int
    mean: float
    sd: float
    sd_population: float
    by_sample: tuple[float, ...]


def average_at_k(sample: NDArray[np.integer], counted: NDArray[np.float64]) -> AverageAtK:
    """Return AVG@k of one model's scores; parallel arrays, NaN in ``counted`` left out.

    Samples have equal weight, even if one has fewer counted scores. Without scores: k = 0 and NaN.
    """
    kept = ~np.isnan(counted)
    _, code, sizes = np.unique(sample[kept], return_inverse=True, return_counts=True)
    means = np.bincount(code, weights=counted[kept]) / sizes if len(sizes) else np.empty(0)
    k = len(means)
    return AverageAtK(
        k=k,
        mean=float(means.mean()) if k else float("nan"),
        sd=float(means.std(ddof=1)) if k > 1 else float("nan"),
        sd_population=float(means.std()) if k else float("nan"),
        by_sample=tuple(means.tolist()),
    )


def sample_means(scores: Floats) -> Floats:
    """Return the mean over the samples present, which are on the last axis."""
    return divided(np.nansum(scores, axis=-1), (~np.isnan(scores)).sum(axis=-1))


def pass_at_k(scores: Floats, k: int, *, right_from: float = 1.0) -> Floats:
    """Return pass@k: the probability that at least one of ``k`` answers is correct.

    Unbiased from n >= k samples: 1 - C(n - c, k) / C(n, k) with c correct ones, where a score of
    ``right_from`` or more is correct (Chen et al. 2021, equation 1). Best-of-N with an oracle is
    this with k = N. NaN where n < k.
    """
    n = (~np.isnan(scores)).sum(axis=2)
    right = (scores >= right_from).sum(axis=2)
    wrong = n - right
    possible = wrong >= k
    log_none = np.where(possible, _log_choose(np.maximum(wrong, k), k), -np.inf)
    value = 1.0 - np.exp(log_none - _log_choose(np.maximum(n, k), k))
    return np.where(n >= k, np.clip(value, 0.0, 1.0), np.nan)


def majority_scores(scores: Floats, answers: NDArray[np.integer]) -> Floats:
    """Return the score of the most frequent answer; ties count their mean score.

    ``answers`` (units, models, samples) are codes; samples with a negative code (unparsed) have no
    vote. A unit without votes counts the mean of its scores.
    """
    votes = (answers >= 0) & ~np.isnan(scores)
    same = (answers[..., :, None] == answers[..., None, :]) & votes[..., None, :]
    number = np.where(votes, same.sum(axis=3), 0)
    most = number.max(axis=2, initial=0)
    wins = votes & (number == most[..., None])
    # Each answer with f votes is counted f times, and so is every tied one, so their mean is
    # unbiased.
    by_vote = sample_means(np.where(wins, scores, np.nan))
    return np.where(most > 0, by_vote, sample_means(scores))


def consistency(
    scores: Floats, orders: NDArray[np.integer] | None = None, *, same_order: bool = False
) -> Floats:
    """Return the probability that two different samples have equal scores; NaN with fewer than two.

    Unbiased. With ``orders`` (codes, as ``scores``) only pairs with different orders count, or with
    the same one.
    """
    there = ~np.isnan(scores)
    alike = scores[..., :, None] == scores[..., None, :]
    return _pairs_alike(alike, there, orders, same_order=same_order)


def answer_consistency(
    answers: NDArray[np.integer],
    present: NDArray[np.bool_],
    orders: NDArray[np.integer] | None = None,
    *,
    same_order: bool = False,
) -> Floats:
    """Return the probability that two different samples give the same answer.

    An unparsed answer (a negative code) agrees with none. NaN with fewer than two ``present``. With
    ``orders`` of the options (codes, as ``answers``, which are then contents and not positions)
    only pairs with different orders count: the shuffled-options consistency. With ``same_order``
    only pairs with the same order count, which measures sampling variation alone.
    """
    read = answers >= 0
    alike = (answers[..., :, None] == answers[..., None, :]) & read[..., None]
    return _pairs_alike(alike, present, orders, same_order=same_order)


def _pairs_alike(
    alike: NDArray[np.bool_],
    there: NDArray[np.bool_],
    orders: NDArray[np.integer] | None,
    *,
    same_order: bool,
) -> Floats:
    both = there[..., :, None] & there[..., None, :]
    if orders is not None:
        both &= (orders[..., :, None] == orders[..., None, :]) == same_order
    both &= ~np.eye(there.shape[-1], dtype=bool)
    number = both.sum(axis=(2, 3))
    agree = (alike & both).sum(axis=(2, 3))
    return divided(agree, number)


def _log_choose(n: NDArray[np.integer], k: int) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


# Gains from more samples, with and without an oracle that knows the correct one.
#
# Best-of-N with an oracle is `pass_at_k`: the share of questions with at least one correct answer
# in N, an upper bound not available in use. Available in use are the most frequent answer, and the
# one with the highest confidence. Both are here as unit values for k of the n samples.

_PURPOSE = 8


_MOST_AT_ONCE = 4_000_000


def surest_at_k(scores: Floats, confidence: Floats, k: int) -> Floats:
    """Return the exact expected score of the most confident of ``k`` samples without replacement.

    ``scores`` and ``confidence`` (units, models, samples), NaN where missing. Ties are chosen
    uniformly; a sample without a confidence is only used where no other has one. NaN with fewer
    than k samples.
    """
    there = ~np.isnan(scores)
    sure = np.where(there, np.where(np.isnan(confidence), -np.inf, confidence), np.nan)
    above = (sure[..., None, :] > sure[..., :, None]).sum(axis=3)
    alike = (sure[..., None, :] == sure[..., :, None]).sum(axis=3)
    n = there.sum(axis=2)
    enough = n >= k
    total = np.where(enough, n, k)[..., None]
    # The most confident of k has this level if no sample above it and at least one at it is chosen.
    chance = _none_of(above, total, k) - _none_of(above + alike, total, k)
    shares = np.where(there, chance / np.maximum(alike, 1), 0.0)
    value = (shares * np.where(there, scores, 0.0)).sum(axis=2)
    return np.where(enough, value, np.nan)


def majority_at_k(
    scores: Floats,
    answers: NDArray[np.integer],
    k: int,
    *,
    n_resamples: int = 200,
    seed: int = 0,
) -> Floats:
    """Return the expected score of the majority answer of ``k`` samples, by random subsets.

    ``answers`` (units, models, samples) are codes; samples with a negative code (unparsed) have no
    vote. Tied answers share. Without votes the samples' mean score counts. An answer's value is the
    mean score of the samples that gave it. Exact where k is the number of samples. NaN with fewer
    than k samples.
    """
    shape = scores.shape[:2]
    if not scores.size:
        return np.full(shape, np.nan)
    flat, codes = scores.reshape(-1, scores.shape[2]), answers.reshape(-1, scores.shape[2])
    there = ~np.isnan(flat)
    codes = np.where(there, codes, -1)
    rng = generator(seed, _PURPOSE, k)
    block = max(1, _MOST_AT_ONCE // (n_resamples * flat.shape[1]))
    found = np.full(len(flat), np.nan)
    for start in range(0, len(flat), block):
        part = slice(start, start + block)
        found[part] = _majorities(flat[part], codes[part], there[part], k, n_resamples, rng)
    return np.where(there.sum(axis=1) >= k, found, np.nan).reshape(shape)


def _majorities(
    scores: Floats,
    codes: NDArray[np.integer],
    there: NDArray[np.bool_],
    k: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the mean over random subsets of each row's majority score (rows)."""
    same = (codes[:, :, None] == codes[:, None, :]) & (codes >= 0)[:, None, :]
    own = np.where(there, scores, 0.0)
    number = np.maximum(same.sum(axis=2), 1)
    worth = (same @ own[:, :, None])[:, :, 0] / number
    keys = rng.random((len(scores), n_resamples, scores.shape[1]))
    keys = np.where(there[:, None, :], keys, 2.0)
    order = np.argsort(keys, axis=2, kind="stable")
    drawn = np.zeros(keys.shape)
    np.put_along_axis(drawn, order[:, :, :k], 1.0, axis=2)
    # Votes for each sample's answer, where that sample is in the subset and has an answer.
    votes = (drawn @ same.transpose(0, 2, 1)) * drawn * (codes >= 0)[:, None, :]
    most = votes.max(axis=2, keepdims=True, initial=0.0)
    wins = (votes == most) & (votes > 0)
    total = wins.sum(axis=2)
    by_vote = (wins * worth[:, None, :]).sum(axis=2) / np.maximum(total, 1)
    without = (drawn * own[:, None, :]).sum(axis=2) / k
    return np.asarray(np.where(total > 0, by_vote, without).mean(axis=1))


def _none_of(some: NDArray[np.integer], total: NDArray[np.integer], k: int) -> Floats:
    """Return the probability that k of ``total`` without replacement include none of ``some``.

    It is C(total - some, k) / C(total, k).
    """
    left = total - some
    possible = left >= k
    log = _best_of_n_log_choose(np.maximum(left, k), k) - _best_of_n_log_choose(total, k)
    return np.where(possible, np.exp(log), 0.0)


def _best_of_n_log_choose(n: NDArray[np.integer], k: int) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(n - k + 1.0))
