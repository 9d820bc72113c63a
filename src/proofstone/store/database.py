"""Open a workspace's database: create or migrate it, refuse newer ones, allow two processes.

SQLite in WAL mode with ``synchronous=FULL``. Every write transaction is BEGIN IMMEDIATE, because a
deferred one fails immediately when two processes write (measured). PostgreSQL by URL.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import msgspec
from sqlalchemy import (
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    inspect,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, ProgrammingError
from sqlalchemy.pool import QueuePool

from proofstone.errors import (
    ExtraMissing,
    RunInUse,
    SchemaTooNew,
    SchemaTooOld,
    StoreFailed,
    WorkspaceInUse,
    WorkspaceUnusable,
)
from proofstone.records.ids import short
from proofstone.store import schema

BUSY_TIMEOUT_S = 30.0


_SERVER_BACK_S, _AGAIN_S = 60.0, 0.25  # how long to wait for a server restart


T = TypeVar("T")


class Database:
    """A database with the newest schema: read connections and write transactions.

    ``url`` is an SQLAlchemy URL (``sqlite:///file`` or ``postgresql+psycopg://...``). A file
    without write permission, or in such a folder, is opened read-only. With ``must_exist`` an
    SQLite file is not created. Raises WorkspaceUnusable if it cannot be opened, SchemaTooNew if a
    newer version wrote it and SchemaTooOld if one before the first release did.
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
        """Close all connections; the object is then unusable."""
        self._readers.dispose()
        self._writers.dispose()
        self._eager.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for reading; keep no transaction open across a page."""
        with self._connected(self._readers) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield one short write transaction, committed at the end; StoreFailed if the commit
        fails.
        """
        with (
            self._store_failed(),
            self._connected(self._writers) as connection,
            connection.begin(),
        ):
            yield connection

    def transact(self, work: Callable[[Connection], T]) -> T:
        """Return the result of ``work`` in one short write transaction that survives a server
        restart.

        A transaction that the server lost is repeated. One whose commit was not confirmed counts if
        the server reports it as committed. Raises StoreFailed.
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
        """Return a connection, waiting for a server that is restarting."""
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
        """Yield a write transaction that never waits; the caller commits it.

        None if another process is writing, and always on PostgreSQL, which waits for its network.
        """
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
                hint=f"{self._write_hint()}, then repeat the command: committed rows are kept",
            ) from error

    def _write_hint(self) -> str:
        if self.is_readonly:
            return "make the workspace writable"
        return "free some space" if self.is_sqlite else "check the server"

    def workspace_id(self) -> str:
        """Return the random id of this workspace, created with it."""
        with self.reading() as connection:
            query = text("SELECT value FROM workspace WHERE key = 'id'")
            return str(connection.execute(query).scalar_one())

    def _bring_to_head(self) -> None:
        with self._connected(self._readers) as connection:
            version = revision_of(connection)
            is_foreign = version is None and bool(inspect(connection).get_table_names())
        if version == schema.HEAD:
            return
        if is_foreign:
            raise WorkspaceUnusable(
                f"{_shown(self.url)} holds tables that are not Proofstone's",
                hint="use another file or an empty database",
            )
        if version is not None:
            refuse_unknown(version, _shown(self.url))
            if self.is_readonly:
                raise WorkspaceUnusable(
                    f"{_shown(self.url)} has schema {version} and cannot be migrated: it is "
                    "read-only",
                    hint="make it writable, or copy the workspace to a writable folder",
                )
        with self._writers.begin() as connection:
            if not self.is_sqlite:  # SQLite's BEGIN IMMEDIATE already excludes other writers
                connection.execute(text("SELECT pg_advisory_xact_lock(7236145)"))
            if version is not None:
                _migrate(connection)
            elif not inspect(connection).has_table(
                schema.revision.name
            ):  # created by another process in the meantime
                _create(connection)


def _create(connection: Connection) -> None:
    """Create the tables as declared, and the workspace's random id."""
    schema.metadata.create_all(connection)
    schema.revision.create(connection)
    connection.execute(schema.revision.insert(), {"version_num": schema.HEAD})
    connection.execute(schema.workspace.insert(), {"key": "id", "value": uuid.uuid4().hex})


MIGRATIONS = Path(__file__).parent / "migrations"


def _migrate(connection: Connection) -> None:
    # Imported only here: Alembic is needed only to migrate an older database.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def revision_of(connection: Connection) -> str | None:
    """Return the revision of a database's schema; None if it has no Proofstone tables."""
    try:
        return connection.scalar(select(schema.revision.c.version_num))
    except (OperationalError, ProgrammingError):
        connection.rollback()  # PostgreSQL refuses further statements in a failed transaction
        if inspect(connection).has_table(schema.revision.name):
            raise
        return None


_NEWEST_TRIAL = "0020"  # schemas 0001 to 0020 belong to versions before the first release


def refuse_unknown(version: str, place: str) -> None:
    """Raise SchemaTooNew or SchemaTooOld if no migration leads from this revision to the current
    one.
    """
    if version <= _NEWEST_TRIAL:
        raise SchemaTooOld(
            f"{place} has schema {version} from before the first release, which this version "
            "cannot read",
            hint="start again in a new folder or an empty database: proofstone init (nothing was "
            "changed)",
        )
    if version not in schema.REVISIONS:
        raise SchemaTooNew(
            f"{place} has schema {version}; this version reads up to {schema.HEAD}",
            hint="upgrade Proofstone (pip install -U proofstone); nothing was changed",
        )


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite URL; None for a server's."""
    return Path(make_url(url).database or "") if url.startswith("sqlite") else None


def _is_readonly(file: Path) -> bool:
    return file.exists() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def _prepare_file(file: Path, *, must_exist: bool) -> None:
    """Create a new file that only its owner may read.

    Raises WorkspaceUnusable if an expected one is missing or empty, as after a failed copy: opened,
    it would look new.
    """
    if not file.exists():
        if must_exist:
            raise WorkspaceUnusable(f"the database {file} is missing", hint=_LOST_HINT)
        try:
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise WorkspaceUnusable(
                f"cannot create the database {file}: {error.strerror or error}", hint=_FILE_HINT
            ) from error
    elif must_exist and file.stat().st_size == 0:
        raise WorkspaceUnusable(f"the database {file} is damaged: it is empty", hint=_LOST_HINT)


def _readonly_url(file: Path) -> str:
    """Return the URL that reads a file without writing next to it.

    Raises WorkspaceUnusable if rows are in a log that only a writer can apply.
    """
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        raise WorkspaceUnusable(
            f"{file} is read-only, and its newest rows are in a separate log",
            hint="copy the workspace to a writable folder",
        )
    return f"sqlite:///file:{quote(str(file.absolute()))}?immutable=1&uri=true"


_LOST_HINT = (
    "replace it by a backup (proofstone workspace restore), or start again: proofstone init"
)


_FILE_HINT = "check that the folder is writable and that this is a Proofstone workspace"


_SERVER_HINT = "check that the server is running and that this user may open the database"


def _check(url: str) -> None:
    """Raise WorkspaceUnusable for an unsupported URL, ExtraMissing if its driver is not installed.

    The URL is not shown: it may contain a password.
    """
    try:
        create_engine(url).dispose()
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            f"a database on a server needs the package {error.name}, which is not installed",
            hint="pip install 'proofstone[postgres]'",
        ) from error
    except (ArgumentError, ValueError) as error:
        raise WorkspaceUnusable(
            "cannot parse the URL of the database",
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
    """Return the URL without its credentials."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _cause(error: Exception) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error)


# Snapshots: a database as of one moment, while others write to it.


class Readable(Protocol):
    """A source of rows: a database, or a snapshot of one."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for reading."""


class Snapshot:
    """One open transaction; every read sees the same rows."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield the connection of the transaction."""
        yield self._connection


@contextmanager
def snapshot(database: Database) -> Iterator[Snapshot]:
    """Yield the rows of ``database`` as of the first read."""
    with database.reading() as connection:
        if not database.is_sqlite:  # SQLite's transactions are already snapshots
            connection.execution_options(isolation_level="REPEATABLE READ")
        yield Snapshot(connection)


# Lease holders of runs and builds: a process by host and number, and whether it is alive.
#
# A lease expires by itself. After ``kill -9`` a repeated command need not wait for that: on the
# same host a process can detect that the holder is gone.

LEASE_S = 30.0


_LEASED = (schema.run, schema.build)


class HeldLease(msgspec.Struct, frozen=True):
    """A leased run or build, and the process that holds it.

    ``kind`` is "run" or "build".
    """

    kind: str
    id: bytes
    holder: str


def held_leases(database: Database, now: float) -> list[HeldLease]:
    """Return the runs, then the builds that live processes hold, each oldest first."""
    found: list[HeldLease] = []
    with database.reading() as connection:
        for table in _LEASED:
            query = (
                select(table.c.hash, table.c.lease_owner)
                .where(table.c.lease_owner.is_not(None), table.c.lease_until >= now)
                .order_by(table.c.id)
            )
            found += [HeldLease(table.name, *row) for row in connection.execute(query)]
    return [lease for lease in found if not holder_is_gone(lease.holder)]


def take_lease(database: Database, table: Table, key: int, owner: str, now: float) -> None:
    """Take or renew the lease of a run or build. Raises RunInUse, naming the holder."""
    free = or_(
        table.c.lease_owner.is_(None), table.c.lease_owner == owner, table.c.lease_until < now
    )
    lease = {"lease_owner": owner, "lease_until": now + LEASE_S}
    with database.writing() as connection:
        statement = update(table).where(table.c.id == key, free).values(lease)
        if connection.execute(statement).rowcount == 1:
            return
        query = select(table.c.lease_owner, table.c.lease_until).where(table.c.id == key)
        holder = connection.execute(query).one()
        if holder_is_gone(holder.lease_owner):
            connection.execute(update(table).where(table.c.id == key).values(lease))
            return
    raise RunInUse(
        f"this {table.name} is in use by {holder.lease_owner}",
        hint="wait for it or stop it; the lease of a dead process expires in "
        f"{max(0.0, holder.lease_until - now):.0f} s",
    )


def give_back_lease(database: Database, table: Table, key: int, owner: str) -> None:
    """Release a lease that this owner holds."""
    statement = (
        update(table)
        .where(table.c.id == key, table.c.lease_owner == owner)
        .values(lease_owner=None, lease_until=None)
    )
    with database.writing() as connection:
        connection.execute(statement)


def this_process() -> str:
    """Return the name of this process as a lease holder."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def holder_is_gone(holder: str) -> bool:
    """Return True if a holder is a process of this host that no longer runs; False if unsure."""
    words = holder.split()
    if len(words) != 4 or words[3] != socket.gethostname() or not words[1].isdigit():
        return False
    return not _is_running(int(words[1]))


if sys.platform == "win32":

    def _is_running(pid: int) -> bool:
        import ctypes  # noqa: PLC0415

        query_limited_information, still_active = 0x1000, 259
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(query_limited_information, False, pid)
        if not handle:
            return False
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == still_active

else:

    def _is_running(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # alive, owned by another user
        return True


# Exclusive access to a workspace's database, and who has it open.

_WAIT_S = 2.0


def refuse_held(database: Database, now: float) -> None:
    """Raise RunInUse, naming the holders, if a live process works on a run or build."""
    held = held_leases(database, now)
    if held:
        named = ", ".join(f"{each.kind}:{short(each.id)} ({each.holder})" for each in held)
        what = " and ".join(dict.fromkeys(f"{each.kind}s" for each in held))
        one = f"{len(held)} {held[0].kind} is" if len(held) == 1 else f"{len(held)} {what} are"
        raise RunInUse(
            f"{one} being worked on: {named}",
            hint="wait for them or stop them (Ctrl-C there), then repeat this command",
        )


def leave_log(file: Path) -> None:
    """Merge the log into ``file`` itself, which then has no separate log.

    All other connections must be closed, including this process's own; the next opening starts a
    new log. Raises WorkspaceInUse if another process has the file open.
    """
    try:
        with closing(sqlite3.connect(file, timeout=_WAIT_S)) as connection:
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        mode = "wal"
    if mode != "delete":
        raise WorkspaceInUse(
            f"{file} is open in {users_of(file) or 'another process'}",
            hint="wait for it or close it, then repeat this command",
        )


def users_of(file: Path) -> str:
    """Return the other processes that have a file open, if the system tells (Linux only)."""
    found = sorted(set(_pids_with(file.resolve()))) if sys.platform == "linux" else []
    return ", ".join(f"process {pid} ({_command(pid)})" for pid in found)


def _pids_with(file: Path) -> Iterator[int]:
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or process.name == str(os.getpid()):
            continue
        try:
            opened = [os.readlink(entry) for entry in (process / "fd").iterdir()]  # noqa: PTH115
        except OSError:  # gone meanwhile, or owned by another user
            continue
        if str(file) in opened:
            yield int(process.name)


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return "it has ended"
    return " ".join(words)[:60].strip()
