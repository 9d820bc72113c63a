"""Opening a workspace's database: created or migrated, refused when newer, safe for two processes.

SQLite in WAL mode with ``synchronous=FULL``; every write transaction is BEGIN IMMEDIATE, because a
deferred one fails at once when two processes write (measured). PostgreSQL by URL.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import QueuePool

from proofstone.engines.store.schema import HEAD
from proofstone.errors import ExtraMissing, SchemaTooNew, StoreFailed, WorkspaceUnusable

__all__ = ["Database"]

BUSY_TIMEOUT_S = 30.0


class Database:
    """A database with the newest schema: connections to read and transactions to write.

    ``url`` is an SQLAlchemy URL (``sqlite:///file`` or ``postgresql+psycopg://...``). Raises
    WorkspaceUnusable where it cannot be opened and SchemaTooNew where a newer version wrote it.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        _check(url)
        self._readers = _engine(url, "BEGIN")
        self._writers = _engine(url, "BEGIN IMMEDIATE")
        self._eager = _engine(url, "BEGIN IMMEDIATE", busy_timeout_s=0.0)
        try:
            self._bring_to_head()
        except (DBAPIError, sqlite3.Error) as error:
            self.close()
            raise WorkspaceUnusable(
                f"cannot open the database {_shown(url)}: {_cause(error)}",
                hint=_FILE_HINT if self.is_sqlite else _SERVER_HINT,
            ) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Gives every connection back; the object is then of no use."""
        self._readers.dispose()
        self._writers.dispose()
        self._eager.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read on; keep no transaction open across a page."""
        with self._readers.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One short write transaction, committed at the end; StoreFailed if it did not hold."""
        with self._store_failed(), self._writers.begin() as connection:
            yield connection

    @contextmanager
    def writing_at_once(self) -> Iterator[Connection | None]:
        """A write transaction that never waits, to be committed by whoever takes it; None where
        somebody else is writing, and always on PostgreSQL, which waits for its network."""
        with self._store_failed(), self._begun_at_once() as connection:
            yield connection

    @contextmanager
    def _begun_at_once(self) -> Iterator[Connection | None]:
        if not self.is_sqlite:
            yield None
            return
        with self._eager.connect() as connection:
            try:
                connection.begin()
            except OperationalError as error:
                if getattr(error.orig, "sqlite_errorcode", 0) != sqlite3.SQLITE_BUSY:
                    raise
                yield None
                return
            yield connection

    @contextmanager
    def _store_failed(self) -> Iterator[None]:
        try:
            yield
        except (OperationalError, sqlite3.OperationalError) as error:
            raise StoreFailed(
                f"could not write to {_shown(self.url)}: {_cause(error)}",
                hint="free some space or make it writable, then repeat the command: "
                "what was committed before is kept",
            ) from error

    def workspace_id(self) -> str:
        """The random name of this workspace, made with it."""
        with self.reading() as connection:
            query = text("SELECT value FROM workspace WHERE key = 'id'")
            return str(connection.execute(query).scalar_one())

    def _bring_to_head(self) -> None:
        version = self._schema_version()
        if version == HEAD:
            return
        if version is not None and version > HEAD:
            raise SchemaTooNew(
                f"{_shown(self.url)} has schema {version}; this Proofstone knows up to {HEAD}",
                hint="upgrade Proofstone (pip install -U proofstone); nothing was changed",
            )
        if version is None and self._has_foreign_tables():
            raise WorkspaceUnusable(
                f"{_shown(self.url)} holds tables that are not Proofstone's",
                hint="name another file or an empty database",
            )
        self._upgrade()

    def _schema_version(self) -> str | None:
        with self._readers.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()

    def _has_foreign_tables(self) -> bool:
        with self._readers.connect() as connection:
            return bool(inspect(connection).get_table_names())

    def _upgrade(self) -> None:
        # Imported only here: Alembic is needed only when the schema differs.
        from alembic import command  # noqa: PLC0415
        from alembic.config import Config  # noqa: PLC0415

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self._writers.begin() as connection:
            if not self.is_sqlite:  # SQLite's BEGIN IMMEDIATE already keeps others out
                connection.execute(text("SELECT pg_advisory_xact_lock(7236145)"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.execute(
                text(
                    "INSERT INTO workspace (key, value) VALUES ('id', :id) ON CONFLICT DO NOTHING"
                ),
                {"id": uuid.uuid4().hex},
            )


_FILE_HINT = "is the folder writable, and is this a Proofstone workspace?"
_SERVER_HINT = "does the server run there, and may this user open that database?"


def _check(url: str) -> None:
    """Raises WorkspaceUnusable for a URL of no such database, ExtraMissing where its driver is not
    installed. The URL is not shown: it may hold a password."""
    try:
        create_engine(url).dispose()
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            f"a database on a server needs the package {error.name}, which is not installed",
            hint="pip install 'proofstone[postgres]'",
        ) from error
    except (ArgumentError, ValueError) as error:
        raise WorkspaceUnusable(
            "the URL of the database cannot be read",
            hint="write it as postgresql://user@host/name",
        ) from error


def _engine(url: str, begin: str, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, poolclass=QueuePool, connect_args={"timeout": busy_timeout_s})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, never by the driver
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA cache_size=-16384")
        cursor.close()

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _shown(url: str) -> str:
    """The URL without its credentials."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _cause(error: Exception) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error)
