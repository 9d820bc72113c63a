"""Actors and the people behind them: rows name random actor ids, one table holds the names."""

from __future__ import annotations

import secrets

from sqlalchemy import delete, select

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
        person = Person(
            actor=secrets.token_bytes(32), name=name, mail=mail, pay_details=pay_details
        )
        with self._database.writing() as connection:
            columns = ("hash", "created_at")
            row = {person.actor: (person.actor, now)}
            key = insert_missing(connection, schema.actor, columns, row)[person.actor]
            values = {"actor_id": key, "name": name, "mail": mail, "pay_details": pay_details}
            connection.execute(schema.person.insert(), values)
        return person

    def named(self, name: str, now: float) -> Person:
        """The oldest person of this name, stored now where there is none."""
        query = (
            select(schema.person, schema.actor.c.hash)
            .join(schema.actor, schema.actor.c.id == schema.person.c.actor_id)
            .where(schema.person.c.name == name)
            .order_by(schema.actor.c.id)
            .limit(1)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return self.add(name, now)
        return Person(actor=row.hash, name=name, mail=row.mail, pay_details=row.pay_details)

    def person(self, actor: bytes) -> Person | None:
        """Who an actor is; None once erased, or where never known here."""
        query = (
            select(schema.person)
            .join(schema.actor, schema.actor.c.id == schema.person.c.actor_id)
            .where(schema.actor.c.hash == actor)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        return Person(actor=actor, name=row.name, mail=row.mail, pay_details=row.pay_details)

    def erase(self, actor: bytes) -> bool:
        """Deletes a person's name and details; the actor's id and work stand. False if unknown."""
        with self._database.writing() as connection:
            key = keys_by(connection, schema.actor, ("hash",), [actor]).get(actor)
            statement = delete(schema.person).where(schema.person.c.actor_id == key)
            return connection.execute(statement).rowcount == 1
