"""Rulings of people over replies. A ruling names the item and the call, so that it holds in every
run that this very reply serves, and in no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, func, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.responses import StoredResponse
from proofstone.engines.store.rows import insert_missing, key_of
from proofstone.records import Ruling

__all__ = ["RulingInForce", "RulingStore"]

_RULING = (
    "hash", "item_id", "call_id", "run_id", "sample", "verdict", "actor_id", "reason",
    "created_at", "replaces_id",
)  # fmt: skip


class RulingInForce(msgspec.Struct, frozen=True, gc=False):
    """The newest ruling over a reply, where it serves: the keys of run and item, the sample."""

    run: int
    item: int
    sample: int
    ruling: Ruling


class RulingStore:
    """Adds rulings and reads those that hold."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, ruling: Ruling, response: StoredResponse) -> None:
        """Stores a ruling over the reply of ``response``."""
        with self._database.writing() as connection:
            actor = key_of(connection, schema.actor, ruling.actor)
            former = None
            if ruling.replaces is not None:
                former = key_of(connection, schema.ruling, ruling.replaces)
            row = (
                ruling.id, response.item, response.call, response.run, ruling.sample,
                ruling.verdict, actor, ruling.reason, ruling.at, former,
            )  # fmt: skip
            insert_missing(connection, schema.ruling, _RULING, {ruling.id: row})

    def over(self, response: StoredResponse) -> list[Ruling]:
        """All rulings over the reply of ``response``, oldest first; the last one holds."""
        table = schema.ruling
        query = _select().where(table.c.item_id == response.item, table.c.call_id == response.call)
        with self._database.reading() as connection:
            return [_ruling(row) for row in connection.execute(query)]

    def in_force(self, runs: Sequence[int], until: float | None = None) -> list[RulingInForce]:
        """The rulings that hold in these runs, one an (item, sample), in the order they were
        made; of several over one reply the newest. With ``until``, those made by then."""
        table, response = schema.ruling, schema.response
        query = (
            _select()
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
        with self._database.reading() as connection:
            for row in connection.execute(query):
                place = (row.served_run, row.item_key, row.served_sample)
                newest.pop(place, None)
                newest[place] = RulingInForce(*place, _ruling(row))
        return list(newest.values())

    def n_runs(self, response: StoredResponse) -> int:
        """How many runs the reply of ``response`` serves for this item."""
        table = schema.response
        query = select(func.count(table.c.run_id.distinct())).where(
            table.c.item_id == response.item, table.c.call_id == response.call
        )
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())


def _select() -> Any:
    """Rulings, oldest first; of one second in two merged workspaces, in the order of ids."""
    table, former = schema.ruling, schema.ruling.alias("former")
    return (
        select(
            table.c.hash, table.c.sample, table.c.verdict, table.c.reason, table.c.created_at,
            schema.run.c.hash.label("run_hash"), schema.item.c.hash.label("item_hash"),
            schema.actor.c.hash.label("actor_hash"), former.c.hash.label("former_hash"),
        )
        .select_from(table)
        .join(schema.run, schema.run.c.id == table.c.run_id)
        .join(schema.item, schema.item.c.id == table.c.item_id)
        .join(schema.actor, schema.actor.c.id == table.c.actor_id)
        .outerjoin(former, former.c.id == table.c.replaces_id)
        .order_by(table.c.created_at, table.c.hash)
    )  # fmt: skip


def _ruling(row: Row[Any]) -> Ruling:
    return Ruling(
        id=row.hash, run=row.run_hash, item=row.item_hash, sample=row.sample, verdict=row.verdict,
        reason=row.reason, actor=row.actor_hash, at=row.created_at, replaces=row.former_hash,
    )  # fmt: skip
