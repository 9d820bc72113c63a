"""Which banks, forms and runs hold something of a source that is purged."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from proofstone.engines.store import schema
from proofstone.engines.store.rows import chunks

__all__ = ["HeldBy", "held_by", "sources_sharing"]

_CHUNK = 4000


class HeldBy(msgspec.Struct, frozen=True):
    """A bank, form, run or source: ``n`` of its ``total`` facts, questions, replies or passages
    rest on it, or are the same."""

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


def sources_sharing(connection: Connection, sources: Collection[int]) -> Iterator[HeldBy]:
    """Other sources that hold passages of these word by word; ``n`` and ``total`` are passages."""
    own, other, source = schema.passage.alias(), schema.passage.alias(), schema.source
    query = (
        select(other.c.source_id, func.count(other.c.id.distinct()))
        .join(own, own.c.text == other.c.text)
        .where(own.c.source_id.in_(sources), own.c.text != "", other.c.source_id.not_in(sources))
        .group_by(other.c.source_id)
        .order_by(other.c.source_id)
    )
    for key, n in connection.execute(query).all():
        row = connection.execute(select(source.c.hash, source.c.title).where(source.c.id == key))
        total = select(func.count()).where(schema.passage.c.source_id == key)
        yield HeldBy("source", *row.one(), n, connection.scalar(total) or 0)


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
