"""Paired and unpaired differences between conditions, with one joint covariance.

The joint covariance allows the differences themselves to be compared. Each difference is a sum over
units. Units that share a cluster key are dependent in any condition: two forms of one bank hold
different questions on the same facts. So the covariance of all differences is one sum over pairs of
units that share a cluster key, as in `spread`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray
from scipy import special

from proofstone.records.runs import (
    FEW_GROUPS,
    Estimate,
    Flag,
    Population,
    group_flags,
    population_name,
    resampled_unit,
)
from proofstone.stats.clusters import ErrorParts, SharedKeys, cluster_sums, partner_sums
from proofstone.stats.estimates import Spread, measure_spread
from proofstone.stats.intervals import (
    NO_SPREAD_BELOW,
    divided,
    equal_weights,
    normal_quantile,
    t_quantile,
    t_two_sided_p,
)
from proofstone.stats.power import separations
from proofstone.stats.ranks import Comparison, rank_all
from proofstone.stats.resampling import generator

# Paired permutation test: swap the two models at random, by unit or cluster. It assumes no
# distribution.
#
# Under the null hypothesis each unit's two values are exchangeable, so the sign of its difference
# is random (Fisher 1935, section 21). Units that share knowledge are swapped together. That needs
# disjoint clusters. Where sets of units overlap, none can be swapped separately; use the clustered
# t-test instead (`rank_all`).

Floats = NDArray[np.float64]


_PURPOSE = 3


# Up to this many clusters all sign patterns are enumerated: 2**14.
_MOST_EXACT = 14


_MOST_AT_ONCE = 4_000_000


class SignFlip(Struct, frozen=True, kw_only=True):
    """Sign-flip test of the ``difference`` of two means on the same units.

    ``p`` is the two-sided share of sign patterns whose difference is at least as far from 0.
    ``n_patterns`` patterns of ``n_flipped`` units or clusters: all where ``is_exact``, otherwise
    sampled by ``seed`` (including the observed one). Units missing for either model are left out.
    """

    difference: float
    p: float
    n_units: int
    n_flipped: int
    resampled: str
    n_patterns: int
    is_exact: bool
    seed: int


def sign_flip(
    first: Floats,
    second: Floats,
    clusters: NDArray[np.integer] | None = None,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> SignFlip:
    """Return the test of two columns (units, NaN where missing); ``clusters`` are codes (units)."""
    difference = (first - second)[:, None]
    kept = ~np.isnan(difference[:, 0])
    sums = _cluster_sums(difference[kept], None if clusters is None else clusters[kept])
    n = int(kept.sum())
    is_exact = len(sums) <= _MOST_EXACT
    return SignFlip(
        difference=float(sums.sum() / n) if n else float("nan"),
        p=float(_share_as_far(sums, n_resamples, seed)[0]),
        n_units=n,
        n_flipped=len(sums),
        resampled="items" if clusters is None else "clusters",
        n_patterns=2 ** len(sums) if is_exact else n_resamples,
        is_exact=is_exact,
        seed=seed,
    )


def sign_flip_p(
    values: Floats,
    clusters: NDArray[np.integer] | None = None,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Floats:
    """Return the p-values of all pairs of columns (R, R), symmetric, ones on the diagonal.

    ``values`` is (units, R). A unit missing for one of a pair is left out of that pair.
    """
    m = values.shape[1]
    first, second = np.triu_indices(m, 1)
    p = np.ones((m, m))
    if not np.isnan(values).any():
        found = _share_as_far(_cluster_sums(values, clusters), n_resamples, seed, (first, second))
        p[first, second] = p[second, first] = found
        return p
    for a in range(m - 1):
        others = second[first == a]
        differences = np.nan_to_num(values[:, a : a + 1] - values[:, others])
        p[a, others] = p[others, a] = _share_as_far(
            _cluster_sums(differences, clusters), n_resamples, seed
        )
    return p


def _cluster_sums(differences: Floats, clusters: NDArray[np.integer] | None) -> Floats:
    """Return the sum of each cluster's differences (clusters, C); each unit's without
    ``clusters``.
    """
    return differences if clusters is None else cluster_sums(differences, clusters)


def _share_as_far(
    sums: Floats,
    n_resamples: int,
    seed: int,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
) -> Floats:
    """Return the p-value of every column, or of the difference of every pair of columns.

    With few rows all sign patterns are used, otherwise sampled ones and the observed one.
    """

    def statistic(signs: Floats) -> Floats:
        # The difference of two flipped sums is the flipped sum of differences.
        flipped = signs @ sums
        return np.abs(flipped if pairs is None else flipped[:, pairs[0]] - flipped[:, pairs[1]])

    # Sums that are equal up to the order of summation count as equal.
    slack = 1e-9 * max(float(np.abs(sums).sum(axis=0).max(initial=0.0)), 1.0)
    bound = statistic(np.ones((1, len(sums))))[0] - slack
    if len(sums) <= _MOST_EXACT:
        return np.asarray((statistic(_all_signs(len(sums))) >= bound).mean(axis=0))
    rng, reached = generator(seed, _PURPOSE), np.zeros(len(bound), dtype=np.int64)
    block = max(1, _MOST_AT_ONCE // len(sums))
    left = n_resamples - 1
    while left > 0:
        number = min(block, left)
        flips = rng.integers(0, 2, (number, len(sums)), dtype=np.int8)
        signs: Floats = flips.astype(np.float64) * 2.0 - 1.0
        reached += (statistic(signs) >= bound).sum(axis=0)
        left -= number
    return (reached + 1.0) / n_resamples


def _all_signs(n: int) -> Floats:
    patterns = np.arange(2**n)[:, None] >> np.arange(n)
    return np.asarray(1.0 - 2.0 * (patterns & 1))


# Two models on the same binary units: only discordant units are informative.


class McNemar(Struct, frozen=True, kw_only=True):
    """Counts of a pair's four outcomes, and McNemar's exact test of the discordant ones.

    ``p`` is two-sided, from the binomial of the smaller of ``only_first`` and ``only_second`` in
    their sum (McNemar 1947, exact). ``mid_p`` counts half the probability of the observed value
    (Fagerland, Lydersen and Laake 2013) and is less conservative. Units are treated as independent.
    ``left_out`` units were missing, or neither 0 nor 1, for one of the two. Without discordant
    units both p-values are 1.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    left_out: int
    p: float
    mid_p: float


