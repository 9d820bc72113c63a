"""Tombstones: which sources were purged, by whom, when and why; and what may not come back.

A tombstone of kind ``lifted`` ends the one before it. Nothing is ever taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, func, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import chunks, insert_missing, key_of
from proofstone.engines.store.snapshot import Readable
from proofstone.errors import Problem, SourcePurged
from proofstone.identity import canonical_json, content_id, short
from proofstone.records import Fact, Person, Source

__all__ = [
    "Tombstone",
    "TombstoneRows",
    "fill_again",
    "purged_there",
    "refuse_emptied",
    "refuse_purged",
]

_TOMBSTONE = (
    "hash", "kind", "source_hash", "content", "actor_id", "reason", "made_at", "removed",
)  # fmt: skip


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """That a source was purged, or its tombstone lifted. ``content`` is the source's own hash of
    its bytes; ``actor`` a random id, ``name`` the person's where this workspace knows it;
    ``removed`` counts texts by kind."""

    kind: Literal["purged", "lifted"]
    source: bytes
    content: bytes
    actor: bytes
    name: str
    reason: str
    made_at: float
    removed: dict[str, int] = {}

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.made_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        who = self.name or f"actor {short(self.actor)}"
        return f"{self.kind} on {when} by {who}: {self.reason}"


class TombstoneRows:
    """Reads tombstones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_source(self, source: bytes) -> list[Tombstone]:
        """The tombstones of a source, oldest first."""
        return [stone for stone in self.every() if stone.source == source]

    def in_force(self) -> list[Tombstone]:
        """The sources that are purged now, each by its newest tombstone."""
        with self._database.reading() as connection:
            return list(_in_force(connection).values())

    def every(self) -> list[Tombstone]:
        """All tombstones, oldest first."""
        with self._database.reading() as connection:
            return _every(connection)

    def newest(self, connection: Connection, source: bytes) -> Tombstone | None:
        """The newest tombstone of a source."""
        return {stone.source: stone for stone in _every(connection)}.get(source)

    def add(
        self,
        connection: Connection,
        kind: Literal["purged", "lifted"],
        source: int,
        who: Person,
        reason: str,
        now: float,
        removed: Mapping[str, int] = {},
    ) -> Tombstone:
        """Stores a tombstone in the transaction that is open."""
        row = connection.execute(select(schema.source).where(schema.source.c.id == source)).one()
        stone = Tombstone(
            kind=kind, source=row.hash, content=row.content, actor=who.actor, name=who.name,
            reason=reason, made_at=now, removed=dict(removed),
        )  # fmt: skip
        key = [kind, row.hash, row.content, who.actor, reason, now]
        identity = content_id("tombstone", key)
        actor = key_of(connection, schema.actor, who.actor)
        values = (
            identity, kind, row.hash, row.content, actor, reason, now, canonical_json(stone.removed)
        )  # fmt: skip
        insert_missing(connection, schema.tombstone, _TOMBSTONE, {identity: values})
        return stone


def refuse_purged(connection: Connection, sources: Iterable[Source]) -> None:
    """Raises SourcePurged, naming each tombstone, where one of ``sources`` was purged here.

    A source is the same by its id, or by the hash of its content under whatever title.
    """
    stones = _in_force(connection)
    if not stones:
        return
    by_content = {stone.content: stone for stone in stones.values()}
    problems = []
    for source in sources:
        stone = stones.get(source.id) or by_content.get(source.content)
        if stone is not None:
            problems.append(Problem(source.title, f"source:{short(stone.source)} was {stone}"))
    if problems:
        raise SourcePurged(
            "what was purged is not taken in again; nothing was stored",
            problems,
            hint="leave it out, or lift the tombstone: "
            "proofstone workspace purge SOURCE --lift --reason WHY",
        )


def purged_there(origin: Readable, target: Readable) -> list[Tombstone]:
    """The tombstones in force in ``target`` of sources that ``origin`` holds unpurged: merging it
    in would bring their texts back."""
    with target.reading() as connection:
        stones = _in_force(connection)
    with origin.reading() as connection:
        gone = _in_force(connection)
        sources = connection.execute(select(schema.source.c.hash, schema.source.c.content)).all()
    by_content = {stone.content: stone for stone in stones.values()}
    found = [
        stone
        for identity, content in sources
        if identity not in gone and (stone := stones.get(identity) or by_content.get(content))
    ]
    return list({stone.source: stone for stone in found}.values())


def refuse_emptied(connection: Connection, facts: Iterable[Fact]) -> None:
    """Raises SourcePurged where a fact of no source was purged as derived from another one."""
    stones = _in_force(connection)
    if not stones:
        return
    table = schema.fact
    emptied: list[bytes] = []
    for chunk in chunks((fact.id for fact in facts if fact.source is None), 4000):
        query = select(table.c.hash).where(table.c.hash.in_(chunk), _is_empty(table, "payload"))
        emptied += connection.scalars(query)
    if emptied:
        named = ", ".join(f"source:{short(source)}" for source in stones)
        raise SourcePurged(
            "facts derived from a purged source are not taken in again; nothing was stored",
            [Problem(f"fact {short(fact)}", "was purged") for fact in emptied],
            hint=f"purged here: {named}; 'proofstone show SOURCE' says who, when and why",
        )


def fill_again(
    connection: Connection, table: Any, mark: str, rows: Mapping[bytes, Mapping[str, Any]]
) -> None:
    """Gives rows that were purged (their column ``mark``, a text or a payload, is empty) their
    values again, once no tombstone refuses them; nothing in a workspace without tombstones.
    """
    if connection.execute(select(schema.tombstone.c.id).limit(1)).first() is None:
        return
    for chunk in chunks(rows, 4000):
        query = select(table.c.hash).where(table.c.hash.in_(chunk), _is_empty(table, mark))
        for identity in list(connection.scalars(query)):
            statement = update(table).where(table.c.hash == identity)
            connection.execute(statement.values(dict(rows[identity])))


def _is_empty(table: Any, mark: str) -> Any:
    """The condition that a row was purged; see ``payloads.is_purged``."""
    if mark == "text":
        return table.c.text == ""
    return (table.c.payload == b"") | (func.substr(table.c.payload, 1, 1) != b"{")


def _in_force(connection: Connection) -> dict[bytes, Tombstone]:
    newest = {stone.source: stone for stone in _every(connection)}
    return {source: stone for source, stone in newest.items() if stone.kind == "purged"}


def _every(connection: Connection) -> list[Tombstone]:
    table = schema.tombstone
    query = (
        select(table, schema.actor.c.hash.label("actor_hash"), schema.person.c.name)
        .join(schema.actor, schema.actor.c.id == table.c.actor_id)
        .outerjoin(schema.person, schema.person.c.actor_id == schema.actor.c.id)
        .order_by(table.c.made_at, table.c.id)
    )
    return [
        Tombstone(
            kind=row.kind, source=row.source_hash, content=row.content, actor=row.actor_hash,
            name=row.name or "", reason=row.reason, made_at=row.made_at,
            removed=msgspec.json.decode(row.removed),
        )
        for row in connection.execute(query)
    ]  # fmt: skip
