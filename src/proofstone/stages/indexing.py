"""The workspace's own sources as an index: made once, and again only where a source changed.

Of each source its chunks and their terms are kept as a file, and beside it its vectors where they
were asked for. What a file was made from is its key: other passages, another way of cutting or
another embedder make it anew, and the files of a source that is gone, or was purged, are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from proofstone.engines.ingest.sentences import sentence_spans
from proofstone.engines.retrieval import (
    CHUNKS_VERSION,
    PART_VERSION,
    TERMS_VERSION,
    ChunkIndex,
    Chunking,
    ChunkPlace,
    CutHan,
    PartFiles,
    Postings,
    SearchWay,
    SourcePart,
    cut_chunks,
    jieba_words,
    terms_of,
)
from proofstone.engines.store import IndexedSource, Store
from proofstone.engines.tokens import load_cl100k
from proofstone.identity import content_id
from proofstone.ports import Embedder, TokenCounter
from proofstone.records import Passage, Source
from proofstone.stages.current_sources import WEB, current_sources
from proofstone.stages.embedding import ToEmbed, all_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Indexing", "RetrievedChunk", "SourceIndex", "open_index"]


HanWords = Literal["bigrams", "jieba"]


class Indexing(Struct, frozen=True, kw_only=True):
    """How sources are indexed: how they are cut, and what a term of Chinese is."""

    chunking: Chunking = Chunking()
    han: HanWords = "bigrams"


class RetrievedChunk(Struct, frozen=True, kw_only=True):
    """A chunk that was found: ``text`` stands verbatim at [start, end) (code points) of the text of
    its passage."""

    passage: Passage
    source: Source
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        """The chunk's own words."""
        return self.passage.text[self.start : self.end]


class SourceIndex:
    """An index of ``n_sources`` sources, of which ``n_made`` were read for it now. ``key`` is
    another one whenever it could find anything else. ``former`` are the titles of older editions
    that are left out of it."""

    def __init__(
        self,
        store: Store,
        index: ChunkIndex,
        *,
        key: bytes,
        n_sources: int,
        n_made: int,
        former: tuple[str, ...] = (),
    ) -> None:
        self.key = key
        self.n_sources = n_sources
        self.n_made = n_made
        self.n_chunks = len(index)
        self.former = former
        self._store = store
        self._index = index

    def search(
        self, queries: Sequence[str], k: int, way: SearchWay = "bm25"
    ) -> list[list[RetrievedChunk]]:
        """For each query the ``k`` best chunks, best first. Raises as ``ChunkIndex.search``."""
        hits = self._index.search(queries, k, way)
        knowledge = self._store.knowledge
        passages = knowledge.passages({hit.place.passage for each in hits for hit in each})
        sources = knowledge.sources({passage.source for passage in passages.values()})
        return [
            [
                RetrievedChunk(
                    passage=passage, source=sources[passage.source],
                    start=hit.place.start, end=hit.place.end, score=hit.score,
                )
                for hit in each
                if (passage := passages.get(hit.place.passage)) is not None and passage.text
            ]
            for each in hits
        ]  # fmt: skip


def open_index(
    store: Store,
    files: PartFiles,
    indexing: Indexing,
    *,
    embedder: Embedder | None = None,
    only: Collection[bytes] | None = None,
    tell: Callable[[str], None] | None = None,
    admit: Callable[[ToEmbed], None] | None = None,
) -> SourceIndex:
    """The index of all sources with passages in their newest edition (or of ``only`` these, of
    whatever edition), with vectors where there is an embedder. ``tell`` hears of each source before
    it is read; ``admit`` of the texts that are to be embedded, before the first of them is: it
    raises where they may not be.

    Raises ExtraMissing where a package for it is absent.
    """
    count, cut = load_cl100k(), _cut(indexing.han)
    present = store.indexed.sources(only)
    wanted = present if only is not None else current_sources(present)
    for gone in files.sources() - {source.id for source in present} if only is None else ():
        files.delete(gone)
    parts: dict[bytes, SourcePart] = {}
    keys: dict[bytes, bytes] = {}
    n_made = 0
    for source in wanted:
        key = keys[source.id] = _words_key(store, source.id, indexing, count)
        part = files.read_words(source.id, key)
        if part is None:
            if tell is not None:
                tell(source.title)
            part = _made(store, source.id, indexing, count, cut)
            files.write_words(source.id, key, part)
            n_made += 1
        parts[source.id] = part
    vectors: list[NDArray[np.float32]] = []
    if embedder is not None:
        keys = {
            source: content_id("retrieval-vectors", [key, embedder.name])
            for source, key in keys.items()
        }
        vectors = all_vectors(store, files, keys, parts, embedder, admit)
    index = ChunkIndex(list(parts.values()), vectors=vectors, embedder=embedder, cut=cut)
    return SourceIndex(
        store, index, key=content_id("retrieval-index", list(keys.values())),
        n_sources=len(wanted), n_made=n_made,
        former=_former(present, wanted) if only is None else (),
    )  # fmt: skip


def _former(present: Sequence[IndexedSource], wanted: Sequence[IndexedSource]) -> tuple[str, ...]:
    """The titles of the workspace's own sources that are not wanted."""
    held = {source.id for source in wanted}
    left = (source for source in present if source.kind != WEB and source.id not in held)
    return tuple(source.title for source in left)


def _words_key(store: Store, source: bytes, indexing: Indexing, count: TokenCounter) -> bytes:
    versions = [PART_VERSION, TERMS_VERSION, CHUNKS_VERSION, count.name]
    return content_id("retrieval-words", [store.indexed.passage_ids(source), indexing, versions])


def _made(
    store: Store, source: bytes, indexing: Indexing, count: TokenCounter, cut: CutHan | None
) -> SourcePart:
    places: list[ChunkPlace] = []

    def terms() -> Iterator[Iterator[str]]:
        for passage in store.knowledge.passages_of(source):
            text = passage.text
            for chunk in cut_chunks(text, indexing.chunking, count=count, sentences=sentence_spans):
                places.append(ChunkPlace(passage.id, chunk.start, chunk.end))
                yield terms_of(text[chunk.start : chunk.end], cut)

    postings = Postings.of(terms())
    return SourcePart(tuple(places), postings)


def _cut(han: HanWords) -> CutHan | None:
    return jieba_words() if han == "jieba" else None
