"""A bank brought to where its sources were placed since: new versions of its facts, a new bank.

Nothing is changed in place. Each fact whose source stands elsewhere now has a new version that
names it, and the bank a corrected one that names it. Forms are frozen and stay as they are: their
questions were drawn within the places that held then, which the new ones may cut through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.build.inputs import placed_source
from proofstone.correct.edit import fields_of, named
from proofstone.correct.retire import correction_of, retired_again
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.method import Editing, find_method
from proofstone.records.knowledge import (
    TAXONOMY_LEVELS,
    BuiltFact,
    Fact,
    Placement,
    Stratum,
    origin_of,
    placement_id,
)
from proofstone.session.session import Session, Target, acting, stated_reason
from proofstone.store.lookup import Found
from proofstone.store.store import Store


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


def follow_placements(session: Session, bank: Target, *, reason: str, by: str = "") -> Followed:
    """Makes a corrected bank whose facts stand where their sources were placed since: new versions
    of its facts, and the bank that holds them in their stead; forms stay as they are, and what is
    retired stays so.

    Raises BadUsage where all stand there already, where a newer bank corrects this one, where facts
    were purged, or where the method does not say how facts are edited.
    """
    store, found = session.store, session.find(bank, "bank")
    why = stated_reason(reason)
    former = store.knowledge.bank(found.id)
    _refuse_former(store, found)
    facts = list(former.facts())
    elsewhere = facts_elsewhere(store, facts)
    if not elsewhere:
        raise BadUsage(
            f"all of {found.name} stands where its sources are placed, so nothing is changed",
            hint="place a source: proofstone edit SOURCE --set field=..., or build strata",
        )
    method = find_method(former.method).editing
    if method is None:
        raise BadUsage(f"{former.method} does not say how its facts are edited")
    made = list(_versions(store, method, facts, elsewhere))
    person, now = acting(session, by), session.clock.now()
    remade = {b.fact.corrects: b.fact.id for b in made if b.fact.corrects is not None}
    kept = store.knowledge.built_facts([fact for fact in facts if fact.id not in remade])
    corrected, _is_new = store.knowledge.add_bank(former.name, former.method, [*kept, *made], now)
    store.knowledge.correct_bank(corrected, found.id)
    store.corrections.add(
        [correction_of("fact", built.fact.id, why, person, now) for built in made]
        + list(retired_again(store, remade, person, now))
    )
    return Followed(
        former=named(former.name, found.id),
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
    store: Store, method: Editing, facts: Sequence[Fact], elsewhere: Mapping[bytes, Stratum]
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
    method: Editing,
    fact: Fact,
    theirs: Sequence[Fact],
    elsewhere: Mapping[bytes, Stratum],
) -> Sequence[BuiltFact]:
    built, *others = store.knowledge.built_facts([fact, *theirs])
    own = {each.id: _levels(elsewhere[each.id]) for each in theirs if each.id in elsewhere}
    return method.revise_fact(built, _levels(elsewhere[fact.id]), others, own)


def _levels(place: Stratum) -> dict[str, str | None]:
    return {name: level or None for name, level in msgspec.structs.asdict(place).items()}


# A source placed by a person: a row that names who, why and the former placement.


def levels_of(store: Store, found: Found) -> dict[str, Any]:
    """The levels of the place where a source stands now."""
    return dict(msgspec.structs.asdict(placed_source(store, found.id).stratum))


def editable_fields(session: Session, target: Target) -> dict[str, Any]:
    """What of an item, fact or source can be edited, with its present values."""
    found = session.find(target, "item", "fact", "source")
    fields = levels_of if found.kind == "source" else fields_of
    return fields(session.store, found)


def place(
    session: Session, source: Target, changes: Mapping[str, Any], *, reason: str, by: str = ""
) -> Placement:
    """Places a source in the taxonomy: levels by name; those left out stay, None empties one. What
    is built of it afterwards stands there.

    Raises BadInput for what is no level or no text, and for a level below an empty one; BadUsage
    where nothing would change.
    """
    store, found = session.store, session.find(source, "source")
    problems = [
        Problem(name, f"cannot be changed; there is: {', '.join(TAXONOMY_LEVELS)}")
        for name in changes
        if name not in TAXONOMY_LEVELS
    ]
    problems += [
        Problem(name, f"expected a text, came {value!r}")
        for name, value in changes.items()
        if value is not None and not isinstance(value, str)
    ]
    if problems:
        raise BadInput("the source cannot be placed so; nothing was stored", problems)
    before = levels_of(store, found)
    levels = {**before, **{name: " ".join((v or "").split()) for name, v in changes.items()}}
    _refuse_gaps(levels)
    if levels == before:
        raise BadUsage("the source stands there already, so nothing is changed")
    former = store.placements.in_force([found.id]).get(found.id)
    why = stated_reason(reason)
    made = Placement(
        source=found.id,
        stratum=Stratum(**levels),
        actor=acting(session, by).actor,
        reason=why,
        at=session.clock.now(),
        follows=None if former is None else former.id,
    )
    made = msgspec.structs.replace(made, id=placement_id(made))
    store.placements.add([made])
    return made


def _refuse_gaps(levels: Mapping[str, str]) -> None:
    above = TAXONOMY_LEVELS[0]
    for name in TAXONOMY_LEVELS[1:-1]:  # a book may be known without the others
        if levels[name] and not levels[above]:
            what = f"is {levels[name]}, and its {above} is empty"
            raise BadInput("the source cannot be placed so", [Problem(name, what)])
        above = name
