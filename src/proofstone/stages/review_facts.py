"""What of a bank or form people review: its facts in force, and what reviewers are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from proofstone.engines.review import SheetRow
from proofstone.engines.store import Found, Store
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.ports import Method, Reviews
from proofstone.records import Fact, Review, ReviewText

__all__ = ["HeldFacts", "carried", "facts_held", "facts_under_review", "method_of",
           "named", "reviewed_texts", "reviewing", "reviews_of", "shown_rows", "source_of",
           "versions_of"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeldFacts:
    """The facts of a bank or form that can be read, and how many more lost their text when a
    source was purged."""

    facts: Sequence[Fact]
    n_purged: int


def reviewing(store: Store, found: Found) -> Reviews:
    """The method of a bank or form, which must say what a reviewer is shown. Raises BadUsage."""
    method = method_of(store, found)
    if not isinstance(method, Reviews):
        raise BadUsage(f"{method.name} has no sheets for reviewers")
    return method


def method_of(store: Store, found: Found) -> Method:
    """The method of a bank or form."""
    of = store.knowledge.bank(found.id) if found.kind == "bank" else store.items.item_set(found.id)
    return find_method(of.method)


def facts_held(store: Store, found: Found) -> HeldFacts:
    """All facts of a bank, also those that a review took out; of a form those that its items rest
    on, each once, but for retired ones. Raises BadUsage for a form that rests on none."""
    if found.kind == "bank":
        bank = store.knowledge.bank(found.id)
        facts = bank.readable_facts()
        return HeldFacts(facts, bank.n_facts() - len(facts))
    own, n_purged = store.knowledge.readable_facts_of_set(found.id)
    if not own and not n_purged:
        raise BadUsage(
            f"form {found.name} was made elsewhere and rests on no statements",
            hint="review its bank, or take its items' reviews in: review import reviews.jsonl",
        )
    return HeldFacts(_in_force(store, own), n_purged)


def facts_under_review(store: Store, found: Found) -> Sequence[Fact]:
    """The facts of a bank or form that people read: neither retired nor purged. Raises as
    ``facts_held``."""
    return _in_force(store, facts_held(store, found).facts)


def _in_force(store: Store, facts: Sequence[Fact]) -> Sequence[Fact]:
    retired = set(store.corrections.retired_facts(fact.id for fact in facts))
    return [fact for fact in facts if fact.id not in retired]


def reviewed_texts(method: Reviews, facts: Iterable[Fact]) -> dict[bytes, ReviewText]:
    """What reviewers are shown of facts, by id."""
    return {fact.id: method.review_text(fact) for fact in facts}


def shown_rows(
    store: Store, facts: Sequence[Fact], texts: Mapping[bytes, ReviewText]
) -> dict[bytes, SheetRow]:
    """What stands in a sheet beside each fact: its passage, page and source, where it has them."""
    passages = store.knowledge.passages({fact.passage for fact in facts if fact.passage})
    sources = store.knowledge.sources({fact.source for fact in facts if fact.source})
    rows: dict[bytes, SheetRow] = {}
    for fact in facts:
        passage = passages.get(fact.passage or b"")
        source = sources.get(fact.source or b"")
        page = fact.page or (str(passage.page) if passage and passage.page is not None else "")
        rows[fact.id] = SheetRow(
            text=texts[fact.id].text,
            because=texts[fact.id].because,
            passage=passage.text if passage else "",
            page=page,
            source=fact.stratum.book or (source.title if source else ""),
        )
    return rows


def versions_of(store: Store, found: Found) -> list[bytes]:
    """A bank or form, and those that it corrects: what was given out of them is of it too."""
    if found.kind == "bank":
        return store.knowledge.versions_of_bank(found.id)
    versions = [found.id]
    while (former := store.items.item_set(versions[-1]).corrects) is not None:
        versions.append(former)
    return versions


def source_of(fact: Fact) -> str:
    """What a fact was taken from: its book, else its document, else nothing but itself."""
    return fact.stratum.book or (fact.source or fact.id).hex()


def reviews_of(store: Store, facts: Iterable[Fact]) -> tuple[list[Review], dict[bytes, bytes]]:
    """All reviews of facts and of the versions that they correct, and for each version the fact
    that stands for it now."""
    now = {fact.id: fact.id for fact in facts}
    behind = {fact.corrects: fact.id for fact in facts if fact.corrects is not None}
    while behind:
        now |= {former: current for former, current in behind.items() if former not in now}
        older = store.knowledge.facts_by_id(behind, readable=True)
        behind = {
            fact.corrects: behind[fact.id]
            for fact in older.values()
            if fact.corrects is not None and fact.corrects not in now
        }
    return store.reviews.of_facts(now), now


def carried(
    store: Store,
    method: Reviews,
    facts: Sequence[Fact],
    reviews: Sequence[Review],
    now: Mapping[bytes, bytes],
) -> list[Review]:
    """The reviews, those of former versions taken as of the version that stands ``now`` where it
    reads the same: it was made anew because of something else (a falsified statement with its true
    one), and what was said of it is still to be done."""
    former = {one.target for one in reviews if now[one.target] != one.target}
    current = {fact.id: fact for fact in facts}
    same = {
        old.id: now[old.id]
        for old in store.knowledge.facts_by_id(former, readable=True).values()
        if method.review_text(old) == method.review_text(current[now[old.id]])
    }
    return [
        structs.replace(one, target=same[one.target]) if one.target in same else one
        for one in reviews
    ]


def named(store: Store, who: bytes | str) -> str:
    """A reviewer as people know them: a name, else digits of the actor id; a judge's name."""
    if isinstance(who, str):
        return who
    person = store.people.person(who)
    return person.name if person is not None and person.name else f"actor {short(who)}"
