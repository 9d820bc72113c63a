"""Opening a workspace's database: created or migrated, refused when newer, safe for two processes.

SQLite in WAL mode with ``synchronous=FULL``; every write transaction is BEGIN IMMEDIATE, because a
deferred one fails at once when two processes write (measured). PostgreSQL by URL.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import QueuePool

from proofstone.engines.store.schema import HEAD
from proofstone.errors import ExtraMissing, SchemaTooNew, StoreFailed, WorkspaceUnusable

__all__ = ["Database", "sqlite_file"]

BUSY_TIMEOUT_S = 30.0
_SERVER_BACK_S, _AGAIN_S = 60.0, 0.25  # how long a restart of a server is waited for

T = TypeVar("T")


class Database:
    """A database with the newest schema: connections to read and transactions to write.

    ``url`` is an SQLAlchemy URL (``sqlite:///file`` or ``postgresql+psycopg://...``). A file that
    may not be written, or whose folder may not, is opened to be read. With ``must_exist`` an SQLite
    file is not made. Raises WorkspaceUnusable where it cannot be opened and SchemaTooNew where a
    newer version wrote it.
    """

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        _check(url)
        file = sqlite_file(url)
        self.is_readonly = file is not None and _is_readonly(file)
        if file is not None:
            _prepare_file(file, must_exist=must_exist)
        if file is not None and self.is_readonly:
            url = _readonly_url(file)
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
        with self._connected(self._readers) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One short write transaction, committed at the end; StoreFailed if it did not hold."""
        with (
            self._store_failed(),
            self._connected(self._writers) as connection,
            connection.begin(),
        ):
            yield connection

    def transact(self, work: Callable[[Connection], T]) -> T:
        """Return what ``work`` returns, in one short write transaction that outlives a restart of
        the server.

        A transaction that the server lost is made again; one whose commit was not answered counts
        if the server says that it was committed. Raises StoreFailed.
        """
        with self._store_failed():
            deadline = time.monotonic() + _SERVER_BACK_S
            while True:
                number: int | None = None
                done: list[T] = []
                try:
                    with self._connected(self._writers) as connection, connection.begin():
                        if not self.is_sqlite:
                            number = connection.execute(text("SELECT txid_current()")).scalar_one()
                        done.append(work(connection))
                except DBAPIError as error:
                    if not error.connection_invalidated or time.monotonic() > deadline:
                        raise
                    if not (done and self._was_committed(number)):
                        continue
                return done[0]

    def _was_committed(self, number: int | None) -> bool:
        query = text("SELECT txid_status(:number)")
        with self._connected(self._readers) as connection:
            return bool(connection.execute(query, {"number": number}).scalar() == "committed")

    def _connected(self, engine: Engine) -> Connection:
        """Return a connection, waiting for a server that is being restarted."""
        deadline = time.monotonic() + _SERVER_BACK_S
        while True:
            try:
                return engine.connect()
            except OperationalError:
                if self.is_sqlite or time.monotonic() > deadline:
                    raise
            time.sleep(_AGAIN_S)

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
                hint=f"{self._write_hint()}, then repeat the command: what was committed before is "
                "kept",
            ) from error

    def _write_hint(self) -> str:
        if self.is_readonly:
            return "make the workspace writable"
        return "free some space" if self.is_sqlite else "check the server"

    def workspace_id(self) -> str:
        """The random name of this workspace, made with it."""
        with self.reading() as connection:
            query = text("SELECT value FROM workspace WHERE key = 'id'")
            return str(connection.execute(query).scalar_one())

    def _bring_to_head(self) -> None:
        version = self._schema_version()
        if version == HEAD:
            return
        if self.is_readonly and version is not None and version < HEAD:
            raise WorkspaceUnusable(
                f"{_shown(self.url)} has schema {version} and cannot be migrated: it is read-only",
                hint="make it writable, or copy the workspace to a folder that is",
            )
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


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite URL; None for a server's."""
    return Path(make_url(url).database or "") if url.startswith("sqlite") else None


def _is_readonly(file: Path) -> bool:
    return file.exists() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def _prepare_file(file: Path, *, must_exist: bool) -> None:
    """Make a new file that only its owner may read. Raises WorkspaceUnusable where one that is to
    be there is missing or empty, as after a failed copy: opened, it would pass for a new one."""
    if not file.exists():
        if must_exist:
            raise WorkspaceUnusable(f"the database {file} is missing", hint=_LOST_HINT)
        try:
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise WorkspaceUnusable(
                f"cannot make the database {file}: {error.strerror or error}", hint=_FILE_HINT
            ) from error
    elif must_exist and file.stat().st_size == 0:
        raise WorkspaceUnusable(f"the database {file} is damaged: it is empty", hint=_LOST_HINT)


def _readonly_url(file: Path) -> str:
    """Return the URL that reads a file without writing beside it. Raises WorkspaceUnusable where
    rows stand in a log that only a writer can take in."""
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        raise WorkspaceUnusable(
            f"{file} is read-only, and its newest rows are in a log beside it",
            hint="copy the workspace to a folder that you may write to",
        )
    return f"sqlite:///file:{quote(str(file.absolute()))}?immutable=1&uri=true"


_LOST_HINT = (
    "put a backup in its place (proofstone workspace restore), or begin again: proofstone init"
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
        if "immutable=1" not in url:
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
