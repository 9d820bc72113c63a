"""Compare the passages that a search found for each question with its labeled evidence.

Evidence is what ``--context evidence`` shows: the spans that a method names, or else the
passage of each fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import numpy as np

from proofstone.documents.passages import sentence_spans
from proofstone.errors import NotFound
from proofstone.models.tokens import load_cl100k
from proofstone.records.items import (
    CHUNK_TOKENS,
    CONTEXT_CHUNK_TOKENS,
    CONTEXT_CHUNKS,
    CONTEXT_SOURCE,
    ItemSet,
    Retrieved,
    ShownChunk,
    context_of,
    searches,
)
from proofstone.records.knowledge import Passage
from proofstone.records.models import LOCAL
from proofstone.records.runs import Run
from proofstone.run.context_texts import shown_to
from proofstone.run.evidence import with_own_evidence
from proofstone.run.run_options import CHUNKS
from proofstone.search.chunks import Chunking, cut_chunks
from proofstone.stats.retrieval import EvidenceFound, EvidenceSpan, Stretch, measure_found
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

ShownChunks = Callable[[list[StoredItem]], Mapping[bytes, Iterable[ShownChunk]]]


def found_by_run(store: Store, key: int, run: Run) -> dict[bytes, EvidenceFound]:
    """Return how much evidence a run's prompts show, by item; read from the stored prompts.

    Left out are items without evidence in a document, without a response, and with a purged prompt.
    Empty for a run without a search of the workspace's sources.
    """
    settings = run.settings
    is_local = settings.get(CONTEXT_SOURCE, LOCAL) == LOCAL
    if not searches(context_of(settings)) or not is_local:
        return {}
    item_set = store.items.item_set(run.item_set)
    shown = partial(_shown_by_run, store, key, _Passages(store))
    most = int(settings.get(CONTEXT_CHUNKS, CHUNKS))
    tokens = int(settings.get(CONTEXT_CHUNK_TOKENS, CHUNK_TOKENS))
    return _found(store, item_set, shown, most, tokens)


def found_by_search(
    store: Store, item_set: ItemSet, retrieved: Retrieved
) -> dict[bytes, EvidenceFound]:
    """Return how much evidence search results hold, by item; no model is needed.

    Empty for a search of the web.
    """
    if retrieved.source != LOCAL:
        return {}

    def shown(page: list[StoredItem]) -> Mapping[bytes, Iterable[ShownChunk]]:
        named = (stored.loaded.item.id for stored in page)
        return {item: retrieved.by_item[item] for item in named if item in retrieved.by_item}

    return _found(store, item_set, shown, retrieved.chunks, retrieved.chunk_tokens)


_AT_ONCE = 64  # items whose prompts are read together


def _found(
    store: Store, item_set: ItemSet, shown: ShownChunks, most: int, chunk_tokens: int
) -> dict[bytes, EvidenceFound]:
    found: dict[bytes, EvidenceFound] = {}
    passages = _Passages(store)
    searched = _Searched(store, chunk_tokens)
    for page in store.items.pages(item_set.id, _AT_ONCE):
        chunks = shown(page)
        for stored in with_own_evidence(store, page):
            item = stored.loaded.item.id
            spans = _spans(stored.loaded.passages)
            if not spans or item not in chunks:
                continue
            stretches = [passages.stretch(chunk) for chunk in chunks[item]]
            sources = {passage.source for passage in stored.loaded.passages}
            collection = searched.around(spans, sources)
            found[item] = measure_found(spans, stretches, collection, most)
    return found


def _spans(passages: Iterable[Passage]) -> list[EvidenceSpan]:
    """Return passages as evidence spans; none if one of them has no text."""
    spans = [EvidenceSpan.of((each.source, each.page), each.start, each.text) for each in passages]
    return spans if all(len(span.offsets) for span in spans) else []


class _Passages:
    """Passages by id, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[bytes, Passage | None] = {}
        self._named: dict[str, bytes] = {}

    def named(self, name: str) -> bytes:
        """Return the id of a passage from its name in a prompt; empty if it is not here."""
        if name not in self._named:
            try:
                self._named[name] = self._store.lookup.find(name, ("passage",)).id
            except NotFound:
                self._named[name] = b""
        return self._named[name]

    def stretch(self, chunk: ShownChunk) -> Stretch:
        """Return where a chunk is in the text of its page."""
        if chunk.passage not in self._known:
            found = self._store.knowledge.passages([chunk.passage]) if chunk.passage else {}
            self._known[chunk.passage] = found.get(chunk.passage)
        passage = self._known[chunk.passage]
        if passage is None:
            return Stretch(None, chunk.start, chunk.end)
        start = passage.start
        return Stretch((passage.source, passage.page), start + chunk.start, start + chunk.end)


class _Searched:
    """The chunks of sources as they are indexed, cut on first use."""

    def __init__(self, store: Store, chunk_tokens: int) -> None:
        self._store, self._chunking = store, Chunking(most=chunk_tokens)
        self._passages: dict[bytes, list[Passage]] = {}
        self._chunks: dict[bytes, list[Stretch]] = {}

    def around(self, spans: list[EvidenceSpan], sources: Iterable[bytes]) -> Iterator[Stretch]:
        """Yield the chunks of the passages that hold some of the evidence spans."""
        for source in sources:
            if source not in self._passages:
                self._passages[source] = list(self._store.knowledge.passages_of(source))
            for passage in self._passages[source]:
                whole = Stretch((source, passage.page), passage.start, passage.end)
                if any(span.is_within(whole) for span in spans):
                    yield from self._cut(passage)

    def _cut(self, passage: Passage) -> list[Stretch]:
        if passage.id not in self._chunks:
            place, start = (passage.source, passage.page), passage.start
            self._chunks[passage.id] = [
                Stretch(place, start + chunk.start, start + chunk.end)
                for chunk in cut_chunks(
                    passage.text, self._chunking, count=load_cl100k(), sentences=sentence_spans
                )
            ]
        return self._chunks[passage.id]


def _shown_by_run(
    store: Store, key: int, passages: _Passages, page: list[StoredItem]
) -> dict[bytes, list[ShownChunk]]:
    """Return the chunks in the first prompt of each item; empty where a search found nothing."""
    calls = store.runs.calls_of_items(key, [stored.key for stored in page])
    found: dict[bytes, list[ShownChunk]] = {}
    for stored in page:
        of_item = calls.get(stored.key, ())
        prompts = [call.prompt for _sample, _step, call in of_item if call.prompt]
        if prompts:
            found[stored.loaded.item.id] = [
                ShownChunk(passages.named(each.passage), each.start, each.end)
                for each in shown_to(prompts[0])
            ]
    return found


def found_notes(store: Store, item_set: ItemSet, retrieved: Retrieved | None) -> tuple[str, ...]:
    """Return a note to show before a run: how much of the questions' evidence its search found.

    None if no question has evidence in a document.
    """
    found = [] if retrieved is None else list(found_by_search(store, item_set, retrieved).values())
    if retrieved is None or not found:
        return ()
    last = np.array([each.recall[-1] for each in found])
    n_whole, n_none = int((last == 1.0).sum()), int((last == 0.0).sum())
    return (
        f"the {retrieved.chunks} passages found hold all evidence of {n_whole:,} of "
        f"{len(found):,} questions, a part for {len(found) - n_whole - n_none:,} and none for "
        f"{n_none:,} (recall {last.mean():.1%})",
    )
