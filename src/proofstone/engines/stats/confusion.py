"""A judge against people: who was right, label by label."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.intervals import normal_quantile, wilson
from proofstone.records.results import Estimate

__all__ = ["Confusion", "confuse"]


class Confusion(Struct, frozen=True, kw_only=True):
    """``counts[i][j]``: units that people label i and the judge j; ``left_out`` lack one of both.

    ``accuracy`` is the share on the diagonal. For each label, ``recall`` is the share of people's
    units with it that the judge gives it too, ``precision`` the share of the judge's that people
    give it too; all with Wilson's interval, units independent.
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
    confidence: float = 0.95,
) -> Confusion:
    """The table of two columns of label codes (units), negative where there is none."""
    kept = (people >= 0) & (judge >= 0)
    cells = people[kept].astype(np.int64) * n_labels + judge[kept]
    counts = np.bincount(cells, minlength=n_labels**2).reshape(n_labels, n_labels)
    hits = np.diag(counts)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    return Confusion(
        counts=tuple(tuple(row) for row in counts.tolist()),
        accuracy=_share(int(hits.sum()), int(counts.sum()), confidence),
        recall=tuple(_share(int(k), int(n), confidence) for k, n in zip(hits, rows, strict=True)),
        precision=tuple(
            _share(int(k), int(n), confidence) for k, n in zip(hits, columns, strict=True)
        ),
        left_out=int((~kept).sum()),
    )


def _share(k: int, n: int, confidence: float) -> Estimate:
    if not n:
        nan = float("nan")
        return Estimate(
            value=nan, n=0, low=nan, high=nan, level=confidence, made_by="none",
            resampled="units", flags=("no-scores",),
        )  # fmt: skip
    low, high = wilson(np.array([k / n]), np.array([float(n)]), normal_quantile(confidence))
    return Estimate(
        value=k / n,
        n=n,
        low=float(low[0]),
        high=float(high[0]),
        level=confidence,
        estimand="units like these",
        made_by="Wilson",
        resampled="units",
        effective_n=float(n),
    )