def mcnemar(first: Floats, second: Floats) -> McNemar:
    """Return McNemar's test of two columns of 0, 1 and NaN (units)."""
    kept = _is_plain(first) & _is_plain(second)
    a, b = first[kept] == 1.0, second[kept] == 1.0
    only_first, only_second = int((a & ~b).sum()), int((~a & b).sum())
    p, mid_p = mcnemar_p(np.array(only_first), np.array(only_second))
    return McNemar(
        both=int((a & b).sum()),
        only_first=only_first,
        only_second=only_second,
        neither=int((~a & ~b).sum()),
        left_out=int((~kept).sum()),
        p=float(p),
        mid_p=float(mid_p),
    )


def mcnemar_p(
    only_first: NDArray[np.integer], only_second: NDArray[np.integer]
) -> tuple[Floats, Floats]:
    """Return exact and mid p-values of discordant counts, of any shape."""
    fewer = np.minimum(only_first, only_second)
    total = only_first + only_second
    at_most = special.bdtr(fewer, total, 0.5)
    exactly = at_most - np.where(fewer > 0, special.bdtr(np.maximum(fewer - 1, 0), total, 0.5), 0.0)
    balanced = only_first == only_second
    p = np.where(balanced, 1.0, np.minimum(2.0 * at_most, 1.0))
    mid_p = np.where(balanced, 1.0 - exactly / 2.0, 2.0 * at_most - exactly)
    return p, np.where(total > 0, mid_p, 1.0)


