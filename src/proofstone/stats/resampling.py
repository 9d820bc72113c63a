"""Resampling of units within strata, as counts: one row per resample, one column per unit.

Every statistic is a matrix product of such counts with the values, so there is no Python loop over
resamples. Random numbers are NumPy's PCG64; they are used in statistics and never in an id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from proofstone.records.runs import Estimate, Flag, Population, group_flags, population_name
from proofstone.stats.clusters import SharedKeys, block_sums, partner_sums
from proofstone.stats.intervals import divided, no_estimate, percentiles

Counts = NDArray[np.float32]


Integers = NDArray[np.int64]


Floats = NDArray[np.float64]


# Counts in memory: 32 MB, and a few times that while they are made.
_MOST_COUNTS = 8_000_000


# Part of them processed at a time: fitting the cache doubles the speed.
_IN_CACHE = 50_000


@dataclass(frozen=True, slots=True)
class Strata:
    """Partition of n units: ``order`` (n) sorts units by stratum, ``sizes`` are theirs, none 0."""

    order: Integers
    sizes: Integers

    @classmethod
    def of(cls, codes: NDArray[np.integer] | None, n_units: int) -> Strata:
        """Return units by stratum code (any integers); one stratum without codes."""
        if codes is None:
            codes = np.zeros(n_units, dtype=np.int64)
        order = np.argsort(codes, kind="stable").astype(np.int64)
        return cls(order, np.unique(codes, return_counts=True)[1].astype(np.int64))

    @property
    def ends(self) -> Integers:
        """Return the end (exclusive) of each stratum in ``order``."""
        return np.cumsum(self.sizes)


def generator(seed: int, *purpose: int) -> np.random.Generator:
    """Return the random stream of ``seed`` >= 0 for one purpose; streams of other purposes are
    unrelated.
    """
    return np.random.default_rng([seed, *purpose])


def blocks_of_resamples(n_units: int, n_resamples: int) -> Iterator[int]:
    """Yield block sizes that sum to ``n_resamples`` and bound memory."""
    block = max(1, _MOST_COUNTS // max(n_units, 1))
    for start in range(0, n_resamples, block):
        yield min(block, n_resamples - start)


def allocate(sizes: Sequence[int] | Integers, rate: float) -> Integers:
    """Return how many units of each stratum a subsample holds: ``rate`` of all, half rounded up.

    At least one in total. Shared out by largest remainder; ties go to the earlier stratum.
    """
    whole = np.asarray(sizes, dtype=np.int64)
    if not len(whole):
        return whole
    total = max(1, int(np.floor(rate * whole.sum() + 0.5)))
    exact = whole * (total / whole.sum())
    drawn: Integers = np.floor(exact + 1e-9).astype(np.int64)
    left = total - int(drawn.sum())
    drawn[np.argsort(drawn - exact, kind="stable")[:left]] += 1
    return drawn


def subsample_counts(
    strata: Strata, rate: float, n_resamples: int, rng: np.random.Generator
) -> Counts:
    """Return subsamples without replacement (subsamples, units in ``strata.order``): 1 if included.

    Each holds ``allocate(sizes, rate)`` units per stratum, all such subsets equally likely.
    """
    chosen = np.empty((n_resamples, len(strata.order)), dtype=np.float32)
    for end, size, n in zip(strata.ends, strata.sizes, allocate(strata.sizes, rate), strict=True):
        keys = rng.random((n_resamples, int(size)), dtype=np.float32)
        chosen[:, int(end - size) : int(end)] = _smallest(keys, int(n))
    return chosen


def _smallest(keys: Counts, n: int) -> NDArray[np.bool_]:
    """Return where each row holds its ``n`` smallest keys.

    The next larger key serves as a threshold, three times as fast as by position; rows with equal
    keys at the threshold are sorted.
    """
    if n == keys.shape[1]:
        return np.ones(keys.shape, dtype=bool)
    below = keys < np.partition(keys, n, axis=1)[:, n : n + 1]
    for row in np.flatnonzero(np.count_nonzero(below, axis=1) != n).tolist():
        below[row] = False
        below[row, np.argsort(keys[row], kind="stable")[:n]] = True
    return np.asarray(below)


def bootstrap_counts(
    strata: Strata, n_resamples: int, rng: np.random.Generator, *, one_less: bool = False
) -> Counts:
    """Return bootstrap counts with replacement (resamples, units in ``strata.order``).

    Each resample holds as many units of each stratum as there are. With ``one_less`` it holds one
    fewer, with counts scaled by n / (n - 1), so that the variance of means is unbiased (Rao and Wu
    1988). A stratum of one unit is kept as it is.
    """
    number = np.maximum(strata.sizes - 1, 1) if one_less else strata.sizes
    counts = np.empty((n_resamples, len(strata.order)), dtype=np.float32)
    scale = np.repeat(strata.sizes / number, strata.sizes)
    rows = max(1, _IN_CACHE // max(len(strata.order), 1))
    for start in range(0, n_resamples, rows):
        block = counts[start : start + rows]
        drawn = _drawn_counts(strata, number, rng.random((len(block), int(number.sum()))))
        block[:] = drawn * scale if one_less else drawn
    return counts


def _drawn_counts(strata: Strata, number: Integers, place: NDArray[np.float64]) -> Integers:
    """Return counts of each unit (resamples, units) from ``place`` in [0, 1) (resamples, sampled
    units).
    """
    n_resamples, n = len(place), len(strata.order)
    place *= np.repeat(strata.sizes, number)
    # A product may round up to the size itself; clip to the last unit.
    places = np.minimum(place.astype(np.int64), np.repeat(strata.sizes - 1, number))
    places += np.repeat(strata.ends - strata.sizes, number)
    places += np.arange(n_resamples)[:, None] * n
    return np.bincount(places.ravel(), minlength=n_resamples * n).reshape(n_resamples, n)


def bootstrapped(
    strata: Strata | int,
    statistic: Callable[[Floats], Floats],
    n_resamples: int,
    rng: np.random.Generator,
    *,
    one_less: bool = False,
) -> Floats:
    """Return ``statistic`` of counts (resamples, units) over ``n_resamples`` of
    ``bootstrap_counts``.

    ``strata`` may be a number of units in one stratum.
    """
    drawn_from = Strata.of(None, strata) if isinstance(strata, int) else strata
    blocks = blocks_of_resamples(len(drawn_from.order), n_resamples)
    counts = (bootstrap_counts(drawn_from, number, rng, one_less=one_less) for number in blocks)
    return np.concatenate([statistic(each.astype(np.float64)) for each in counts])


# Means of all models in every resample, exact where scores are, and their ranks.

# Fractions with up to this many answers are computed as integers, so that ties are exact.
_MOST_PARTS = 64


_EXACT_IN_FLOAT32 = 2.0**24


# OpenBLAS uses one thread up to this many products.
_ONE_THREAD = 250_000


def means_by_resample(
    counts: NDArray[np.float32], values: Floats, weights: Floats | None = None
) -> Floats:
    """Return the mean of each column in each resample (models, resamples), over units it has.

    ``counts`` (resamples, units) says how often a unit is in a resample; NaN in ``values`` (units,
    models) is a missing cell. Equal sums of fractions with up to 64 answers give equal means, bit
    by bit. Other means are rounded to 12 decimals, so that summation order does not affect ranks.
    NaN where a model has no unit, or none with weight, in the resample.
    """
    missing = np.isnan(values)
    present = np.where(missing, 0.0, values)
    parts = 0 if weights is not None else _parts(present)
    scaled = np.rint(present * parts) if parts else present
    if weights is not None:
        scaled = scaled * weights[:, None]
    sums = _products(counts, scaled, is_whole=bool(parts))
    if weights is None and not missing.any():
        size = counts.sum(axis=1, dtype=np.float64)
    else:
        held = ~missing * (np.ones(len(values)) if weights is None else weights)[:, None]
        size = _products(counts, held, is_whole=weights is None)
    means = divided(sums, size) / max(parts, 1)
    return means if parts else np.round(means, 12)


def _products(counts: NDArray[np.float32], columns: Floats, *, is_whole: bool) -> Floats:
    """Return ``columns`` summed by resample (C, resamples); in single precision where that is
    exact.
    """
    most = float(np.abs(columns).max(initial=0.0)) * float(counts.sum(axis=1).max(initial=0.0))
    if is_whole and most < _EXACT_IN_FLOAT32:
        return _by_blocks(counts, columns.astype(np.float32)).T.astype(np.float64)
    return _by_blocks(counts.astype(np.float64), columns).T


def _by_blocks(counts: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Return ``counts @ columns`` in blocks too small for BLAS multithreading.

    Measured under load, 1,000 resamples of 899 units by 42 columns: 2 ms in blocks and never over
    7. As one product: 1.4 ms at best, 9 in the median, and 24 in one of ten.
    """
    block = _ONE_THREAD // max(columns.size, 1)
    n_blocks = len(counts) // max(block, 1)
    if not 4 <= block < len(counts):
        return np.asarray(counts @ columns)
    head = counts[: n_blocks * block].reshape(n_blocks, block, -1) @ columns
    tail = counts[n_blocks * block :] @ columns
    return np.concatenate([head.reshape(-1, columns.shape[1]), tail])


