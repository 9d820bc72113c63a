"""Edit items, facts and source labels: new versions, and new banks and forms with them.

Several edits are applied together, so that forms with several of them get one new version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.build.inputs import placed_source
from proofstone.correct.overrides import correction_of, excluded_again
from proofstone.errors import BadInput, BadUsage, Problem, ProofstoneError
from proofstone.method import Editing, find_method
from proofstone.records.ids import short
from proofstone.records.items import Item, ItemSet, corrected_set
from proofstone.records.knowledge import (
    TAXONOMY_LEVELS,
    Bank,
    BuiltFact,
    Fact,
    Stratum,
    TaxonomyLabel,
    origin_of,
    taxonomy_label_id,
)
from proofstone.records.reviews import Correction, Person
from proofstone.session.session import Session, Target, acting, stated_reason
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.texts.languages import unseen_sign


@dataclass(frozen=True, slots=True)
class AskedEdit:
    """Hold new values for some fields of a fact or item, and the reason.

    ``place`` is the location in a file for problems; empty for a single edit.
    """

    found: Found
    changes: Mapping[str, Any]
    reason: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Revised:
    """Hold one edit and its consequences.

    ``fields`` are the changed ones. A fact has a new version, and so have the facts that refer to
    it. ``items`` are new versions by the ids of the old ones.
    """

    asked: AskedEdit
    fields: tuple[str, ...]
    facts: tuple[BuiltFact, ...]
    items: Mapping[bytes, Item]

    @property
    def new(self) -> bytes:
        """Return the id of the new version of the edited fact or item."""
        return self.facts[0].fact.id if self.facts else next(iter(self.items.values())).id


def fields_of(store: Store, found: Found) -> dict[str, Any]:
    """Return the editable fields of a fact or item, with their values."""
    if found.kind == "fact":
        built = _built(store, found.id)
        return _revises(built.fact.kind).fact_fields(built)
    loaded = store.items.one(found.key)
    return _revises(loaded.item.kind).item_fields(loaded)


def is_done(store: Store, asked: AskedEdit) -> bool:
    """Return True if the newest version has all these values already, by an edit."""
    newest = _newest(store, asked.found)
    if newest is None:
        return False
    return not tuple(_changed(fields_of(store, newest), asked.changes))


def on_newest(store: Store, asked: AskedEdit) -> AskedEdit:
    """Return the edit for the newest version if its affected fields are unchanged.

    Such a version was made because of another change. Otherwise returns the edit as it is.
    """
    newest = _newest(store, asked.found)
    if newest is None:
        return asked
    was, now = fields_of(store, asked.found), fields_of(store, newest)
    is_same = all(was.get(name) == now.get(name) for name in asked.changes)
    return replace(asked, found=newest) if is_same else asked


def revise(
    store: Store, edits: Sequence[AskedEdit], forms: Sequence[Found] = ()
) -> tuple[list[Revised], dict[bytes, list[int]]]:
    """Compute the consequences of the edits, and the newest forms (of ``forms``, or all) affected.

    Each form has the keys of its items to rebuild. Raises BadInput with every problem of the new
    values, and for two conflicting edits. For a single edit raises its own error: BadUsage if
    nothing changes, or if there is a newer version.
    """
    problems: list[Problem] = []
    naming = _naming(store, edits)
    riding = _riding(store, edits, naming)
    begun = [
        part
        for asked in edits
        if not _rides(asked, riding)
        for part in _told(partial(_begun, store, asked, naming, riding), asked, problems)
    ]
    order = {id(asked): place for place, asked in enumerate(edits)}
    begun.sort(key=lambda part: order[id(part.asked)])
    problems.extend(_twice(begun))
    if problems:
        raise BadInput("these edits are invalid; nothing was stored", problems)
    places = _places(store, [part.asked.found for part in begun], begun, forms)
    keys = list(dict.fromkeys(key for held in places.values() for key in held))
    anew = {b.fact.corrects: b.fact for p in begun for b in p.facts if b.fact.corrects is not None}
    edited = {part.asked.found.key for part in begun if not part.facts}
    resting = _resting(store, [key for key in keys if key not in edited], anew)
    return [_finished(part, resting) for part in begun], places


def typed(text: str, now: object) -> Any:
    """Return a value as text if the field is text ``now``, otherwise parsed as JSON."""
    if isinstance(now, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def named(name: str, identity: bytes) -> str:
    """Return a bank's or form's name with digits that distinguish it."""
    return f"{name}-{short(identity, 4)}"


def _told(
    make: Callable[[], list[Revised]], asked: AskedEdit, problems: list[Problem]
) -> list[Revised]:
    """Return the result; problems are located where the edit was requested, if known."""
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
    return []


def _begun(
    store: Store,
    asked: AskedEdit,
    naming: Mapping[bytes, Sequence[Fact]],
    riding: Mapping[bytes, AskedEdit],
) -> list[Revised]:
    """Return the changed fields, and new versions of the fact or item.

    Then the same for each edit of a fact that refers to the edited one.
    """
    found = asked.found
    newer = _newer(store, found)
    if newer is not None:
        raise BadUsage(
            f"{found.spelled} was edited into {newer.spelled}",
            hint=f"edit the newer version: proofstone correct edit {newer.spelled}",
        )
    unseen = {name: unseen_sign(str(value)) for name, value in asked.changes.items()}
    problems = [
        Problem(name, f"contains a control character, {sign}: remove it")
        for name, sign in unseen.items()
        if sign
    ]
    if problems:
        raise BadInput("these values are invalid; nothing was stored", problems)
    fields = tuple(_changed(fields_of(store, found), asked.changes))
    if not fields:
        raise BadUsage(f"no field of {found.spelled} changes", hint="no new version was made")
    if found.kind == "fact":
        own = {fact.id: riding[fact.id] for fact in naming[found.id] if fact.id in riding}
        return _new_facts(store, asked, fields, naming[found.id], own)
    loaded = store.items.one(found.key)
    item = _revises(loaded.item.kind).revise_item(loaded, asked.changes)
    return [Revised(asked, fields, (), {loaded.item.id: item})]


def _twice(begun: Sequence[Revised]) -> Iterator[Problem]:
    """Return conflicts: two edits that rebuild the same fact or item."""
    seen: dict[bytes | None, Revised] = {}
    anew = {b.fact.corrects for part in begun for b in part.facts}
    for part in begun:
        for old in [*(b.fact.corrects for b in part.facts), *part.items]:
            if old in seen:
                yield Problem(
                    part.asked.place or part.asked.found.spelled,
                    f"{seen[old].asked.found.spelled} is edited too, and both change the same "
                    "item or fact: apply one, then edit the newer version",
                )
            seen[old] = part
        for item in part.items.values():
            if anew & {*item.facts}:
                yield Problem(
                    part.asked.place or part.asked.found.spelled,
                    "one of its facts is edited too: apply that first, then edit the newer "
                    "version of the item",
                )


def _newer(store: Store, found: Found) -> Found | None:
    """Return the version that this one was edited into, if any.

    Only completed edits count: repeating an interrupted edit completes it.
    """
    for identity in store.corrections.newer(found.kind, found.key):
        newer = store.lookup.find(f"{found.kind}:{identity.hex()}")
        if store.corrections.of(found.kind, newer.key):
            return newer
    return None


def _newest(store: Store, found: Found) -> Found | None:
    """Return the last version that this one was edited into, if any."""
    newest = _newer(store, found)
    while newest is not None and (newer := _newer(store, newest)) is not None:
        newest = newer
    return newest


def _revises(kind: str) -> Editing:
    """Return the method of a payload kind if it supports editing. Raises BadUsage otherwise."""
    method = find_method(kind.partition(".")[0])
    if method.editing is None:
        raise BadUsage(
            f"{method.name} does not support editing of its facts and items",
            hint="import corrected ones with a column 'corrects'",
        )
    return method.editing


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


def _naming(store: Store, edits: Sequence[AskedEdit]) -> dict[bytes, Sequence[Fact]]:
    """Return for each edited fact those in its banks that refer to it."""
    banks: dict[bytes, Sequence[Fact]] = {}
    naming: dict[bytes, Sequence[Fact]] = {}
    for found in (asked.found for asked in edits if asked.found.kind == "fact"):
        fact = store.knowledge.facts_by_id([found.id])[found.id]
        near: dict[bytes, Fact] = {}
        for bank in store.knowledge.banks_with([found.id]):
            if bank not in banks:
                banks[bank] = store.knowledge.bank(bank).facts()
            near |= {other.id: other for other in banks[bank]}
        naming[found.id] = _revises(fact.kind).naming(fact, near.values())
    return naming


def _riding(
    store: Store, edits: Sequence[AskedEdit], naming: Mapping[bytes, Sequence[Fact]]
) -> dict[bytes, AskedEdit]:
    """Return edits of facts that refer to another edited fact.

    These are rebuilt with it, with their own changes. Excluded are facts edited twice, or referred
    to themselves.
    """
    times = Counter(asked.found.id for asked in edits)
    named_too = {fact.id for facts in naming.values() for fact in facts}
    return {
        asked.found.id: asked
        for asked in edits
        if asked.found.id in named_too
        and times[asked.found.id] == 1
        and not naming[asked.found.id]
        and any(_changed(fields_of(store, asked.found), asked.changes))
    }


def _rides(asked: AskedEdit, riding: Mapping[bytes, AskedEdit]) -> bool:
    return riding.get(asked.found.id) is asked


def _new_facts(
    store: Store,
    asked: AskedEdit,
    fields: tuple[str, ...],
    naming: Sequence[Fact],
    own: Mapping[bytes, AskedEdit],
) -> list[Revised]:
    """Return the new version of a fact with those of the facts that refer to it.

    Facts with a separate edit (``own``) are returned apart.
    """
    built = _built(store, asked.found.id)
    theirs = {identity: each.changes for identity, each in own.items()}
    made = _revises(built.fact.kind).revise_fact(
        built, asked.changes, _all_built(store, [fact.id for fact in naming]), theirs
    )
    rest = sorted(
        (new for new in made if new.fact.corrects not in own),
        key=lambda new: new.fact.corrects != asked.found.id,
    )
    parts = [Revised(asked, fields, tuple(rest), {})]
    for new in made:
        each = own.get(new.fact.corrects or b"")
        if each is not None:
            changed = tuple(_changed(fields_of(store, each.found), each.changes))
            parts.append(Revised(each, changed, (new,), {}))
    return parts


def _places(
    store: Store, founds: Sequence[Found], begun: Sequence[Revised], forms: Sequence[Found]
) -> dict[bytes, list[int]]:
    """Return the newest affected forms, each with the keys of its items to rebuild.

    These are the items themselves, or those on the facts, except excluded ones.
    """
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
            excluded = store.corrections.excluded_alone(within) if kind == "fact" else set()
            inside = [key for key in within if key not in excluded]
            held[form] = list(dict.fromkeys([*held.get(form, []), *inside]))
    strangers = [form for form in forms if form.id not in held]
    if strangers:
        names = ", ".join(named(form.name, form.id) for form in strangers)
        what = ", ".join(found.spelled for found in founds)
        raise BadUsage(
            f"{what} is not in {names}, or that form was already corrected",
            hint=f"it is in: {', '.join(short(form) for form in held) or 'none'}",
        )
    chosen = [form.id for form in forms] or held
    return {form: held[form] for form in chosen if held[form]}


def _resting(store: Store, keys: Sequence[int], anew: Mapping[bytes, Fact]) -> dict[bytes, Item]:
    """Return new versions of items that depend on new facts, by old id.

    Raises BadInput with every item that cannot be rebuilt.
    """
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
            "items that depend on it would have no answer; nothing was stored",
            problems,
            hint="exclude these items first: excluded items are not changed",
        )
    return items


def _finished(part: Revised, resting: Mapping[bytes, Item]) -> Revised:
    """Return the edit with the items that are rebuilt because of it."""
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


# Editing: new versions of a fact or item, and of the forms that hold it.
#
# A form is immutable. Correcting one of its items makes a new form that refers to the old one, with
# only that item replaced. A run on it therefore finds all other responses in the cache. A corrected
# fact gives new versions of its items and banks. Forms keep the bank that they were composed from.

_PAGE = 512


class EditedForm(Struct, frozen=True, kw_only=True):
    """Hold a corrected form: the former one, the new one, and the number of changed items."""

    former: str
    form: str
    n_changed: int
    n_items: int


class Edited(Struct, frozen=True, kw_only=True):
    """Hold the results of an edit.

    They are the new version of ``former``, the changed fields, and everything rebuilt because of it
    (facts that refer to it, items, banks, forms).
    """

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
    session: Session,
    target: Target,
    changes: Mapping[str, Any],
    *,
    reason: str,
    by: str = "",
    forms: Sequence[Target] = (),
) -> Edited:
    """Make a new version of an item or fact with these fields changed.

    Also makes new versions of ``forms`` (default: all that hold it); only the affected items
    differ, and the old forms stay. Raises BadInput with every problem of the new values; BadUsage
    if nothing changes, or if there is a newer version.
    """
    found = session.find(target, "item", "fact")
    chosen = [session.find(form, "form") for form in forms]
    (edited,) = edit_all(session, [AskedEdit(found, changes, reason)], by=by, forms=chosen)
    return edited


def edit_all(
    session: Session, edits: Sequence[AskedEdit], *, by: str = "", forms: Sequence[Found] = ()
) -> list[Edited]:
    """Apply several edits like ``edit``: a form with several of them gets one new version.

    Nothing is stored unless all are valid; raises as ``revise``.
    """
    reasons = [stated_reason(asked.reason) for asked in edits]
    if not edits:
        return []
    store = session.store
    revised, places = revise(store, edits, forms)
    person, now = acting(session, by), session.clock.now()
    facts = [built for part in revised for built in part.facts]
    items = {old: item for part in revised for old, item in part.items.items()}
    banks = tuple(_store_facts(store, facts, now))
    made = [_store_form(store, former, items, now) for former in places]
    why = dict(_reasons(revised, reasons))
    targets = [("fact", b.fact.id) for b in facts] + [("item", i.id) for i in items.values()]
    corrections = [
        correction_of(kind, target, why[target], person, now) for kind, target in targets
    ]
    corrections += [
        correction_of("form", form.id, "; ".join(dict.fromkeys(reasons)), person, now)
        for _former, form, _n in made
    ]
    corrections += _excluded_again(store, revised, person, now)
    store.corrections.add(corrections)
    own = {correction.target: correction for correction in corrections}
    return [_edited(part, own[part.new], banks, made) for part in revised]


def _reasons(revised: Sequence[Revised], reasons: Sequence[str]) -> Iterator[tuple[bytes, str]]:
    """Return the reason of each new fact and item."""
    found: dict[bytes, list[str]] = {}
    for part, reason in zip(revised, reasons, strict=True):
        for target in [*(b.fact.id for b in part.facts), *(i.id for i in part.items.values())]:
            found.setdefault(target, []).append(reason)
    yield from ((target, "; ".join(dict.fromkeys(texts))) for target, texts in found.items())


def _excluded_again(
    store: Store, revised: Sequence[Revised], by: Person, now: float
) -> Iterator[Correction]:
    """Exclude new versions of excluded facts that were rebuilt only for a reference."""
    remade = {
        built.fact.corrects: built.fact.id
        for part in revised
        for built in part.facts
        if built.fact.corrects is not None and built.fact.id != part.new
    }
    return excluded_again(store, remade, by, now)


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
    """Store the corrected banks, with the new versions in place of the old ones."""
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
    if facts:  # also if no bank holds it: then only the fact is stored
        store.knowledge.add_facts(facts)


def _store_form(
    store: Store, identity: bytes, anew: Mapping[bytes, Item], now: float
) -> tuple[ItemSet, ItemSet, int]:
    """Store the form's corrected version with the same roles, and count changed items."""
    former = store.items.item_set(identity)
    olds = [s.loaded.item for page in store.items.pages(identity, _PAGE) for s in page]
    items = [anew.get(item.id, item) for item in olds]
    form = corrected_set(former, items)
    store.items.add_set(form, items, now)
    store.roles.add_to_set(form.id, store.roles.of_set(identity))
    return former, form, sum(item.id in anew for item in olds)


