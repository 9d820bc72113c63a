"""Retiring and restoring: a fact or item is left out of leaderboards, or taken in again.

Forms stay as they are: what is retired is still in them, is still asked, and keeps its scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.calls import Clock
from proofstone.records.ids import short
from proofstone.records.reviews import Action, Correction, Person, correction_id
from proofstone.session.dates import day
from proofstone.session.people import Who, stated_reason
from proofstone.store.lookup import Found
from proofstone.store.store import Store

# The rows that say what was corrected, and that what was retired stays so in its new version.


def correction_of(
    kind: Any, target: bytes, reason: str, by: Person, now: float, action: Action = "edit"
) -> Correction:
    """A correction with its id."""
    made = Correction(
        action=action, kind=kind, target=target, reason=reason, actor=by.actor, at=now
    )
    return msgspec.structs.replace(made, id=correction_id(made))


def retired_again(
    store: Store, remade: Mapping[bytes, bytes], by: Person, now: float
) -> Iterator[Correction]:
    """Of facts that are only made anew, new versions by the ids of the former ones: those whose
    former version is retired are retired too, for the same reason."""
    for former in store.corrections.retired_facts(remade):
        was = store.corrections.retirement("fact", store.lookup.find(f"fact:{former.hex()}").key)
        if was is not None:
            yield correction_of("fact", remade[former], was.reason, by, now, action="retire")


class Standing(Struct, frozen=True, kw_only=True):
    """What was done to a fact or item, and how many items it leaves out or brings back, by form."""

    correction: Correction
    forms: tuple[tuple[str, int], ...]


def retire(store: Store, found: Found, *, reason: str, who: Who, clock: Clock) -> Standing:
    """Leaves a fact or item out of leaderboards from now on. Raises BadUsage where it is so."""
    former = store.corrections.retirement(found.kind, found.key)
    if former is not None and former.action == "retire":
        raise BadUsage(
            f"{_spelled(found)} is retired already, since {day(former.at)}: {former.reason}",
            hint=f"take it in again: proofstone restore {_spelled(found)} --reason ...",
        )
    return _stored(store, found, "retire", former, stated_reason(reason), who(), clock)


def restore(store: Store, found: Found, *, reason: str, who: Who, clock: Clock) -> Standing:
    """Takes a retired fact or item in again. Raises BadUsage where it is not retired."""
    former = store.corrections.retirement(found.kind, found.key)
    if former is None or former.action != "retire":
        raise BadUsage(f"{_spelled(found)} is not retired", hint=_through_facts(store, found))
    return _stored(store, found, "restore", former, stated_reason(reason), who(), clock)


def _stored(
    store: Store,
    found: Found,
    action: Action,
    former: Correction | None,
    reason: str,
    person: Person,
    clock: Clock,
) -> Standing:
    correction = Correction(
        action=action,
        kind="fact" if found.kind == "fact" else "item",
        target=found.id,
        reason=reason,
        actor=person.actor,
        at=clock.now(),
        follows=former.id if former else None,
    )
    correction = msgspec.structs.replace(correction, id=correction_id(correction))
    store.corrections.add([correction])
    return Standing(correction=correction, forms=tuple(_forms(store, found)))


def _forms(store: Store, found: Found) -> list[tuple[str, int]]:
    """The forms that this fact or item stands in, with how many of their items rest on it."""
    forms = []
    for identity, n in store.items.sets_with(found.kind, found.key):
        item_set = store.items.item_set(identity)
        forms.append((f"{item_set.name}-{short(identity, 4)}", n))
    return forms


def _through_facts(store: Store, found: Found) -> str:
    """Where an item is left out because of a fact: which."""
    if found.kind != "item":
        return ""
    facts = store.corrections.retired_facts(store.items.one(found.key).item.facts)
    return "".join(
        f"it is left out because fact:{short(fact)} is retired: proofstone restore "
        f"fact:{short(fact)} --reason ..."
        for fact in facts[:1]
    )


def _spelled(found: Found) -> str:
    return f"{found.kind}:{short(found.id)}"
