"""What commands at work may be billed for and have not stored yet, where a kill leaves it behind.

A command has one row. While it works, the row bounds its exposure: calls on their way, and those
whose rows are not committed. It ends with the command, at 0; what a dead process left behind is
found by the next one.
"""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import Row, insert, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.leases import holder_is_gone
from proofstone.engines.store.opening import Database

__all__ = ["ALIVE_S", "Expense", "ExpenseStore"]

ALIVE_S = 60.0  # how long a row that was not renewed counts as a living process's on another host


class Expense(Struct, frozen=True, kw_only=True):
    """A command's row. ``exposed`` is in tokens or picodollars, as ``unit`` says; None where the
    command had no budget, so that only the number of calls is bounded. Times are seconds since the
    epoch."""

    owner: str
    runs: str
    unit: str
    budget: int | None
    started_at: float
    exposed_calls: int
    exposed: int | None


class ExpenseStore:
    """Opens, renews and ends the rows of commands, and finds what dead ones left."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, expense: Expense) -> int:
        """Opens a command's row; its key."""
        values = {name: getattr(expense, name) for name in expense.__struct_fields__}
        statement = insert(schema.expense).values(**values, until=expense.started_at + ALIVE_S)
        with self._database.writing() as connection:
            (key,) = connection.execute(statement).inserted_primary_key or (0,)
        return int(key)

    def allow(self, key: int, calls: int, amount: int | None, now: float) -> None:
        """Sets the bound of a command at work, on disk when it returns."""
        self._update(key, exposed_calls=calls, exposed=amount, until=now + ALIVE_S)

    def end(self, key: int, calls: int, amount: int | None, now: float) -> None:
        """Ends a command's row with what it leaves unrecorded: 0, unless writing failed."""
        self._update(key, exposed_calls=calls, exposed=amount, ended_at=now)

    def find_dead(self, now: float) -> list[Expense]:
        """What processes left behind that died since the last time; each is told once."""
        table = schema.expense
        with self._database.reading() as connection:
            open_ones = connection.execute(select(table).where(table.c.ended_at.is_(None))).all()
        dead = [row for row in open_ones if holder_is_gone(row.owner) or row.until < now]
        for row in dead:
            self._update(row.id, ended_at=now)
        return [_expense(row) for row in dead if row.exposed_calls]

    def lost(self) -> list[Expense]:
        """All that commands left unrecorded, oldest first."""
        table = schema.expense
        query = select(table).where(table.c.ended_at.is_not(None), table.c.exposed_calls > 0)
        with self._database.reading() as connection:
            return [_expense(row) for row in connection.execute(query.order_by(table.c.id))]

    def _update(self, key: int, **values: float | None) -> None:
        table = schema.expense
        with self._database.writing() as connection:
            connection.execute(update(table).where(table.c.id == key).values(values))


def _expense(row: Row[tuple[object, ...]]) -> Expense:
    return Expense(**{name: getattr(row, name) for name in Expense.__struct_fields__})
