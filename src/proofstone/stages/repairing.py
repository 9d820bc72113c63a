"""Versions of banks and forms without what a purge emptied, so that work on them can go on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from proofstone.engines.store import Found, Store
from proofstone.errors import BadInput, BadUsage, TextPurged
from proofstone.ports import Clock
from proofstone.records import Bank, ItemSet, LoadedItem, corrected_set

__all__ = ["Repaired", "repair"]

_PAGE = 256


class Repaired(Struct, frozen=True, kw_only=True):
    """A version of a bank or form that holds ``n`` of the ``total`` rows of the one it replaces."""

    kind: str
    id: bytes
    name: str
    n: int
    total: int


def repair(store: Store, found: Found, clock: Clock) -> list[Repaired]:
    """Makes the version of a bank without its purged facts, and that of each of its forms without
    the purged items, or of a form alone; the plain name then means the new version.

    Raises BadUsage where nothing of it was purged, BadInput where nothing is left.
    """
    if found.kind == "form":
        form = _repaired_form(store, store.items.item_set(found.id), None, clock)
        if form is None:
            raise BadUsage(f"nothing of {found.name} was purged", hint="it can be used as it is")
        return [form]
    bank = store.knowledge.bank(found.id)
    facts, total = bank.readable_facts(), bank.n_facts()
    if len(facts) == total:
        raise BadUsage(f"nothing of {found.name} was purged", hint="it can be used as it is")
    if not facts:
        raise BadInput(f"nothing of {found.name} is left", hint="build another bank")
    built = store.knowledge.built_facts(facts)
    made, _is_new = store.knowledge.add_bank(bank.name, bank.method, built, clock.now())
    store.knowledge.correct_bank(made, bank.id)
    whole = Repaired(kind="bank", id=made.id, name=made.name, n=len(facts), total=total)
    forms = [store.items.item_set(each) for each in store.items.sets_of_bank(bank.id)]
    repaired = [_repaired_form(store, form, made, clock) for form in forms if form.bank == bank.id]
    return [whole, *(form for form in repaired if form is not None)]


def _repaired_form(store: Store, form: ItemSet, bank: Bank | None, clock: Clock) -> Repaired | None:
    """The form without its purged items, of the repaired bank where there is one; None where it
    lost none, or all."""
    kept = list(_readable(store, form))
    if len(kept) == form.n_items or not kept:
        return None
    made = corrected_set(form, [each.item for each in kept])
    if bank is not None:
        made = structs.replace(made, bank=bank.id)
    labels = [each.label for each in kept]
    store.items.add_set(made, [each.item for each in kept], clock.now(), labels)
    return Repaired(kind="form", id=made.id, name=made.name, n=len(kept), total=form.n_items)


def _readable(store: Store, form: ItemSet) -> Iterator[LoadedItem]:
    after = -1
    while places := store.items.places(form.id, after, _PAGE):
        for _position, key in places:
            try:
                yield store.items.one(key)
            except TextPurged:
                continue
        after = places[-1][0]
