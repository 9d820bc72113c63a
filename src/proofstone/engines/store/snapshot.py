"""A database as it was at one moment, while others go on writing to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlalchemy import Connection

from proofstone.engines.store.opening import Database

__all__ = ["Readable", "Snapshot", "snapshot"]


class Readable(Protocol):
    """What rows can be read from: a database, or a snapshot of one."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read on."""


class Snapshot:
    """One open transaction; every reading of it sees the same rows."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The connection of the transaction."""
        yield self._connection


@contextmanager
def snapshot(database: Database) -> Iterator[Snapshot]:
    """The rows of ``database`` as they are when the first of them is read."""
    with database.reading() as connection:
        if not database.is_sqlite:  # SQLite's transactions are snapshots already
            connection.execution_options(isolation_level="REPEATABLE READ")
        yield Snapshot(connection)
