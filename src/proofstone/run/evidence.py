"""Ask items together with their evidence, their whole documents, or search results.

With evidence or documents, an item is asked with all of them or not at all. Half of them would
measure neither memory nor reading, and a shortened passage may lose the sentence that counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, structs

from proofstone.documents.passages import BETWEEN, sentence_spans
from proofstone.errors import BadUsage, TextPurged
from proofstone.judging.question import fence_code, harmless
from proofstone.method import Method, find_method
from proofstone.models.tokens import load_cl100k
from proofstone.records.calls import Call, Message, TextPart
from proofstone.records.ids import content_id, digest, short
from proofstone.records.items import (
    CHUNK_TOKENS,
    CONTEXT,
    CONTEXT_CHUNK_TOKENS,
    CONTEXT_CHUNKS,
    CONTEXT_EMBEDDING_MODEL,
    CONTEXT_INDEX,
    CONTEXT_PAGE_TOKENS,
    CONTEXT_SEARCH,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    CONTEXT_WITHIN,
    LEFT_OUT,
    SEARCH_METHODS,
    ContextName,
    Evidence,
    ItemSet,
    LoadedItem,
    Oracle,
    PromptMethod,
    Retrieved,
    SearchedTexts,
    SearchMethod,
    ShownChunk,
    context_of,
    left_out_of,
    shows_document,
)
from proofstone.records.knowledge import Fact, Passage, origin_of, passage_id
from proofstone.records.models import LOCAL
from proofstone.records.runs import Response, Run
from proofstone.run.run_options import CHUNKS, MOST_TOKENS
from proofstone.search.chunks import Chunking
from proofstone.search.sources import OF_THE_WEB, Indexing, RetrievedChunk, SourceIndex
from proofstone.store.items import StoredItem
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

# Items with search results from the workspace's sources. Unlike evidence, search results may or may
# not hold the answer, and every item is asked.

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


def with_retrieval(
    prompt_method: PromptMethod,
    method: Method,
    item_set: ItemSet,
    asked: RetrievalAsked,
    retriever: Retriever | None,
) -> PromptMethod:
    """Return the prompting method with each item's search results added to its prompt.

    This changes the hash of its prompts, as does every change of a source. Raises BadUsage as
    ``Retriever.find``, and if the run was started with other sources.
    """
    if asked.chunks < 1 or asked.most_tokens < 1:
        raise BadUsage("--context-chunks and --context-tokens take 1 or more")
    if retriever is None:
        raise BadUsage("nothing can be searched here", hint="--context none or evidence")
    found = retriever.find(method, item_set, asked)
    if asked.index and asked.index != found.index:
        raise BadUsage(
            "the sources have changed since this run was started, so a search finds other chunks",
            hint="start it again with 'run': identical requests come from the cache",
        )
    what = [retrieved_prompt(), found.chunks, found.most_tokens, found.search, found.index]
    what += [asked.within, asked.chunk_tokens] if asked.within != "sources" else []
    key = content_id("retrieved", [prompt_method.prompt_hash, *what])
    return structs.replace(prompt_method, retrieved=found, prompt_hash=key)


def retrieved_settings(prompt_method: PromptMethod) -> dict[str, Any]:
    """Return a run's settings on retrieval; empty without retrieval."""
    found = prompt_method.retrieved
    if found is None:
        return {}
    beside = prompt_method.evidence is not None
    return {
        CONTEXT: "document+retrieved" if beside else "retrieved",
        CONTEXT_TOKENS: found.most_tokens,
        CONTEXT_CHUNKS: found.chunks,
        CONTEXT_SEARCH: found.search,
        CONTEXT_INDEX: found.index,
        **({} if found.source == LOCAL else {CONTEXT_SOURCE: found.source}),
        **({CONTEXT_EMBEDDING_MODEL: found.embedding_model} if found.embedding_model else {}),
        **({} if found.within == "sources" else {CONTEXT_WITHIN: found.within}),
        **(
            {} if found.chunk_tokens == CHUNK_TOKENS else {CONTEXT_CHUNK_TOKENS: found.chunk_tokens}
        ),
        **({} if found.page_tokens is None else {CONTEXT_PAGE_TOKENS: found.page_tokens}),
    }


