"""Items with the passages that they rest on: which can be asked so, and how they are asked; the
same way leads to the prompt for what a search found.

An item is asked with all its passages or not at all. Half of them would measure neither memory nor
reading, and a passage that is cut may have lost the sentence that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from proofstone.engines.store import Store, StoredItem
from proofstone.engines.tokens import load_cl100k
from proofstone.errors import BadUsage, TextPurged
from proofstone.identity import content_id
from proofstone.ports import Call, Method
from proofstone.records import (
    CONTEXT,
    CONTEXT_TOKENS,
    LEFT_OUT,
    Evidence,
    Fact,
    ItemSet,
    LoadedItem,
    Message,
    Oracle,
    Passage,
    Reply,
    Run,
    Way,
    left_out_of,
    origin_of,
)
from proofstone.stages.evidence_prompt import evidence_prompt, with_passages
from proofstone.stages.retrieved import with_chunks
from proofstone.stages.retrieved_prompt import with_retrieved

__all__ = [
    "MOST_TOKENS",
    "ask_item",
    "asked_page",
    "evidence_settings",
    "left_out_again",
    "left_out_notes",
    "passages_behind",
    "spread_items",
    "with_evidence",
]

# Of one item's passages together, by cl100k_base: ten statements from passages of usual length.
MOST_TOKENS = 8000


def with_evidence(store: Store, way: Way, item_set: ItemSet, most_tokens: int) -> Way:
    """The way, each item asked with its passages; its prompts' hash is another one then.

    Raises BadUsage where no item of the set can be asked so.
    """
    if most_tokens < 1:
        raise BadUsage(f"--context-tokens takes 1 or more, not {most_tokens}")
    evidence = _evidence(store, item_set, most_tokens)
    if len(evidence.left_out) == item_set.n_items:
        raise BadUsage(
            f"no question of {item_set.name} can be asked with its evidence: {_why(evidence)}",
            hint="a form from a bank that was built of passages can (proofstone ingest, then build "
            "statements); raise --context-tokens where passages are too long",
        )
    key = content_id("evidence", [way.prompt_hash, evidence_prompt(), most_tokens])
    return structs.replace(way, evidence=evidence, prompt_hash=key)


def evidence_settings(way: Way) -> dict[str, Any]:
    """What a run's settings hold of it; nothing where no evidence is shown."""
    evidence = way.evidence
    if evidence is None:
        return {}
    left_out = {LEFT_OUT: len(evidence.left_out)} if evidence.left_out else {}
    return {CONTEXT: "evidence", CONTEXT_TOKENS: evidence.most_tokens, **left_out}


def left_out_notes(way: Way, item_set: ItemSet) -> tuple[str, ...]:
    """What to say before a run that does not ask all items."""
    evidence = way.evidence
    if evidence is None or not evidence.left_out:
        return ()
    n = len(evidence.left_out)
    return (
        f"{n:,} of {item_set.n_items:,} questions are left out, since evidence is shown whole or "
        f"not at all: {_why(evidence)}",
    )


