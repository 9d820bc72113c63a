"""The workspace's own sources behind ``ports.Searcher``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proofstone.engines.retrieval import SearchWay
from proofstone.ports import FoundText
from proofstone.stages.indexing import RetrievedChunk, SourceIndex
from proofstone.stages.search_sources import LOCAL

__all__ = ["LocalSearcher", "found_texts"]


class LocalSearcher:
    """An index, searched in one way; nothing leaves for it, and it never fails."""

    name = LOCAL

    def __init__(self, index: SourceIndex, way: SearchWay = "bm25") -> None:
        self._index, self._way = index, way

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]:
        """The ``n`` best chunks."""
        (found,) = self._index.search([query], n, self._way)
        return found_texts(found)


def found_texts(chunks: Iterable[RetrievedChunk]) -> list[FoundText]:
    """Chunks as whoever searches sees them."""
    return [
        FoundText(
            text=chunk.text,
            passage=chunk.passage.id,
            start=chunk.start,
            end=chunk.end,
            source=chunk.source.id,
            title=chunk.source.title,
            address=chunk.source.origin,
        )
        for chunk in chunks
    ]
