"""Items with what a search finds for them in the workspace's own sources.

Other than evidence, which an item is asked with whole or not at all, this is what a reader with a
search box would have: it may hold the answer or not, and every item is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct, structs

from proofstone.engines.retrieval import SEARCH_WAYS, SearchWay
from proofstone.engines.store import Origin, Store, StoredItem
from proofstone.engines.tokens import load_cl100k
from proofstone.errors import BadUsage
from proofstone.identity import content_id, short
from proofstone.ports import Method, Queried
from proofstone.records import (
    CONTEXT,
    CONTEXT_CHUNKS,
    CONTEXT_EMBEDDER,
    CONTEXT_INDEX,
    CONTEXT_SEARCH,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    ItemSet,
    Passage,
    Retrieved,
    ShownChunk,
    Way,
)
from proofstone.stages.current_sources import OF_THE_WEB
from proofstone.stages.indexing import RetrievedChunk, SourceIndex
from proofstone.stages.retrieved_prompt import retrieved_prompt
from proofstone.stages.search_sources import LOCAL

__all__ = [
    "CHUNKS",
    "RetrievalAsked",
    "Retriever",
    "read_search",
    "retrieved_notes",
    "retrieved_origins",
    "retrieved_settings",
    "with_chunks",
    "with_retrieval",
    "within",
]

CHUNKS = 5
_AT_ONCE = 256  # questions searched for together


class RetrievalAsked(Struct, frozen=True, kw_only=True):
    """What each item is to be asked with: so many chunks of so many tokens together, found by a way
    of searching in a ``source`` (see ``SearchSource``), with this model as ``embedder`` where it is
    not the carried one. ``index``: the state of the sources that is meant, where a run has one."""

    chunks: int = CHUNKS
    most_tokens: int
    search: SearchWay = "bm25"
    source: str = LOCAL
    embedder: str = ""
    index: str = ""


class Retriever:
    """Finds chunks for the items of sets: each set is searched for once, though several models are
    asked. ``open_index`` gives the index that can be searched in a way with an embedder. What the
    web was searched for is handed in (``know``): here nothing is sent."""

    def __init__(self, store: Store, open_index: Callable[[SearchWay, str], SourceIndex]) -> None:
        self._store = store
        self._open = open_index
        self._indexes: dict[tuple[SearchWay, str], SourceIndex] = {}
        self._known: dict[bytes, Retrieved] = {}
        self._of_the_web: dict[tuple[bytes, RetrievalAsked], Retrieved] = {}

    def index(self, search: SearchWay, embedder: str = "") -> SourceIndex:
        """The index for a way of searching, opened once."""
        if (search, embedder) not in self._indexes:
            self._indexes[search, embedder] = self._open(search, embedder)
        return self._indexes[search, embedder]

    def know(self, item_set: bytes, asked: RetrievalAsked, found: Retrieved) -> None:
        """Takes what the web was found to say for a set."""
        self._of_the_web[item_set, structs.replace(asked, index="")] = found

    def find(self, method: Method, item_set: ItemSet, asked: RetrievalAsked) -> Retrieved:
        """The chunks for all items of a set. Raises BadUsage where the method does not say what its
        items ask, and where no source can be searched."""
        if not isinstance(method, Queried):
            raise BadUsage(
                f"{method.title} does not say what to search for of its questions",
                hint="--context none or evidence",
            )
        if asked.source != LOCAL:
            return self._of_the_web[item_set.id, structs.replace(asked, index="")]
        index = self.index(asked.search, asked.embedder)
        if not index.n_chunks:
            raise BadUsage(
                "there is nothing to search: no source of this workspace has passages",
                hint="proofstone ingest FILE... reads documents",
            )
        key = content_id("retrieved", [item_set.id, asked, index.key])
        if key not in self._known:
            self._known[key] = Retrieved(
                by_item=dict(_found(self._store, method, item_set, index, asked)),
                chunks=asked.chunks,
                most_tokens=asked.most_tokens,
                search=asked.search,
                index=short(index.key, 16),
                embedder=asked.embedder,
            )
        return self._known[key]


def with_retrieval(
    way: Way, method: Method, item_set: ItemSet, asked: RetrievalAsked, retriever: Retriever | None
) -> Way:
    """The way, each item asked with what is found for it; its prompts' hash is another one then,
    and another again once a source has changed. Raises BadUsage as ``Retriever.find``, and where a
    run was begun on other sources."""
    if asked.chunks < 1 or asked.most_tokens < 1:
        raise BadUsage("--context-chunks and --context-tokens take 1 or more")
    if retriever is None:
        raise BadUsage("nothing can be searched here", hint="--context none or evidence")
    found = retriever.find(method, item_set, asked)
    if asked.index and asked.index != found.index:
        raise BadUsage(
            "the sources have changed since this run was begun, so a search finds other chunks",
            hint="begin it again with 'run': what is asked alike comes from the cache",
        )
    what = [retrieved_prompt(), found.chunks, found.most_tokens, found.search, found.index]
    key = content_id("retrieved", [way.prompt_hash, *what])
    return structs.replace(way, retrieved=found, prompt_hash=key)


def retrieved_settings(way: Way) -> dict[str, Any]:
    """What a run's settings hold of it; nothing where nothing was searched for."""
    found = way.retrieved
    if found is None:
        return {}
    return {
        CONTEXT: "retrieved",
        CONTEXT_TOKENS: found.most_tokens,
        CONTEXT_CHUNKS: found.chunks,
        CONTEXT_SEARCH: found.search,
        CONTEXT_INDEX: found.index,
        **({} if found.source == LOCAL else {CONTEXT_SOURCE: found.source}),
        **({CONTEXT_EMBEDDER: found.embedder} if found.embedder else {}),
    }


