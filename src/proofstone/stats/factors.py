"""Effects of a factor (prompting method, options, seed, tools), and tests of homogeneity.

A factor has levels; each model was run at several of them. Its effect is the difference of one
model's means between a level and the reference, on the same items where both levels have them
(`contrasts`). All effects have one joint covariance because models share items. So the interaction
can be tested: is the effect the same for all models? Also checks if strata, or two benchmarks,
measure the same construct.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate, Population, group_flags, population_name
from proofstone.stats.clusters import Dependence, SharedKeys, block_sums, partner_sums
from proofstone.stats.comparisons import Contrasts, measure_contrasts
from proofstone.stats.estimates import BootstrapMeans
from proofstone.stats.intervals import (
    covariance_root,
    percentiles,
    quadratic_p,
    t_quantile,
    t_test_p,
    unknown,
)
from proofstone.stats.multiple_comparisons import holm, over_known
from proofstone.stats.ranks import FEWEST_MODELS, models_drawn, weighted_correlation
from proofstone.stats.resampling import bootstrapped, generator

# Joint test that several quantities are all 0, or all equal.
#
# Wald's chi-square ``e' V^-1 e``, referred to Hotelling's distribution because V is estimated from
# G groups: ``F = (G - q) / (q (G - 1)) * chi-square`` on q and G - q degrees (Hotelling 1931; for
# the same effect in several paired conditions, Morrison 1976, section 4.6). For one quantity it is
# the square of the t-test. For independent units and normal values it is exact.

Floats = NDArray[np.float64]


# A direction with less than this share of the largest variance is treated as having none.
_NO_DIRECTION = 1e-9


class WaldTest(Struct, frozen=True, kw_only=True):
    """``chi_square`` on ``df`` degrees, ``p`` from F on ``df`` and ``df_groups`` degrees.

    NaN where there is nothing to test (``df`` 0), or at least as many quantities as groups.
    """

    chi_square: float
    df: int
    df_groups: float
    p: float


def wald(values: Floats, covariance: Floats, floor: Floats, groups: float) -> WaldTest:
    """Return the test that all ``values`` (q) are 0.

    ``covariance`` (q, q) is floored, in every direction, at ``floor``, the covariance for
    independent units; a lower value due to shared facts is noise. Directions without variance are
    left out. Where a value lies along one, it is the same in every group, and p is that of a sign
    test.
    """
    whitener, left_over = _whitener(floor, values)
    rank = whitener.shape[1]
    if left_over > 0.0:
        return _without_spread(rank, groups)
    if not rank:
        return unknown(WaldTest, df=0)
    own, axes = np.linalg.eigh(whitener.T @ covariance @ whitener)
    along = axes.T @ (whitener.T @ values)
    statistic = float((along**2 / np.maximum(own, 1.0)).sum())
    df_groups = groups - rank
    if not df_groups > 0.0:
        return unknown(WaldTest, chi_square=statistic, df=rank, df_groups=max(df_groups, 0.0))
    f = df_groups / (rank * (groups - 1.0)) * statistic
    p = float(special.fdtrc(rank, df_groups, f))
    return WaldTest(chi_square=statistic, df=rank, df_groups=df_groups, p=p)


def _whitener(floor: Floats, values: Floats) -> tuple[Floats, float]:
    """Return directions (q, rank) scaled to unit variance, and the distance of ``values`` from
    their span.
    """
    own, axes = np.linalg.eigh((floor + floor.T) / 2.0)
    kept = own > max(_NO_DIRECTION * float(own.max(initial=0.0)), 1e-20)
    outside = axes[:, ~kept].T @ values
    far = float(np.abs(outside).max(initial=0.0))
    return axes[:, kept] / np.sqrt(own[kept]), far if far > 1e-9 else 0.0


def _without_spread(rank: int, groups: float) -> WaldTest:
    return WaldTest(
        chi_square=float("inf"),
        df=max(rank, 1),
        df_groups=max(groups - rank, 0.0),
        p=min(1.0, 2.0 * 0.5**groups),
    )


class Effect(Struct, frozen=True, kw_only=True):
    """Effect of ``level`` on ``model`` (indices): the difference from the reference's mean.

    ``p_holm`` is Holm-adjusted for all effects of the analysis. ``beyond`` is the effect less the
    mean effect on the other models at that level, ``p_beyond`` its Holm-adjusted p. None and NaN
    without another model.
    """

    model: int
    level: int
    change: Estimate
    is_paired: bool
    p: float
    p_holm: float
    beyond: Estimate | None
    p_beyond: float


class AverageEffect(Struct, frozen=True, kw_only=True):
    """Mean effect of ``level`` on ``n_models`` models, equally weighted.

    Models are fixed: units are resampled, models are not.
    """

    level: int
    change: Estimate
    n_models: int
    p: float


class Factor(Struct, frozen=True, kw_only=True):
    """Effects of a factor on M models, their mean by level, and two kinds of tests.

    ``by_model`` (M) tests if any level differs from another for that model; ``p_by_model`` is
    Holm-adjusted. ``interaction`` tests if the effects are the same for all ``n_complete`` models
    that have every level.
    """

    reference: int
    effects: tuple[Effect, ...]
    average: tuple[AverageEffect, ...]
    by_model: tuple[WaldTest, ...]
    p_by_model: tuple[float, ...]
    interaction: WaldTest
    n_complete: int


def analyse_factor(
    levels: Sequence[Floats],
    keys: SharedKeys,
    *,
    reference: int = 0,
    population: Population = "domain",
    confidence: float = 0.95,
) -> Factor:
    """Analyze two or more ``levels``: each (U units, M models), shares in [0, 1], NaN where not
    run.

    A row is the same unit (or facts) in all levels. Where levels have different units, rows are NaN
    in the others. Raises BadUsage for fewer than two levels.
    """
    if len(levels) < 2:
        raise BadUsage(
            f"expected a factor with two or more levels, got {len(levels)}",
            hint="pass one matrix of values per level",
        )
    others = [k for k in range(len(levels)) if k != reference]
    before = np.concatenate([levels[reference] for _ in others], axis=1)
    after = np.concatenate([levels[k] for k in others], axis=1)
    contrasts = measure_contrasts(before, after, keys, population)
    n_models = levels[0].shape[1]
    table = np.arange(len(others) * n_models).reshape(len(others), n_models)
    known = ~np.isnan(contrasts.values[table])
    by_model = tuple(_joint(contrasts, table[known[:, m], m]) for m in range(n_models))
    complete = np.flatnonzero(known.all(axis=0))
    return Factor(
        reference=reference,
        effects=_effects(contrasts, table, others, confidence),
        average=_averages(contrasts, table, others, confidence),
        by_model=by_model,
        p_by_model=tuple(over_known(holm, np.array([test.p for test in by_model])).tolist()),
        interaction=_interaction(contrasts, table[:, complete]),
        n_complete=len(complete),
    )


def _effects(
    contrasts: Contrasts, table: NDArray[np.intp], others: Sequence[int], confidence: float
) -> tuple[Effect, ...]:
    """Return one effect per model and level that were run, by model."""
    changes = contrasts.estimates(confidence=confidence)
    known = ~np.isnan(contrasts.values)
    p = np.where(known, contrasts.p(), np.nan)
    beyond = contrasts.combined(_against_others(table, known))
    compared = known & (known[table].sum(axis=1) > 1).repeat(table.shape[1])
    p_beyond = over_known(holm, np.where(compared, beyond.p(), np.nan))
    more = beyond.estimates(confidence=confidence, bound=2.0)
    adjusted = over_known(holm, p)
    return tuple(
        Effect(
            model=model,
            level=level,
            change=changes[c],
            is_paired=bool(contrasts.is_paired[c]),
            p=float(p[c]),
            p_holm=float(adjusted[c]),
            beyond=more[c] if compared[c] else None,
            p_beyond=float(p_beyond[c]),
        )
        for model, column in enumerate(table.T.tolist())
        for level, c in zip(others, column, strict=True)
        if known[c]
    )


def _against_others(table: NDArray[np.intp], known: NDArray[np.bool_]) -> Floats:
    """Return weights (C, C) of each effect less the mean of the others at its level."""
    weights = np.zeros((table.size, table.size))
    for row in table:
        here = row[known[row]]
        if len(here) > 1:
            weights[np.ix_(here, here)] = -1.0 / (len(here) - 1)
        weights[here, here] = 1.0
    return weights


def _averages(
    contrasts: Contrasts, table: NDArray[np.intp], others: Sequence[int], confidence: float
) -> tuple[AverageEffect, ...]:
    found = []
    for level, row in zip(others, table, strict=True):
        here = row[~np.isnan(contrasts.values[row])]
        if not len(here):
            continue
        weights = np.zeros((table.size, 1))
        weights[here] = 1.0 / len(here)
        mean = contrasts.combined(weights)
        (change,) = mean.estimates(confidence=confidence)
        p = float(mean.p()[0])
        found.append(AverageEffect(level=level, change=change, n_models=len(here), p=p))
    return tuple(found)


def _interaction(contrasts: Contrasts, table: NDArray[np.intp]) -> WaldTest:
    """Test if each row's effects (levels, models) are equal, by differences from the first."""
    n_levels, n_models = table.shape
    weights = np.zeros((len(contrasts.values), n_levels * max(n_models - 1, 0)))
    for d, (k, m) in enumerate(np.ndindex(n_levels, max(n_models - 1, 0))):
        weights[table[k, m + 1], d] = 1.0
        weights[table[k, 0], d] = -1.0
    return _joint(contrasts.combined(weights), np.arange(weights.shape[1]))