def retrieved_notes(prompt_method: PromptMethod) -> tuple[str, ...]:
    """Return notes to show before a run, such as questions without search results."""
    found = prompt_method.retrieved
    if found is None:
        return ()
    empty = sum(not chunks for chunks in found.by_item.values())
    n_failed, left = len(found.failed), found.n_unsearched
    total = len(found.by_item) + n_failed + left
    notes = []
    if empty:
        notes.append(
            f"for {empty:,} of {total:,} questions nothing was found (or nothing within "
            "--context-tokens): they are asked without context"
        )
    if n_failed:
        first = next(iter(found.failed.values()))
        notes.append(
            f"for {n_failed:,} of {total:,} questions the search by {found.source} failed "
            f"({first}): they are not asked; resume the run to search again"
        )
    if left:
        notes.append(
            f"{left:,} of {total:,} questions were not searched for by {found.source} yet: a "
            "run sends one query for each, and their results are not counted here"
        )
    return tuple(notes)


def retrieved_origins(store: Store, prompt_method: PromptMethod) -> list[Origin]:
    """Return the sources of the passages shown, with counts; all web pages count as one source."""
    found = prompt_method.retrieved
    if found is None:
        return []
    if found.source != LOCAL:
        n_passages = len({c.passage for each in found.by_item.values() for c in each})
        return [Origin(OF_THE_WEB, "", n_passages, (OF_THE_WEB,))] if n_passages else []
    return store.origins.of_passages({c.passage for each in found.by_item.values() for c in each})


def with_chunks(
    store: Store, prompt_method: PromptMethod, page: Iterable[StoredItem]
) -> Iterator[StoredItem]:
    """Yield items with the retrieved part of each passage in place of its text.

    Purged passages are not shown. Items whose search failed are left out.
    """
    found = prompt_method.retrieved
    failed = {} if found is None else found.failed
    page = [stored for stored in page if stored.loaded.item.id not in failed]
    by_item = {} if found is None else found.by_item
    wanted = {chunk.passage for each in page for chunk in by_item.get(each.loaded.item.id, ())}
    known = store.knowledge.passages(wanted)
    for stored in page:
        shown = tuple(
            _cut(passage, chunk)
            for chunk in by_item.get(stored.loaded.item.id, ())
            if (passage := known.get(chunk.passage)) is not None and passage.text
        )
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, passages=shown))


def _cut(passage: Passage, chunk: ShownChunk) -> Passage:
    start, end = chunk.start, chunk.end
    return structs.replace(passage, start=start, end=end, text=passage.text[start:end])


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


def with_evidence(
    store: Store,
    prompt_method: PromptMethod,
    item_set: ItemSet,
    most_tokens: int,
    *,
    shows: Literal["evidence", "document"] = "evidence",
) -> PromptMethod:
    """Return the prompting method with each item's evidence or documents added to its prompt.

    This changes the hash of its prompts. Raises BadUsage if no item of the set has usable texts.
    """
    if most_tokens < 1:
        raise BadUsage(f"--context-tokens takes 1 or more, got {most_tokens}")
    evidence = _evidence(store, item_set, most_tokens, shows)
    if len(evidence.left_out) == item_set.n_items:
        raise BadUsage(
            f"no question of {item_set.name} can be asked with its {shows}: {_why(evidence)}",
            hint=(
                "use questions on documents of this workspace (proofstone ingest, then build or "
                "import them); raise --context-tokens if the texts are too long"
            ),
        )
    what = [evidence_prompt(), most_tokens] if shows == "evidence" else [document_prompt()]
    key = content_id(shows, [prompt_method.prompt_hash, *what])
    return structs.replace(prompt_method, evidence=evidence, prompt_hash=key)


def evidence_settings(prompt_method: PromptMethod) -> dict[str, Any]:
    """Return a run's settings on evidence; empty without evidence."""
    evidence = prompt_method.evidence
    if evidence is None:
        return {}
    left_out = {LEFT_OUT: len(evidence.left_out)} if evidence.left_out else {}
    return {CONTEXT: evidence.shows, CONTEXT_TOKENS: evidence.most_tokens, **left_out}


