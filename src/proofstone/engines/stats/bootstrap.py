"""Means by the bootstrap: units, or whole clusters, drawn again within their strata.

For clusters that do not overlap. Where units share facts in overlapping sets there is nothing to
draw apart: a draw of facts does not say how often a unit that rests on nine of them is drawn. The
multiplier bootstrap that fits such sharing draws the means from a normal law with the very variance
that `mean_estimates` sums over pairs, so it would return that interval; `rank_jointly` uses it
where a maximum is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from proofstone.engines.stats.clusters import SharedKeys, partner_sums
from proofstone.engines.stats.flags import Estimand, Flag, estimand_name
from proofstone.engines.stats.resampling import (
    Strata,
    blocks_of_draws,
    bootstrap_counts,
    generator,
)
from proofstone.records.results import Estimate

__all__ = ["bootstrap_means", "disjoint_clusters"]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

_PURPOSE = 4
_FEW_GROUPS = 50.0


@dataclass(frozen=True, slots=True)
class _Blocks:
    """What is drawn as a whole: sums of values and counts of units, (blocks, R) each, ordered by
    stratum; ``sizes`` (blocks) in units."""

    strata: Strata
    sums: Floats
    held: Floats
    sizes: Floats


def bootstrap_means(
    values: Floats,
    *,
    strata: Codes | None = None,
    clusters: Codes | None = None,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """One estimate a column of ``values`` (units, R), by percentiles of ``n_draws`` means.

    NaN is a missing cell, left out of its column. ``strata`` and ``clusters`` are codes (units);
    a cluster belongs to the stratum of its first unit. Each stratum gives one block fewer than it
    has, rescaled (Rao and Wu 1988). With G the effective number of blocks, fewer than 50 flag the
    interval, and with fewer than two it is [0, 1]. A stratum of one block adds no variance; that is
    flagged.
    """
    n, m = values.shape
    if not n:
        return tuple(_nothing(clusters, confidence) for _ in range(m))
    blocks = _blocks(values, strata, clusters)
    drawn = _drawn_means(blocks, n_draws, seed)
    total = blocks.held.sum(axis=0)
    means = blocks.sums.sum(axis=0) / np.where(total > 0, total, np.nan)
    groups = float(blocks.sizes.sum() ** 2 / (blocks.sizes**2).sum())
    low, high = _percentiles(drawn, means, groups, confidence)
    made_by = f"bootstrap, percentile, {n_draws} draws, seed {seed}"
    return tuple(
        Estimate(
            value=float(means[r]),
            n=int(total[r]),
            low=float(low[r]),
            high=float(high[r]),
            level=confidence,
            estimand=estimand_name(_estimand(clusters)),
            made_by=made_by if groups >= 2.0 else "none",
            resampled=_resampled(clusters, blocks.strata),
            effective_n=groups,
            flags=_flags(blocks.strata, int(total[r]), groups, is_alike=bool(low[r] == high[r])),
        )
        for r in range(m)
    )


def disjoint_clusters(keys: SharedKeys) -> NDArray[np.int64] | None:
    """Cluster codes (units) where sharing a key sorts units into clusters that do not overlap;
    None where some unit shares with two that do not share with each other."""
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
    sums = _summed(np.where(missing, 0.0, values), block, len(sizes))
    held = _summed((~missing).astype(np.float64), block, len(sizes))
    drawn_from = Strata.of(None if strata is None else strata[first], len(sizes))
    order = drawn_from.order
    return _Blocks(drawn_from, sums[order], held[order], sizes[order].astype(np.float64))


def _summed(columns: Floats, block: NDArray[np.intp], n_blocks: int) -> Floats:
    sums = np.zeros((n_blocks, columns.shape[1]))
    np.add.at(sums, block, columns)
    return sums


def _drawn_means(blocks: _Blocks, n_draws: int, seed: int) -> Floats:
    # Where no cell is missing one column of counts does for all respondents.
    alike = (blocks.held == blocks.held[:, :1]).all()
    held_units = blocks.held[:, :1] if alike else blocks.held
    rng, parts = generator(seed, _PURPOSE), []
    for number in blocks_of_draws(len(blocks.sizes), n_draws):
        counts = bootstrap_counts(blocks.strata, number, rng, one_less=True).astype(np.float64)
        held = counts @ held_units
        parts.append((counts @ blocks.sums) / np.where(held > 0, held, np.nan))
    return np.concatenate(parts)


def _percentiles(
    drawn: Floats, means: Floats, groups: float, confidence: float
) -> tuple[Floats, Floats]:
    if groups < 2.0:
        nothing = np.isnan(means)
        return np.where(nothing, np.nan, 0.0), np.where(nothing, np.nan, 1.0)
    tail = (1.0 - confidence) / 2.0
    columns = [column[~np.isnan(column)] for column in drawn.T]
    ends = [np.quantile(c, [tail, 1.0 - tail]) if len(c) else [np.nan] * 2 for c in columns]
    low, high = np.array(ends).reshape(-1, 2).T
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _flags(strata: Strata, n: int, groups: float, *, is_alike: bool) -> tuple[Flag, ...]:
    if not n:
        return ("no-scores",)
    found: list[Flag] = []
    if len(strata.sizes) > 1 and (strata.sizes == 1).any():
        found.append("lone-units")
    if is_alike:
        found.append("no-spread")
    if groups < _FEW_GROUPS:
        found.append("one-group" if groups < 2.0 else "few-groups")
    return tuple(found)


def _estimand(clusters: Codes | None) -> Estimand:
    return "bank" if clusters is None else "knowledge"


def _resampled(clusters: Codes | None, strata: Strata) -> str:
    what = "items" if clusters is None else "clusters"
    return f"{what} within strata" if len(strata.sizes) > 1 else what


def _nothing(clusters: Codes | None, confidence: float) -> Estimate:
    nan = float("nan")
    return Estimate(
        value=nan,
        n=0,
        low=nan,
        high=nan,
        level=confidence,
        estimand=estimand_name(_estimand(clusters)),
        made_by="none",
        resampled="items" if clusters is None else "clusters",
        flags=("no-scores",),
    )
