"""The workspace's own sources as an index: made once, and again only where a source changed.

Of each source its chunks and their terms are kept as a file, and beside it its vectors where they
were asked for. What a file was made from is its key: other passages, another way of cutting or
another embedder make it anew, and the files of a source that is gone, or was purged, are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from proofstone.documents.passages import sentence_spans
from proofstone.errors import BadUsage
from proofstone.models.tokens import load_cl100k
from proofstone.records.calls import EmbeddingModel, FoundText, Searcher, TokenCounter
from proofstone.records.ids import content_id
from proofstone.records.items import SearchMethod
from proofstone.records.knowledge import Passage, Source
from proofstone.records.models import LOCAL, WEB_SEARCHES, WebSearchName
from proofstone.search.bm25 import TERMS_VERSION, CutHan, Postings, jieba_words, terms_of
from proofstone.search.chunks import CHUNKS_VERSION, Chunking, cut_chunks
from proofstone.search.embedding import ToEmbed, all_vectors
from proofstone.search.index import PART_VERSION, ChunkIndex, ChunkPlace, PartFiles, SourcePart
from proofstone.store.knowledge import IndexedSource
from proofstone.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SearchSource(Struct, frozen=True):
    """A place to search: ``web`` is None for the workspace's own sources, else the search; of
    SearXNG with the ``engines`` that it is to ask ("bing,baidu"), where they are named."""

    web: WebSearchName | None = None
    engines: str = ""

    @property
    def name(self) -> str:
        """As a person writes it: ``local``, ``brave``, ``searxng:bing+baidu``."""
        if self.web is None:
            return LOCAL
        return f"{self.web}:{self.engines.replace(',', '+')}" if self.engines else self.web


def read_search_source(text: str) -> SearchSource:
    """What a name means; engines of SearXNG stand behind a colon, with + between them. Raises
    BadUsage."""
    name, colon, engines = text.partition(":")
    names = [each.strip() for each in engines.split("+") if each.strip()]
    if name == LOCAL and not colon:
        return SearchSource()
    for web in WEB_SEARCHES:
        if name == web and (not colon or (web == "searxng" and names)):
            return SearchSource(web, ",".join(names))
    raise BadUsage(
        f"nothing can be searched by the name {text!r}",
        hint=f"{LOCAL}, {', '.join(WEB_SEARCHES)}, or engines of SearXNG: searxng:bing+baidu",
    )


# Which sources are searched where nobody names any: of a document read again, its newest edition.
#
# A new edition is a source beside the old one, and both hold much the same sentences: side by side
# each would crowd the other out, and the old would speak against the new.

WEB = "web"  # the kind of pages that a search of the web found; they are found by that search alone


OF_THE_WEB = "pages of the web"  # how all of them are called where it is said what goes where


def current_sources(present: Sequence[IndexedSource]) -> list[IndexedSource]:
    """Those that hold now, in their order; without pages of the web.

    Two are editions of one document where kind, title and language are the same, and besides their
    file's name or address, of which the one that came later holds; or their authors, with years
    that differ, of which the latest holds. All else are documents of their own.
    """
    own = [source for source in present if source.kind != WEB]
    newest: dict[Hashable, int] = {}
    latest: dict[Hashable, int] = {}
    for number, source in enumerate(own):
        newest[_place(source)] = number
        if source.year is not None:
            latest[_work(source)] = max(latest.get(_work(source), source.year), source.year)
    return [
        source
        for number, source in enumerate(own)
        if (not source.origin or newest[_place(source)] == number)
        and (source.year is None or latest[_work(source)] == source.year)
    ]


def _place(source: IndexedSource) -> Hashable:
    # A year that is stated decides: whoever reads the old edition again means no new one.
    return source.kind, source.title, source.language, source.origin, source.year


def _work(source: IndexedSource) -> Hashable:
    return source.kind, source.title, source.language, source.authors


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


@dataclass(frozen=True, eq=False)
class SourceIndex:
    """An index of ``n_sources`` sources, of which ``n_made`` were read for it now. ``key`` is
    another one whenever it could find anything else. ``former`` are the titles of older editions
    that are left out of it."""

    store: Store
    index: ChunkIndex
    key: bytes
    n_sources: int
    n_made: int
    former: tuple[str, ...] = ()

    @property
    def n_chunks(self) -> int:
        """How many chunks it holds."""
        return len(self.index)

    def search(
        self, queries: Sequence[str], k: int, search_method: SearchMethod = "bm25"
    ) -> list[list[RetrievedChunk]]:
        """For each query the ``k`` best chunks, best first. Raises as ``ChunkIndex.search``."""
        hits = self.index.search(queries, k, search_method)
        knowledge = self.store.knowledge
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
    embedding_model: EmbeddingModel | None = None,
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
    count = load_cl100k()
    cut = jieba_words() if indexing.han == "jieba" else None
    versions = [PART_VERSION, TERMS_VERSION, CHUNKS_VERSION, count.name]
    present = store.indexed.sources(only)
    wanted = present if only is not None else current_sources(present)
    for gone in files.sources() - {source.id for source in present} if only is None else ():
        files.delete(gone)
    parts: dict[bytes, SourcePart] = {}
    keys: dict[bytes, bytes] = {}
    n_made = 0
    for source in wanted:
        made_from = [store.indexed.passage_ids(source.id), indexing, versions]
        key = keys[source.id] = content_id("retrieval-words", made_from)
        part = files.read_words(source.id, key)
        if part is None:
            if tell is not None:
                tell(source.title)
            part = _made(store, source.id, indexing, count, cut)
            files.write_words(source.id, key, part)
            n_made += 1
        parts[source.id] = part
    vectors: list[NDArray[np.float32]] = []
    if embedding_model is not None:
        keys = {
            source: content_id("retrieval-vectors", [key, embedding_model.name])
            for source, key in keys.items()
        }
        vectors = all_vectors(store, files, keys, parts, embedding_model, admit)
    index = ChunkIndex(
        list(parts.values()), vectors=vectors, embedding_model=embedding_model, cut=cut
    )
    return SourceIndex(
        store, index, key=content_id("retrieval-index", list(keys.values())),
        n_sources=len(wanted), n_made=n_made,
        former=_former(present, wanted) if only is None else (),
    )  # fmt: skip


def _former(present: Sequence[IndexedSource], wanted: Sequence[IndexedSource]) -> tuple[str, ...]:
    held = {source.id for source in wanted}
    left = (source for source in present if source.kind != WEB and source.id not in held)
    return tuple(source.title for source in left)


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


# The workspace's own sources, and several searches together, behind ``Searcher``.


class LocalSearcher:
    """An index, searched in one way; nothing leaves for it, and it never fails."""

    name = LOCAL

    def __init__(self, index: SourceIndex, search_method: SearchMethod = "bm25") -> None:
        self._index, self._search_method = index, search_method

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]:
        """The ``n`` best chunks."""
        (found,) = self._index.search([query], n, self._search_method)
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
