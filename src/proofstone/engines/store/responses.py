"""Responses one by one: the call that answers an item in a run, or why there is none."""

from __future__ import annotations

import msgspec
from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database

__all__ = ["ResponseStore", "StoredResponse"]


class StoredResponse(msgspec.Struct, frozen=True, gc=False):
    """The keys of one response: its run, item and call, with the sample."""

    run: int
    item: int
    sample: int
    call: int


class ResponseStore:
    """Finds the last-step responses of an item."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_item(self, run: int, item: int, step: str) -> list[StoredResponse]:
        """The responses of an item in a run at a step, one a sample, in order."""
        table = schema.response
        query = (
            select(table.c.run_id, table.c.item_id, table.c.sample, table.c.call_id)
            .where(table.c.run_id == run, table.c.item_id == item, table.c.step == step)
            .order_by(table.c.sample)
        )
        with self._database.reading() as connection:
            return [StoredResponse(*row) for row in connection.execute(query)]

    def error_of_item(self, run: int, item: int, sample: int) -> str:
        """The kind of the newest failed call of an (item, sample); "" where none failed."""
        table = schema.failure
        query = (
            select(schema.call.c.error)
            .join(table, table.c.call_id == schema.call.c.id)
            .where(table.c.run_id == run, table.c.item_id == item, table.c.sample == sample)
            .order_by(table.c.id.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            return str(connection.execute(query).scalar() or "")

    def is_asked(self, run: int, item: int) -> bool:
        """Whether an item belongs to the set of a run."""
        member = schema.item_set_item
        query = (
            select(member.c.item_id)
            .join(schema.run, schema.run.c.item_set_id == member.c.item_set_id)
            .where(schema.run.c.id == run, member.c.item_id == item)
            .limit(1)
        )
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None
