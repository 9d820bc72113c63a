"""A bank brought to where its sources were placed since: new versions of its facts, a new bank.

Nothing is changed in place. Each fact whose source stands elsewhere now has a new version that
names it, and the bank a corrected one that names it. Forms are frozen and stay as they are: their
questions were drawn within the places that held then, which the new ones may cut through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from proofstone.engines.store import Found, Store
from proofstone.errors import BadUsage
from proofstone.methods import find_method
from proofstone.ports import BuiltFact, Clock, Revises
from proofstone.records import Fact, Stratum, origin_of
from proofstone.stages.acting import Who, stated_reason
from proofstone.stages.correction_rows import correction_of, retired_again
from proofstone.stages.revising import named

__all__ = ["Followed", "facts_elsewhere", "follow_placements"]


class Followed(Struct, frozen=True, kw_only=True):
    """What following made: the corrected ``bank`` and the one that it corrects, how many of its
    facts stand elsewhere now, of how many sources, and those only made anew because they name one
    that does."""

    former: str
    bank: str
    bank_id: bytes
    n_facts: int
    n_sources: int
    n_with_them: int = 0


def facts_elsewhere(store: Store, facts: Iterable[Fact]) -> dict[bytes, Stratum]:
    """The facts whose source was placed since, elsewhere than they stand, with that place. A book
    is theirs unless the placement names one."""
    held = list(facts)
    sources = {fact.source for fact in held if fact.source is not None}
    placements = store.placements.in_force(sources)
    found = {}
    for fact in held:
        placement = placements.get(fact.source or b"")
        if placement is not None:
            book = placement.stratum.book or fact.stratum.book
            place = msgspec.structs.replace(placement.stratum, book=book)
            if place != fact.stratum:
                found[fact.id] = place
    return found


def follow_placements(
    store: Store, found: Found, *, reason: str, who: Who, clock: Clock
) -> Followed:
    """Makes new versions of a bank's facts where their sources stand now, and the bank that holds
    them in their stead. What is retired stays so.

    Raises BadUsage where all stand there already, where a newer bank corrects this one, where facts
    were purged, or where the method does not say how facts are edited.
    """
    why = stated_reason(reason)
    bank = store.knowledge.bank(found.id)
    _refuse_former(store, found)
    facts = list(bank.facts())
    elsewhere = facts_elsewhere(store, facts)
    if not elsewhere:
        raise BadUsage(
            f"all of {found.name} stands where its sources are placed, so nothing is changed",
            hint="place a source: proofstone edit SOURCE --set field=..., or build strata",
        )
    method = find_method(bank.method)
    if not isinstance(method, Revises):
        raise BadUsage(f"{bank.method} does not say how its facts are edited")
    made = list(_versions(store, method, facts, elsewhere))
    by, now = who(), clock.now()
    remade = {b.fact.corrects: b.fact.id for b in made if b.fact.corrects is not None}
    kept = store.knowledge.built_facts([fact for fact in facts if fact.id not in remade])
    corrected, _is_new = store.knowledge.add_bank(bank.name, bank.method, [*kept, *made], now)
    store.knowledge.correct_bank(corrected, found.id)
    store.corrections.add(
        [correction_of("fact", built.fact.id, why, by, now) for built in made]
        + list(retired_again(store, remade, by, now))
    )
    return Followed(
        former=named(bank.name, found.id),
        bank=named(corrected.name, corrected.id),
        bank_id=corrected.id,
        n_facts=len(elsewhere),
        n_sources=len({fact.source for fact in facts if fact.id in elsewhere}),
        n_with_them=len(made) - len(elsewhere),
    )


def _refuse_former(store: Store, found: Found) -> None:
    newer = store.corrections.newer_bank(found.id)
    if newer is not None:
        name = named(store.knowledge.bank(newer).name, newer)
        raise BadUsage(f"{found.name} was corrected into {name}", hint=f"name that one: {name}")


def _versions(
    store: Store, method: Revises, facts: Sequence[Fact], elsewhere: Mapping[bytes, Stratum]
) -> Iterator[BuiltFact]:
    """New versions: of each fact with those that were made from it, for these name it."""
    here = {fact.id for fact in facts}
    made_from: dict[bytes, list[Fact]] = {}
    heads: list[Fact] = []
    for fact in facts:
        origin = origin_of(fact)
        if origin in here and origin is not None:
            made_from.setdefault(origin, []).append(fact)
        else:
            heads.append(fact)
    for head in heads:
        theirs = made_from.get(head.id, [])
        if head.id in elsewhere:
            yield from _anew(store, method, head, theirs, elsewhere)
            continue
        for other in theirs:
            if other.id in elsewhere:
                yield from _anew(store, method, other, [], elsewhere)


def _anew(
    store: Store,
    method: Revises,
    fact: Fact,
    theirs: Sequence[Fact],
    elsewhere: Mapping[bytes, Stratum],
) -> Sequence[BuiltFact]:
    built, *others = store.knowledge.built_facts([fact, *theirs])
    own = {each.id: _levels(elsewhere[each.id]) for each in theirs if each.id in elsewhere}
    return method.revise_fact(built, _levels(elsewhere[fact.id]), others, own)


def _levels(place: Stratum) -> dict[str, str | None]:
    return {name: level or None for name, level in msgspec.structs.asdict(place).items()}
