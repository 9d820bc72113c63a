"""What a search finds, and the order of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Hit", "best_hits"]


class Hit(Struct, frozen=True, gc=False):
    """A text by its place in the index, and how well it fits; more is better."""

    place: int
    score: float


def best_hits(places: NDArray[np.int64], scores: NDArray[Any], k: int) -> list[Hit]:
    """The ``k`` best of these texts (in any order, each with its score), best first; of equals the
    one of the lower place. Fewer where there are fewer."""
    import numpy as np  # noqa: PLC0415

    if k < 1:
        return []
    if len(places) > k:
        bar = np.partition(scores, len(scores) - k)[len(scores) - k]
        kept = scores >= bar
        places, scores = places[kept], scores[kept]
    order = np.lexsort((places, -scores))[:k]
    return list(map(Hit, places[order].tolist(), scores[order].astype(np.float64).tolist()))