def _parts(values: Floats) -> int:
    """Return the common denominator of all values up to 64, 0 if there is none."""
    parts = 1
    for value in np.unique(values).tolist():
        share = Fraction(value).limit_denominator(_MOST_PARTS)
        if abs(float(share) - value) > 1e-12:
            return 0
        parts = int(np.lcm(parts, share.denominator))
        if parts > _MOST_PARTS:
            return 0
    return parts


def ranks_of(means: Floats) -> NDArray[np.int32]:
    """Return ranks from 1 (models, resamples): 1 + how many have a higher mean; ties share a rank.

    A model without a mean (NaN) ranks below all others.
    """
    standing = np.where(np.isnan(means), -np.inf, means)
    order = np.argsort(-standing, axis=0, kind="stable")
    lowered = np.take_along_axis(-standing, order, axis=0)
    is_lower = np.ones(standing.shape, dtype=bool)
    is_lower[1:] = lowered[1:] != lowered[:-1]
    places = np.where(is_lower, np.arange(1, len(standing) + 1)[:, None], 0).astype(np.int32)
    ranks = np.empty(standing.shape, dtype=np.int32)
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=0), axis=0)
    return ranks


# Bootstrap means: units, or whole clusters, resampled within their strata.
#
# For disjoint clusters only. Where units share facts in overlapping sets, no set can be resampled
# separately: a resample of facts does not define how often a unit with nine of them is included.
# The multiplier bootstrap for such sharing samples the means from a normal distribution with the
# variance that `mean_estimates` sums over pairs, so it gives the same interval. `rank_jointly` uses
# it for a maximum.