def _joint(contrasts: Contrasts, columns: NDArray[np.intp]) -> WaldTest:
    """Test if all these differences are 0, on the fewest groups of any of them."""
    degrees = contrasts.degrees[columns]
    if not len(columns) or np.isnan(degrees).any():
        return unknown(WaldTest, df=len(columns))
    chosen = np.ix_(columns, columns)
    return wald(
        contrasts.values[columns],
        contrasts.covariance()[chosen],
        contrasts.covariance_alone()[chosen],
        float(degrees.min()) + 1.0,
    )


# Do longer responses score better, or do harder questions just elicit longer ones?
#
# Over all responses, length and accuracy are confounded by difficulty: hard questions elicit long
# responses and wrong answers. Within one item difficulty is constant, so only variation within
# items estimates the effect of length (Encyclo-K's appendix E and ELAIPBench 4.4 compare over
# items).

Codes = NDArray[np.integer]


class Slope(Struct, frozen=True, kw_only=True):
    """Change of a score per doubling of response length, with interval and p-value.

    ``n`` responses of ``n_items`` items. Errors are clustered by item (CR1) and by the keys that
    items share, with Student's t on groups - 1 degrees. NaN with fewer than three items, or where
    lengths do not vary.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    n_items: int


class LengthEffect(Struct, frozen=True, kw_only=True):
    """Length slopes over and within items.

    ``over_items`` uses all responses, so it includes difficulty. ``within_items`` compares
    responses to the same item and removes each model's own level. ``confounded`` is the first less
    the second.
    """

    over_items: Slope
    within_items: Slope
    confounded: float


def length_effect(
    scores: Floats,
    tokens: Floats,
    item: Codes,
    respondent: Codes | None = None,
    *,
    keys: SharedKeys | None = None,
    confidence: float = 0.95,
) -> LengthEffect:
    """Return both slopes of ``scores`` on log2 of ``tokens``, parallel arrays (responses).

    Responses without a score or a known length (NaN, 0) are left out. An item with one response
    adds nothing within items.
    """
    kept = ~np.isnan(scores) & (np.nan_to_num(tokens) > 0)
    y, x = scores[kept].astype(np.float64), np.log2(tokens[kept])
    by_item = item[kept].astype(np.int64)
    by_whom = _codes(np.zeros_like(item[kept]) if respondent is None else respondent[kept])
    over = _slope(*_swept(x, y, [by_whom]), Dependence.of(len(x), by_item, keys), confidence)
    several = np.bincount(by_item, minlength=1)[by_item] > 1 if len(by_item) else kept[:0]
    x, y, by_item, by_whom = x[several], y[several], by_item[several], by_whom[several]
    swept = _swept(x, y, [_codes(by_item), _codes(by_whom)])
    within = _slope(*swept, Dependence.of(len(x), by_item, keys), confidence)
    return LengthEffect(over_items=over, within_items=within, confounded=over.value - within.value)


def _codes(values: Codes) -> NDArray[np.int64]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _swept(x: Floats, y: Floats, levels: list[NDArray[np.int64]]) -> tuple[Floats, Floats]:
    """Return both without the means of each level, by alternating projection (Gauss-Seidel)."""
    for _ in range(200 if len(levels) > 1 else 1):
        before = x
        for codes in levels:
            x, y = _centred(x, codes), _centred(y, codes)
        if not len(x) or np.abs(x - before).max() < 1e-10:
            break
    return x, y


def _centred(values: Floats, codes: NDArray[np.int64]) -> Floats:
    if not len(values):
        return values
    sums, sizes = np.bincount(codes, weights=values), np.bincount(codes)
    return np.asarray(values - (sums / np.maximum(sizes, 1))[codes])


def _slope(x: Floats, y: Floats, dependence: Dependence, confidence: float) -> Slope:
    n, n_items = len(x), len(np.unique(dependence.unit))
    squares = float((x**2).sum())
    # Items that share nothing are one group each (CR1); otherwise at most Kish's effective number.
    is_shared = len(dependence.keys.unit) > 0
    groups = min(float(n_items), dependence.groups) if is_shared else float(n_items)
    if n_items < 3 or groups < 2.0 or squares < 1e-12:
        return unknown(Slope, n=n, n_items=n_items)
    value = float((x * y).sum()) / squares
    parts = (x * (y - value * x) / squares)[:, None]
    error = float(dependence.moments(parts, groups=groups).variances()[0]) ** 0.5
    half = t_quantile(groups - 1.0, confidence) * error
    p = 1.0 if value == 0.0 else 0.0
    if error > 0:
        p = t_test_p(value, error, groups - 1.0)
    return Slope(value=value, low=value - half, high=value + half, p=p, n=n, n_items=n_items)


# Relative loss of accuracy between two prompting methods on the same items.

_PURPOSE = 9


_POPULATION: Population = "domain"


def drop_between(before: float, after: float) -> float:
    """Return ``(before - after) / before``; below 0 where it rose, NaN where ``before`` is 0."""
    return (before - after) / before if before else float("nan")


def relative_drop(
    before: Floats,
    after: Floats,
    *,
    clusters: NDArray[np.integer] | None = None,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return ``drop_between`` of the means of two columns of values on the same n items, as a
    share.

    The interval is by percentiles of ``n_resamples`` bootstrap resamples of whole clusters (codes
    of the items; by default each item), with both columns resampled together. Each resample has one
    cluster fewer than the data and is rescaled (Rao and Wu 1988). Resamples with ``before`` at 0
    are left out. The value has no lower bound: it is below 0 where accuracy rose. NaN without items
    or with ``before`` at 0. Fewer than two clusters give an unbounded interval, and fewer than 50
    are flagged.
    """
    n = len(before)
    value = drop_between(float(before.mean()), float(after.mean())) if n else float("nan")
    _, block = np.unique(np.arange(n) if clusters is None else clusters, return_inverse=True)
    n_blocks = int(block.max(initial=-1)) + 1
    sums = block_sums(np.stack([before, after], axis=1), block, n_blocks)
    low, high = percentiles(_drawn(sums, n_resamples, seed), confidence)
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        population=population_name(_POPULATION),
        made_by=f"bootstrap, percentile, {n_resamples} resamples, seed {seed}"
        if n_blocks > 1
        else "none",
        resampled="items" if clusters is None else "clusters",
        effective_n=float(n_blocks),
        flags=group_flags(n, n_blocks),
    )


