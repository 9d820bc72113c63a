"""How far groups of texts stand apart in meaning: the groups of each text's nearest neighbours."""

from __future__ import annotations

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.means import mean_estimates
from proofstone.engines.stats.weights import equal_weights
from proofstone.errors import BadUsage
from proofstone.records.semantic_map import GroupsApart, GroupSeparation

__all__ = ["GroupSeparation", "GroupsApart", "groups_apart"]

Floats = NDArray[np.float64]


def groups_apart(
    vectors: Floats,
    group: NDArray[np.integer],
    names: tuple[str, ...],
    *,
    shared: SharedKeys,
    clusters: SharedKeys,
    k: int = 10,
    confidence: float = 0.95,
) -> GroupsApart:
    """How far the groups of ``group`` (n, codes into ``names``) stand apart among ``vectors`` (n,
    dimensions, of length 1), by cosine.

    Texts that share a key of ``shared`` (a statement, a passage) are never each other's neighbours;
    the interval resamples ``clusters`` (sources). A text with fewer than ``k`` others that may be
    its neighbours has as many as there are. Raises BadUsage for fewer than two groups or k below 1.
    """
    if k < 1 or len(np.unique(group)) < 2:
        raise BadUsage("separation needs texts of two groups, and one neighbour or more")
    near = _apart(np.asarray(vectors, dtype=np.float32), shared)
    is_alike = group[:, None] == group[None, :]
    allowed = np.isfinite(near)
    there = allowed.any(axis=1)
    agreement = np.where(there, _agreement(near, is_alike, k), np.nan)
    chance = (is_alike & allowed).sum(axis=1) / np.maximum(allowed.sum(axis=1), 1)
    used = np.flatnonzero(there)
    values, expected = agreement[used], float(chance[used].mean()) if len(used) else float("nan")
    (found,) = mean_estimates(
        values[:, None],
        equal_weights(len(used)),
        clusters.among(used),
        estimand="knowledge",
        confidence=confidence,
        n_parts=k * len(used),
    )
    return GroupsApart(
        k=k,
        n=len(used),
        agreement=found,
        chance=expected,
        index=structs.replace(
            found,
            value=_above(found.value, expected),
            low=_above(found.low, expected),
            high=_above(found.high, expected),
        ),
        groups=tuple(
            GroupSeparation(
                name=name,
                n=int(own.sum()),
                agreement=float(values[own].mean()),
                chance=float(chance[used][own].mean()),
            )
            for code, name in enumerate(names)
            if (own := group[used] == code).any()
        ),
    )


def _apart(vectors: NDArray[np.float32], shared: SharedKeys) -> NDArray[np.float32]:
    """The cosine of every two texts (n, n); minus infinity where they may not be neighbours."""
    near = vectors @ vectors.T
    np.fill_diagonal(near, -np.inf)
    order = np.argsort(shared.key, kind="stable")
    key, unit = shared.key[order], shared.unit[order]
    for holders in np.split(unit, np.flatnonzero(np.diff(key)) + 1):
        near[np.ix_(holders, holders)] = -np.inf
    return near


def _agreement(near: NDArray[np.float32], is_alike: NDArray[np.bool_], k: int) -> Floats:
    """The share of each text's nearest ones that are of its group."""
    k = min(k, near.shape[1] - 1)
    best = np.argpartition(-near, k - 1, axis=1)[:, :k]
    counts = np.isfinite(np.take_along_axis(near, best, axis=1))
    alike = np.take_along_axis(is_alike, best, axis=1) & counts
    return np.asarray(alike.sum(axis=1) / np.maximum(counts.sum(axis=1), 1))


def _above(agreement: float, chance: float) -> float:
    return (agreement - chance) / (1.0 - chance) if chance < 1.0 else float("nan")