def left_out_notes(prompt_method: PromptMethod, item_set: ItemSet) -> tuple[str, ...]:
    """Return notes to show before a run that does not ask all items."""
    evidence = prompt_method.evidence
    if evidence is None or not evidence.left_out:
        return ()
    n = len(evidence.left_out)
    return (
        f"{n:,} of {item_set.n_items:,} questions ({n / item_set.n_items:.1%}) are left out, since "
        f"{_SHOWN_AS[evidence.shows]} shown whole or not at all: {_why(evidence)}",
    )


def left_out_again(store: Store, key: int, run: Run, items: Container[int]) -> int:
    """Return how many of ``items`` (keys) the run with this key leaves out.

    For a run with all responses, these are the items without one. For an unfinished run, they are
    computed. An item whose text was purged since is never asked.
    """
    n_items = store.items.item_set(run.item_set).n_items
    answered = store.runs.answered(key, run.last_step)
    without = [
        item
        for _position, item in store.items.places(run.item_set, -1, n_items)
        if item in items and item not in answered
    ]
    if len(answered) + left_out_of(run.settings) == n_items:
        return len(without)
    most = int(run.settings.get(CONTEXT_TOKENS, MOST_TOKENS))
    shows = _shown_by(context_of(run.settings))
    return sum(not _can_be_asked(store, item, most, shows) for item in without)


def _can_be_asked(store: Store, item: int, most_tokens: int, shows: Shows) -> bool:
    try:
        stored = StoredItem(item, 0, store.items.one(item))
    except TextPurged:
        return False
    (found,) = _with_texts(store, [stored], shows)
    texts = (*found.loaded.passages, *found.loaded.documents)
    return bool(texts) and sum(map(document_tokens, texts)) <= most_tokens


def passages_behind(store: Store, item_set: bytes) -> set[bytes]:
    """Return the passages behind a set's items, including those of false statements' originals."""
    named = store.origins.passages_of_set(item_set)
    others = store.knowledge.facts_by_id(store.origins.facts_without_passage(item_set),
                                         readable=True)  # fmt: skip
    return named | set(_passages_of(others.values(), store).values())


def asked_page(
    store: Store, prompt_method: PromptMethod, item_set: bytes, after: int, limit: int
) -> list[StoredItem]:
    """Return the items at the ``limit`` positions after ``after`` that are asked.

    Items come with their passages if they are asked with them.
    """
    page = store.items.page(item_set, after, limit)
    evidence = prompt_method.evidence
    if evidence is not None:
        page = [stored for stored in page if stored.position not in evidence.left_out]
        page = list(_with_texts(store, page, evidence.shows))
    if prompt_method.retrieved is not None:
        page = list(with_chunks(store, prompt_method, page))
    return page


