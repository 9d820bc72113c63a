"""Editing: a new version of a fact or item that names the old one, and of the forms that hold it.

A form is frozen. To correct one of its items is to make a new form that names the old one, with
the new version in the item's place and every other item the very same, so that a run on it finds
all other replies in the cache. A corrected fact makes new versions of the items that rest on it,
and of its banks; forms keep the bank that they were composed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from proofstone.engines.store import Found, Store
from proofstone.ports import BuiltFact, Clock
from proofstone.records import (
    Bank,
    Correction,
    Item,
    ItemSet,
    Person,
    corrected_set,
)
from proofstone.stages.acting import Who, stated_reason
from proofstone.stages.correction_rows import correction_of, retired_again
from proofstone.stages.revising import AskedEdit, Revised, fields_of, named, revise

__all__ = ["Edited", "EditedForm", "edit", "edit_all", "fields_of"]

_PAGE = 512


class EditedForm(Struct, frozen=True, kw_only=True):
    """A corrected form: the one that it corrects, itself, and how many items differ."""

    former: str
    form: str
    n_changed: int
    n_items: int


class Edited(Struct, frozen=True, kw_only=True):
    """What an edit made: the new version of ``former``, the fields that changed, and what was made
    anew because of it (other facts that name this one, items, banks, forms)."""

    kind: str
    former: bytes
    new: bytes
    fields: tuple[str, ...]
    n_facts: int
    n_items: int
    banks: tuple[str, ...]
    forms: tuple[EditedForm, ...]
    correction: Correction


def edit(
    store: Store,
    found: Found,
    changes: Mapping[str, Any],
    *,
    reason: str,
    who: Who,
    clock: Clock,
    forms: Sequence[Found] = (),
) -> Edited:
    """Makes a new version of a fact or item, and of ``forms`` (else of all that hold it).

    Forms that were corrected already are left to their newest versions. Raises BadInput with every
    problem of the new values; BadUsage where nothing changes, or there is a newer version already.
    """
    (edited,) = edit_all(
        store, [AskedEdit(found, changes, reason)], who=who, clock=clock, forms=forms
    )
    return edited


def edit_all(
    store: Store,
    edits: Sequence[AskedEdit],
    *,
    who: Who,
    clock: Clock,
    forms: Sequence[Found] = (),
) -> list[Edited]:
    """As ``edit``, of several together: a form that holds several of them gets one newer version.
    Nothing is stored unless all can be; raises what ``revise`` does."""
    reasons = [stated_reason(asked.reason) for asked in edits]
    if not edits:
        return []
    revised, places = revise(store, edits, forms)
    by, now = who(), clock.now()
    facts = [built for part in revised for built in part.facts]
    items = {old: item for part in revised for old, item in part.items.items()}
    banks = tuple(_store_facts(store, facts, now))
    made = [_store_form(store, former, items, now) for former in places]
    why = dict(_reasons(revised, reasons))
    targets = [("fact", b.fact.id) for b in facts] + [("item", i.id) for i in items.values()]
    corrections = [correction_of(kind, target, why[target], by, now) for kind, target in targets]
    corrections += [
        correction_of("form", form.id, "; ".join(dict.fromkeys(reasons)), by, now)
        for _former, form, _n in made
    ]
    corrections += _retired_again(store, revised, by, now)
    store.corrections.add(corrections)
    own = {correction.target: correction for correction in corrections}
    return [_edited(part, own[part.new], banks, made) for part in revised]


def _reasons(revised: Sequence[Revised], reasons: Sequence[str]) -> Iterator[tuple[bytes, str]]:
    """Why each new fact and item was made."""
    found: dict[bytes, list[str]] = {}
    for part, reason in zip(revised, reasons, strict=True):
        for target in [*(b.fact.id for b in part.facts), *(i.id for i in part.items.values())]:
            found.setdefault(target, []).append(reason)
    yield from ((target, "; ".join(dict.fromkeys(texts))) for target, texts in found.items())


def _retired_again(
    store: Store, revised: Sequence[Revised], by: Person, now: float
) -> Iterator[Correction]:
    """What was made anew only because it names another fact stays retired where it was."""
    remade = {
        built.fact.corrects: built.fact.id
        for part in revised
        for built in part.facts
        if built.fact.corrects is not None and built.fact.id != part.new
    }
    return retired_again(store, remade, by, now)


def _edited(
    part: Revised,
    correction: Correction,
    banks: Sequence[Bank],
    made: Sequence[tuple[ItemSet, ItemSet, int]],
) -> Edited:
    return Edited(
        kind=part.asked.found.kind,
        former=part.asked.found.id,
        new=part.new,
        fields=part.fields,
        n_facts=len(part.facts),
        n_items=len(part.items),
        banks=tuple(named(bank.name, bank.id) for bank in banks),
        forms=tuple(
            EditedForm(
                former=named(former.name, former.id),
                form=named(form.name, form.id),
                n_changed=n,
                n_items=form.n_items,
            )
            for former, form, n in made
        ),
        correction=correction,
    )


def _store_facts(store: Store, facts: Sequence[BuiltFact], now: float) -> Iterator[Bank]:
    """The corrected banks, each with the new versions in the places of the old ones."""
    anew = {built.fact.corrects: built for built in facts}
    for former in store.knowledge.banks_with([old for old in anew if old is not None]):
        bank = store.knowledge.bank(former)
        kept = [fact for fact in bank.facts() if fact.id not in anew]
        held = {fact.id for fact in bank.facts()}
        built = [
            *store.knowledge.built_facts(kept),
            *(new for old, new in anew.items() if old in held),
        ]
        corrected, _is_new = store.knowledge.add_bank(bank.name, bank.method, built, now)
        store.knowledge.correct_bank(corrected, former)
        yield corrected
    if facts:  # also where no bank holds it: then the fact alone is stored
        store.knowledge.add_facts(facts)


def _store_form(
    store: Store, identity: bytes, anew: Mapping[bytes, Item], now: float
) -> tuple[ItemSet, ItemSet, int]:
    """The form, its corrected version with the same roles, and how many items differ."""
    former = store.items.item_set(identity)
    olds = [s.loaded.item for page in store.items.pages(identity, _PAGE) for s in page]
    items = [anew.get(item.id, item) for item in olds]
    form = corrected_set(former, items)
    store.items.add_set(form, items, now)
    store.roles.add_to_set(form.id, store.roles.of_set(identity))
    return former, form, sum(item.id in anew for item in olds)
