"""Retiring and restoring: a fact or item is left out of leaderboards, or taken in again.

Forms stay as they are: what is retired is still in them, is still asked, and keeps its scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.ids import short
from proofstone.records.reviews import Action, Correction, Person, correction_id
from proofstone.session.session import Session, Target, acting, stated_reason
from proofstone.session.terminal import day
from proofstone.store.lookup import Found
from proofstone.store.store import Store

# The rows that say what was corrected, and that what was retired stays so in its new version.


def correction_of(
    kind: Any,
    target: bytes,
    reason: str,
    by: Person,
    now: float,
    action: Action = "edit",
    follows: bytes | None = None,
) -> Correction:
    """A correction with its id."""
    made = Correction(
        action=action, kind=kind, target=target, reason=reason, actor=by.actor, at=now,
        follows=follows,
    )  # fmt: skip
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


def retire(session: Session, target: Target, *, reason: str, by: str = "") -> Standing:
    """Leaves an item, or all items that rest on a fact, out of leaderboards from now on. Raises
    BadUsage where it is so."""
    found, former = _with_former(session, target)
    if former is not None and former.action == "retire":
        raise BadUsage(
            f"{found.spelled} is retired already, since {day(former.at)}: {former.reason}",
            hint=f"take it in again: proofstone restore {found.spelled} --reason ...",
        )
    return _stored(session, found, "retire", former, stated_reason(reason), by)


def restore(session: Session, target: Target, *, reason: str, by: str = "") -> Standing:
    """Takes a retired item or fact in again. Raises BadUsage where it is not retired."""
    found, former = _with_former(session, target)
    if former is None or former.action != "retire":
        hint = _through_facts(session.store, found)
        raise BadUsage(f"{found.spelled} is not retired", hint=hint)
    return _stored(session, found, "restore", former, stated_reason(reason), by)


def _with_former(session: Session, target: Target) -> tuple[Found, Correction | None]:
    """A fact or item, and what was done to it last."""
    found = session.find(target, "item", "fact")
    return found, session.store.corrections.retirement(found.kind, found.key)


def _stored(
    session: Session,
    found: Found,
    action: Action,
    former: Correction | None,
    reason: str,
    by: str,
) -> Standing:
    kind = "fact" if found.kind == "fact" else "item"
    person, now = acting(session, by), session.clock.now()
    follows = former.id if former else None
    correction = correction_of(kind, found.id, reason, person, now, action, follows)
    session.store.corrections.add([correction])
    return Standing(correction=correction, forms=tuple(_forms(session.store, found)))


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