def spread_items(
    store: Store, prompt_method: PromptMethod, item_set: ItemSet, n_items: int, n: int
) -> Iterator[LoadedItem]:
    """Yield up to ``n`` of the first ``n_items`` items that are asked, evenly spread."""
    places = range(n_items)
    if prompt_method.evidence is not None:
        asked = [place for place in places if place not in prompt_method.evidence.left_out]
    else:
        asked = list(places)
    n = min(n, len(asked))
    for at in range(n):
        place = asked[at * len(asked) // n]
        for stored in asked_page(store, prompt_method, item_set.id, place - 1, 1):
            yield stored.loaded


async def ask_item(
    method: Method, item: LoadedItem, prompt_method: PromptMethod, call: Call
) -> None:
    """Let the method ask an item, with its passages, if any, in the prompts."""
    if item.documents:
        is_alone = prompt_method.retrieved is None
        call = _informed(call, item, partial(with_documents, is_alone=is_alone), item.documents)
    if prompt_method.retrieved is not None:
        call = _informed(call, item, with_retrieved, item.passages)
    elif item.passages:
        call = _informed(call, item, with_passages, item.passages)
    await method.ask(item, prompt_method, call)


def _informed(
    call: Call, item: LoadedItem, told: Callable[..., list[Message]], texts: Sequence[Passage]
) -> Call:
    """Return a ``Call`` that puts an item's texts before its question."""

    async def asked(
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        scored = messages[-1:] if messages[-1].role == "assistant" else ()
        asks = messages[: len(messages) - len(scored)]
        shown = [*told(asks, texts, item.item.language), *scored]
        return await call(step, shown, oracle=oracle, schema=schema)

    return asked


# ---------------------------------------------------------------- passages of an item


Shows = Literal["evidence", "document"]

_SHOWN_AS: Mapping[Shows, str] = {"evidence": "evidence is", "document": "documents are"}


def _shown_by(context: ContextName) -> Shows:
    return "document" if shows_document(context) else "evidence"


def _evidence(store: Store, item_set: ItemSet, most_tokens: int, shows: Shows) -> Evidence:
    """Return which items of a set can be asked with all their texts."""
    without, too_long = [], []
    for page in store.items.pages(item_set.id):
        for stored in _with_texts(store, page, shows):
            texts = (*stored.loaded.passages, *stored.loaded.documents)
            if not texts:
                without.append(stored.position)
            elif sum(map(document_tokens, texts)) > most_tokens:
                too_long.append(stored.position)
    left_out = frozenset([*without, *too_long])
    return Evidence(most_tokens, left_out, len(without), len(too_long), shows)


_COUNTED: dict[bytes, int] = {}  # tokens of texts, by their hash


def document_tokens(text: Passage) -> int:
    """Return the tokens of a text, counted once in this process."""
    key = digest(text.text.encode())
    if key not in _COUNTED:
        _COUNTED[key] = load_cl100k()(text.text)
    return _COUNTED[key]


def _with_texts(store: Store, page: Iterable[StoredItem], shows: Shows) -> Iterator[StoredItem]:
    """Yield items with their evidence, or with their documents; none if one of them is missing."""
    if shows == "evidence":
        yield from with_own_evidence(store, page)
        return
    known: dict[bytes, Passage | None] = {}
    for stored in page:
        named = documents_of(stored.loaded)
        for source in named:
            if source not in known:
                known[source] = next(whole_documents(store, [source]), None)
        found = [known[source] for source in named]
        texts = tuple(each for each in found if each is not None)
        if len(texts) < len(found):
            texts = ()
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, documents=texts))


def documents_of(item: LoadedItem) -> tuple[bytes, ...]:
    """Return the sources of an item's facts, each once, in the order of the facts."""
    return tuple(dict.fromkeys(fact.source for fact in item.facts if fact.source is not None))


def whole_documents(store: Store, sources: Iterable[bytes]) -> Iterator[Passage]:
    """Yield each source's whole text, its pages in order; none for a source without text here."""
    for source in sources:
        pages = [page.text for page in store.pages.pages(source) if page.text]
        if pages:
            text = BETWEEN.join(pages)
            yield Passage(source=source, start=0, end=len(text), text=text)


def documents_shown(store: Store, item_set: bytes) -> list[Origin]:
    """Return the documents of a set's items, each as one text."""
    named = {
        source
        for page in store.items.pages(item_set)
        for stored in page
        for source in documents_of(stored.loaded)
    }
    known = store.knowledge.sources(named).values()
    return [Origin(each.title, each.license, 1, (each.title,)) for each in known]


def with_own_evidence(store: Store, page: Iterable[StoredItem]) -> Iterator[StoredItem]:
    """Yield items with the evidence of their facts, each text once, in the order of the facts.

    That is what the method names as evidence, or else the passage of each fact. An item has none if
    one of its facts has none here, or one whose text was purged.
    """
    page = list(page)
    places = _passages_of(
        {fact.id: fact for stored in page for fact in stored.loaded.facts}.values(), store
    )
    known = store.knowledge.passages(set(places.values()))
    for stored in page:
        method = find_method(stored.loaded.item.kind.partition(".")[0])
        if method.evidence is None:
            passages = _of_facts(stored.loaded, places, known)
        else:
            passages = evidence_of(method, stored.loaded.facts)
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, passages=passages))


def evidence_of(method: Method, facts: Sequence[Fact]) -> tuple[Passage, ...]:
    """Return the spans that a method names as the evidence of facts, each once, in their order.

    Empty if one of the facts has none.
    """
    found: dict[bytes, Passage] = {}
    for fact in facts:
        spans = () if method.evidence is None else method.evidence(fact)
        if not spans or fact.source is None:
            return ()
        for span in spans:
            passage = Passage(
                source=fact.source, page=span.page, start=span.start, end=span.end, text=span.text
            )
            found.setdefault(passage_id(passage), passage)
    return tuple(found.values())


