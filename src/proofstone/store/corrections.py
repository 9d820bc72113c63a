"""Corrections of facts, items and forms: what was edited, retired and restored."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, Table, delete, func, or_, select

from proofstone.records.reviews import Correction, Person, Ruling
from proofstone.store import schema
from proofstone.store.calls import StoredResponse
from proofstone.store.rows import (
    StorePart,
    insert_missing,
    insert_record,
    keys_by,
    record_of,
    with_ids,
)

Kind = Literal["fact", "item", "form"]


_TABLES: dict[str, tuple[Table, str]] = {
    "fact": (schema.fact, "fact_id"),
    "item": (schema.item, "item_id"),
    "form": (schema.item_set, "item_set_id"),
}


class Retired(msgspec.Struct, frozen=True):
    """The items of some sets that are retired, themselves or through a fact that they rest on:
    their keys and ids, and how many places of the sets they fill."""

    keys: frozenset[int] = frozenset()
    ids: frozenset[bytes] = frozenset()
    n_places: int = 0


class CorrectionStore(StorePart):
    """Adds corrections, and says what is retired."""

    def add(self, corrections: Sequence[Correction]) -> None:
        """Stores corrections whose targets are stored, in one transaction."""
        with self._database.writing() as connection:
            for one in corrections:
                refers = dict.fromkeys(column for _table, column in _TABLES.values())
                refers |= {_TABLES[one.kind][1]: one.target}
                refers |= {"actor_id": one.actor, "follows_id": one.follows}
                insert_record(connection, schema.correction, one, refers)

    def of(self, kind: str, key: int) -> list[Correction]:
        """The corrections of one fact, item or form, oldest first."""
        query = _select().where(schema.correction.c[_TABLES[kind][1]] == key)
        return [_correction(row) for row in self._rows(query)]

    def retirement(self, kind: str, key: int) -> Correction | None:
        """The newest retirement or restoration of a fact or item, which says how it stands."""
        rows = [one for one in self.of(kind, key) if one.action != "edit"]
        return rows[-1] if rows else None

    def newer(self, kind: str, key: int) -> list[bytes]:
        """The ids of the versions that correct a fact, item or form directly, oldest first."""
        table, _column = _TABLES[kind]
        query = select(table.c.hash).order_by(table.c.id)
        if kind == "form":
            made = schema.corrected_set
            query = query.join(made, made.c.item_set_id == table.c.id)
            query = query.where(made.c.corrects_id == key)
        else:
            query = query.where(table.c.corrects_id == key)
        return self._scalars(query)

    def newer_bank(self, bank: bytes) -> bytes | None:
        """The newest bank that corrects this one directly, or None."""
        made, former = schema.corrected_bank, schema.bank.alias("former")
        query = (
            select(schema.bank.c.hash)
            .join(made, made.c.bank_id == schema.bank.c.id)
            .join(former, former.c.id == made.c.corrects_id)
            .where(former.c.hash == bank)
            .order_by(schema.bank.c.created_at.desc(), schema.bank.c.hash)
            .limit(1)
        )
        found: bytes | None = self._scalar(query)
        return found

    def former(self, kind: str, key: int) -> bytes | None:
        """The id of the version that a fact, item or form corrects, or None."""
        table, _column = _TABLES[kind]
        old = table.alias("old")
        query = select(old.c.hash)
        if kind == "form":
            made = schema.corrected_set
            query = query.join(made, made.c.corrects_id == old.c.id)
            query = query.where(made.c.item_set_id == key)
        else:
            query = query.join(table, table.c.corrects_id == old.c.id).where(table.c.id == key)
        found: bytes | None = self._scalar(query)
        return found

    def former_items(self) -> dict[bytes, bytes]:
        """Every item that corrects another one, with that one's id."""
        table, old = schema.item, schema.item.alias("old")
        query = select(table.c.hash, old.c.hash).join(old, old.c.id == table.c.corrects_id)
        return {row[0]: row[1] for row in self._rows(query)}

    def retired(self, item_sets: Sequence[bytes], until: float | None = None) -> Retired:
        """The retired items among those of these sets, now or at an earlier time."""
        items = self._retired_keys("item_id", until)
        facts = self._retired_keys("fact_id", until)
        if not items and not facts:
            return Retired()
        member, rests = schema.item_set_item, schema.item_fact
        by_fact = select(rests.c.item_id).where(rests.c.fact_id.in_(facts))
        query = (
            select(member.c.item_id, schema.item.c.hash, func.count())
            .join(schema.item, schema.item.c.id == member.c.item_id)
            .join(schema.item_set, schema.item_set.c.id == member.c.item_set_id)
            .where(
                schema.item_set.c.hash.in_(item_sets),
                or_(member.c.item_id.in_(items), member.c.item_id.in_(by_fact)),
            )
            .group_by(member.c.item_id, schema.item.c.hash)
        )
        rows = self._rows(query)
        return Retired(
            frozenset(key for key, _identity, _n in rows),
            frozenset(identity for _key, identity, _n in rows),
            sum(n for _key, _identity, n in rows),
        )

    def retired_alone(self, items: Sequence[int]) -> set[int]:
        """Those of these items that are retired themselves, not through a fact."""
        return set(items) & set(self._retired_keys("item_id"))

    def retired_facts(self, facts: Iterable[bytes]) -> list[bytes]:
        """Those of these facts that are retired, in their order."""
        retired = self._retired_keys("fact_id")
        with self._database.reading() as connection:
            keys = keys_by(connection, schema.fact, ("hash",), dict.fromkeys(facts))
        return [identity for identity, key in keys.items() if key in retired]

    def former_facts(self, item_set: bytes) -> set[bytes]:
        """The ids of all former versions of the facts that a set's items rest on."""
        fact, old, member, rests = (
            schema.fact, schema.fact.alias("old"), schema.item_set_item, schema.item_fact
        )  # fmt: skip
        corrected = (
            select(fact.c.corrects_id)
            .join(rests, rests.c.fact_id == fact.c.id)
            .join(member, member.c.item_id == rests.c.item_id)
            .join(schema.item_set, schema.item_set.c.id == member.c.item_set_id)
            .where(schema.item_set.c.hash == item_set, fact.c.corrects_id.is_not(None))
            .distinct()
        )
        found: set[bytes] = set()
        with self._database.reading() as connection:
            keys = set(connection.scalars(corrected))
            while keys:
                query = select(old.c.hash, old.c.corrects_id).where(old.c.id.in_(keys))
                rows = connection.execute(query).all()
                found |= {identity for identity, _former in rows}
                keys = {former for _identity, former in rows if former is not None}
        return found

    def _retired_keys(self, column: str, until: float | None = None) -> list[int]:
        table = schema.correction
        query = (
            select(table.c[column], table.c.action)
            .where(table.c[column].is_not(None), table.c.action != "edit")
            .order_by(table.c.created_at, table.c.hash)
        )
        if until is not None:
            query = query.where(table.c.created_at <= until)
        newest = {row[0]: row[1] for row in self._rows(query)}
        return [key for key, action in newest.items() if action == "retire"]


