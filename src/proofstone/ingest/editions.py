"""Two editions of a source: which passages and statements still stand, and what is to go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from proofstone.documents.editions import Edition, EditionStatus, Held, hold, resting_on
from proofstone.documents.passages import sentence_spans
from proofstone.errors import BadInput, BadUsage
from proofstone.method import find_method
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact, Passage, Source
from proofstone.session.session import Session
from proofstone.session.targets import Target, find_target
from proofstone.session.written_files import write_work_file
from proofstone.store.lookup import Found
from proofstone.store.store import Store

_WHY = {
    "stands": "",
    "changed": "its source says it otherwise in the new edition",
    "vanished": "its source says it no longer in the new edition",
}


class EditionCounts(Struct, frozen=True, kw_only=True):
    """How many of some texts stand verbatim, are changed, or have vanished."""

    stands: int = 0
    changed: int = 0
    vanished: int = 0


class EditionRow(Struct, frozen=True, kw_only=True):
    """A statement as a row of a work list: ``retire --from`` carries out those that are to go; a
    person may write another ``decision``. ``before`` are the sentences it rests on that no longer
    stand, ``after`` what stands in their place; pages are counted from 1."""

    target: str
    text: str
    status: EditionStatus
    nature: str
    page: str
    page_now: str
    before: str
    after: str
    action: Literal["keep", "retire"]
    decision: Literal["keep", "retire"]
    why: str


class Editions(Struct, frozen=True, kw_only=True):
    """What a new edition left of an older one. ``passages`` are those of the old, ``new_passages``
    the passages of the new that say what the old does not. ``statements`` are those in force that
    rest on passages of the old one; ``unplaced`` rest on the source without a passage, so nothing
    can be told of them. ``forms`` hold items on statements that are to go, with how many."""

    old: str
    new: str
    titles: tuple[str, str]
    passages: EditionCounts
    new_passages: int
    statements: EditionCounts
    unplaced: int
    rows: tuple[EditionRow, ...]
    forms: tuple[tuple[str, int], ...]


def compare_editions(session: Session, old: Target, new: Target) -> Editions:
    """What of a source still stands in its new edition, and which statements are to go.

    Raises BadUsage where both are one, BadInput for a source without text.
    """
    store = session.store
    before, after = (find_target(store, each, ("source",)) for each in (old, new))
    if before.id == after.id:
        raise BadUsage("both are the same source", hint="name the old edition and the new one")
    former, latter = (_text_of(store, found) for found in (before, after))
    passages = list(store.knowledge.passages_of(before.id))
    by_id = {passage.id: passage for passage in passages}
    facts = _in_force(store, before.id)
    placed = [(fact, by_id[fact.passage]) for fact in facts if fact.passage in by_id]
    rows = tuple(_rows(placed, former, latter))
    going = [
        fact.id for (fact, _), row in zip(placed, rows, strict=True) if row.decision == "retire"
    ]
    sources = store.knowledge.sources([before.id, after.id])
    return Editions(
        old=_named(before),
        new=_named(after),
        titles=(_title(sources[before.id]), _title(sources[after.id])),
        passages=_counts(_held_whole(passage, former, latter).status for passage in passages),
        new_passages=sum(
            _held_whole(passage, latter, former).status == "vanished"
            for passage in store.knowledge.passages_of(after.id)
        ),
        statements=_counts(row.status for row in rows),
        unplaced=len(facts) - len(placed),
        rows=rows,
        forms=tuple(_forms(store, going)),
    )


def write_editions(session: Session, editions: Editions, path: Path) -> int:
    """Writes the statements of an older edition as a work list; returns how many."""
    return write_work_file(path, [structs.asdict(row) for row in editions.rows])


def _text_of(store: Store, found: Found) -> Edition:
    pages = [(str(page.number or ""), page.text) for page in store.pages.pages(found.id)]
    if not any(text for _number, text in pages):
        passages = store.knowledge.passages_of(found.id)
        pages = [(str(each.page or ""), each.text) for each in passages]
    if not pages:
        raise BadInput(
            f"{_named(found)} has no text to compare",
            hint="was its text purged, or none of its pages read? see: proofstone show "
            + _named(found),
        )
    return Edition(pages)


def _in_force(store: Store, source: bytes) -> list[Fact]:
    """The facts that rest on a source, newest versions, without those retired."""
    facts = store.knowledge.facts_of_source(source)
    former = {fact.corrects for fact in facts}
    retired = set(store.corrections.retired_facts(fact.id for fact in facts))
    return [fact for fact in facts if fact.id not in former and fact.id not in retired]


def _held_whole(passage: Passage, former: Edition, edition: Edition) -> Held:
    """What became of all sentences of a passage of ``former``."""
    if (page := edition.find(passage.text)) is not None:
        return Held("stands", pages=(page,))
    text = passage.text
    return hold([text[start:end] for start, end in sentence_spans(text)], former, edition)


def _rows(
    placed: Sequence[tuple[Fact, Passage]],
    former: Edition,
    edition: Edition,
) -> Iterator[EditionRow]:
    for fact, passage in placed:
        text, nature = _statement(fact)
        held = hold(resting_on(text, passage.text), former, edition)
        action: Literal["keep", "retire"] = "keep" if held.status == "stands" else "retire"
        yield EditionRow(
            target=f"fact:{short(fact.id)}",
            text=text,
            status=held.status,
            nature=nature,
            page=fact.page,
            page_now=", ".join(held.pages),
            before=" ".join(held.before),
            after=" ".join(held.after),
            action=action,
            decision=action,
            why=_WHY[held.status],
        )


def _statement(fact: Fact) -> tuple[str, str]:
    """A fact's text and its kind of the two that its method knows; neither where it knows none."""
    contrasts = find_method(fact.kind.partition(".")[0]).contrasts
    contrast = None if contrasts is None else next(contrasts.of_facts([fact]), None)
    if contrasts is None or contrast is None:
        return "", ""
    return contrast.text, contrasts.kinds["fact"][contrast.is_second]


def _forms(store: Store, facts: Sequence[bytes]) -> Iterator[tuple[str, int]]:
    """The forms with items on these facts, and how many."""
    for identity, n in store.items.sets_resting_on(store.knowledge.fact_keys(facts)):
        yield f"{store.items.item_set(identity).name}-{short(identity, 4)}", n


def _counts(statuses: Iterator[EditionStatus]) -> EditionCounts:
    counts = Counter(statuses)
    return EditionCounts(
        stands=counts["stands"], changed=counts["changed"], vanished=counts["vanished"]
    )


def _named(found: Found) -> str:
    return f"source:{short(found.id)}"


def _title(source: Source) -> str:
    return f"{source.title}, {source.year}" if source.year else source.title
