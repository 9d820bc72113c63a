"""Actors and the people behind them: rows name random actor ids, one table holds the names."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Connection, Row, delete, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing, keys_by
from proofstone.records import Person

__all__ = ["PeopleStore"]


class PeopleStore:
    """Adds, reads and erases people. An actor's id is random, so that it says nothing of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, now: float, mail: str = "", pay_details: str = "") -> Person:
        """Stores a person under a new actor id."""
        with self._database.writing() as connection:
            return _add(connection, name, now, mail, pay_details)

    def of_name(self, name: str) -> list[Person]:
        """The people of this name, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(_select().where(schema.person.c.name == name))
            return [_person(row) for row in rows]

    def like(self, digits: str) -> list[Person]:
        """The people whose actor ids start with these hexadecimal digits."""
        low, high = bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))
        actor = schema.actor.c.hash
        with self._database.reading() as connection:
            rows = connection.execute(_select().where(actor >= low, actor <= high))
            return [_person(row) for row in rows]

    def every(self) -> list[Person]:
        """All people whose names are known here, oldest first."""
        with self._database.reading() as connection:
            return [_person(row) for row in connection.execute(_select())]

    def person(self, actor: bytes) -> Person | None:
        """Who an actor is; None once erased, or where never known here."""
        with self._database.reading() as connection:
            row = connection.execute(_select().where(schema.actor.c.hash == actor)).one_or_none()
        return None if row is None else _person(row)

    def erase(self, actor: bytes) -> bool:
        """Deletes a person's name and details; the actor's id and work stand. False if unknown."""
        with self._database.writing() as connection:
            key = keys_by(connection, schema.actor, ("hash",), [actor]).get(actor)
            statement = delete(schema.person).where(schema.person.c.actor_id == key)
            return connection.execute(statement).rowcount == 1


def _add(
    connection: Connection, name: str, now: float, mail: str = "", pay_details: str = ""
) -> Person:
    person = Person(actor=secrets.token_bytes(32), name=name, mail=mail, pay_details=pay_details)
    row = {person.actor: (person.actor, now)}
    key = insert_missing(connection, schema.actor, ("hash", "created_at"), row)[person.actor]
    values = {"actor_id": key, "name": name, "mail": mail, "pay_details": pay_details}
    connection.execute(schema.person.insert(), values)
    return person


def _select() -> Any:
    return (
        select(schema.person, schema.actor.c.hash)
        .join(schema.actor, schema.actor.c.id == schema.person.c.actor_id)
        .order_by(schema.actor.c.id)
    )


def _person(row: Row[Any]) -> Person:
    return Person(actor=row.hash, name=row.name, mail=row.mail, pay_details=row.pay_details)
