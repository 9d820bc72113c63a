"""Placements of sources in taxonomies: added, never changed; the newest of a source holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import chunks, insert_missing, key_of
from proofstone.identity import canonical_json
from proofstone.records import Placement, Stratum

__all__ = ["PlacementStore"]

_COLUMNS = (
    "hash", "source_id", "discipline", "field", "subfield", "book", "taxonomy", "models",
    "build_id", "actor_id", "reason", "created_at", "follows_id",
)  # fmt: skip
_CHUNK = 4000


class PlacementStore:
    """Adds and reads placements."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, placements: Sequence[Placement]) -> None:
        """Stores placements of stored sources in one transaction; one that is there stays."""
        with self._database.writing() as connection:
            for one in placements:
                keys = [
                    None if identity is None else key_of(connection, table, identity)
                    for table, identity in (
                        (schema.build, one.build),
                        (schema.actor, one.actor),
                        (schema.placement, one.follows),
                    )
                ]
                source = key_of(connection, schema.source, one.source)
                levels = msgspec.structs.astuple(one.stratum)
                row = (
                    one.id, source, *levels, one.taxonomy, canonical_json(one.models), keys[0],
                    keys[1], one.reason, one.at, keys[2],
                )  # fmt: skip
                insert_missing(connection, schema.placement, _COLUMNS, {one.id: row})

    def of_source(self, source: bytes) -> list[Placement]:
        """The placements of a source, oldest first."""
        query = _select().where(schema.source.c.hash == source)
        with self._database.reading() as connection:
            return [_placement(row) for row in connection.execute(query)]

    def in_force(self, sources: Iterable[bytes]) -> dict[bytes, Placement]:
        """The newest placement of each of these sources that has one."""
        found: dict[bytes, Placement] = {}
        with self._database.reading() as connection:
            for chunk in chunks(sources, _CHUNK):
                query = _select().where(schema.source.c.hash.in_(chunk))
                found |= {row.source_hash: _placement(row) for row in connection.execute(query)}
        return found


def _select() -> Any:
    table, former = schema.placement, schema.placement.alias("former")
    return (
        select(
            table, schema.source.c.hash.label("source_hash"),
            schema.build.c.hash.label("build_hash"), schema.actor.c.hash.label("actor_hash"),
            former.c.hash.label("former_hash"),
        )
        .join(schema.source, schema.source.c.id == table.c.source_id)
        .outerjoin(schema.build, schema.build.c.id == table.c.build_id)
        .outerjoin(schema.actor, schema.actor.c.id == table.c.actor_id)
        .outerjoin(former, former.c.id == table.c.follows_id)
        .order_by(table.c.created_at, table.c.hash)
    )  # fmt: skip


def _placement(row: Row[Any]) -> Placement:
    return Placement(
        id=row.hash, source=row.source_hash,
        stratum=Stratum(row.discipline, row.field, row.subfield, row.book), taxonomy=row.taxonomy,
        models=msgspec.json.decode(row.models, type=tuple[str, ...]), build=row.build_hash,
        actor=row.actor_hash, reason=row.reason, at=row.created_at, follows=row.former_hash,
    )  # fmt: skip
