"""Funnels of banks: what filters left of the files that they were read from, in counts."""

from __future__ import annotations

import msgspec
from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing, key_of
from proofstone.identity import canonical_json, content_id
from proofstone.records import Funnel

__all__ = ["FunnelStore"]

_COLUMNS = ("hash", "bank_id", "payload", "created_at")


class FunnelStore:
    """Adds and reads the funnels of banks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, bank: bytes, funnel: Funnel, now: float) -> None:
        """Stores the funnel of a bank; the same one again changes nothing."""
        payload = canonical_json(msgspec.to_builtins(funnel))
        identity = content_id("bank_funnel", [bank, payload])
        with self._database.writing() as connection:
            key = key_of(connection, schema.bank, bank)
            rows = {identity: (identity, key, payload, now)}
            insert_missing(connection, schema.bank_funnel, _COLUMNS, rows)

    def of_bank(self, bank: bytes) -> list[Funnel]:
        """The funnels of a bank, oldest first: one for each file that left these very facts."""
        table = schema.bank_funnel
        query = (
            select(table.c.payload)
            .join(schema.bank, schema.bank.c.id == table.c.bank_id)
            .where(schema.bank.c.hash == bank)
            .order_by(table.c.created_at, table.c.hash)
        )
        with self._database.reading() as connection:
            return [msgspec.json.decode(p, type=Funnel) for p in connection.scalars(query)]
