"""What an edit makes anew, before anything is stored: facts, items, and where they stand.

Several edits are taken together, so that forms that hold several of them get one newer version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from proofstone.engines.store import Found, Store
from proofstone.errors import BadInput, BadUsage, Problem, ProofstoneError
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.ports import BuiltFact, Revises
from proofstone.records import Fact, Item

__all__ = ["AskedEdit", "Revised", "fields_of", "is_done", "named", "revise", "spelled", "typed"]


@dataclass(frozen=True, slots=True)
class AskedEdit:
    """New values for some fields of a fact or item, and why. ``place`` says where it was asked, for
    problems; empty where it was asked alone."""

    found: Found
    changes: Mapping[str, Any]
    reason: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Revised:
    """One edit and what it makes anew: the ``fields`` that change; of a fact, its new version and
    those of the facts that name it; the ``items``, new versions by the ids of the old ones."""

    asked: AskedEdit
    fields: tuple[str, ...]
    facts: tuple[BuiltFact, ...]
    items: Mapping[bytes, Item]

    @property
    def new(self) -> bytes:
        """The id of the new version of what was edited."""
        return self.facts[0].fact.id if self.facts else next(iter(self.items.values())).id


def fields_of(store: Store, found: Found) -> dict[str, Any]:
    """The fields of a fact or item that can be changed, with their values."""
    if found.kind == "fact":
        built = _built(store, found.id)
        return _revises(built.fact.kind).fact_fields(built)
    loaded = store.items.one(found.key)
    return _revises(loaded.item.kind).item_fields(loaded)


def is_done(store: Store, asked: AskedEdit) -> bool:
    """Whether the newest version has all these values already, through an edit."""
    newer = _newer(store, asked.found)
    if newer is None:
        return False
    while (newest := _newer(store, newer)) is not None:
        newer = newest
    return not tuple(_changed(fields_of(store, newer), asked.changes))


def revise(
    store: Store, edits: Sequence[AskedEdit], forms: Sequence[Found] = ()
) -> tuple[list[Revised], dict[bytes, list[int]]]:
    """What the edits make anew, and the newest forms (of ``forms``, else all) that hold it, each
    with the keys of its items to make anew.

    Raises BadInput with every problem of the new values, and where two edits touch the same; for
    one edit alone what is wrong with it: BadUsage where nothing changes, or there is a newer
    version already.
    """
    problems: list[Problem] = []
    begun = [
        part
        for asked in edits
        if (part := _told(partial(_begun, store, asked), asked, problems)) is not None
    ]
    problems.extend(_twice(begun))
    if problems:
        raise BadInput("these cannot be edited so; nothing was stored", problems)
    places = _places(store, [part.asked.found for part in begun], begun, forms)
    keys = list(dict.fromkeys(key for held in places.values() for key in held))
    anew = {b.fact.corrects: b.fact for p in begun for b in p.facts if b.fact.corrects is not None}
    edited = {part.asked.found.key for part in begun if not part.facts}
    resting = _resting(store, [key for key in keys if key not in edited], anew)
    return [_finished(part, resting) for part in begun], places


def typed(text: str, now: object) -> Any:
    """A value as it was typed where the field is text ``now``, else read as JSON."""
    if isinstance(now, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def named(name: str, identity: bytes) -> str:
    """How a bank or form is called, with the digits that tell it from others of that name."""
    return f"{name}-{short(identity, 4)}"


def spelled(found: Found) -> str:
    """How people name a row."""
    return f"{found.kind}:{short(found.id)}"


def _told(make: Callable[[], Revised], asked: AskedEdit, problems: list[Problem]) -> Revised | None:
    """What is made; its problems by the place where it was asked, where that has one."""
    if not asked.place:
        return make()
    try:
        return make()
    except BadInput as error:
        problems.extend(
            Problem(f"{asked.place}, {each.where}", each.what) for each in error.problems
        )
        if not error.problems:
            problems.append(Problem(asked.place, error.message))
    except ProofstoneError as error:
        problems.append(Problem(asked.place, error.message))
    return None


def _begun(store: Store, asked: AskedEdit) -> Revised:
    """The fields that change, and new versions of the fact or item alone."""
    found = asked.found
    newer = _newer(store, found)
    if newer is not None:
        raise BadUsage(
            f"{spelled(found)} was edited into {spelled(newer)}",
            hint=f"edit that one: proofstone edit {spelled(newer)}",
        )
    fields = tuple(_changed(fields_of(store, found), asked.changes))
    if not fields:
        raise BadUsage(f"nothing of {spelled(found)} changes", hint="no new version was made")
    if found.kind == "fact":
        return Revised(asked, fields, tuple(_new_facts(store, found, asked.changes)), {})
    loaded = store.items.one(found.key)
    item = _revises(loaded.item.kind).revise_item(loaded, asked.changes)
    return Revised(asked, fields, (), {loaded.item.id: item})


def _twice(begun: Sequence[Revised]) -> Iterator[Problem]:
    """Where two edits make one fact or item anew, which no version can hold both of."""
    seen: dict[bytes | None, Revised] = {}
    anew = {b.fact.corrects for part in begun for b in part.facts}
    for part in begun:
        for old in [*(b.fact.corrects for b in part.facts), *part.items]:
            if old in seen:
                yield Problem(
                    part.asked.place or spelled(part.asked.found),
                    f"{spelled(seen[old].asked.found)} is edited too, and both make the same anew: "
                    "apply one, then edit the newer version",
                )
            seen[old] = part
        for item in part.items.values():
            if anew & {*item.facts}:
                yield Problem(
                    part.asked.place or spelled(part.asked.found),
                    "a fact that it rests on is edited too: apply that first, then edit the newer "
                    "version of the item",
                )


def _newer(store: Store, found: Found) -> Found | None:
    """The version that this one was edited into, if any. Only what was finished counts: an edit
    that was cut off is finished by repeating it."""
    for identity in store.corrections.newer(found.kind, found.key):
        newer = store.lookup.find(f"{found.kind}:{identity.hex()}")
        if store.corrections.of(found.kind, newer.key):
            return newer
    return None


def _revises(kind: str) -> Revises:
    """The method of a kind of payload, as one that revises. Raises BadUsage where it does not."""
    method = find_method(kind.partition(".")[0])
    if not isinstance(method, Revises):
        raise BadUsage(
            f"{method.name} does not say how its facts and items are edited",
            hint="import corrected ones with their column 'corrects'",
        )
    return method


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
    store: Store, founds: Sequence[Found], begun: Sequence[Revised], forms: Sequence[Found]
) -> dict[bytes, list[int]]:
    """The newest forms that hold what is edited, each with the keys of its items to make anew:
    the items themselves, or those on the facts but for retired ones."""
    olds = [b.fact.corrects for part in begun for b in part.facts]
    facts = [store.lookup.find(f"fact:{old.hex()}").key for old in olds if old is not None]
    items = [found.key for found in founds if found.kind == "item"]
    held: dict[bytes, list[int]] = {}
    for kind, keys in (("item", items), ("fact", facts)):
        holding = [form for key in keys for form, _n in store.items.sets_with(kind, key)]
        for form in dict.fromkeys(holding):
            if _is_corrected(store, form):
                continue
            within = store.items.within(form, kind, keys)
            retired = store.corrections.retired_alone(within) if kind == "fact" else set()
            inside = [key for key in within if key not in retired]
            held[form] = list(dict.fromkeys([*held.get(form, []), *inside]))
    strangers = [form for form in forms if form.id not in held]
    if strangers:
        names = ", ".join(named(form.name, form.id) for form in strangers)
        what = ", ".join(spelled(found) for found in founds)
        raise BadUsage(
            f"{what} does not stand in {names}, or that form was corrected already",
            hint=f"it stands in: {', '.join(short(form) for form in held) or 'none'}",
        )
    chosen = [form.id for form in forms] or held
    return {form: held[form] for form in chosen if held[form]}


def _resting(store: Store, keys: Sequence[int], anew: Mapping[bytes, Fact]) -> dict[bytes, Item]:
    """New versions of items that rest on new facts, by the old ids. Raises BadInput with every item
    that cannot be made anew."""
    items: dict[bytes, Item] = {}
    problems: list[Problem] = []
    for key in keys:
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


def _finished(part: Revised, resting: Mapping[bytes, Item]) -> Revised:
    """The edit with the items that are made anew because of it."""
    if not part.facts:
        return part
    own = {built.fact.id for built in part.facts}
    mine = {old: item for old, item in resting.items() if own & {*item.facts}}
    return Revised(part.asked, part.fields, part.facts, mine)


def _is_corrected(store: Store, form: bytes) -> bool:
    found = store.lookup.find(f"form:{form.hex()}")
    return any(
        store.corrections.of("form", store.lookup.find(f"form:{newer.hex()}").key)
        for newer in store.corrections.newer("form", found.key)
    )
