"""Labels of the same records by several annotators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Annotated"]


@dataclass(frozen=True, slots=True)
class Annotated:
    """N records by R annotators: ``ratings`` (N, R) are codes into ``labels``, -1 where one gave
    none; ``annotators`` (R) are their names, ``item`` (N) says which records are of one item.
    ``values`` (labels) are the labels as numbers, ascending; None where they are words.
    ``cluster_item`` and ``cluster_key`` are the edges from items to the keys that they share.
    ``model`` (N) are codes into ``models``, whose answers the records are: -1 or empty where that
    is not known."""

    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    ratings: NDArray[np.int32]
    item: NDArray[np.int64]
    values: NDArray[np.float64] | None
    cluster_item: NDArray[np.int64]
    cluster_key: NDArray[np.int64]
    models: tuple[str, ...] = ()
    model: NDArray[np.int64] | None = None
