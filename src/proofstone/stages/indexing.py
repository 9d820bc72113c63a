"""The workspace's own sources as an index: made once, and again only where a source changed.

Of each source its chunks and their terms are kept as a file, and beside it its vectors where they
were asked for. What a file was made from is its key: other passages, another way of cutting or
another embedder make it anew, and the files of a source that is gone, or was purged, are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from proofstone.engines.ingest.sentences import sentence_spans
from proofstone.engines.retrieval import (
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
from proofstone.engines.store import Store
from proofstone.engines.tokens import load_cl100k
from proofstone.identity import content_id
from proofstone.ports import Embedder, TokenCounter
from proofstone.records import Passage, Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Indexing", "RetrievedChunk", "SourceIndex", "open_index"]

_EMBEDDED = 256  # chunks whose texts are held at once
_CHUNKS_VERSION = 1  # raised where the same text would be cut otherwise

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
    another one whenever it could find anything else."""

    def __init__(
        self, store: Store, index: ChunkIndex, *, key: bytes, n_sources: int, n_made: int
    ) -> None:
        self.key = key
        self.n_sources = n_sources
        self.n_made = n_made
        self.n_chunks = len(index)
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
    only: Collection[bytes] = (),
    tell: Callable[[str], None] | None = None,
) -> SourceIndex:
    """The index of all sources with passages (or of ``only`` these), with vectors where there is an
    embedder. ``tell`` hears of each source before it is read.

    Raises ExtraMissing where a package for it is absent.
    """
    count, cut = load_cl100k(), _cut(indexing.han)
    present = store.indexed.sources()
    for gone in files.sources() - set(present):
        files.delete(gone)
    wanted = [source for source in present if not only or source in only]
    parts: list[SourcePart] = []
    vectors: list[NDArray[np.float32]] = []
    keys: list[bytes] = []
    n_made = 0
    for source in wanted:
        key = _words_key(store, source, indexing, count)
        part = files.read_words(source, key)
        if part is None:
            if tell is not None:
                tell(_title(store, source))
            part = _made(store, source, indexing, count, cut)
            files.write_words(source, key, part)
            n_made += 1
        if embedder is not None:
            key = content_id("retrieval-vectors", [key, embedder.name])
            vectors.append(_vectors(store, files, source, key, part, embedder))
        keys.append(key)
        parts.append(part)
    index = ChunkIndex(parts, vectors=vectors, embedder=embedder, cut=cut)
    key = content_id("retrieval-index", keys)
    return SourceIndex(store, index, key=key, n_sources=len(wanted), n_made=n_made)


def _words_key(store: Store, source: bytes, indexing: Indexing, count: TokenCounter) -> bytes:
    versions = [PART_VERSION, TERMS_VERSION, _CHUNKS_VERSION, count.name]
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


def _vectors(
    store: Store, files: PartFiles, source: bytes, key: bytes, part: SourcePart, embedder: Embedder
) -> NDArray[np.float32]:
    """The vectors of a part's chunks, kept or made."""
    import numpy as np  # noqa: PLC0415

    found = files.read_vectors(source, key, embedder.name)
    if found is not None and len(found) == len(part.places):
        return found
    made = []
    places = iter(part.places)
    while some := list(islice(places, _EMBEDDED)):
        texts = store.knowledge.passages({place.passage for place in some})
        made.append(
            embedder.embed([texts[each.passage].text[each.start : each.end] for each in some])
        )
    whole = np.concatenate(made) if made else np.zeros((0, 1))
    return files.write_vectors(source, key, embedder.name, whole.astype(np.float32))


def _cut(han: HanWords) -> CutHan | None:
    return jieba_words() if han == "jieba" else None


def _title(store: Store, source: bytes) -> str:
    known = store.knowledge.sources([source]).get(source)
    return "" if known is None else known.title