def _is_plain(values: Floats) -> NDArray[np.bool_]:
    return np.asarray((values == 0.0) | (values == 1.0))


Bools = NDArray[np.bool_]


# Conditions are paired where at least this share of the smaller one's units is in the other as
# well.
_PAIRED_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Contrasts(ErrorParts):
    """C differences of means over U units; ``values`` (C) is NaN where a condition has no unit.

    ``degrees`` (C) are those of its t-test: groups less one where paired, otherwise Welch's. NaN
    with fewer than two effective groups in a condition. ``n_units`` (C, 2) counts the units of each
    mean, the same ones where ``is_paired`` (C).
    """

    values: Floats
    degrees: Floats
    n_units: NDArray[np.int64]
    is_paired: Bools
    population: Population
    flags: tuple[Flag, ...]

    def combined(self, weights: Floats) -> Contrasts:
        """Return D linear combinations of the differences; ``weights`` is (C, D).

        A combination has the fewest degrees and units of its terms.
        """
        used = weights != 0.0
        lost = (used & np.isnan(self.values)[:, None]).any(axis=0) | ~used.any(axis=0)
        columns = [np.flatnonzero(used[:, d]) for d in range(weights.shape[1])]
        degrees = np.array([self.degrees[c].min(initial=np.inf) for c in columns])
        fewest = [self.n_units[c].min(axis=0) if len(c) else [0, 0] for c in columns]
        return Contrasts(
            values=np.where(lost, np.nan, np.nan_to_num(self.values) @ weights),
            alone=self.alone @ weights,
            parts=self.parts @ weights,
            partners=self.partners @ weights,
            degrees=np.where(lost, np.nan, degrees),
            n_units=np.array(fewest, dtype=np.int64).reshape(-1, 2),
            is_paired=np.array([self.is_paired[c].all() for c in columns], dtype=bool),
            population=self.population,
            flags=self.flags,
        )

    def p(self) -> Floats:
        """Return two-sided p-values (C) of a t-test.

        Where a difference is the same on every unit, it is a sign test over the groups. 1 where no
        test is possible.
        """
        known = ~np.isnan(self.degrees) & ~np.isnan(self.values)
        degrees = np.where(known, self.degrees, 1.0)
        variance = np.where(known, self.variances(), 1.0)
        alike = variance < NO_SPREAD_BELOW
        t = np.where(known, self.values, 0.0) / np.sqrt(np.where(alike, 1.0, variance))
        by_sign = np.where(t == 0.0, 1.0, np.minimum(1.0, 0.5**degrees))
        return np.where(known, np.where(alike, by_sign, t_two_sided_p(t, degrees)), 1.0)

    def estimates(self, *, confidence: float = 0.95, bound: float = 1.0) -> tuple[Estimate, ...]:
        """Return one estimate per difference, with its interval within [-bound, bound]."""
        variances = self.variances()
        is_shared = not np.array_equal(self.parts, self.partners)
        found = []
        for c, value in enumerate(self.values.tolist()):
            degrees, half = float(self.degrees[c]), np.inf
            if not np.isnan(degrees):
                half = t_quantile(degrees, confidence) * float(np.sqrt(variances[c]))
            nothing = bool(np.isnan(value))
            found.append(
                Estimate(
                    value=value,
                    n=int(self.n_units[c].min()),
                    low=value if nothing else max(value - half, -bound),
                    high=value if nothing else min(value + half, bound),
                    level=confidence,
                    population=population_name(self.population),
                    made_by=self._made_by(c),
                    resampled=resampled_unit(is_shared=is_shared),
                    effective_n=0.0 if np.isnan(degrees) else degrees + 1.0,
                    flags=self._flags(c, is_alike=bool(variances[c] < NO_SPREAD_BELOW)),
                )
            )
        return tuple(found)

    def _made_by(self, c: int) -> str:
        if np.isnan(self.values[c]) or np.isnan(self.degrees[c]):
            return "none"
        how = "paired" if self.is_paired[c] else "not paired"
        return f"{how}, t on {self.degrees[c]:.1f} degrees"

    def _flags(self, c: int, *, is_alike: bool) -> tuple[Flag, ...]:
        if np.isnan(self.values[c]):
            return ("no-scores",)
        found: list[Flag] = list(self.flags)
        if np.isnan(self.degrees[c]):
            return (*found, "one-group")
        if is_alike:
            found.append("no-spread")
        if self.degrees[c] + 1.0 < FEW_GROUPS:
            found.append("few-groups")
        return tuple(found)


