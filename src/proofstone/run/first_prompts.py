"""What questions would be asked with, without asking: the first prompt of some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from proofstone.errors import CallFailed
from proofstone.method import Method
from proofstone.records.calls import Message
from proofstone.records.items import ItemSet, LoadedItem, Oracle, Way
from proofstone.records.runs import Reply
from proofstone.run.evidence import ask_item, asked_page
from proofstone.store.store import Store

_PAGE, _PAGES = 64, 16


def first_prompts(
    store: Store, method: Method, way: Way, item_set: ItemSet, n_items: int
) -> Iterator[Sequence[Message]]:
    """The first prompts of the set's first ``n_items``, or of a thousand of them in pages evenly
    spread."""
    pages = -(-n_items // _PAGE)
    chosen = range(pages) if pages <= _PAGES else [n * pages // _PAGES for n in range(_PAGES)]
    for page in chosen:
        size = min(_PAGE, n_items - page * _PAGE)
        for stored in asked_page(store, way, item_set.id, page * _PAGE - 1, size):
            yield first_prompt(method, stored.loaded, way)


def first_prompt(method: Method, item: LoadedItem, way: Way) -> Sequence[Message]:
    """What a question's first call would send; nothing is sent."""
    seen: list[Message] = []

    async def look(
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        seen.extend(messages)
        raise CallFailed("not_asked", "only its prompt is wanted")

    asking = ask_item(method, item, way, look)
    with suppress(CallFailed, StopIteration):
        asking.send(None)
    asking.close()  # one that asks several things at once has not ended
    return seen
