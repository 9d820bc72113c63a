"""Weighted means, their differences, and clustered standard errors.

For weights w and residuals e of model r, the sum of ``w_i e_ir w_j e_jr`` over dependent pairs of
units estimates the variance of r's mean. With two models it estimates the covariance, so paired
comparisons use the same matrix.

- "bank": the population is fresh forms of this bank. Items are independent, so only i = j counts.
- "domain": the facts are a sample of a domain. All ordered pairs that share any key count.

Small-sample correction within each group g of the weighting: G / (G - 1), where ``G = n**2 /
(ordered pairs that share, each unit with itself included)``. G is the number of equal disjoint
clusters with as many sharing pairs (Kish's effective count). For such clusters this is the CR1
correction; with nothing shared it is n / (n - 1). The variance of "domain" is floored at that of
"bank": a negative sum of cross products is noise.

Many composed questions over few statements leave few pairs that share nothing, hence few groups.
Each mean then has a second variance, `KeyVariances`, from variance components.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.records.runs import (
    OUTCOMES,
    Estimate,
    Flag,
    Outcome,
    Population,
    Worth,
    population_name,
    resampled_unit,
)
from proofstone.stats.clusters import ErrorParts, SharedKeys, key_matrix, partner_sums
from proofstone.stats.intervals import (
    MeanIntervals,
    Moments,
    Weighting,
    covariance_root,
    divided,
    equal_weights,
    interval_of_means,
    no_estimate,
    unlike_values,
)
from proofstone.stats.resampling import (
    Strata,
    bootstrap_counts,
    disjoint_clusters,
    generator,
    means_by_resample,
)

# Apply a measure's outcome values to scores, then average per unit.

Floats = NDArray[np.float64]


Counts = Mapping[Outcome, Worth]


def outcome_code(outcome: Outcome) -> int:
    """Return the integer code of an outcome in a score table's ``outcome`` column."""
    return OUTCOMES.index(outcome)


def counted_values(counts: Counts, outcome: NDArray[np.int8], value: Floats) -> Floats:
    """Return the value of each of N scores; NaN where it is outside the denominator.

    Outcomes missing from the table are left out, and ``failed`` always. Raises BadUsage for a table
    that counts ``failed``, and BadInput listing the rows without a required value.
    """
    if "failed" in counts:
        raise BadUsage(
            "the measure counts 'failed', but an API error has no score",
            hint="remove 'failed' from the measure's counts; failures are reported separately",
        )
    counted = np.full(len(outcome), np.nan)
    for name, worth in counts.items():
        rows = outcome == outcome_code(name)
        if worth in ("value", "rest"):
            _check_present(name, rows, value)
            counted[rows] = value[rows] if worth == "value" else 1.0 - value[rows]
        elif worth is not None:
            counted[rows] = worth
    return counted


def unit_means(
    unit: NDArray[np.integer],
    respondent: NDArray[np.integer],
    counted: Floats,
    *,
    n_units: int,
    n_respondents: int,
) -> Floats:
    """Return the mean over samples (units, respondents); NaN where nothing counts.

    ``unit``, ``respondent`` and ``counted`` are parallel (N); NaN in ``counted`` is left out.
    """
    kept = ~np.isnan(counted)
    cell = unit[kept].astype(np.int64) * n_respondents + respondent[kept]
    size = n_units * n_respondents
    sums = np.bincount(cell, weights=counted[kept], minlength=size)
    number = np.bincount(cell, minlength=size)
    return divided(sums, number).reshape(n_units, n_respondents)


def _check_present(name: str, rows: NDArray[np.bool_], value: Floats) -> None:
    absent = np.flatnonzero(rows & np.isnan(value))
    if len(absent):
        raise BadInput(
            f"{len(absent)} scores with the outcome {name!r} have no value, but the measure "
            "needs one",
            [Problem(f"score {row}", "expected a number, got none") for row in absent.tolist()],
            hint="score the run again; each answered response should have a value",
        )


# Below this, G / (G - 1) is three or more; such a group is treated as a single unit.
_LONE_BELOW = 1.5


# From this many effective groups on, the pair-sum variance has the nominal coverage.
_BY_KEY_BELOW = 10.0


# Variance components are not used if a key has more than this share of the variance of keys.
_HEAVIEST_KEY = 0.1


# Bounds memory: products of keys x keys are stored.
_MOST_KEYS = 2_000


