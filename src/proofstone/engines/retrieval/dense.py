"""Texts found by the vectors of their meaning: every one is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofstone.engines.retrieval.hits import Hit, best_hits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DenseIndex"]

_QUERIES = 64  # compared with all texts at once
_DIGITS = 5  # of a cosine: the order of a sum in float32 must not part equals


class DenseIndex:
    """Vectors (texts, dimensions) of length 1, searched by cosine."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self._vectors.shape[1])

    def search(self, queries: NDArray[np.floating], k: int) -> list[list[Hit]]:
        """For each query (queries, dimensions; of length 1) the ``k`` nearest texts, nearest
        first; cosines are taken to five digits, of equals the text of the lower place."""
        import numpy as np  # noqa: PLC0415

        places = np.arange(len(self._vectors))
        found: list[list[Hit]] = []
        for start in range(0, len(queries), _QUERIES):
            part = np.asarray(queries[start : start + _QUERIES], dtype=np.float32)
            cosines = np.round((part @ self._vectors.T).astype(np.float64), _DIGITS)
            found += [best_hits(places, row, k) for row in cosines]
        return found