def measure_contrasts(
    before: Floats,
    after: Floats,
    keys: SharedKeys,
    population: Population = "domain",
    *,
    paired: bool | None = None,
) -> Contrasts:
    """Return ``after`` less ``before`` by column; both (U, C), NaN for a unit not in the condition.

    Where at least half of the smaller condition's units are in both, the difference is paired and
    uses only the units in both. Otherwise each mean uses all units of its condition, and units in
    both still count as the same. ``paired`` forces one or the other.
    """
    is_before, is_after = ~np.isnan(before), ~np.isnan(after)
    both = is_before & is_after
    smaller = np.minimum(is_before.sum(axis=0), is_after.sum(axis=0))
    in_pairs = both.sum(axis=0) >= _PAIRED_FROM * smaller if paired is None else paired
    is_paired = (smaller > 0) & in_pairs
    gain = np.where(both, after, 0.0) - np.where(both, before, 0.0)
    plus = _term(
        np.where(is_paired, gain, after), np.where(is_paired, both, is_after), keys, population
    )
    minus = _term(np.where(is_paired, 0.0, before), ~is_paired & is_before, keys, population)
    nothing = np.where(is_paired, 0.0, np.nan)
    counts = np.stack([np.where(is_paired, plus.n, minus.n), plus.n], axis=1)
    return Contrasts(
        values=plus.mean - np.where(minus.n > 0, minus.mean, nothing),
        alone=plus.alone - minus.alone,
        parts=plus.parts - minus.parts,
        partners=plus.partners - minus.partners,
        degrees=_degrees(plus, minus, is_paired),
        n_units=counts.astype(np.int64),
        is_paired=is_paired,
        population=population,
        flags=("no-keys",) if population == "domain" and not len(keys.unit) else (),
    )


@dataclass(frozen=True, slots=True)
class _Term(ErrorParts):
    """The mean of each column (C) over its n units, its residuals, and its effective groups."""

    mean: Floats
    n: NDArray[np.int64]
    groups: Floats


def _term(values: Floats, mask: Bools, keys: SharedKeys, population: Population) -> _Term:
    n = mask.sum(axis=0)
    held = np.where(mask, values, 0.0)
    mean = divided(held.sum(axis=0), n)
    residual = np.where(mask, held - np.nan_to_num(mean), 0.0) / np.maximum(n, 1)
    alone = residual * _correction(n.astype(np.float64))
    if population == "bank" or not len(keys.unit):
        return _Term(alone, alone, alone, mean, n, n.astype(np.float64))
    ones = mask.astype(np.float64)
    sharing = (ones * partner_sums(keys, ones)).sum(axis=0)
    groups = n**2 / np.maximum(sharing, 1.0)
    parts = residual * _correction(groups)
    return _Term(alone, parts, partner_sums(keys, parts), mean, n, groups)


def _correction(groups: Floats) -> Floats:
    """Return the root of G / (G - 1); 0 below two groups, where the variance is unknown."""
    enough = groups >= 2.0
    return np.asarray(np.sqrt(np.where(enough, groups / np.where(enough, groups - 1.0, 1.0), 1.0)))


