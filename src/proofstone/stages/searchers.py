"""The workspace's own sources, and several searches together, behind ``ports.Searcher``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proofstone.engines.retrieval import SearchWay
from proofstone.ports import FoundText, Searcher
from proofstone.stages.current_sources import WEB
from proofstone.stages.indexing import RetrievedChunk, SourceIndex
from proofstone.stages.search_sources import LOCAL

__all__ = ["JointSearcher", "LocalSearcher", "found_texts"]


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


class JointSearcher:
    """Several searches: the ``n`` best texts of each in their order, none twice."""

    def __init__(self, searchers: Sequence[Searcher]) -> None:
        self._searchers = searchers
        self.name = ",".join(searcher.name for searcher in searchers)

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]:
        """Fails where one of them does."""
        found: dict[tuple[bytes, int, int], FoundText] = {}
        for search in self._searchers:
            for each in await search(query, n, made_from=made_from):
                found.setdefault((each.passage, each.start, each.end), each)
        return list(found.values())


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
            is_web=chunk.source.kind == WEB,
        )
        for chunk in chunks
    ]
