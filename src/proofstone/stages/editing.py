"""Editing: a new version of a fact or item that names the old one, and of the forms that hold it.

A form is frozen. To correct one of its items is to make a new form that names the old one, with
the new version in the item's place and every other item the very same, so that a run on it finds
all other replies in the cache. A corrected fact makes new versions of the items that rest on it,
and of its banks; forms keep the bank that they were composed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.engines.store import Found, Store
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.ports import BuiltFact, Clock, Revises
from proofstone.records import (
    Bank,
    Correction,
    Fact,
    Item,
    ItemSet,
    Person,
    corrected_set,
    correction_id,
)
from proofstone.stages.acting import Who, stated_reason

__all__ = ["Edited", "EditedForm", "edit", "fields_of"]

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


def fields_of(store: Store, found: Found) -> dict[str, Any]:
    """The fields of a fact or item that can be changed, with their values."""
    if found.kind == "fact":
        built = _built(store, found.id)
        return _revises(built.fact.kind).fact_fields(built)
    loaded = store.items.one(found.key)
    return _revises(loaded.item.kind).item_fields(loaded)


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
    reason = stated_reason(reason)
    _refuse_edited(store, found)
    fields = tuple(_changed(fields_of(store, found), changes))
    if not fields:
        raise BadUsage(f"nothing of {_spelled(found)} changes", hint="no new version was made")
    facts = _new_facts(store, found, changes) if found.kind == "fact" else []
    places = _places(store, found, facts, forms)
    items = _new_items(store, found, changes, facts, places)
    by, now = who(), clock.now()
    banks = tuple(_store_facts(store, facts, now))
    made = [_store_form(store, former, items, now) for former in places]
    new = facts[0].fact.id if facts else next(iter(items.values())).id
    corrections = [
        _correction(kind, target, reason, by, now)
        for kind, targets in (
            ("fact", [b.fact.id for b in facts]),
            ("item", [item.id for item in items.values()]),
            ("form", [form.id for _former, form, _n in made]),
        )
        for target in targets
    ]
    store.corrections.add(corrections)
    return Edited(
        kind=found.kind,
        former=found.id,
        new=new,
        fields=fields,
        n_facts=len(facts),
        n_items=len(items),
        banks=tuple(_named(bank.name, bank.id) for bank in banks),
        forms=tuple(
            EditedForm(
                former=_named(former.name, former.id),
                form=_named(form.name, form.id),
                n_changed=n,
                n_items=form.n_items,
            )
            for former, form, n in made
        ),
        correction=next(one for one in corrections if one.target == new),
    )


# ---------------------------------------------------------------- what changes


def _revises(kind: str) -> Revises:
    """The method of a kind of payload, as one that revises. Raises BadUsage where it does not."""
    method = find_method(kind.partition(".")[0])
    if not isinstance(method, Revises):
        raise BadUsage(
            f"{method.name} does not say how its facts and items are edited",
            hint="import corrected ones with their column 'corrects'",
        )
    return method


def _refuse_edited(store: Store, found: Found) -> None:
    """A version that was edited has a newer one, and that is what is to be edited."""
    for identity in store.corrections.newer(found.kind, found.key):
        newer = store.lookup.find(f"{found.kind}:{identity.hex()}")
        # Only what was finished counts: an edit that was cut off is finished by repeating it.
        if store.corrections.of(found.kind, newer.key):
            raise BadUsage(
                f"{_spelled(found)} was edited into {_spelled(newer)}",
                hint=f"edit that one: proofstone edit {_spelled(newer)}",
            )


def _changed(now: Mapping[str, Any], changes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in changes.items():
        empty = value in (None, "")
        if (name in now and now[name] != value) or (name not in now and not empty):
            yield name


def _built(store: Store, identity: bytes) -> BuiltFact:
    return _all_built(store, [identity])[0]


def _all_built(store: Store, identities: Sequence[bytes]) -> list[BuiltFact]:
    facts = store.knowledge.facts_by_id(identities)
    return store.knowledge.built_facts([facts[identity] for identity in identities])


def _new_facts(store: Store, found: Found, changes: Mapping[str, Any]) -> list[BuiltFact]:
    """The new version of a fact, then those of the facts in its banks that name it."""
    built = _built(store, found.id)
    method = _revises(built.fact.kind)
    near: dict[bytes, Fact] = {}
    for bank in store.knowledge.banks_with([found.id]):
        near |= {fact.id: fact for fact in store.knowledge.bank(bank).facts()}
    naming = _all_built(store, [fact.id for fact in method.naming(built.fact, near.values())])
    return list(method.revise_fact(built, changes, naming))


def _places(
    store: Store, found: Found, facts: Sequence[BuiltFact], forms: Sequence[Found]
) -> dict[bytes, list[int]]:
    """The newest forms that hold what is edited, each with the keys of its items to make anew:
    the item itself, or those on the facts but for retired ones."""
    keys = [found.key]
    if found.kind == "fact":
        olds = [built.fact.corrects for built in facts]
        keys = [store.lookup.find(f"fact:{old.hex()}").key for old in olds if old is not None]
    holding = dict.fromkeys(
        form for key in keys for form, _n in store.items.sets_with(found.kind, key)
    )
    newest = [form for form in holding if not _is_corrected(store, form)]
    strangers = [form for form in forms if form.id not in newest]
    if strangers:
        named = ", ".join(_named(form.name, form.id) for form in strangers)
        raise BadUsage(
            f"{_spelled(found)} does not stand in {named}, or that form was corrected already",
            hint=f"it stands in: {', '.join(short(form) for form in newest) or 'none'}",
        )
    chosen = [form.id for form in forms] or newest
    places = {form: store.items.within(form, found.kind, keys) for form in chosen}
    if found.kind == "fact":
        retired = {form: store.corrections.retired_alone(places[form]) for form in chosen}
        places = {form: [k for k in places[form] if k not in retired[form]] for form in chosen}
    return {form: items for form, items in places.items() if items}


def _new_items(
    store: Store,
    found: Found,
    changes: Mapping[str, Any],
    facts: Sequence[BuiltFact],
    places: Mapping[bytes, Sequence[int]],
) -> dict[bytes, Item]:
    """New versions by the old ids. Raises BadInput with every item that cannot be made anew."""
    if found.kind == "item":
        loaded = store.items.one(found.key)
        return {loaded.item.id: _revises(loaded.item.kind).revise_item(loaded, changes)}
    anew = {b.fact.corrects: b.fact for b in facts if b.fact.corrects is not None}
    items: dict[bytes, Item] = {}
    problems: list[Problem] = []
    for key in dict.fromkeys(key for keys in places.values() for key in keys):
        loaded = store.items.one(key)
        try:
            items[loaded.item.id] = _revises(loaded.item.kind).rest_anew(loaded, anew)
        except BadInput as error:
            problems.append(Problem(f"item:{short(loaded.item.id)}", error.message))
    if problems:
        raise BadInput(
            "items that rest on it would have no answer any more; nothing was stored",
            problems,
            hint="retire these items first: retired ones stay as they are",
        )
    return items


def _is_corrected(store: Store, form: bytes) -> bool:
    found = store.lookup.find(f"form:{form.hex()}")
    return any(
        store.corrections.of("form", store.lookup.find(f"form:{newer.hex()}").key)
        for newer in store.corrections.newer("form", found.key)
    )


# ---------------------------------------------------------------- what is stored


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


def _correction(kind: Any, target: bytes, reason: str, by: Person, now: float) -> Correction:
    made = Correction(
        action="edit", kind=kind, target=target, reason=reason, actor=by.actor, at=now
    )
    return msgspec.structs.replace(made, id=correction_id(made))


def _named(name: str, identity: bytes) -> str:
    return f"{name}-{short(identity, 4)}"


def _spelled(found: Found) -> str:
    return f"{found.kind}:{short(found.id)}"
