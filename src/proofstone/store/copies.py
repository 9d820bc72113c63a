"""Copies of a database in one SQLite file: made while a run writes, and checked before use.

A copy is the whole database, names of people included, and a few notes beside the workspace's own
rows: when and by which version it was made, and the workspace's settings.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from proofstone.errors import StoreFailed, WorkspaceUnusable
from proofstone.store.database import Database, refuse_unknown, revision_of, snapshot, sqlite_file
from proofstone.store.merge import merge

# The schema version of a database that is not opened, and so not migrated.


def schema_version(url: str) -> str | None:
    """The version, or None where the database has no tables of ours yet; makes no file.

    Raises WorkspaceUnusable where it cannot be read.
    """
    file = sqlite_file(url)
    if file is not None and not file.exists():
        return None
    engine = create_engine(url, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            return revision_of(connection)
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise WorkspaceUnusable(f"cannot read the database: {cause}") from error
    finally:
        engine.dispose()


_NOTE = "copy."  # what the notes' keys in the table ``workspace`` begin with


def copy_database(database: Database, file: Path, notes: Mapping[str, str]) -> None:
    """Writes all rows of ``database``, of one moment, to the new SQLite file ``file``.

    Rows of a server go there by hash, as ``merge`` takes them, with the names of people. The file
    appears under its name only once it is whole. Raises StoreFailed.
    """
    with _put_in_place(file) as part:
        there = sqlite_file(database.url)
        if there is not None:
            _copy_pages(there, part)
        else:
            _copy_rows(database, part)
        _finish(part, notes)


def copy_file(origin: Path, file: Path, notes: Mapping[str, str]) -> None:
    """The same for an SQLite file of any schema version, which is not opened as a workspace."""
    with _put_in_place(file) as part:
        _copy_pages(origin, part)
        _finish(part, notes)


def check_copy(file: Path) -> str:
    """The schema version of a copy; raises WorkspaceUnusable where it is broken or none of ours,
    SchemaTooNew and SchemaTooOld where this version does not read it."""
    try:
        with closing(_open(file, "ro")) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            is_ours = {"alembic_version", "workspace", "source"} <= names
            query = "SELECT version_num FROM alembic_version"
            version = str(_one(connection, query)) if is_ours else ""
            trouble = _damage_in(connection)
    except sqlite3.Error as error:
        raise WorkspaceUnusable(
            f"{file} cannot be read as a database: {error}",
            hint="name a file that 'proofstone workspace backup' wrote",
        ) from error
    if version:
        refuse_unknown(version, str(file))
    if trouble:
        raise WorkspaceUnusable(f"{file} is damaged: {trouble}", hint="take an older backup")
    if not version:
        raise WorkspaceUnusable(
            f"{file} is a database, and not Proofstone's",
            hint="name a file that 'proofstone workspace backup' wrote",
        )
    return version


def take_notes_out(file: Path) -> dict[str, str]:
    """The notes of a copy, which then has none any more; leases of processes go as well."""
    with closing(_open(file, "rw")) as connection:
        query = "SELECT key, value FROM workspace WHERE key LIKE ?"
        rows = connection.execute(query, (f"{_NOTE}%",)).fetchall()
        connection.execute("DELETE FROM workspace WHERE key LIKE ?", (f"{_NOTE}%",))
        for table in ("run", "build"):
            if _has_table(connection, table):
                connection.execute(f"UPDATE {table} SET lease_owner = NULL, lease_until = NULL")  # noqa: S608
        connection.commit()
    return {key.removeprefix(_NOTE): value for key, value in rows}


def _copy_pages(origin: Path, part: Path) -> None:
    """In one step: a copy in several would begin again whenever another process writes."""
    with closing(_open(origin, "ro")) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)


def _copy_rows(database: Database, part: Path) -> None:
    copy = Database(f"sqlite:///{part}")
    try:
        with snapshot(database) as frozen:
            merge(frozen, copy, with_people=True)
        with copy.writing() as connection:
            statement = text("UPDATE workspace SET value = :id WHERE key = 'id'")
            connection.execute(statement, {"id": database.workspace_id()})
    finally:
        copy.close()


def _finish(part: Path, notes: Mapping[str, str]) -> None:
    """Notes in, one file without a log beside it, and found whole."""
    with closing(_open(part, "rw")) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        rows = [(_NOTE + key, value) for key, value in notes.items()]
        connection.executemany("INSERT OR REPLACE INTO workspace (key, value) VALUES (?, ?)", rows)
        connection.commit()
        trouble = _damage_in(connection)
    if trouble:
        raise StoreFailed(
            f"the copy was damaged when it was written: {trouble}",
            hint="check the disk; 'proofstone doctor' looks at the workspace itself",
        )


@contextmanager
def _put_in_place(file: Path) -> Iterator[Path]:
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield part
        os.replace(part, file)  # noqa: PTH105
    except (OSError, sqlite3.Error) as error:
        raise StoreFailed(
            f"{file} was not written: {error}", hint="check the folder and the free space"
        ) from error
    finally:
        for rest in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + rest).unlink(missing_ok=True)


def _open(file: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode={mode}", uri=True)


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
    return bool(connection.execute(query, (name,)).fetchone()[0])


def _damage_in(connection: sqlite3.Connection) -> str:
    """The first trouble that SQLite's own checks find, or nothing."""
    said = str(_one(connection, "PRAGMA integrity_check(1)"))
    if said != "ok":
        return said
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    return "" if broken is None else f"a row of {broken[0]} names a row of {broken[2]} that is gone"


def _one(connection: sqlite3.Connection, query: str) -> object:
    return connection.execute(query).fetchone()[0]
