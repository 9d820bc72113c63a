"""Labels of the same records by people and by a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Judged"]


@dataclass(frozen=True, slots=True)
class Judged:
    """N records: ``people`` and ``judge`` (N) are codes into ``labels``, -1 where there is none;
    ``item`` (N) says which records are of one item, ``model`` (N) whose they are, into ``models``
    (-1 everywhere where that is not told). ``values`` (labels) are the labels as numbers,
    ascending; None where they are words. ``cluster_item`` and ``cluster_key`` are the edges from
    items to the keys that they share."""

    labels: tuple[str, ...]
    people: NDArray[np.int64]
    judge: NDArray[np.int64]
    item: NDArray[np.int64]
    model: NDArray[np.int64]
    models: tuple[str, ...]
    values: NDArray[np.float64] | None
    cluster_item: NDArray[np.int64] | None = None
    cluster_key: NDArray[np.int64] | None = None