def _degrees(plus: _Term, minus: _Term, paired: Bools) -> Floats:
    """Return groups less one where paired, otherwise Welch-Satterthwaite degrees; NaN where
    unknown."""
    own, other = plus.variances(), minus.variances()
    few = (plus.groups < 2.0) | (~paired & (minus.groups < 2.0))
    d_own, d_other = np.maximum(plus.groups - 1.0, 1.0), np.maximum(minus.groups - 1.0, 1.0)
    scale = own**2 / d_own + other**2 / d_other
    fewest = np.where(paired, d_own, np.minimum(d_own, d_other))
    welch = np.where(scale > 0.0, (own + other) ** 2 / np.where(scale > 0.0, scale, 1.0), fewest)
    return np.where(few, np.nan, np.where(paired, d_own, welch))


# One pair on the same units: its difference, and how many units would decide it against a bound.
#
# The t interval of a difference is too narrow where few units differ; its width is 0 where none
# does. So it is never narrower than Bonett and Price's (2012, adjusted Wald) on binary units. Where
# all differences are equal, it holds what the number of groups leaves possible.


class PairedDifference(Struct, frozen=True, kw_only=True):
    """Paired difference: the second's mean minus the first's, ``p`` from the clustered t-test.

    ``rises``, ``falls`` and ``level`` count the units where the second is above, below or equal to
    the first.
    """

    estimate: Estimate
    p: float
    standard_error: float
    rises: int
    falls: int
    level: int


def compare_pair(
    first: Floats,
    second: Floats,
    keys: SharedKeys,
    *,
    population: Population = "domain",
    confidence: float = 0.95,
) -> PairedDifference:
    """Return the second less the first of two columns (units) of shares in [0, 1], no NaN.

    Without units everything is NaN and p is 1. With fewer than two independent groups the interval
    is [-1, 1].
    """
    difference = second - first
    rises, falls = int((difference > 0).sum()), int((difference < 0).sum())
    counts = {"rises": rises, "falls": falls, "level": len(difference) - rises - falls}
    if not len(difference):
        nan = math.nan
        nothing = _estimate(nan, nan, nan, 0, 0.0, population, confidence, "none")
        return PairedDifference(estimate=nothing, p=1.0, standard_error=math.nan, **counts)
    spread = measure_spread(
        np.column_stack([second, first]), equal_weights(len(first)), keys, population
    )
    (compared,) = rank_all(spread, confidence=confidence).comparisons
    variance = float(spread.difference_variances()[0, 1])
    low, high, made_by = _interval(compared, first, second, spread, variance, confidence)
    return PairedDifference(
        estimate=_estimate(
            compared.difference,
            low,
            high,
            len(first),
            spread.groups,
            population,
            confidence,
            made_by,
            is_shared=spread.is_shared,
        ),
        p=compared.p,
        standard_error=math.sqrt(variance),
        **counts,
    )


def compare_spread(
    spread: Spread, *, clusters: str, confidence: float = 0.95
) -> tuple[Estimate, float]:
    """Return the second less the first of two models, and the p-value of the t-test that they are
    equal.

    ``spread`` is over ``clusters``, whose values need not be unit means (`ratio_spread`).
    """
    (compared,) = rank_all(spread, confidence=confidence).comparisons
    value = 0.0 - compared.difference
    low, high, made_by = -1.0, 1.0, "none"
    if spread.groups >= 2.0:
        low, high = 0.0 - compared.high, 0.0 - compared.low
        made_by = f"delta method, clustered t on {spread.groups - 1.0:.1f} degrees"
        if spread.difference_variances()[0, 1] < NO_SPREAD_BELOW:
            low, high = _if_alike(value, spread.groups, confidence)
            made_by = f"all {clusters} equal"
    estimate = _estimate(
        value, low, high, spread.n_units, spread.groups, "domain", confidence, made_by
    )
    named = {"population": f"{clusters} like these", "resampled": clusters}
    return structs.replace(estimate, **named), compared.p