def _select() -> Any:
    table = schema.correction
    columns = {kind: column for kind, (_table, column) in _TABLES.items()}
    query = with_ids(table, **columns, actor="actor_id", follows="follows_id")
    return query.order_by(table.c.created_at, table.c.hash)


def _correction(row: Row[Any]) -> Correction:
    kind = next(kind for kind in _TABLES if getattr(row, kind) is not None)
    return record_of(Correction, row, kind=kind, target=getattr(row, kind))


# Actors and the people behind them: rows name random actor ids, one table holds the names.


class PeopleStore(StorePart):
    """Adds, reads and erases people. An actor's id is random, so that it says nothing of them."""

    def add(self, name: str, now: float, mail: str = "", pay_details: str = "") -> Person:
        """Stores a person under a new actor id."""
        with self._database.writing() as connection:
            return _add(connection, name, now, mail, pay_details)

    def of_name(self, name: str) -> list[Person]:
        """The people of this name, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(_people_select().where(schema.person.c.name == name))
            return [record_of(Person, row) for row in rows]

    def like(self, digits: str) -> list[Person]:
        """The people whose actor ids start with these hexadecimal digits."""
        low, high = bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))
        actor = schema.actor.c.hash
        with self._database.reading() as connection:
            rows = connection.execute(_people_select().where(actor >= low, actor <= high))
            return [record_of(Person, row) for row in rows]

    def every(self) -> list[Person]:
        """All people whose names are known here, oldest first."""
        return [record_of(Person, row) for row in self._rows(_people_select())]

    def person(self, actor: bytes) -> Person | None:
        """Who an actor is; None once erased, or where never known here."""
        row = self._row(_people_select().where(schema.actor.c.hash == actor))
        return None if row is None else record_of(Person, row)

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


def _people_select() -> Any:
    return with_ids(schema.person, actor="actor_id").order_by(schema.actor.c.id)


# Rulings of people over replies. A ruling names the item and the call, so that it holds in every
# run that this very reply serves, and in no other.


class RulingInForce(msgspec.Struct, frozen=True, gc=False):
    """The newest ruling over a reply, where it serves: the keys of run and item, the sample."""

    run: int
    item: int
    sample: int
    ruling: Ruling


class RulingStore(StorePart):
    """Adds rulings and reads those that hold."""

    def add(self, ruling: Ruling, response: StoredResponse) -> None:
        """Stores a ruling over the reply of ``response``."""
        with self._database.writing() as connection:
            insert_record(
                connection, schema.ruling, ruling,
                {"actor_id": ruling.actor, "replaces_id": ruling.replaces},
                item_id=response.item, call_id=response.call, run_id=response.run,
            )  # fmt: skip

    def over(self, response: StoredResponse) -> list[Ruling]:
        """All rulings over the reply of ``response``, oldest first; the last one holds."""
        table = schema.ruling
        query = _rulings_select().where(
            table.c.item_id == response.item, table.c.call_id == response.call
        )
        return [record_of(Ruling, row) for row in self._rows(query)]

    def in_force(self, runs: Sequence[int], until: float | None = None) -> list[RulingInForce]:
        """The rulings that hold in these runs, one an (item, sample), in the order they were
        made; of several over one reply the newest. With ``until``, those made by then."""
        table, response = schema.ruling, schema.response
        query = (
            _rulings_select()
            .add_columns(
                response.c.run_id.label("served_run"),
                response.c.sample.label("served_sample"),
                table.c.item_id.label("item_key"),
            )
            .join(
                response,
                (response.c.item_id == table.c.item_id) & (response.c.call_id == table.c.call_id),
            )
            .where(response.c.run_id.in_(runs))
            .order_by(response.c.run_id, response.c.item_id, response.c.sample)
        )
        if until is not None:
            query = query.where(table.c.created_at <= until)
        newest: dict[tuple[int, int, int], RulingInForce] = {}
        for row in self._rows(query):
            place = (row.served_run, row.item_key, row.served_sample)
            newest.pop(place, None)
            newest[place] = RulingInForce(*place, record_of(Ruling, row))
        return list(newest.values())

    def n_runs(self, response: StoredResponse) -> int:
        """How many runs the reply of ``response`` serves for this item."""
        table = schema.response
        query = select(func.count(table.c.run_id.distinct())).where(
            table.c.item_id == response.item, table.c.call_id == response.call
        )
        return int(self._scalar(query))


def _rulings_select() -> Any:
    """Rulings, oldest first; of one second in two merged workspaces, in the order of ids."""
    table = schema.ruling
    query = with_ids(table, run="run_id", item="item_id", actor="actor_id", replaces="replaces_id")
    return query.order_by(table.c.created_at, table.c.hash)
