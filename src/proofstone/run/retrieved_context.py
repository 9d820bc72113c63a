"""Ask items together with search results: what a run records, what it says, and what it shows.

Every item is asked, with or without results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.records.ids import content_id
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
    ItemSet,
    PromptMethod,
    ShownChunk,
)
from proofstone.records.knowledge import Passage
from proofstone.records.models import LOCAL
from proofstone.run.context_texts import retrieved_prompt
from proofstone.run.retriever import RetrievalAsked, Retriever
from proofstone.search.sources import OF_THE_WEB
from proofstone.store.items import StoredItem
from proofstone.store.provenance import Origin
from proofstone.store.store import Store


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