def retrieved_notes(way: Way) -> tuple[str, ...]:
    """What to say before a run: that some questions are asked with nothing."""
    found = way.retrieved
    if found is None:
        return ()
    empty = sum(not chunks for chunks in found.by_item.values())
    n_failed, left = len(found.failed), found.n_unsearched
    total = len(found.by_item) + n_failed + left
    notes = []
    if empty:
        notes.append(
            f"for {empty:,} of {total:,} questions nothing was found (or nothing within "
            "--context-tokens): they are asked without material"
        )
    if n_failed:
        first = next(iter(found.failed.values()))
        notes.append(
            f"for {n_failed:,} of {total:,} questions the search by {found.source} failed "
            f"({first}): they are not asked; going on searches for them again"
        )
    if left:
        notes.append(
            f"{left:,} of {total:,} questions were not searched for by {found.source} yet: a run "
            "sends a query for each, and their material is not counted here"
        )
    return tuple(notes)


def retrieved_origins(store: Store, way: Way) -> list[Origin]:
    """The sources of what is shown, with how many of their passages; pages of the web are one."""
    found = way.retrieved
    if found is None:
        return []
    if found.source != LOCAL:
        n_passages = len({c.passage for each in found.by_item.values() for c in each})
        return [Origin(OF_THE_WEB, "", n_passages, (OF_THE_WEB,))] if n_passages else []
    return store.origins.of_passages({c.passage for each in found.by_item.values() for c in each})


def with_chunks(store: Store, way: Way, page: Iterable[StoredItem]) -> Iterator[StoredItem]:
    """Items with what was found for them: of each passage the part that is shown, which stands in
    place of its text. What was purged since is not shown, and items whose search failed are left
    out."""
    found = way.retrieved
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


def read_search(text: str) -> SearchWay:
    """A way of searching by its name. Raises BadUsage."""
    for way in SEARCH_WAYS:
        if text == way:
            return way
    raise BadUsage(f"sources are searched by {', '.join(SEARCH_WAYS)}, not by {text!r}")


def _found(
    store: Store, method: Queried, item_set: ItemSet, index: SourceIndex, asked: RetrievalAsked
) -> Iterator[tuple[bytes, tuple[ShownChunk, ...]]]:
    for page in store.items.pages(item_set.id):
        for start in range(0, len(page), _AT_ONCE):
            part = page[start : start + _AT_ONCE]
            queries = [method.query(stored.loaded) for stored in part]
            hits = index.search(queries, asked.chunks, asked.search)
            for stored, each in zip(part, hits, strict=True):
                yield stored.loaded.item.id, tuple(within(each, asked.most_tokens))


def within(found: Iterable[RetrievedChunk], most_tokens: int) -> Iterator[ShownChunk]:
    """The best chunks, as far as they fit together."""
    count, left = load_cl100k(), most_tokens
    for chunk in found:
        left -= count(chunk.text)
        if left < 0:
            return
        yield ShownChunk(chunk.passage.id, chunk.start, chunk.end)