def _passages_of(facts: Collection[Fact], store: Store) -> dict[bytes, bytes]:
    """Return the passage of each fact that has one; a false statement may use its original's."""
    origins = {fact.id: origin_of(fact) for fact in facts if fact.passage is None}
    named = {each for each in origins.values() if each}
    originals = store.knowledge.facts_by_id(named, readable=True)
    found = {}
    for fact in facts:
        places = fact if fact.passage else originals.get(origins.get(fact.id) or b"")
        if places is not None and places.passage is not None:
            found[fact.id] = places.passage
    return found


def _of_facts(
    item: LoadedItem, places: Mapping[bytes, bytes], known: Mapping[bytes, Passage]
) -> tuple[Passage, ...]:
    found: dict[bytes, Passage] = {}
    for fact in item.facts:
        passage = known.get(places.get(fact.id, b""))
        if passage is None or not passage.text:
            return ()
        found[passage.id] = passage
    return tuple(found.values())


def _why(evidence: Evidence) -> str:
    what = "a document" if evidence.shows == "document" else "a passage"
    texts = "documents" if evidence.shows == "document" else "passages"
    reasons = []
    if evidence.n_without:
        reasons.append(f"{evidence.n_without:,} depend on a fact without {what} here")
    if evidence.n_too_long:
        reasons.append(
            f"{evidence.n_too_long:,} have {texts} of more than {evidence.most_tokens:,} "
            "tokens together (--context-tokens)"
        )
    return " and ".join(reasons) or "it has none"


# Search results in a prompt: delimited by marks that name the passage.

# Passages in a prompt: delimited by marks with a code, without hidden characters, before the
# question.

T = TypeVar("T")


_VERSION = 1  # increase when passages are placed differently while the words stay the same


class BlockWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the words of one language around passages. ``opens`` may contain ``{place}``."""

    material: str
    opens: str
    closes: str
    question: str


def with_passages(
    messages: Sequence[Message], passages: Sequence[Passage], language: str
) -> list[Message]:
    """Return the conversation with passages before the text of its last message, the question.

    Few-shot examples before it stay as they are, without passages.
    """
    return _preceded(messages, evidence_block([passage.text for passage in passages], language))


def with_documents(
    messages: Sequence[Message], documents: Sequence[Passage], language: str, *, is_alone: bool
) -> list[Message]:
    """Return the conversation with whole documents before the text of its last message.

    Documents come first, so that an endpoint's prefix cache can serve all questions on one. Search
    results follow unless they are shown alone (``is_alone``).
    """
    words = _document_words(_language(language))
    block = _document_block(_language(language), tuple(document.text for document in documents))
    if not is_alone:
        block = block.removesuffix(f"\n\n{words.question}")
    return _preceded(messages, block)


@lru_cache(maxsize=8)  # questions on one document follow each other
def _document_block(language: str, texts: tuple[str, ...]) -> str:
    return _block_of(_document_words(language), texts)


def document_prompt() -> bytes:
    """Return the hash of everything that the texts around documents depend on."""
    return content_id("document-prompt", [_VERSION, _document_words("en"), _document_words("zh")])


def evidence_block(texts: Sequence[str], language: str) -> str:
    """Return texts as a prompt shows them; the question follows."""
    return _block_of(_words(_language(language)), texts)


def _language(code: str) -> str:
    return "zh" if code.lower().partition("-")[0] == "zh" else "en"


def _block_of(words: BlockWords, texts: Sequence[str], places: Sequence[str] = ()) -> str:
    """Return texts between marks with a code that occurs in none of them, with places if given."""
    code = fence_code(texts)

    def mark(of: str, number: int) -> str:
        place = places[number - 1] if places else ""
        named = of.replace("{number}", str(number)).replace("{place}", place)
        return named.replace("{code}", code)

    blocks = [
        f"{mark(words.opens, number)}\n{harmless(text)}\n{mark(words.closes, number)}"
        for number, text in enumerate(texts, start=1)
    ]
    return "\n\n".join([words.material.replace("{code}", code), *blocks, words.question])


def _preceded(messages: Sequence[Message], block: str) -> list[Message]:
    """Return the conversation with a block before the text of its last message, the question.

    Images in that message keep their place.
    """
    *before, last = messages
    text = f"{block}\n\n"
    if isinstance(last.content, str):
        return [*before, structs.replace(last, content=text + last.content)]
    return [*before, structs.replace(last, content=(TextPart(text), *last.content))]


@cache
def _words(language: str) -> BlockWords:
    return _read_words(f"evidence.{language}.toml", BlockWords)


@cache
def _document_words(language: str) -> BlockWords:
    return _read_words(f"document.{language}.toml", BlockWords)


@cache
def _retrieved_words(language: str) -> RetrievedWords:
    return _read_words(f"retrieved.{language}.toml", RetrievedWords)


def _read_words(name: str, kind: type[T]) -> T:
    """Read the words in a file of this folder."""
    file = files(__package__) / name
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), kind)


def evidence_prompt() -> bytes:
    """Return the hash of everything that these texts depend on."""
    return content_id("evidence-prompt", [_VERSION, _words("en"), _words("zh")])


_DIGITS = 16  # characters of a passage's id that suffice to find it


_PLACE = rf"passage:([0-9a-f]{{{_DIGITS}}}) (\d+)-(\d+)"


class RetrievedWords(BlockWords, frozen=True, forbid_unknown_fields=True):
    """Hold the words of one language; ``nothing`` is shown if a search found nothing."""

    nothing: str


class ShownIn(Struct, frozen=True, gc=False):
    """A chunk in a prompt: a passage id as ``show`` takes it, and code points [start, end)."""

    passage: str
    start: int
    end: int


def with_retrieved(
    messages: Sequence[Message], chunks: Sequence[Passage], language: str
) -> list[Message]:
    """Return the conversation with chunks, best first, before the text of its last message.

    Each chunk is a passage shortened to the part shown. Without chunks, a text says that nothing
    was found. Few-shot examples before it stay as they are.
    """
    words = _retrieved_words(_language(language))
    if not chunks:
        return _preceded(messages, words.nothing)
    places = [f"passage:{each.id.hex()[:_DIGITS]} {each.start}-{each.end}" for each in chunks]
    return _preceded(messages, _block_of(words, [each.text for each in chunks], places))


def shown_to(prompt: bytes) -> list[ShownIn]:
    """Return the chunks that a stored prompt (canonical JSON of its messages) shows.

    Empty for a purged prompt.
    """
    if not prompt:
        return []
    messages = msgspec.json.decode(prompt, type=list[Message])
    asked = [message for message in messages if message.role == "user"]
    return shown_in(asked[-1].text) if asked else []


def shown_in(text: str) -> list[ShownIn]:
    """Return the chunks that a prompt's text shows, in order; empty if it shows none.

    Only the marks of the opening block count, or of the block after the documents that open the
    text. A chunk, document or question cannot imitate them, since none contains the code.
    """
    for language in ("en", "zh"):
        words = _retrieved_words(language)
        after = _after_documents(text, _document_words(language))
        before, _, _after = words.material.partition("{code}")
        if not after.startswith(before):
            continue
        code = after[len(before) : len(before) + _CODE]
        pattern = re.escape(words.opens)
        for name, value in (("number", r"\d+"), ("place", _PLACE), ("code", re.escape(code))):
            pattern = pattern.replace(re.escape(f"{{{name}}}"), value)
        return [
            ShownIn(f"passage:{found[1]}", int(found[2]), int(found[3]))
            for found in re.finditer(f"^{pattern}$", after, re.MULTILINE)
        ]
    return []


_CODE = 8  # characters of the code in marks


def _after_documents(text: str, words: BlockWords) -> str:
    """Return what follows the documents that open a text; the text if none do."""
    before, _, _after = words.material.partition("{code}")
    if not text.startswith(before):
        return text
    code = text[len(before) : len(before) + _CODE]
    end = re.escape(words.closes).replace(re.escape("{code}"), re.escape(code))
    end = end.replace(re.escape("{number}"), r"\d+")
    closed = list(re.finditer(f"^{end}$", text, re.MULTILINE))
    return text[closed[-1].end() :].lstrip("\n") if closed else text


def retrieved_prompt() -> bytes:
    """Return the hash of everything that these texts depend on."""
    return content_id(
        "retrieved-prompt", [_VERSION, _retrieved_words("en"), _retrieved_words("zh")]
    )
