"""Index the workspace's own sources; only changed sources are indexed again.

Each source has a file with its chunks and their terms, and one with its vectors if requested. A
file's key covers its inputs: other passages, another way to split or another embedding model
replace it. The files of a deleted or purged source are deleted.
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
from proofstone.records.ids import content_id, short
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
    """Where to search: ``web`` is None for the workspace's own sources.

    ``engines`` are those that SearXNG is to ask ("bing,baidu"), if given.
    """

    web: WebSearchName | None = None
    engines: str = ""

    @property
    def name(self) -> str:
        """Return its name: ``local``, ``brave``, ``searxng:bing+baidu``."""
        if self.web is None:
            return LOCAL
        return f"{self.web}:{self.engines.replace(',', '+')}" if self.engines else self.web


def read_search_source(text: str) -> SearchSource:
    """Parse a search name; engines of SearXNG follow a colon, separated by +. Raises BadUsage."""
    name, colon, engines = text.partition(":")
    names = [each.strip() for each in engines.split("+") if each.strip()]
    if name == LOCAL and not colon:
        return SearchSource()
    for web in WEB_SEARCHES:
        if name == web and (not colon or (web == "searxng" and names)):
            return SearchSource(web, ",".join(names))
    raise BadUsage(
        f"unknown search {text!r}",
        hint=(
            f"expected {LOCAL}, {', '.join(WEB_SEARCHES)}, or engines of SearXNG: "
            "searxng:bing+baidu"
        ),
    )


# Default sources: of a document ingested again, only its newest edition.
#
# A new edition is a separate source with mostly the same sentences. Indexed together, both would
# fill the results, and the old one would contradict the new one.

WEB = "web"  # kind of pages found by a web search; only that search finds them


OF_THE_WEB = "pages of the web"  # the name for all of them in messages on outbound data


def current_sources(present: Sequence[IndexedSource]) -> list[IndexedSource]:
    """Return the current sources in their order, without web pages.

    Two are editions of one document if kind, title and language agree. In addition, the file's name
    or address must agree; the later one is current. Or the authors agree and the years differ; the
    latest year is current. All others are separate documents.
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
    # A stated year decides: reading the old edition again does not make it the newest.
    return source.kind, source.title, source.language, source.origin, source.year


def _work(source: IndexedSource) -> Hashable:
    return source.kind, source.title, source.language, source.authors


HanWords = Literal["bigrams", "jieba"]


class Indexing(Struct, frozen=True, kw_only=True):
    """How sources are indexed: how they are split, and what a Chinese term is."""

    chunking: Chunking = Chunking()
    han: HanWords = "bigrams"

    @property
    def variant(self) -> str:
        """Return a name for the files of this way to split; empty for the default one."""
        return "" if self == Indexing() else short(content_id("indexing", [self]))


class RetrievedChunk(Struct, frozen=True, kw_only=True):
    """A search result: its ``text`` is at [start, end) (code points) of its passage's text."""

    passage: Passage
    source: Source
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        """Return the chunk's own words."""
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True, eq=False)
class SourceIndex:
    """An index of ``n_sources`` sources, of which ``n_made`` were read for it now.

    ``key`` changes whenever results could change. ``former`` are the titles of older editions that
    are left out.
    """

    store: Store
    index: ChunkIndex
    key: bytes
    n_sources: int
    n_made: int
    former: tuple[str, ...] = ()

    @property
    def n_chunks(self) -> int:
        """Return the number of chunks."""
        return len(self.index)

    def search(
        self, queries: Sequence[str], k: int, search_method: SearchMethod = "bm25"
    ) -> list[list[RetrievedChunk]]:
        """Return each query's ``k`` best chunks, best first. Raises as ``ChunkIndex.search``."""
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
    """Return the index of all sources with passages, in their newest edition.

    ``only`` selects sources, in any edition. Vectors are included with an embedding model. ``tell``
    receives each source before it is read. ``admit`` receives the texts to embed before the first
    is sent, and raises if that is not allowed. Raises ExtraMissing if a package is missing.
    """
    files = PartFiles(files.folder, indexing.variant)
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


# Search the workspace's own sources, and several searches together, as ``Searcher``.


class LocalSearcher:
    """An index, searched with one method; it sends nothing and never fails."""

    name = LOCAL

    def __init__(self, index: SourceIndex, search_method: SearchMethod = "bm25") -> None:
        self._index, self._search_method = index, search_method

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]:
        """Return the ``n`` best chunks."""
        (found,) = self._index.search([query], n, self._search_method)
        return found_texts(found)


class JointSearcher:
    """Combine searches: the ``n`` best texts of each in their order, without duplicates."""

    def __init__(self, searchers: Sequence[Searcher]) -> None:
        self._searchers = searchers
        self.name = ",".join(searcher.name for searcher in searchers)

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]:
        """Return the texts of all searches; fails if one fails."""
        found: dict[tuple[bytes, int, int], FoundText] = {}
        for search in self._searchers:
            for each in await search(query, n, made_from=made_from):
                found.setdefault((each.passage, each.start, each.end), each)
        return list(found.values())


def found_texts(chunks: Iterable[RetrievedChunk]) -> list[FoundText]:
    """Return chunks as search results."""
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
