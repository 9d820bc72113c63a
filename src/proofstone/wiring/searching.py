"""Searching a workspace's own sources: the part that makes and keeps their index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.engines.store import Store
from proofstone.wiring.index_kept import index_files
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.engines.retrieval import SearchWay
    from proofstone.ports import Embedder
    from proofstone.stages.indexing import Indexing, RetrievedChunk, SourceIndex

__all__ = ["Searching"]


class Searching:
    """Finds chunks of the passages of a workspace's sources; nothing leaves this machine unless an
    embedder of another one is handed in."""

    folder: Path
    store: Store

    def index(
        self,
        sources: Sequence[Target] = (),
        *,
        indexing: Indexing | None = None,
        embedder: Embedder | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> SourceIndex:
        """The index of these sources, by default of all; what is kept of it is made anew only where
        a source changed. With an ``embedder`` it is searched by meaning too. ``tell`` hears the
        title of each source that is read."""
        from proofstone.stages.indexing import Indexing, open_index  # noqa: PLC0415

        only = {find_target(self.store, source, ("source",)).id for source in sources}
        files = index_files(self.folder)
        how = indexing or Indexing()
        return open_index(self.store, files, how, embedder=embedder, only=only, tell=tell)

    def index_for(self, way: SearchWay) -> SourceIndex:
        """The index of all sources for a way of searching, with vectors by the carried encoder
        where it needs any."""
        from proofstone.engines.retrieval import SentenceEncoder  # noqa: PLC0415

        return self.index(embedder=None if way == "bm25" else SentenceEncoder())

    def search(
        self,
        query: str,
        k: int = 5,
        *,
        way: SearchWay = "bm25",
        sources: Sequence[Target] = (),
        embedder: Embedder | None = None,
    ) -> list[RetrievedChunk]:
        """The ``k`` chunks that fit a query best, best first: by their words ("bm25"), by meaning
        ("dense") or by both ("hybrid"), with the carried encoder unless another is handed in."""
        if way != "bm25" and embedder is None:
            from proofstone.engines.retrieval import SentenceEncoder  # noqa: PLC0415

            embedder = SentenceEncoder()
        index = self.index(sources, embedder=None if way == "bm25" else embedder)
        return index.search([query], k, way)[0]
