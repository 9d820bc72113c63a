"""Which models endpoints said they served in a run, from when to when."""

from __future__ import annotations

import msgspec
from sqlalchemy import func, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database

__all__ = ["ServedRows", "ServedShare"]


class ServedShare(msgspec.Struct, frozen=True, gc=False):
    """The replies of a run from one served model with one fingerprint of its serving, and when the
    first and the last of them were asked (seconds since the epoch)."""

    model: str
    fingerprint: str
    replies: int
    first_at: float
    last_at: float


class ServedRows:
    """Reads what calls say of who answered them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_run(self, run: int) -> tuple[ServedShare, ...]:
        """The shares of a run's replies that name a model, in the order in which they began."""
        call, response = schema.call, schema.response
        began = func.min(call.c.started_at)
        query = (
            select(
                call.c.served_model, call.c.fingerprint, func.count(), began,
                func.max(call.c.started_at),
            )
            .join(response, response.c.call_id == call.c.id)
            .where(response.c.run_id == run, call.c.served_model != "")
            .group_by(call.c.served_model, call.c.fingerprint)
            .order_by(began, call.c.served_model, call.c.fingerprint)
        )  # fmt: skip
        with self._database.reading() as connection:
            return tuple(ServedShare(*row) for row in connection.execute(query))
