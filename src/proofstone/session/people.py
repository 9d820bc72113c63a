"""Who acts, corrects or purges, and why: a person behind a random actor id, a reason without
secrets."""

from __future__ import annotations

import getpass
import os

from proofstone.errors import BadUsage, NotFound
from proofstone.models.credentials import scrub
from proofstone.records.calls import Clock
from proofstone.records.ids import short
from proofstone.records.reviews import Person
from proofstone.session.session import Session
from proofstone.store.store import Store

ACTOR_VARIABLE = "PROOFSTONE_ACTOR"


def acting_name(by: str | None) -> str:
    """``by``, or who acts where it is empty. Raises BadUsage where this login has no name."""
    named = by or os.environ.get(ACTOR_VARIABLE, "")
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's number
        raise BadUsage(
            "nobody is named who does this", hint=f"say it with --by NAME, or set {ACTOR_VARIABLE}"
        ) from None


def acting(session: Session, by: str = "") -> Person:
    """The person who acts, by name or id, else whoever runs this; a new name is added, so that it
    is asked for once all is checked."""
    return acting_person(session.store, acting_name(by), session.clock)


def acting_person(store: Store, name: str, clock: Clock) -> Person:
    """The person of this name, or whose actor id starts with these digits; a new name is added.

    Raises BadUsage for no name, and where several people have it.
    """
    name = name.strip()
    if not name:
        raise BadUsage("nobody is named who corrects", hint="say it with --by NAME")
    known = _by_digits(store, name) or store.people.of_name(name)
    return _the_one(known, name) if known else store.people.add(name, clock.now())


def find_person(store: Store, name: str) -> Person:
    """As ``acting_person``, of people who are known here. Raises NotFound."""
    known = store.people.of_name(name) or _by_digits(store, name)
    if not known:
        names = ", ".join(f"{p.name} ({short(p.actor)})" for p in store.people.every()[:8])
        raise NotFound(
            f"no person is known as {name!r}", hint=f"there is: {names}" if names else "nobody yet"
        )
    return _the_one(known, name)


def erase_person(session: Session, name: str) -> Person:
    """Deletes a person's name and details; the rows keep the random actor id. Returns who it
    was. Raises NotFound where nobody is known so."""
    person = find_person(session.store, name)
    session.store.people.erase(person.actor)
    return person


def stated_reason(reason: str, of: str = "a correction") -> str:
    """The reason ``of`` what is done, as it is stored; BadUsage where none is given."""
    if not reason.strip():
        raise BadUsage(f"{of} needs its reason", hint='say why: --reason "..."')
    return scrub(reason.strip())


def _by_digits(store: Store, name: str) -> list[Person]:
    is_hex = 4 <= len(name) <= 64 and all(c in "0123456789abcdef" for c in name)
    return store.people.like(name) if is_hex else []


def _the_one(known: list[Person], name: str) -> Person:
    if len(known) > 1:
        actors = ", ".join(short(person.actor) for person in known)
        raise BadUsage(f"{len(known)} people are known as {name!r}: {actors}", hint="name the id")
    return known[0]