def _drawn(sums: Floats, n_resamples: int, seed: int) -> Floats:
    """Return the drop in each resample where it is defined; empty with fewer than two blocks."""
    if len(sums) < 2:
        return np.empty(0)

    def drops(counts: Floats) -> Floats:
        before, after = (counts @ sums).T
        has_some = before > 0
        return np.asarray((before[has_some] - after[has_some]) / before[has_some])

    return bootstrapped(len(sums), drops, n_resamples, generator(seed, _PURPOSE), one_less=True)


# Spread of several means: the range and the standard deviation.

_MEANS_APART_PURPOSE = 31


_DRAWS = 4_000


class Apart(Struct, frozen=True):
    """A measure of spread with its interval; all NaN for fewer than two means."""

    value: float
    low: float
    high: float


class SpreadApart(Struct, frozen=True, kw_only=True):
    """Range and standard deviation (over n - 1) of means under two conditions.

    The changes are the second less the first; each pair and its difference use the same samples.
    """

    range_before: Apart
    range_after: Apart
    range_change: Apart
    deviation_before: Apart
    deviation_after: Apart
    deviation_change: Apart


def spread_apart(
    means: Floats,
    covariance: Floats,
    *,
    degrees: float,
    confidence: float = 0.95,
    seed: int = 0,
) -> SpreadApart:
    """Return the spread of the first half of ``means`` (2 m), of the second half, and the change.

    Both halves are of the same m models. ``covariance`` (2 m, 2 m) is that of the means, on
    ``degrees`` of freedom. Means are sampled from a normal distribution with that covariance
    (Student's t where degrees are few). The interval is the basic bootstrap one: sampling error
    inflates a spread, so the quantiles are reflected at the observed value. Intervals are bounded
    by 0 below, except for changes. With fewer than two effective groups (``degrees`` NaN or below
    1) they are unbounded.
    """
    m = len(means) // 2
    if m < 2:
        return SpreadApart(**dict.fromkeys(SpreadApart.__struct_fields__, unknown(Apart)))
    drawn = _means_apart_drawn(means, covariance, degrees, seed)
    halves = [slice(0, m), slice(m, 2 * m)]
    found = {}
    for name, spread in (("range", np.ptp), ("deviation", partial(np.std, ddof=1))):
        own = [float(spread(means[half])) for half in halves]
        others = [np.asarray(spread(drawn[:, half], axis=1)) for half in halves]
        known = degrees >= 1.0
        for when, value, draws in zip(("before", "after"), own, others, strict=True):
            found[f"{name}_{when}"] = _basic(value, draws, confidence, known=known, least=0.0)
        found[f"{name}_change"] = _basic(
            own[1] - own[0], others[1] - others[0], confidence, known=known, least=-np.inf
        )
    return SpreadApart(**found)