# Update a bank to its sources' new taxonomy labels: new fact versions, a new bank. Forms are
# unchanged: their questions were composed within the former labels, which the new ones may split.


class Followed(Struct, frozen=True, kw_only=True):
    """Hold the result of an update: the corrected ``bank`` and the former one.

    Counts the facts with a changed label, their sources, and the facts rebuilt only for a
    reference.
    """

    former: str
    bank: str
    bank_id: bytes
    n_facts: int
    n_sources: int
    n_with_them: int = 0


def facts_elsewhere(store: Store, facts: Iterable[Fact]) -> dict[bytes, Stratum]:
    """Return the facts whose source has a different label now, with that label.

    A fact keeps its own book unless the source's label names one.
    """
    held = list(facts)
    sources = {fact.source for fact in held if fact.source is not None}
    taxonomy_labels = store.taxonomy_labels.in_force(sources)
    found = {}
    for fact in held:
        taxonomy_label = taxonomy_labels.get(fact.source or b"")
        if taxonomy_label is not None:
            book = taxonomy_label.stratum.book or fact.stratum.book
            place = msgspec.structs.replace(taxonomy_label.stratum, book=book)
            if place != fact.stratum:
                found[fact.id] = place
    return found


def follow_taxonomy_labels(
    session: Session, bank: Target, *, reason: str, by: str = ""
) -> Followed:
    """Make a corrected bank whose facts have their sources' current labels.

    Forms are unchanged, and excluded facts remain excluded. Raises BadUsage if all labels are
    current, if a newer bank corrects this one, if facts were purged, or if the method does not
    support editing.
    """
    store, found = session.store, session.find(bank, "bank")
    why = stated_reason(reason)
    former = store.knowledge.bank(found.id)
    _refuse_former(store, found)
    facts = list(former.facts())
    elsewhere = facts_elsewhere(store, facts)
    if not elsewhere:
        raise BadUsage(
            f"all facts of {found.name} have their sources' labels already; nothing is changed",
            hint="label one: proofstone correct edit SOURCE --set field=..., or build labels",
        )
    method = find_method(former.method).editing
    if method is None:
        raise BadUsage(f"{former.method} does not support editing of its facts")
    made = list(_versions(store, method, facts, elsewhere))
    person, now = acting(session, by), session.clock.now()
    remade = {b.fact.corrects: b.fact.id for b in made if b.fact.corrects is not None}
    kept = store.knowledge.built_facts([fact for fact in facts if fact.id not in remade])
    corrected, _is_new = store.knowledge.add_bank(former.name, former.method, [*kept, *made], now)
    store.knowledge.correct_bank(corrected, found.id)
    store.corrections.add(
        [correction_of("fact", built.fact.id, why, person, now) for built in made]
        + list(excluded_again(store, remade, person, now))
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
    """Return new versions of each fact, with those derived from it, which refer to it."""
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


# A source label set by a person: a row with name, reason and the former label.


def levels_of(store: Store, found: Found) -> dict[str, Any]:
    """Return the levels of a source's current label."""
    return dict(msgspec.structs.asdict(placed_source(store, found.id).stratum))


def editable_fields(session: Session, target: Target) -> dict[str, Any]:
    """Return the editable fields of an item, fact or source, with current values."""
    found = session.find(target, "item", "fact", "source")
    fields = levels_of if found.kind == "source" else fields_of
    return fields(session.store, found)


def place(
    session: Session, source: Target, changes: Mapping[str, Any], *, reason: str, by: str = ""
) -> TaxonomyLabel:
    """Set taxonomy levels of a source by name; others are kept, None clears one.

    Applies to everything built from it later. Raises BadInput for an unknown level, a non-text
    value, or a level below an empty one; BadUsage if nothing would change.
    """
    store, found = session.store, session.find(source, "source")
    problems = [
        Problem(name, f"cannot be changed; expected one of: {', '.join(TAXONOMY_LEVELS)}")
        for name in changes
        if name not in TAXONOMY_LEVELS
    ]
    problems += [
        Problem(name, f"expected a text, got {value!r}")
        for name, value in changes.items()
        if value is not None and not isinstance(value, str)
    ]
    if problems:
        raise BadInput("the source's label is invalid; nothing was stored", problems)
    before = levels_of(store, found)
    levels = {**before, **{name: " ".join((v or "").split()) for name, v in changes.items()}}
    _refuse_gaps(levels)
    if levels == before:
        raise BadUsage("the source has this label already; nothing is changed")
    former = store.taxonomy_labels.in_force([found.id]).get(found.id)
    why = stated_reason(reason)
    made = TaxonomyLabel(
        source=found.id,
        stratum=Stratum(**levels),
        actor=acting(session, by).actor,
        reason=why,
        at=session.clock.now(),
        follows=None if former is None else former.id,
    )
    made = msgspec.structs.replace(made, id=taxonomy_label_id(made))
    store.taxonomy_labels.add([made])
    return made


def _refuse_gaps(levels: Mapping[str, str]) -> None:
    above = TAXONOMY_LEVELS[0]
    for name in TAXONOMY_LEVELS[1:-1]:  # a book may be known without the others
        if levels[name] and not levels[above]:
            what = f"is {levels[name]}, but its {above} is empty"
            raise BadInput("the source's label is invalid", [Problem(name, what)])
        above = name