@dataclass(frozen=True, slots=True)
class KeyVariances:
    """Variances (R) of means of units with overlapping keys, each with its ``degrees`` (R) of
    freedom.

    Model: a value is a constant plus the effects of its unit's keys plus an error. Both variance
    components follow from two sums: of squared residuals, and of squared sums of residuals by key.
    Their expectations are exact for residuals (Henderson 1953, method 1; multiple membership).
    Degrees are Satterthwaite's (1946). No variance is below that of independent units.
    """

    variances: Floats
    degrees: Floats


@dataclass(frozen=True, slots=True)
class Spread(ErrorParts):
    """Weighted means (R) of n units, and each unit's contribution to their errors.

    ``alone`` (n, R) holds corrected, weighted residuals for independent units, ``parts`` those for
    dependent ones. ``groups`` is the effective number of independent groups, ``1 / sum of w_i w_j
    over dependent pairs``: n for n independent equal units, the number of clusters for equal
    disjoint ones. ``is_shared`` is True if any two units are treated as dependent. ``own_groups``
    (R) are the groups of each mean where they differ; ``groups`` is then the smallest. ``by_key``
    holds the variances by key effects, where keys overlap and ``groups`` are few.
    """

    means: Floats
    groups: float
    n_units: int
    population: Population
    is_shared: bool
    flags: tuple[Flag, ...]
    own_groups: Floats | None = None
    by_key: KeyVariances | None = None

    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats]:
        """Return the first and second of every pair of means, their difference, and its variance.

        Each array has R (R - 1) / 2 entries; the difference is the first less the second.
        """
        first, second = np.triu_indices(len(self.means), 1)
        difference = self.means[first] - self.means[second]
        return first, second, difference, self.difference_variances()[first, second]

    def difference_variances(self) -> Floats:
        """Return the variance of ``means[a] - means[b]`` (R, R), floored in the same way and at 0.

        Without the floor at 0, a constant difference can end a rounding error below it.
        """
        independent = np.maximum(_of_differences(self.covariance_alone()), 0.0)
        return np.maximum(independent, _of_differences(self.parts.T @ self.partners))


def measure_spread(
    values: Floats, weighting: Weighting, keys: SharedKeys, population: Population
) -> Spread:
    """Return means and spread of the columns of ``values`` (n units >= 1, R models; no NaN)."""
    alone, n_lone = _parts(values, weighting, weighting.sizes)
    weights = weighting.weights()
    groups = 1.0 / float(weights @ weights)
    parts, partners, is_shared, by_key = alone, alone, False, None
    if population == "domain":
        effective, groups, is_shared = _effective_groups(weighting, keys)
        if is_shared:
            parts, n_lone = _parts(values, weighting, effective)
            partners = partner_sums(keys, parts)
        if is_shared and groups < _BY_KEY_BELOW and keys.groups is None:
            by_key = _by_key(values, weighting, keys, (alone**2).sum(axis=0))
    return Spread(
        means=weighting.group_means(values).mean(axis=0),
        alone=alone,
        parts=parts,
        partners=partners,
        groups=groups,
        n_units=len(values),
        population=population,
        is_shared=is_shared,
        flags=_flags(population, keys, n_lone, weighting),
        by_key=by_key,
    )


