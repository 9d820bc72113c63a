"""Which banks, forms and runs hold something of a source that is purged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from proofstone.engines.store import schema
from proofstone.engines.store.rows import chunks

__all__ = ["HeldBy", "held_by"]

_CHUNK = 4000


class HeldBy(msgspec.Struct, frozen=True):
    """A bank, form or run: ``n`` of its ``total`` facts, questions or replies rest on it."""

    kind: str
    id: bytes
    name: str
    n: int
    total: int


def held_by(
    connection: Connection, facts: frozenset[int], items: frozenset[int]
) -> Iterator[HeldBy]:
    """Banks, then forms, then runs, each oldest first, that hold any of these rows."""
    s = schema
    yield from _holders(
        connection, "bank", s.bank, s.bank.c.name, s.bank_fact.c.bank_id, s.bank_fact.c.fact_id,
        facts,
    )  # fmt: skip
    member = s.item_set_item
    yield from _holders(
        connection, "form", s.item_set, s.item_set.c.name, member.c.item_set_id, member.c.item_id,
        items,
    )  # fmt: skip
    name = s.run.c.respondent + " " + s.run.c.way
    yield from _holders(
        connection, "run", s.run, name, s.response.c.run_id, s.response.c.item_id, items
    )


def _holders(
    connection: Connection,
    kind: str,
    table: Any,
    name: Any,
    owner: Any,
    member: Any,
    keys: frozenset[int],
) -> Iterator[HeldBy]:
    found: dict[int, int] = {}
    for chunk in chunks(keys, _CHUNK):
        query = select(owner, func.count()).where(member.in_(chunk)).group_by(owner)
        for key, n in connection.execute(query):
            found[key] = found.get(key, 0) + n
    for key in sorted(found):
        total = connection.scalar(select(func.count()).where(owner == key))
        row = connection.execute(select(table.c.hash, name).where(table.c.id == key)).one()
        yield HeldBy(kind, row[0], row[1], found[key], total or 0)
