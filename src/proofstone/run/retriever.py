"""Search the workspace's sources, an item's documents or the web for what items are asked with.

Unlike evidence, search results may or may not hold the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.documents.passages import sentence_spans
from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.models.tokens import load_cl100k
from proofstone.records.ids import content_id, short
from proofstone.records.items import (
    CHUNK_TOKENS,
    SEARCH_METHODS,
    ItemSet,
    LoadedItem,
    Retrieved,
    SearchedTexts,
    SearchMethod,
    ShownChunk,
)
from proofstone.records.models import LOCAL
from proofstone.run.item_documents import document_tokens, documents_of, whole_documents
from proofstone.run.run_options import CHUNKS
from proofstone.search.chunks import Chunking
from proofstone.search.sources import Indexing, RetrievedChunk, SourceIndex
from proofstone.store.store import Store

_AT_ONCE = 256  # questions searched for together


class RetrievalAsked(Struct, frozen=True, kw_only=True):
    """Hold what each item is asked with: so many chunks, of so many tokens together.

    ``search`` is the search method and ``source`` where to search (see ``SearchSource``).
    ``embedding_model`` replaces the bundled embedding model. ``index`` is the required state of the
    sources, if a run has one.

    ``within`` "document": only the item's own documents are searched. Texts are split into chunks
    of ``chunk_tokens``. With ``beside_document`` the item's documents are shown as well, and count
    toward ``most_tokens``. With ``page_tokens`` the beginnings of web pages are shown.
    """

    chunks: int = CHUNKS
    most_tokens: int
    search: SearchMethod = "bm25"
    source: str = LOCAL
    embedding_model: str = ""
    index: str = ""
    within: SearchedTexts = "sources"
    chunk_tokens: int = CHUNK_TOKENS
    beside_document: bool = False
    page_tokens: int | None = None

    @property
    def indexing(self) -> Indexing:
        """Return how texts are split."""
        return Indexing(chunking=Chunking(most=self.chunk_tokens))


OpenIndex = Callable[[SearchMethod, str, Indexing, frozenset[bytes] | None], SourceIndex]


class Retriever:
    """Find chunks for the items of sets.

    Each set is searched for once, even for several models. ``open_index`` returns the index for a
    search method, an embedding model, a way to split texts and some sources (None: all). Web
    results are passed in by ``know``: nothing is sent from here.
    """

    def __init__(self, store: Store, open_index: OpenIndex) -> None:
        self._store = store
        self._open = open_index
        self._indexes: dict[Hashable, SourceIndex] = {}
        self._known: dict[bytes, Retrieved] = {}
        self._of_the_web: dict[tuple[bytes, RetrievalAsked], Retrieved] = {}

    def index(self, asked: RetrievalAsked, only: frozenset[bytes] | None = None) -> SourceIndex:
        """Return the index of all sources, or of some, that a search needs; opened once."""
        key = (asked.search, asked.embedding_model, asked.chunk_tokens, only)
        if key not in self._indexes:
            opened = self._open(asked.search, asked.embedding_model, asked.indexing, only)
            self._indexes[key] = opened
        return self._indexes[key]

    def open(self, item_set: ItemSet, asked: RetrievalAsked) -> None:
        """Open every index that a search for the items of a set needs, and embed what it lacks."""
        if asked.within == "sources":
            self.index(asked)
            return
        for documents in {
            frozenset(documents_of(stored.loaded))
            for page in self._store.items.pages(item_set.id)
            for stored in page
        }:
            self.index(asked, documents)

    def know(self, item_set: bytes, asked: RetrievalAsked, found: Retrieved) -> None:
        """Store the web results for a set."""
        self._of_the_web[item_set, _of_web(asked)] = found

    def find(self, method: Method, item_set: ItemSet, asked: RetrievalAsked) -> Retrieved:
        """Return the chunks for all items of a set.

        Raises BadUsage if the method does not define search queries, or if no source can be
        searched.
        """
        if method.query is None:
            raise BadUsage(
                f"{method.title} defines no search query for its questions",
                hint="--context none or evidence",
            )
        if asked.source != LOCAL:
            found = self._of_the_web[item_set.id, _of_web(asked)]
            return (
                self._beside_documents(found, item_set, asked) if asked.beside_document else found
            )
        if asked.within == "document":
            return self._within_documents(method.query, item_set, asked)
        index = self.index(asked)
        if not index.n_chunks:
            raise BadUsage(
                "nothing to search: no source of this workspace has passages",
                hint="proofstone ingest FILE...",
            )
        key = content_id("retrieved", [item_set.id, asked, index.key])
        if key not in self._known:
            chunks = dict(_found(self._store, method.query, item_set, index, asked))
            self._known[key] = retrieved_by(asked, chunks, short(index.key, 16))
        return self._known[key]

    def _within_documents(
        self, query: Callable[[LoadedItem], str], item_set: ItemSet, asked: RetrievalAsked
    ) -> Retrieved:
        """Return the chunks for all items, each searched for in its own documents."""
        by_documents: dict[frozenset[bytes], list[LoadedItem]] = {}
        for page in self._store.items.pages(item_set.id):
            for stored in page:
                of = frozenset(documents_of(stored.loaded))
                by_documents.setdefault(of, []).append(stored.loaded)
        by_item: dict[bytes, tuple[ShownChunk, ...]] = {}
        keys = []
        for documents, items in by_documents.items():
            index = self.index(asked, documents)
            keys.append(index.key)
            room = asked.most_tokens
            if asked.beside_document:
                room -= sum(
                    document_tokens(each) for each in whole_documents(self._store, documents)
                )
            hits = index.search([query(item) for item in items], asked.chunks, asked.search)
            for item, found in zip(items, hits, strict=True):
                by_item[item.item.id] = tuple(fitted([_shown(chunk) for chunk in found], room))
        if not any(by_item.values()):
            raise BadUsage(
                f"no question of {item_set.name} has a document with passages to search",
                hint="proofstone ingest FILE..., then import the questions again",
            )
        index_name = short(content_id("retrieval-indexes", sorted(keys)), 16)
        return retrieved_by(asked, by_item, index_name)

    def _beside_documents(
        self, found: Retrieved, item_set: ItemSet, asked: RetrievalAsked
    ) -> Retrieved:
        """Return results of the web, shortened to what an item's documents leave."""
        knowledge = self._store.knowledge
        by_item: dict[bytes, tuple[ShownChunk, ...]] = {}
        for page in self._store.items.pages(item_set.id):
            for stored in page:
                item = stored.loaded.item.id
                chunks = found.by_item.get(item, ())
                documents = whole_documents(self._store, documents_of(stored.loaded))
                room = asked.most_tokens - sum(map(document_tokens, documents))
                passages = knowledge.passages({chunk.passage for chunk in chunks})
                texts = [
                    (chunk, passages[chunk.passage].text[chunk.start : chunk.end])
                    for chunk in chunks
                    if chunk.passage in passages
                ]
                if item in found.by_item:
                    by_item[item] = tuple(fitted(texts, room))
        return structs.replace(found, by_item=by_item, most_tokens=asked.most_tokens)


