"""Read the items that a run asks, and ask each with its texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from proofstone.method import Method
from proofstone.records.calls import Call, Message
from proofstone.records.items import ItemSet, LoadedItem, Oracle, PromptMethod
from proofstone.records.knowledge import Passage
from proofstone.records.runs import Response
from proofstone.run.context_texts import with_documents, with_passages, with_retrieved
from proofstone.run.evidence import with_texts
from proofstone.run.retrieved_context import with_chunks
from proofstone.store.items import StoredItem
from proofstone.store.store import Store


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
        page = list(with_texts(store, page, evidence.shows))
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
