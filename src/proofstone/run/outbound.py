"""What a run would send: how many requests, how much text, and which sources stand behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from msgspec import Struct, structs

from proofstone.build.plan import PlannedBuild, entering_rows
from proofstone.errors import CallFailed
from proofstone.method import Method
from proofstone.records.calls import Message
from proofstone.records.items import ItemSet, LoadedItem, Oracle, Way
from proofstone.records.runs import Reply
from proofstone.run.evidence import ask_item, passages_behind, retrieved_origins, spread_items
from proofstone.run.plan import PlannedRun
from proofstone.search.sources import OF_THE_WEB, WEB
from proofstone.store.builds import EnteringRow
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_AT_ONCE = 500  # positions in one statement


_RENDERED = 24  # questions whose prompts are made to tell how long all are


class Outgoing(Struct, frozen=True, kw_only=True):
    """What one or more runs would send to one place: questions, requests (each sample counts, and
    what the cache may spare), characters of their first prompts (estimated from some), origins. Of
    a build the items are rows (``noun``). ``passages`` of the sources are sent in their own words
    with questions; of pages that go as images each is one, and has no characters."""

    items: int = 0
    noun: str = "question"
    requests: int = 0
    characters: int = 0
    origins: tuple[Origin, ...] = ()
    passages: int = 0

    def __add__(self, other: Outgoing) -> Outgoing:
        """Both, of different item sets."""
        return Outgoing(
            items=self.items + other.items,
            noun=other.noun,
            requests=self.requests + other.requests,
            characters=self.characters + other.characters,
            origins=_joined([*self.origins, *other.origins], lambda a, b: a + b),
            passages=self.passages + other.passages,
        )

    def again(self, other: Outgoing) -> Outgoing:
        """Both, of one item set: its questions are counted once."""
        return Outgoing(
            items=max(self.items, other.items),
            noun=other.noun,
            requests=self.requests + other.requests,
            characters=self.characters + other.characters,
            origins=_joined([*self.origins, *other.origins], max),
            passages=max(self.passages, other.passages),
        )


async def what_would_leave(store: Store, method: Method, planned: PlannedRun) -> Outgoing:
    """What is left of a run to send; nothing of a run that is done. Sends nothing."""
    left = planned.total - _done(store, planned)
    if left <= 0:
        return Outgoing()
    length = await _mean_length(store, method, planned)
    passages = _of_passages(store, planned)
    return Outgoing(
        items=planned.n_asked,
        requests=left,
        characters=round(left * length),
        origins=_joined(
            [
                *_of_questions(store, planned),
                *_of_shots(store, planned.way, planned.item_set),
                *_uncounted(passages),
            ],
            max,
        ),
        passages=sum(origin.n_items for origin in passages),
    )


def cells_would_leave(
    store: Store, planned: PlannedRun, cells: Sequence[tuple[int, int]], length: float
) -> Outgoing:
    """What asking a few (position, sample) of a run sends, each with a prompt of about ``length``
    characters."""
    positions = sorted({position for position, _sample in cells})
    origins = store.origins.of_positions(planned.item_set.id, positions)
    passages = _of_passages(store, planned)
    return Outgoing(
        items=len(positions),
        requests=len(cells),
        characters=round(len(cells) * length),
        origins=_joined(
            [
                *origins,
                *_of_shots(store, planned.way, planned.item_set),
                *_uncounted(passages),
            ],
            max,
        ),
        passages=sum(origin.n_items for origin in passages),
    )


def questions_would_leave(store: Store, item_set: bytes) -> Outgoing:
    """What one query for each question of a set sends; how long they are is not told."""
    n_items = store.items.item_set(item_set).n_items
    origins = store.origins.of_set(item_set)
    return Outgoing(items=n_items, requests=n_items, origins=_joined(origins, max))


def rows_would_leave(
    store: Store, planned: PlannedBuild, rows: Iterable[EnteringRow] | None = None
) -> Outgoing:
    """What one step of a build sends if it asks once for each row that enters (or for these
    ``rows``); rows of no source, and of the web, are known by the names of the inputs: these say
    what was searched for."""
    builder, spec = planned.builder, planned.spec
    characters, by_source = 0, Counter[bytes | None]()
    if rows is None:
        rows = entering_rows(store, builder, spec, planned.build.params)
    for entering in rows:
        characters += len(entering.row.payload.decode())
        by_source[entering.source] += 1
    known = store.knowledge.sources([each for each in by_source if each is not None])
    origins = [
        Origin(source.title, source.licence, by_source[identity], (source.title,))
        for identity, source in known.items()
        if source.kind != WEB
    ]
    n_others = by_source.total() - sum(origin.n_items for origin in origins)
    if n_others:
        origins += [Origin(name, "", n_others, (name,)) for name in map(_file_name, spec.inputs)]
    n_rows = by_source.total()
    return Outgoing(
        items=n_rows,
        noun="row",
        requests=n_rows,
        characters=characters,
        origins=_joined(origins, max),
    )


def searched_would_leave(
    store: Store, outgoing: Outgoing, *, sources: bool = True, web: bool = False
) -> Outgoing:
    """``outgoing`` of a step that shows what a search of all ``sources`` finds, texts of each of
    which may go along, or a search of the ``web``."""
    found = [Origin(OF_THE_WEB, "", 0, (OF_THE_WEB,))] if web else []
    if sources:
        known = store.knowledge.sources(each.id for each in store.indexed.sources()).values()
        found += [Origin(each.title, each.licence, 0, (each.title,)) for each in known]
    return structs.replace(outgoing, origins=_joined([*outgoing.origins, *found], max))


def facts_would_leave(store: Store, facts: Sequence[bytes], noun: str, characters: int) -> Outgoing:
    """What one request for each ``noun`` sends, whose texts are of ``facts``, two a request; facts
    without a source are known by their book."""
    found = store.knowledge.facts_by_id(dict.fromkeys(facts))
    sources = store.knowledge.sources({f.source for f in found.values() if f.source is not None})
    by_title: Counter[tuple[str, str]] = Counter()
    for fact in found.values():
        source = sources.get(fact.source or b"")
        title = fact.stratum.book or "statements" if source is None else source.title
        by_title[title, "" if source is None else source.licence] += 1
    origins = [Origin(title, licence, n, (title,)) for (title, licence), n in by_title.items()]
    return Outgoing(
        items=len(facts) // 2,
        noun=noun,
        requests=len(facts) // 2,
        characters=characters,
        origins=_joined(origins, max),
    )


def _file_name(text: str) -> str:
    return PurePath(text).name or text


def _done(store: Store, planned: PlannedRun) -> int:
    try:
        key, run = store.runs.run(planned.run.id)
    except KeyError:
        return 0
    limited = planned.n_items < planned.item_set.n_items
    return store.runs.count_done(key, run.last_step, planned.n_items if limited else None)


def _of_questions(store: Store, planned: PlannedRun) -> tuple[Origin, ...]:
    """The origins of the questions that a run asks."""
    item_set, evidence = planned.item_set.id, planned.way.evidence
    if evidence is None or not evidence.left_out:
        return tuple(store.origins.of_set(item_set, planned.n_items))
    asked = [place for place in range(planned.n_items) if place not in evidence.left_out]
    parts = (asked[start : start + _AT_ONCE] for start in range(0, len(asked), _AT_ONCE))
    found = [origin for part in parts for origin in store.origins.of_positions(item_set, part)]
    return _joined(found, lambda a, b: a + b)


def _of_shots(store: Store, way: Way, item_set: ItemSet) -> list[Origin]:
    """Worked examples are sent too, and may rest on other sources than the questions."""
    facts = {fact.id for shot in way.shots for fact in shot.facts}
    found = store.origins.of_facts(sorted(facts), item_set.name) if facts else []
    return _uncounted(found)


def _of_passages(store: Store, planned: PlannedRun) -> list[Origin]:
    """The sources whose passages are sent at the most, with how many; a fact may name another one
    than its passage does."""
    if planned.way.retrieved is not None:
        return retrieved_origins(store, planned.way)
    if planned.way.evidence is None:
        return []
    return store.origins.of_passages(passages_behind(store, planned.item_set.id))


def _uncounted(origins: Iterable[Origin]) -> list[Origin]:
    """Origins of what goes along with questions: they are no more questions for it."""
    return [structs.replace(origin, n_items=0) for origin in origins]


def _joined(origins: Iterable[Origin], count: Callable[[int, int], int]) -> tuple[Origin, ...]:
    """Origins by title and licence, each once; ``count`` makes one number of two."""
    found: dict[tuple[str, str], Origin] = {}
    for origin in origins:
        key = (origin.title, origin.licence)
        known = found.get(key)
        if known is not None:
            names = tuple(sorted({*origin.names, *known.names}))
            n_items = count(origin.n_items, known.n_items)
            found[key] = Origin(origin.title, origin.licence, n_items, names)
        else:
            found[key] = origin
    return tuple(found[key] for key in sorted(found))


async def _mean_length(store: Store, method: Method, planned: PlannedRun) -> float:
    """Characters of a question's first prompt, over questions evenly spread through the set."""
    items = spread_items(store, planned.way, planned.item_set, planned.n_items, _RENDERED)
    lengths = [await _length(method, item, planned.way) for item in items]
    return sum(lengths) / len(lengths) if lengths else 0.0


async def _length(method: Method, item: LoadedItem, way: Way) -> int:
    counter = _CountingCall()
    with suppress(CallFailed):  # by the counter, which has no reply to give
        await ask_item(method, item, way, counter)
    return counter.characters


class _CountingCall:
    """A ``Call`` that sends nothing: it counts the first prompt and ends the item."""

    def __init__(self) -> None:
        self.characters = 0

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        self.characters += sum(len(message.content) for message in messages)
        raise CallFailed("not_sent", f"step {step} was only counted")
