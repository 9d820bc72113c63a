"""A judge against people: who was right, label by label."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.dependence import Dependence
from proofstone.records.results import Estimate

__all__ = ["Confusion", "confuse"]

Floats = NDArray[np.float64]


class Confusion(Struct, frozen=True, kw_only=True):
    """``counts[i][j]``: records that people label i and the judge j; ``left_out`` lack one of
    both.

    ``accuracy`` is the share on the diagonal. For each label, ``recall`` is the share of people's
    records with it that the judge gives it too, ``precision`` the share of the judge's that people
    give it too; all with the interval of ``interval_of_means``.
    """

    counts: tuple[tuple[int, ...], ...]
    accuracy: Estimate
    recall: tuple[Estimate, ...]
    precision: tuple[Estimate, ...]
    left_out: int


def confuse(
    people: NDArray[np.integer],
    judge: NDArray[np.integer],
    n_labels: int,
    *,
    unit: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    confidence: float = 0.95,
) -> Confusion:
    """The table of two columns of label codes (records), negative where there is none. ``unit``
    (records) says which are of one item, by its place in ``keys``."""
    kept = (people >= 0) & (judge >= 0)
    first, second = people[kept].astype(np.int64), judge[kept].astype(np.int64)
    dependence = Dependence.of(len(first), None if unit is None else unit[kept], keys)
    counts = np.bincount(first * n_labels + second, minlength=n_labels**2)
    label = np.arange(n_labels)
    rows, columns = first[:, None] == label, second[:, None] == label
    sets = np.hstack([np.ones((len(first), 1)), rows, columns])
    found = _shares(sets, (first == second).astype(np.float64), dependence, confidence)
    return Confusion(
        counts=tuple(tuple(row) for row in counts.reshape(n_labels, n_labels).tolist()),
        accuracy=found[0],
        recall=tuple(found[1 : n_labels + 1]),
        precision=tuple(found[n_labels + 1 :]),
        left_out=int((~kept).sum()),
    )


def _shares(
    sets: Floats, agree: Floats, dependence: Dependence, confidence: float
) -> list[Estimate]:
    """How many agree of each set of records (records, sets)."""
    values, found = dependence.shares(sets, agree, confidence)
    return [
        Estimate(
            value=float(values[place]),
            n=n,
            low=float(found.low[place]),
            high=float(found.high[place]),
            level=confidence,
            estimand="records like these",
            made_by=found.made_by[place] if n else "none",
            resampled="items" if dependence.is_shared else "records",
            effective_n=dependence.among(sets[:, place] > 0).groups,
            flags=() if n else ("no-scores",),
        )
        for place, n in enumerate(sets.sum(axis=0).astype(int).tolist())
    ]
