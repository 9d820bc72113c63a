"""Embeddings of texts as a third view of a give-away audit, and what goes with what they tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from proofstone.engines.giveaway.features import FeatureTable

__all__ = ["Companion", "companions", "principal_columns"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST = 0.2  # a weaker correlation says nothing of what is seen


@dataclass(frozen=True, slots=True)
class Companion:
    """A counted column whose values go with a classifier's scores: Spearman's rank correlation."""

    name: str
    correlation: float


def principal_columns(embeddings: Floats, n: int = 50) -> FeatureTable:
    """The first ``n`` principal components of embeddings (texts, dimensions): they know nothing of
    the kinds. Fewer where there are not so many."""
    centred = embeddings - embeddings.mean(axis=0)
    own, axes = np.linalg.eigh(centred.T @ centred)
    order = np.argsort(-own, kind="stable")[: min(n, len(own), max(1, len(embeddings) - 1))]
    chosen = axes[:, order]
    chosen = chosen * np.where(chosen[np.abs(chosen).argmax(axis=0), range(len(order))] < 0, -1, 1)
    names = tuple(f"embedding, component {place + 1}" for place in range(len(order)))
    return FeatureTable(names, centred @ chosen)


def companions(
    scores: Floats, fold: Ints, counted: FeatureTable, *, most: int = 3
) -> tuple[Companion, ...]:
    """The counted columns that go with ``scores`` (texts) of a classifier that cannot say what it
    sees, the strongest first; none where all correlations (of ranks within each fold, averaged) are
    below 0.2: then what it sees is not among them."""
    if not counted.names or not len(scores):
        return ()
    ranked = _ranks_within(scores[:, None], fold)[:, 0]
    columns = _ranks_within(counted.values, fold)
    spread = np.sqrt((columns**2).sum(axis=0) * (ranked**2).sum())
    found = np.divide(ranked @ columns, spread, out=np.zeros(len(spread)), where=spread > 0)
    order = np.argsort(-np.abs(found), kind="stable")[:most]
    return tuple(
        Companion(counted.names[at], float(found[at])) for at in order if abs(found[at]) >= _LEAST
    )


def _ranks_within(values: Floats, fold: Ints) -> Floats:
    """Ranks of each column in its fold, centred."""
    ranks = np.zeros(values.shape)
    for place in np.unique(fold):
        inside = fold == place
        own = stats.rankdata(values[inside], axis=0)
        ranks[inside] = (own - own.mean(axis=0)) / len(own)
    return ranks
