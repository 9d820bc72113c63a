"""The prompts of runs as they would be sent, without a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.method import Method
from proofstone.models.ask import Asker
from proofstone.records.calls import Message
from proofstone.records.ids import short
from proofstone.records.runs import asked_as
from proofstone.run.evidence import asked_page
from proofstone.run.plan import PlannedRun
from proofstone.run.remaining_work import first_request
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

_PAGE = 64


class SentAs(Struct, frozen=True, kw_only=True):
    """To which model a prompt goes, the settings that are sent with it, and those that it does not
    take."""

    model: str
    settings: Mapping[str, Any]
    dropped: tuple[str, ...] = ()


class RenderedPrompt(Struct, frozen=True, kw_only=True):
    """The first request of one item in one way, image parts by their digest; later ones of a way in
    steps depend on replies."""

    way: str
    form: str
    item: bytes
    step: str
    messages: tuple[Message, ...]
    to: tuple[SentAs, ...]


def _first_asked(store: Store, planned: PlannedRun, n: int) -> Iterator[StoredItem]:
    """The first ``n`` questions of a run that are asked."""
    for after in range(-1, planned.n_items - 1, _PAGE):
        size = min(_PAGE, planned.n_items - 1 - after)
        for stored in asked_page(store, planned.way, planned.item_set.id, after, size):
            if n <= 0:
                return
            n -= 1
            yield stored


async def render_prompts(
    store: Store,
    find_method: Callable[[str], Method],
    runs: Sequence[tuple[PlannedRun, Asker]],
    n: int,
) -> list[RenderedPrompt]:
    """The prompts of the first ``n`` questions in each way; models that are sent the same stand
    together, and one that is sent something else (a text model) has prompts of its own."""
    found: dict[tuple[str, bytes, tuple[Message, ...]], RenderedPrompt] = {}
    shown: dict[tuple[str, str, str], int] = {}
    for planned, asker in runs:
        method, run = find_method(planned.run.method), planned.run
        # Forms follow each other: what is left of n goes to the next one of the same run.
        key = (run.respondent, run.way, str(run.settings))
        left = n - shown.get(key, 0)
        for stored in _first_asked(store, planned, left):
            shown[key] = shown.get(key, 0) + 1
            first = await first_request(method, planned, stored)
            if first is None:
                continue
            step, request = first
            settings, dropped = asker.model.sent_settings(request.settings)
            to = SentAs(model=run.respondent, settings=settings, dropped=dropped)
            place = (asked_as(run), stored.loaded.item.id, request.messages)
            known = found.get(place)
            if known is None:
                found[place] = RenderedPrompt(
                    way=asked_as(run),
                    form=f"{planned.item_set.name}-{short(planned.item_set.id, 4)}",
                    item=stored.loaded.item.id,
                    step=step,
                    messages=request.messages,
                    to=(to,),
                )
            elif to not in known.to:
                found[place] = structs.replace(known, to=(*known.to, to))
    return list(found.values())