def _means_apart_drawn(means: Floats, covariance: Floats, degrees: float, seed: int) -> Floats:
    """Return sampled means (resamples, 2 m).

    A pair-sum covariance may have a direction of negative variance, which is noise; nothing is
    sampled along it.
    """
    rng = generator(seed, _MEANS_APART_PURPOSE)
    noise = rng.standard_normal((_DRAWS, len(means))) @ covariance_root(covariance).T
    if degrees >= 1.0:
        noise *= np.sqrt(degrees / rng.chisquare(degrees, size=(_DRAWS, 1)))
    return np.asarray(means + noise)


def _basic(value: float, draws: Floats, confidence: float, *, known: bool, least: float) -> Apart:
    if not known:
        return Apart(value, least, float("inf"))
    low, high = percentiles(draws, confidence)
    return Apart(value, max(least, 2 * value - high), max(least, 2 * value - low))


# Disattenuated correlation of two benchmarks: what it would be with error-free scores.
#
# Sampling error of the items attenuates the correlation: the observed one is the true one times the
# root of the product of both reliabilities (Spearman 1904). Dividing by that root corrects it. The
# result may exceed 1 due to sampling error, and is not truncated.


# Below this reliability of either benchmark the correction is too unstable.
_LEAST_RELIABLE = 0.1