def _by_key(
    values: Floats, weighting: Weighting, keys: SharedKeys, floor: Floats
) -> KeyVariances | None:
    """Return the variances by key effects, floored at ``floor`` (R).

    None where there are too many keys, one key dominates, or key effects and errors are not
    separately identifiable.
    """
    holders = key_matrix(keys)
    if holders.shape[1] > _MOST_KEYS:
        return None
    weights = weighting.weights()
    of_keys = (holders.T @ weights) ** 2
    if of_keys.max() > _HEAVIEST_KEY * of_keys.sum():
        return None
    residuals = values - weighting.group_means(values)[weighting.group]
    dense = holders.toarray()
    dense -= weighting.group_means(dense)[weighting.group]
    products = dense.T @ dense
    squared = products @ products
    # Traces of powers of the key products among residuals, and the residuals' own count.
    one, two = float(np.trace(products)), float(np.trace(squared))
    three, four = float((products * squared).sum()), float((squared**2).sum())
    number = float(len(values) - weighting.n_groups)
    determinant = one**2 - number * two
    if not determinant < -1e-9 * number * two:
        return None
    squares = (residuals**2).sum(axis=0)
    by_key = ((holders.T @ residuals) ** 2).sum(axis=0)
    effect = np.maximum((one * squares - number * by_key) / determinant, 0.0)
    error = np.maximum((one * by_key - two * squares) / determinant, 0.0)
    error = np.where(effect > 0.0, error, squares / number)
    of_effect, of_error = float(of_keys.sum()), float(weights @ weights)
    # The variance is this combination of the two sums; so are its expectation and variance.
    on_squares = (of_effect * one - of_error * two) / determinant
    on_keys = (of_error * one - of_effect * number) / determinant
    constant = on_squares * error
    linear = on_squares * effect + on_keys * error
    square = on_keys * effect
    expected = constant * number + linear * one + square * two
    spread = (
        constant**2 * number
        + 2.0 * constant * linear * one
        + (linear**2 + 2.0 * constant * square) * two
        + 2.0 * linear * square * three
        + square**2 * four
    )
    is_known = spread > 0.0
    degrees = np.where(is_known, expected**2 / np.where(is_known, spread, 1.0), number)
    variances = np.maximum(of_effect * effect + of_error * error, floor)
    return KeyVariances(variances, np.minimum(degrees, number))


def _parts(values: Floats, weighting: Weighting, effective: Floats) -> tuple[Floats, int]:
    """Return each unit's corrected contribution to each mean's error (n, R), and the number of lone
    groups.

    A lone group (one unit, or units that all share a cluster key) has no separate residual. It is
    centered at the mean of all groups instead. That is conservative, as in surveys with one
    sampling unit in a stratum.
    """
    means = weighting.group_means(values)
    lone = effective < _LONE_BELOW
    centres = np.where(lone[:, None], means.mean(axis=0), means)
    counts = np.where(lone, np.inf, effective)
    correction = np.ones_like(counts)
    correction[~lone] = np.sqrt(counts[~lone] / (counts[~lone] - 1.0))
    scale = weighting.weights() * correction[weighting.group]
    return (values - centres[weighting.group]) * scale[:, None], int(lone.sum())


def _effective_groups(weighting: Weighting, keys: SharedKeys) -> tuple[Floats, float, bool]:
    """Return G within each group of the weighting, G over all, and True if any pair shares a
    key.
    """
    n = len(weighting.group)
    weights = weighting.weights()
    columns = np.zeros((n, weighting.n_groups + 2))
    columns[np.arange(n), weighting.group] = 1.0
    columns[:, -2], columns[:, -1] = 1.0, weights
    # Elementwise sums, not a matrix product: BLAS threads cost more here than they save.
    sums = partner_sums(keys, columns)
    within = (columns[:, :-2] * sums[:, :-2]).sum(axis=0)
    groups = 1.0 / float((weights * sums[:, -1]).sum())
    return weighting.sizes**2 / within, groups, bool(sums[:, -2].sum() > n)


def _flags(
    population: Population, keys: SharedKeys, n_lone: int, weighting: Weighting
) -> tuple[Flag, ...]:
    found: list[Flag] = []
    if population == "domain" and not len(keys.unit):
        found.append("no-keys")
    if n_lone and weighting.n_groups > 1:
        found.append("lone-units")
    return tuple(found)


def _of_differences(covariance: Floats) -> Floats:
    own = np.diag(covariance)
    return own[:, None] + own[None, :] - covariance - covariance.T


# Mean scores with intervals that state their target population.

_FEW_GROUPS = 50.0 - 1e-6  # sums of weights can end a rounding error below it


def mean_estimates(
    values: Floats,
    weighting: Weighting,
    keys: SharedKeys,
    *,
    population: Population,
    confidence: float = 0.95,
    n_parts: int | None = None,
) -> tuple[Estimate, ...]:
    """Return one estimate per column of ``values``: (n units, R models), shares in [0, 1], no NaN.

    A unit with several samples enters once, as their mean. ``n_parts`` is the number of binary
    answers behind the values of a column, where a unit's value averages several; it caps the
    effective size. Without units the result is NaN, flagged.
    """
    if not len(values):
        nothing = no_estimate(population_name(population), confidence, "items")
        return tuple(nothing for _ in range(values.shape[1]))
    spread = measure_spread(values, weighting, keys, population)
    return estimates_of(spread, values, weighting, confidence=confidence, n_parts=n_parts)