def _of_web(asked: RetrievalAsked) -> RetrievalAsked:
    """Return what a web search is known by: neither the sources' state nor a token limit."""
    return structs.replace(asked, index="", most_tokens=0)


def retrieved_by(
    asked: RetrievalAsked, by_item: Mapping[bytes, tuple[ShownChunk, ...]], index: str
) -> Retrieved:
    """Return what a search found, with what was asked for."""
    return Retrieved(
        by_item=by_item, chunks=asked.chunks, most_tokens=asked.most_tokens, search=asked.search,
        index=index, embedding_model=asked.embedding_model, within=asked.within,
        chunk_tokens=asked.chunk_tokens,
    )  # fmt: skip


def read_search(text: str) -> SearchMethod:
    """Return the search method with this name. Raises BadUsage."""
    for prompt_method in SEARCH_METHODS:
        if text == prompt_method:
            return prompt_method
    raise BadUsage(f"unknown search method {text!r}: expected {', '.join(SEARCH_METHODS)}")


def _found(
    store: Store,
    query: Callable[[LoadedItem], str],
    item_set: ItemSet,
    index: SourceIndex,
    asked: RetrievalAsked,
) -> Iterator[tuple[bytes, tuple[ShownChunk, ...]]]:
    for page in store.items.pages(item_set.id):
        for start in range(0, len(page), _AT_ONCE):
            part = page[start : start + _AT_ONCE]
            queries = [query(stored.loaded) for stored in part]
            hits = index.search(queries, asked.chunks, asked.search)
            for stored, each in zip(part, hits, strict=True):
                yield stored.loaded.item.id, tuple(within(each, asked.most_tokens))


def within(found: Iterable[RetrievedChunk], most_tokens: int) -> Iterator[ShownChunk]:
    """Yield the best chunks that fit the token limit together."""
    count, left = load_cl100k(), most_tokens
    for chunk in found:
        left -= count(chunk.text)
        if left < 0:
            return
        yield ShownChunk(chunk.passage.id, chunk.start, chunk.end)


def _shown(chunk: RetrievedChunk) -> tuple[ShownChunk, str]:
    return ShownChunk(chunk.passage.id, chunk.start, chunk.end), chunk.text


def fitted(found: Sequence[tuple[ShownChunk, str]], most_tokens: int) -> Iterator[ShownChunk]:
    """Yield chunks (each with its text), best first, shortened in turn until they fit the token
    limit together.

    One sentence at a time is taken off the end of a chunk, beginning with the last chunk; a chunk
    without a sentence left is not shown.
    """
    count = load_cl100k()
    ends = [[end for _start, end in sentence_spans(text)] for _chunk, text in found]
    sizes = [count(text) for _chunk, text in found]
    places = [place for place in reversed(range(len(found))) if ends[place]]
    while sum(sizes) > most_tokens and places:
        for place in list(places):
            if sum(sizes) <= most_tokens:
                break
            ends[place].pop()
            text = found[place][1]
            sizes[place] = count(text[: ends[place][-1]].rstrip()) if ends[place] else 0
            if not ends[place]:
                places.remove(place)
    for (chunk, text), left in zip(found, ends, strict=True):
        if left:
            end = chunk.start + len(text[: left[-1]].rstrip())
            yield ShownChunk(chunk.passage, chunk.start, end)