class Disattenuated(Struct, frozen=True, kw_only=True):
    """Pearson's correlation of the means: ``observed``, and corrected for sampling error of the
    items.

    The corrected one has intervals over ``models`` and over ``items`` (NaN where a reliability is
    below 0.1). ``reliability`` holds that of the first and second benchmark over items.
    """

    observed: float
    reliability: tuple[float, float]
    models: Estimate
    items: Estimate
    n_models: int


def disattenuate(
    first: BootstrapMeans,
    second: BootstrapMeans,
    *,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Disattenuated:
    """Return the correlation of the same m models on two benchmarks with different items.

    Models without a mean on one of them are left out.
    """
    kept = ~np.isnan(first.means) & ~np.isnan(second.means)
    m = int(kept.sum())
    x, y = first.means[kept, None], second.means[kept, None]
    noise = first.noise(), second.noise()
    once = np.ones((m, 1))
    reliable = tuple(float(_reliability(v, n, once)[0]) for v, n in zip((x, y), noise, strict=True))
    observed = float(weighted_correlation(x, y, once)[0]) if m > 1 else float("nan")
    value = float(_corrected(x, y, noise, once)[0]) if m > 1 else float("nan")
    counts = models_drawn(m, n_resamples, seed).T
    number = min(first.drawn.shape[1], second.drawn.shape[1])
    drawn = first.drawn[kept, :number], second.drawn[kept, :number]
    # A resample contains the sampling error twice: in the data, and from resampling.
    twice = 2.0 * noise[0], 2.0 * noise[1]
    over_models = _corrected(x, y, noise, counts)
    over_items = _corrected(*drawn, twice, np.ones((m, number)))
    enough = m >= FEWEST_MODELS
    return Disattenuated(
        observed=observed,
        reliability=(reliable[0], reliable[1]),
        models=_estimate(
            value,
            over_models if enough else np.full(1, np.nan),
            m,
            confidence,
            population="models like these, on these items",
            made_by=f"bootstrap, percentile, {n_resamples} resamples, seed {seed}"
            if enough
            else "none",
            resampled="models" if enough else "",
        ),
        items=_estimate(
            value,
            over_items,
            m,
            confidence,
            population="these models, on items like these",
            made_by=first.made_by,
            resampled=first.resampled,
        ),
        n_models=m,
    )


def _variance(x: Floats, w: Floats) -> Floats:
    """Return the variance over models (over n - 1) of each column, with counts ``w``."""
    total = w.sum(axis=0)
    centred = x - (w * x).sum(axis=0) / np.maximum(total, 1.0)
    return np.asarray((w * centred**2).sum(axis=0) / np.maximum(total - 1.0, 1.0))


def _reliability(x: Floats, noise: float, w: Floats) -> Floats:
    variance = _variance(x, w)
    varies = variance > 1e-20
    return np.where(varies, 1.0 - noise / np.where(varies, variance, 1.0), np.nan)


def _corrected(x: Floats, y: Floats, noise: tuple[float, float], w: Floats) -> Floats:
    """Return the disattenuated correlation in each column; NaN where a reliability is too low."""
    if not len(x):
        return np.full(1, np.nan)
    a, b = _reliability(x, noise[0], w), _reliability(y, noise[1], w)
    enough = (a >= _LEAST_RELIABLE) & (b >= _LEAST_RELIABLE)
    root = np.sqrt(np.where(enough, a * b, 1.0))
    return np.where(enough, weighted_correlation(x, y, w) / root, np.nan)


def _estimate(
    value: float, drawn: Floats, m: int, confidence: float, *, population: str, made_by: str,
    resampled: str,
) -> Estimate:  # fmt: skip
    low, high = percentiles(drawn, confidence)
    known = not np.isnan(value)
    return Estimate(
        value=value,
        n=m,
        low=min(low, value) if known else float("nan"),
        high=max(high, value) if known else float("nan"),
        level=confidence,
        population=population,
        made_by=made_by,
        resampled=resampled,
        effective_n=float(m),
        flags=() if m >= FEWEST_MODELS else ("too-few-models",),
    )


Chance = Literal["items", "groups", "shared pairs"]


_STRATA_PURPOSE = 5


_MOST_AT_ONCE = 4_000_000


class DimensionCheck(Struct, frozen=True, kw_only=True):
    """Model × stratum interaction, compared with its expectation without one.

    ``interaction`` is the standard deviation of the stratum means of models after removing model
    and stratum main effects, weighted by items. ``by_chance`` is its root mean square if strata are
    unrelated to scores; ``p`` is the probability of at least the observed value then. ``corrected``
    is the root of ``interaction**2 - by_chance**2``, or 0 where that is negative. NaN with fewer
    than two strata or two models, or without items that all models have.

    ``chance`` names the exchanged unit: items where they share nothing, or whole clusters where
    keys partition the items and each cluster lies in one stratum. Where keys overlap, or a cluster
    spans several strata, nothing is exchangeable. Then ``p`` compares the sum of squares with its
    moments by the covariance over all pairs of items that share a cluster key ("shared pairs"), and
    ``n_resamples`` is 0. ``groups`` is the effective number of independent groups of items.
    """

    interaction: float
    by_chance: float
    corrected: float
    p: float
    n_units: int
    n_strata: int
    groups: float
    chance: Chance
    n_resamples: int
    seed: int


def check_dimension(
    values: Floats,
    strata: NDArray[np.integer],
    *,
    keys: SharedKeys | None = None,
    n_resamples: int = 500,
    seed: int = 0,
) -> DimensionCheck:
    """Return the check of ``values`` (units, models) over ``strata`` codes (units).

    Only the units that all models have are used; ``keys`` lists what units share (default:
    nothing).
    """
    if n_resamples < 1:
        raise BadUsage(
            "expected one or more permutations, got none", hint="set n_resamples to 1 or more"
        )
    whole = np.flatnonzero(~np.isnan(values).any(axis=1))
    keys = (keys or SharedKeys.none(len(values))).among(whole)
    values, strata = values[whole], strata[whole]
    _, code, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    n, m = values.shape
    groups = Dependence.of(n, keys=keys).groups
    blocks, chance_of = _exchangeable(keys, code)
    seen, chance, p = float("nan"), float("nan"), float("nan")
    if len(sizes) > 1 and m > 1:
        # Model and unit main effects cancel in every interaction of means.
        left = values - values.mean(axis=0)
        left = left - left.mean(axis=1, keepdims=True)
        seen = float(_interactions(left, code[None, :], len(sizes))[0])
        if blocks is None:
            square, p = _by_pairs(left, code, sizes, keys, groups, seen**2)
            chance = square**0.5
        else:
            drawn = _shuffled(left, code, blocks, n_resamples, generator(seed, _STRATA_PURPOSE))
            chance = float(np.sqrt((drawn**2).mean()))
            # Single precision: equal permutations may differ in their seventh digit.
            p = float(((drawn >= seen * (1.0 - 1e-5)).sum() + 1) / (n_resamples + 1))
    return DimensionCheck(
        interaction=seen,
        by_chance=chance,
        corrected=float(np.sqrt(max(seen**2 - chance**2, 0.0))) if m > 1 else float("nan"),
        p=p,
        n_units=n,
        n_strata=len(sizes),
        groups=groups,
        chance=chance_of,
        n_resamples=n_resamples if blocks is not None else 0,
        seed=seed,
    )


def _exchangeable(keys: SharedKeys, code: Codes) -> tuple[Codes | None, Chance]:
    """Return the block of each unit (units, codes without gaps) and what blocks are.

    None where keys leave no exchangeable blocks.
    """
    group = keys.groups
    if group is None:
        return None, "shared pairs"
    _, block = np.unique(group, return_inverse=True)
    n_blocks = int(block.max(initial=-1)) + 1
    if n_blocks == len(code):
        return block, "items"
    first = np.zeros(n_blocks, dtype=np.int64)
    first[block] = code
    if not (first[block] == code).all():
        return None, "shared pairs"
    return block, "groups"


def _by_pairs(
    left: Floats, code: Codes, sizes: Codes, keys: SharedKeys, groups: float, seen: float
) -> tuple[float, float]:
    """Return the expected weighted sum of squares under no interaction, and the p-value of
    ``seen``.

    Both use the covariance of all stratum means (strata x models), column by column to bound
    memory.
    """
    n, m = left.shape
    correction = groups / (groups - 1.0) if groups >= 2.0 else 1.0
    weights = np.sqrt(sizes / n / m)
    trace = square = 0.0
    for stratum, size in enumerate(sizes.tolist()):
        # Each unit's contribution to this stratum's means; they are centered at 0 over all units.
        parts = left * ((code == stratum) / size - 1.0 / n)[:, None]
        partners = correction * partner_sums(keys, parts) * weights[stratum]
        trace += weights[stratum] * float((parts * partners).sum())
        overall = left.T @ partners / n
        for other, other_size in enumerate(sizes.tolist()):
            inside = code == other
            block = left[inside].T @ partners[inside] / other_size - overall
            square += float(((weights[other] * block) ** 2).sum())
    return max(trace, 0.0), quadratic_p(seen, trace, square, groups)


def _shuffled(
    left: Floats, code: Codes, block: Codes, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return the statistic for ``n_resamples`` random assignments of strata to whole blocks."""
    stratum = np.zeros(int(block.max()) + 1, dtype=np.int32)
    stratum[block] = code
    n_strata = int(code.max()) + 1
    number = max(1, _MOST_AT_ONCE // (len(code) * n_strata))
    parts = []
    for start in range(0, n_resamples, number):
        size = min(number, n_resamples - start)
        dealt = rng.permuted(np.broadcast_to(stratum, (size, len(stratum))), axis=1)
        parts.append(_interactions(left, dealt[:, block], n_strata))
    return np.concatenate(parts)


def _interactions(left: Floats, codes: Codes, n_strata: int) -> Floats:
    """Return the weighted deviation of stratum means from 0, for each row of ``codes`` (resamples,
    units).
    """
    member = (codes[:, None, :] == np.arange(n_strata)[None, :, None]).astype(np.float32)
    sizes = np.maximum(member.sum(axis=2, dtype=np.float64), 1.0)
    sums = (member @ left.astype(np.float32)).astype(np.float64)
    squares = ((sums / sizes[:, :, None]) ** 2).mean(axis=2)
    return np.asarray(np.sqrt((squares * sizes).sum(axis=1) / codes.shape[1]))