def left_out_again(store: Store, key: int, run: Run, items: Container[int]) -> int:
    """How many of ``items`` (keys) the run with this key leaves out.

    Known where it has all its replies: those without one. Of a run that still goes on it is found
    anew; an item whose text was purged since is never asked.
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
    return sum(not _can_be_asked(store, item, most) for item in without)


def _can_be_asked(store: Store, item: int, most_tokens: int) -> bool:
    try:
        stored = StoredItem(item, 0, store.items.one(item))
    except TextPurged:
        return False
    (found,) = _with_passages(store, [stored])
    count = load_cl100k()
    passages = found.loaded.passages
    return bool(passages) and sum(count(each.text) for each in passages) <= most_tokens


def passages_behind(store: Store, item_set: bytes) -> set[bytes]:
    """The passages that the items of a set rest on: those that their facts name, and those that
    only the originals of falsified ones do."""
    named = store.origins.passages_of_set(item_set)
    others = store.knowledge.facts_by_id(store.origins.facts_without_passage(item_set),
                                         readable=True)  # fmt: skip
    return named | set(_passages_of(others.values(), store).values())


def asked_page(store: Store, way: Way, item_set: bytes, after: int, limit: int) -> list[StoredItem]:
    """The items at the ``limit`` places behind ``after``, without those that are not asked; with
    their passages, where they are asked with them."""
    page = store.items.page(item_set, after, limit)
    if way.retrieved is not None:
        return list(with_chunks(store, way, page))
    if way.evidence is None:
        return page
    left_out = way.evidence.left_out
    page = [stored for stored in page if stored.position not in left_out]
    return list(_with_passages(store, page))


def spread_items(
    store: Store, way: Way, item_set: ItemSet, n_items: int, n: int
) -> Iterator[LoadedItem]:
    """Up to ``n`` of the first ``n_items`` items that are asked, evenly spread."""
    places = range(n_items)
    if way.evidence is not None:
        asked = [place for place in places if place not in way.evidence.left_out]
    else:
        asked = list(places)
    n = min(n, len(asked))
    for at in range(n):
        place = asked[at * len(asked) // n]
        for stored in asked_page(store, way, item_set.id, place - 1, 1):
            yield stored.loaded


async def ask_item(method: Method, item: LoadedItem, way: Way, call: Call) -> None:
    """Has the method ask an item; passages, where there are any, are put into its prompts."""
    if way.retrieved is not None:
        await method.ask(item, way, _Informed(call, item, with_retrieved))
    else:
        informed = _Informed(call, item, with_passages) if item.passages else call
        await method.ask(item, way, informed)


_Tells = Callable[[Sequence[Message], Sequence[Passage], str], list[Message]]


class _Informed:
    """A ``Call`` that puts an item's passages before its question."""

    __slots__ = ("_call", "_item", "_told")

    def __init__(self, call: Call, item: LoadedItem, told: _Tells) -> None:
        self._call = call
        self._item = item
        self._told = told

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        item = self._item
        told = self._told(messages, item.passages, item.item.language)
        return await self._call(step, told, oracle=oracle, schema=schema)


# ---------------------------------------------------------------- which passages an item rests on


def _evidence(store: Store, item_set: ItemSet, most_tokens: int) -> Evidence:
    """Which items of a set can be asked with all that they rest on."""
    count = load_cl100k()
    lengths: dict[bytes, int] = {}
    without, too_long = [], []
    for page in store.items.pages(item_set.id):
        for stored in _with_passages(store, page):
            item = stored.loaded
            if not item.passages:
                without.append(stored.position)
                continue
            for passage in item.passages:
                if passage.id not in lengths:
                    lengths[passage.id] = count(passage.text)
            if sum(lengths[passage.id] for passage in item.passages) > most_tokens:
                too_long.append(stored.position)
    return Evidence(most_tokens, frozenset([*without, *too_long]), len(without), len(too_long))


def _with_passages(store: Store, page: Iterable[StoredItem]) -> Iterator[StoredItem]:
    """Items with the passages of their facts, in the order of the facts, each once; none where a
    fact has none here, or one whose text was purged."""
    page = list(page)
    places = _passages_of(
        {fact.id: fact for stored in page for fact in stored.loaded.facts}.values(), store
    )
    known = store.knowledge.passages(set(places.values()))
    for stored in page:
        passages = _of_facts(stored.loaded, places, known)
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, passages=passages))


def _passages_of(facts: Collection[Fact], store: Store) -> dict[bytes, bytes]:
    """The passage of each fact that has one; a falsified one may have only its original's."""
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
    reasons = []
    if evidence.n_without:
        reasons.append(f"{evidence.n_without:,} rest on something without a passage here")
    if evidence.n_too_long:
        reasons.append(
            f"{evidence.n_too_long:,} on passages of more than {evidence.most_tokens:,} tokens "
            "together (--context-tokens)"
        )
    return " and ".join(reasons) or "it has none"