def units_to_pass(
    first: Floats,
    second: Floats,
    keys: SharedKeys,
    bound: float,
    *,
    population: Population = "domain",
    confidence: float = 0.95,
    power: float = 0.8,
) -> float:
    """Return how many units like these put the whole interval on one side of ``bound``, with
    ``power``.

    The observed difference is taken as the true one. Infinite where it equals the bound; NaN with
    fewer than two independent groups.
    """
    if not len(first):
        return math.nan
    shifted = np.column_stack([second - bound, first])
    spread = measure_spread(shifted, equal_weights(len(first)), keys, population)
    (needed,) = separations(spread, [(0, 1)], confidence=confidence, power=power)
    if math.isnan(needed.needed) or math.isinf(needed.needed):
        return needed.needed
    # Rounding can leave some variance where every unit has the same difference.
    varies = bool(np.ptp(second - first) > 0.0)
    if varies and needed.standard_error**2 >= NO_SPREAD_BELOW:
        return math.ceil(needed.needed)
    value = needed.difference + bound
    room = needed.difference / (1.0 + value) if needed.difference > 0 else 0.0
    room = -needed.difference / (1.0 - value) if needed.difference < 0 else room
    if room >= 1.0:
        return math.ceil(needed.needed)
    groups = math.log((1.0 - confidence) / 2.0) / math.log1p(-room)
    return math.ceil(max(groups, 3.0) * len(first) / spread.groups)


def _interval(
    compared: Comparison,
    first: Floats,
    second: Floats,
    spread: Spread,
    variance: float,
    confidence: float,
) -> tuple[float, float, str]:
    value = compared.difference
    if spread.groups < 2.0:
        return -1.0, 1.0, "none"
    if variance < NO_SPREAD_BELOW:
        return *_if_alike(value, spread.groups, confidence), "the same difference on all units"
    low, high = compared.low, compared.high
    made_by = f"clustered t on {spread.groups - 1.0:.1f} degrees"
    if not _are_plain(first, second):
        return low, high, made_by
    wald = _adjusted_wald(first, second, confidence)
    if wald[0] < low or wald[1] > high:
        made_by += ", no narrower than Bonett and Price's"
    return min(low, wald[0]), max(high, wald[1]), made_by


def _if_alike(value: float, groups: float, confidence: float) -> tuple[float, float]:
    """Return the interval of a difference that is the same on every unit.

    The ends allow for the share of other units that a sample of so many groups can still miss.
    """
    share = 1.0 - ((1.0 - confidence) / 2.0) ** (1.0 / groups)
    return value - share * (1.0 + value), value + share * (1.0 - value)


def _adjusted_wald(first: Floats, second: Floats, confidence: float) -> tuple[float, float]:
    """Return the interval of Bonett and Price (2012), which adds one unit to each discordant
    cell.
    """
    n = len(first) + 2.0
    rises, falls = ((second > first).sum() + 1.0) / n, ((second < first).sum() + 1.0) / n
    value = rises - falls
    half = normal_quantile(confidence) * math.sqrt((rises + falls - value**2) / n)
    return max(float(value - half), -1.0), min(float(value + half), 1.0)


def _are_plain(first: Floats, second: Floats) -> bool:
    both = np.concatenate([first, second])
    return bool(((both == 0.0) | (both == 1.0)).all())


def _estimate(
    value: float,
    low: float,
    high: float,
    n: int,
    groups: float,
    population: Population,
    confidence: float,
    made_by: str,
    *,
    is_shared: bool = False,
) -> Estimate:
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        population=population_name(population),
        made_by=made_by,
        resampled=resampled_unit(is_shared=is_shared),
        effective_n=groups,
        flags=group_flags(n, groups),
    )