def median_estimate(
    values: Floats, keys: SharedKeys, *, population: Population, confidence: float = 0.95
) -> Estimate:
    """Return the median of ``values`` (n units) with its interval; NaN without units.

    The interval is Woodruff's (1952, JASA 47): that of the share of units below the median, as
    ``mean_estimates`` makes it, read off the quantiles. Units at the median count half.
    """
    if not len(values):
        return no_estimate(population_name(population), confidence, "items")
    middle = float(np.median(values))
    below = np.where(values == middle, 0.5, (values < middle).astype(np.float64))
    (share,) = mean_estimates(
        below[:, None], equal_weights(len(values)), keys, population=population,
        confidence=confidence,
    )  # fmt: skip
    ends = np.clip([0.5 + share.low - share.value, 0.5 + share.high - share.value], 0.0, 1.0)
    low, high = np.quantile(values, ends).tolist()
    return structs.replace(share, value=middle, low=min(low, middle), high=max(high, middle))


def estimates_of(
    spread: Spread,
    values: Floats,
    weighting: Weighting,
    *,
    confidence: float,
    n_parts: int | None = None,
) -> tuple[Estimate, ...]:
    """Return the interval of each mean of ``values`` from ``spread`` by ``interval_of_means``.

    Units with overlapping keys use the variance and degrees of freedom of ``spread.by_key`` where
    present; otherwise the degrees are G - 1. Without either the interval is [0, 1], flagged.
    """
    found = interval_of_means(_moments(spread, values, weighting, n_parts), confidence)
    return tuple(
        Estimate(
            value=float(spread.means[r]),
            n=spread.n_units,
            low=float(found.low[r]),
            high=float(found.high[r]),
            level=confidence,
            population=population_name(spread.population),
            made_by=found.made_by[r],
            resampled=resampled_unit(is_shared=spread.is_shared),
            effective_n=float(found.size[r]),
            flags=_means_flags(spread, found, r),
        )
        for r in range(len(spread.means))
    )


def _moments(spread: Spread, values: Floats, weighting: Weighting, n_parts: int | None) -> Moments:
    m = len(spread.means)
    weights = weighting.weights()
    variances, degrees = spread.variances(), np.full(m, max(spread.groups - 1.0, 0.0))
    if spread.by_key is not None:
        variances, degrees = spread.by_key.variances, spread.by_key.degrees
    elif spread.groups < 2.0:
        degrees = np.zeros(m)
    return Moments(
        n=np.full(m, float(spread.n_units)),
        means=spread.means,
        squares=weights @ values**2,
        variances=variances,
        degrees=degrees,
        groups=np.full(m, spread.groups),
        unlike=unlike_values(values, weights),
        is_binary=((values == 0.0) | (values == 1.0)).all(axis=0),
        is_plain=np.full(m, not spread.is_shared and weighting.n_groups == 1),
        most=float("inf") if n_parts is None else float(n_parts),
    )


def _means_flags(spread: Spread, found: MeanIntervals, r: int) -> tuple[Flag, ...]:
    flags = list(spread.flags)
    if found.is_plain[r]:
        return tuple(flags)
    if found.is_alike[r]:
        flags.append("no-spread")
    if found.is_few[r]:
        flags.append("few-values")
    if found.is_none[r]:
        flags.append("one-group")
    elif spread.groups < _FEW_GROUPS:
        flags.append("few-groups")
    return tuple(flags)


# Bootstrap means of all models, for statistics of means that have no closed-form interval.

_PURPOSE = 6


# From this many items on, the normal approximation is close and cheaper.
_NORMAL_FROM = 5_000


@dataclass(frozen=True, slots=True)
class BootstrapMeans:
    """The ``means`` (m) of m models and their resamples ``drawn`` (m, resamples).

    ``resampled`` names the resampled unit, ``made_by`` the method and seed, ``population`` the
    target population.
    """

    means: Floats
    drawn: Floats
    n_units: int
    resampled: str
    made_by: str
    population: str

    def noise(self) -> float:
        """Return the sampling variance of one model's mean without the part shared by all models.

        It is half the mean variance of a difference; NaN for one model.
        """
        m = len(self.means)
        if m < 2:
            return float("nan")
        centred = self.drawn - self.drawn.mean(axis=0)
        return float(centred.var(axis=1).sum() / (m - 1))