Codes = NDArray[np.integer]


_PURPOSE = 4


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Resampled blocks: sums of values and counts of units, (blocks, R) each, ordered by stratum.

    ``sizes`` (blocks) are in units.
    """

    strata: Strata
    sums: Floats
    held: Floats
    sizes: Floats


def bootstrap_means(
    values: Floats,
    *,
    strata: Codes | None = None,
    clusters: Codes | None = None,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """Return one estimate per column of ``values`` (units, R), by percentiles of ``n_resamples``
    means.

    NaN is a missing cell, left out of its column. ``strata`` and ``clusters`` are codes (units); a
    cluster belongs to the stratum of its first unit. Each stratum gives one block fewer than it
    has, rescaled (Rao and Wu 1988). Fewer than 50 effective blocks flag the interval; fewer than
    two make it [0, 1]. A stratum of one block adds no variance and is flagged.
    """
    n, m = values.shape
    if not n:
        what = "items" if clusters is None else "clusters"
        nothing = no_estimate(population_name(_population(clusters)), confidence, what)
        return tuple(nothing for _ in range(m))
    blocks = _blocks(values, strata, clusters)
    drawn = _bootstrap_means(blocks, n_resamples, seed)
    total = blocks.held.sum(axis=0)
    means = divided(blocks.sums.sum(axis=0), total)
    groups = float(blocks.sizes.sum() ** 2 / (blocks.sizes**2).sum())
    low, high = _percentiles(drawn, means, groups, confidence)
    made_by = f"bootstrap, percentile, {n_resamples} resamples, seed {seed}"
    return tuple(
        Estimate(
            value=float(means[r]),
            n=int(total[r]),
            low=float(low[r]),
            high=float(high[r]),
            level=confidence,
            population=population_name(_population(clusters)),
            made_by=made_by if groups >= 2.0 else "none",
            resampled=_resampled(clusters, blocks.strata),
            effective_n=groups,
            flags=_flags(blocks.strata, int(total[r]), groups, is_alike=bool(low[r] == high[r])),
        )
        for r in range(m)
    )


def disjoint_clusters(keys: SharedKeys) -> NDArray[np.int64] | None:
    """Return cluster codes (units) if sharing a key sorts units into disjoint clusters.

    None if some unit shares with two that do not share with each other.
    """
    n = keys.n_units
    n_keys = int(keys.key.max(initial=-1)) + 1
    edges = (np.ones(len(keys.unit)), (keys.unit, n + keys.key))
    graph = sparse.coo_matrix(edges, shape=(n + n_keys, n + n_keys))
    label = connected_components(graph, directed=False)[1][:n]
    _, codes, sizes = np.unique(label, return_inverse=True, return_counts=True)
    partners = partner_sums(keys, np.ones((n, 1)))[:, 0]
    return codes.astype(np.int64) if (partners == sizes[codes]).all() else None


def _blocks(values: Floats, strata: Codes | None, clusters: Codes | None) -> _Blocks:
    n = len(values)
    own = np.arange(n) if clusters is None else clusters
    _, first, block, sizes = np.unique(
        own, return_index=True, return_inverse=True, return_counts=True
    )
    missing = np.isnan(values)
    sums = block_sums(np.where(missing, 0.0, values), block, len(sizes))
    held = block_sums((~missing).astype(np.float64), block, len(sizes))
    drawn_from = Strata.of(None if strata is None else strata[first], len(sizes))
    order = drawn_from.order
    return _Blocks(drawn_from, sums[order], held[order], sizes[order].astype(np.float64))


def _bootstrap_means(blocks: _Blocks, n_resamples: int, seed: int) -> Floats:
    # Without missing cells one column of counts serves all models.
    alike = (blocks.held == blocks.held[:, :1]).all()
    held_units = blocks.held[:, :1] if alike else blocks.held

    def means(counts: Floats) -> Floats:
        return divided(counts @ blocks.sums, counts @ held_units)

    return bootstrapped(blocks.strata, means, n_resamples, generator(seed, _PURPOSE), one_less=True)


def _percentiles(
    drawn: Floats, means: Floats, groups: float, confidence: float
) -> tuple[Floats, Floats]:
    if groups < 2.0:
        nothing = np.isnan(means)
        return np.where(nothing, np.nan, 0.0), np.where(nothing, np.nan, 1.0)
    ends = [percentiles(column, confidence) for column in drawn.T]
    low, high = np.array(ends).reshape(-1, 2).T
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _flags(strata: Strata, n: int, groups: float, *, is_alike: bool) -> tuple[Flag, ...]:
    has_lone = n > 0 and len(strata.sizes) > 1 and bool((strata.sizes == 1).any())
    return (*(("lone-units",) if has_lone else ()), *group_flags(n, groups, is_alike=is_alike))


def _population(clusters: Codes | None) -> Population:
    return "bank" if clusters is None else "domain"


def _resampled(clusters: Codes | None, strata: Strata) -> str:
    what = "items" if clusters is None else "clusters"
    return f"{what} within strata" if len(strata.sizes) > 1 else what
