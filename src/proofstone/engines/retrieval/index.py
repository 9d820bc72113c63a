"""The chunks of many sources, searched by words, by meaning, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from proofstone.engines.retrieval.bm25 import Bm25
from proofstone.engines.retrieval.dense import DenseIndex
from proofstone.engines.retrieval.fusing import fuse_ranks
from proofstone.engines.retrieval.hits import Hit
from proofstone.engines.retrieval.part import ChunkPlace, SourcePart
from proofstone.engines.retrieval.postings import Postings
from proofstone.engines.retrieval.terms import CutHan, terms_of
from proofstone.errors import BadUsage
from proofstone.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SEARCH_WAYS", "ChunkIndex", "FoundChunk", "SearchWay"]

SearchWay = Literal["bm25", "dense", "hybrid"]
SEARCH_WAYS: tuple[SearchWay, ...] = get_args(SearchWay)

_DEPTH = 100  # how far down each ranking is read where two are made one


class FoundChunk(Struct, frozen=True, gc=False):
    """A chunk that was found, and its score by the way of searching; scores of two ways are not
    comparable."""

    place: ChunkPlace
    score: float


class ChunkIndex:
    """An index over parts of sources, in their order: of equals the earlier is found first.

    With ``vectors`` (of each part, its chunks in order) and the ``embedder`` that made them it
    searches by meaning too. ``cut`` parts runs of Chinese as it did when the parts were made.
    """

    def __init__(
        self,
        parts: Sequence[SourcePart],
        *,
        vectors: Sequence[NDArray[np.float32]] = (),
        embedder: Embedder | None = None,
        cut: CutHan | None = None,
    ) -> None:
        import numpy as np  # noqa: PLC0415

        self._places = [place for part in parts for place in part.places]
        self._words = Bm25(Postings.joined([part.postings for part in parts]))
        self._cut = cut
        self._embedder = embedder
        self._dense: DenseIndex | None = None
        if embedder is not None:
            made = [rows for rows in vectors if len(rows)]
            self._dense = DenseIndex(np.concatenate(made) if made else np.zeros((0, 1), np.float32))

    def __len__(self) -> int:
        """How many chunks it holds."""
        return len(self._places)

    def search(
        self, queries: Sequence[str], k: int, way: SearchWay = "bm25"
    ) -> list[list[FoundChunk]]:
        """For each query the ``k`` best chunks, best first; fewer where fewer fit at all, none for
        a query without words that the index knows ("bm25") and of an empty index.

        Raises BadUsage for a way that needs vectors where there are none.
        """
        if not len(self) or k < 1:
            return [[] for _query in queries]
        return [
            [FoundChunk(self._places[hit.place], hit.score) for hit in hits]
            for hits in self._hits(queries, k, way)
        ]

    def _hits(self, queries: Sequence[str], k: int, way: SearchWay) -> list[list[Hit]]:
        if way == "bm25":
            return self._by_words(queries, k)
        if way == "dense":
            return self._by_meaning(queries, k)
        depth = max(k, _DEPTH)
        both = zip(self._by_words(queries, depth), self._by_meaning(queries, depth), strict=True)
        return [fuse_ranks(rankings, k) for rankings in both]

    def _by_words(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._words.search(terms_of(query, self._cut), k) for query in queries]

    def _by_meaning(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        if self._dense is None or self._embedder is None:
            raise BadUsage(
                "this index has no vectors: it is searched by words alone",
                hint='search "bm25", or name an embedder',
            )
        vectors = self._embedder.embed(queries)
        if vectors.shape[1] != self._dense.width:
            raise BadUsage(
                f"{self._embedder.name} gives {vectors.shape[1]:,} numbers a text, and the index "
                f"holds {self._dense.width:,}: another model answers by that name",
                hint="delete the files *.vectors in .proofstone/retrieval: they are made again",
            )
        return self._dense.search(vectors, k)