def bootstrap_means(
    values: Floats,
    keys: SharedKeys,
    *,
    population: Population = "domain",
    strata: NDArray[np.integer] | None = None,
    n_resamples: int = 2_000,
    seed: int = 0,
    stream: int = 0,
) -> BootstrapMeans:
    """Return resampled means of ``values`` (U units, m models; NaN where missing).

    Items, or clusters of items that share facts, are resampled with replacement within ``strata``
    (U). Where sets of items overlap, means are sampled from a normal distribution with the pair-sum
    covariance, on the items that all models have. The same applies to 5,000 items or more without
    strata or missing cells. Two benchmarks with different items need different ``stream`` numbers.
    """
    rng = generator(seed, _PURPOSE, stream)
    if not len(values):
        return _undrawn(values.shape[1], n_resamples, population)
    shares = population == "domain" and len(keys.unit) > 0
    clusters = disjoint_clusters(keys) if shares else None
    is_many = len(values) >= _NORMAL_FROM and strata is None and not np.isnan(values).any()
    if (shares and clusters is None) or is_many:
        return _normal(values, keys, population, n_resamples, seed, rng)
    if clusters is None:
        clusters = np.arange(len(values))
    counts = _counts(clusters, strata, n_resamples, rng)
    whole = np.ones((1, len(values)), dtype=np.float32)
    what = "clusters of items" if shares else "items"
    return BootstrapMeans(
        means=means_by_resample(whole, values)[:, 0],
        drawn=means_by_resample(counts, values),
        n_units=len(values),
        resampled=f"{what} within strata" if strata is not None else what,
        made_by=f"bootstrap, {n_resamples} resamples, seed {seed}",
        population=population_name(population),
    )


def bootstrap_shares(shares: Floats, n: int, *, n_resamples: int = 2_000, seed: int = 0,
                stream: int = 0) -> BootstrapMeans:  # fmt: skip
    """Return binomial samples where only ``shares`` (m) of ``n`` items are known.

    Each model is treated as if it had its own items, which gives wider spread than shared items.
    """
    rng = generator(seed, _PURPOSE, stream)
    drawn = rng.binomial(max(n, 1), np.clip(shares, 0.0, 1.0)[:, None], (len(shares), n_resamples))
    known = drawn / n if n else np.full(drawn.shape, np.nan)
    return BootstrapMeans(
        means=shares,
        drawn=known,
        n_units=n,
        resampled="items, separately for each model" if n else "",
        made_by=f"binomial, {n_resamples} samples, seed {seed}" if n else "none",
        population="questions like these",
    )


def _undrawn(m: int, n_resamples: int, population: Population) -> BootstrapMeans:
    drawn = np.full((m, n_resamples), np.nan)
    return BootstrapMeans(drawn.mean(axis=1), drawn, 0, "", "none", population_name(population))


def _counts(
    clusters: NDArray[np.integer],
    strata: NDArray[np.integer] | None,
    n_resamples: int,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Return the count of each unit in each resample (resamples, U), by whole clusters.

    A cluster belongs to the stratum of its first unit.
    """
    _, first, member = np.unique(clusters, return_index=True, return_inverse=True)
    drawn_from = Strata.of(None if strata is None else strata[first], len(first))
    counts = np.empty((n_resamples, len(first)), dtype=np.float32)
    counts[:, drawn_from.order] = bootstrap_counts(drawn_from, n_resamples, rng)
    return counts[:, member]


def _normal(
    values: Floats,
    keys: SharedKeys,
    population: Population,
    n_resamples: int,
    seed: int,
    rng: np.random.Generator,
) -> BootstrapMeans:
    units = np.flatnonzero(~np.isnan(values).any(axis=1))
    if not len(units):
        return _undrawn(values.shape[1], n_resamples, population)
    spread = measure_spread(values[units], equal_weights(len(units)), keys.among(units), population)
    root = covariance_root(spread.covariance())
    normal = rng.standard_normal((root.shape[1], n_resamples))
    return BootstrapMeans(
        means=spread.means,
        drawn=spread.means[:, None] + root @ normal,
        n_units=len(units),
        resampled=resampled_unit(is_shared=spread.is_shared),
        made_by=f"normal approximation to the means, {n_resamples} samples, seed {seed}",
        population=population_name(population),
    )
