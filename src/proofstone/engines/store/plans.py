"""Plans in the store: rows that are added and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import or_, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing, keys_by
from proofstone.identity import canonical_json
from proofstone.records import Plan

__all__ = ["PlanStore"]

_COLUMNS = ("hash", "item_set_id", "bank_id", "payload", "created_at")


class PlanStore:
    """Adds and reads plans."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, plan: Plan) -> None:
        """Stores a plan by its id; its target must be stored."""
        table = schema.item_set if plan.kind == "form" else schema.bank
        payload = canonical_json(plan)
        with self._database.writing() as connection:
            key = keys_by(connection, table, ("hash",), [plan.target])[plan.target]
            of_set, of_bank = (key, None) if plan.kind == "form" else (None, key)
            row = (plan.id, of_set, of_bank, payload, plan.at)
            insert_missing(connection, schema.plan, _COLUMNS, {plan.id: row})

    def one(self, key: int) -> Plan:
        """The plan with this key."""
        with self._database.reading() as connection:
            query = select(schema.plan.c.payload).where(schema.plan.c.id == key)
            return _plan(connection.execute(query).scalar_one())

    def every(self) -> list[Plan]:
        """All plans, newest first."""
        return self._read(_select().order_by(schema.plan.c.created_at.desc(), schema.plan.c.hash))

    def of_sets(self, item_sets: Sequence[bytes]) -> list[Plan]:
        """The plans for any of these item sets or for the banks that they were made from, oldest
        first."""
        found, table = schema.item_set, schema.plan
        sets = select(found.c.id).where(found.c.hash.in_(item_sets))
        banks = select(found.c.bank_id).where(found.c.hash.in_(item_sets))
        query = _select().where(or_(table.c.item_set_id.in_(sets), table.c.bank_id.in_(banks)))
        return self._read(query.order_by(table.c.created_at, table.c.hash))

    def _read(self, query: Any) -> list[Plan]:
        with self._database.reading() as connection:
            return [_plan(payload) for payload in connection.scalars(query)]


def _select() -> Any:
    return select(schema.plan.c.payload)


def _plan(payload: bytes) -> Plan:
    return msgspec.json.decode(payload, type=Plan)
