"""What went wrong lately, and how much there is of everything: what a report of a fault needs."""

from __future__ import annotations

from sqlalchemy import func, select

from proofstone.engines.store import schema
from proofstone.engines.store.calls import read_call, select_calls
from proofstone.engines.store.opening import Database
from proofstone.ports import CallRecord

__all__ = ["TroubleRows"]


class TroubleRows:
    """Reads failed calls and counts rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last_failed(self, limit: int) -> list[CallRecord]:
        """The newest failed calls, newest first."""
        query = (
            select_calls()
            .where(schema.call.c.state == "failed")
            .order_by(schema.call.c.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [read_call(row) for row in connection.execute(query).all()]

    def errors(self) -> dict[str, int]:
        """How many calls ended with each kind of error."""
        call = schema.call
        query = (
            select(call.c.error, func.count().label("n"))
            .where(call.c.error != "")
            .group_by(call.c.error)
            .order_by(call.c.error)
        )
        with self._database.reading() as connection:
            return {row.error: row.n for row in connection.execute(query)}

    @property
    def schema(self) -> str:
        """The version of the schema: an open database has the newest."""
        return schema.HEAD

    def counts(self) -> dict[str, int]:
        """Rows of every table, by its name."""
        counts = {}
        with self._database.reading() as connection:
            for name, table in sorted(schema.metadata.tables.items()):
                query = select(func.count()).select_from(table)
                counts[name] = int(connection.execute(query).scalar_one())
        return counts
