"""Copy databases: merge one into another, or write one to an SQLite file.

A merge identifies rows by hash: existing rows are kept, new ones are added. Integer keys are local
to a store, so each table's keys are translated while copying, in the order in which tables refer to
each other. Names of people are never merged.

A file copy is made while a run writes, and is checked before use. It is the whole database,
including names of people, with notes in the workspace's own table: when and by which version it was
made, and the workspace's settings.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, create_engine, func, select, text, tuple_
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from proofstone.errors import StoreFailed, WorkspaceUnusable
from proofstone.store import schema
from proofstone.store.database import (
    Database,
    Readable,
    refuse_unknown,
    revision_of,
    snapshot,
    sqlite_file,
)
from proofstone.store.rows import (
    chunks,
    insert_missing,
    insert_rows,
    keys_by,
    paged,
    take_keys,
)

# Merges outcomes of build steps: each with all rows that it kept and its verdicts, or not at all.
#
# A model may have produced other rows from the same one in the other workspace. The existing
# outcome is kept, and nothing of the other one is added.


_CHUNK = 500  # pairs per lookup


Keys = Mapping[str, Mapping[int, int]]


def copy_outcomes(
    origin: Readable, target: Database, page: Sequence[Mapping[str, Any]], keys: Keys
) -> None:
    """Copy a page of outcomes that ``target`` lacks; ``keys`` translate the origin's keys, by
    table.
    """
    steps, rows = keys["build_step"], keys["build_row"]
    ours = {
        (each["step_id"], each["row_id"]): (steps[each["step_id"]], rows[each["row_id"]])
        for each in page
    }
    kept = _along(origin, schema.build_output, list(ours))
    said = _along(origin, schema.build_verdict, list(ours))
    with target.writing() as connection:
        there = _there(connection, list(ours.values()))
        new = {place: own for place, own in ours.items() if own not in there}
        outcomes = [
            (*new[place], each["is_same"], each["reason"], each["found"])
            for each in page
            if (place := (each["step_id"], each["row_id"])) in new
        ]
        insert_rows(connection, schema.build_outcome, outcomes)
        outputs = [
            (*new[each.step_id, each.row_id], each.position, rows[each.output_id])
            for each in kept
            if (each.step_id, each.row_id) in new
        ]
        insert_rows(connection, schema.build_output, outputs)
        verdicts = [
            (*new[each.step_id, each.row_id], *each[2:])
            for each in said
            if (each.step_id, each.row_id) in new
        ]
        insert_rows(connection, schema.build_verdict, verdicts)


def _along(origin: Readable, table: Table, places: Sequence[tuple[int, int]]) -> list[Any]:
    found: list[Any] = []
    with origin.reading() as connection:
        for part in chunks(places, _CHUNK):
            pair = tuple_(table.c.step_id, table.c.row_id)
            found += connection.execute(select(table).where(pair.in_(part))).all()
    return found


def _there(connection: Connection, places: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    table = schema.build_outcome
    found: set[tuple[int, int]] = set()
    for part in chunks(places, _CHUNK):
        pair = tuple_(table.c.step_id, table.c.row_id)
        query = select(table.c.step_id, table.c.row_id).where(pair.in_(part))
        found |= {(step, row) for step, row in connection.execute(query)}
    return found


_PAGE = 1000


# Identity of rows in tables without a hash. For a table with neither, a pure relation, the whole
# row is its identity.
_IDENTITY = {
    schema.call: ("request_hash", "attempt", "started_at"),
    schema.response: ("run_id", "item_id", "sample", "step"),
    schema.failure: ("call_id",),
    schema.unit: ("item_id", "kind", "key"),
    schema.cluster: ("kind", "key"),
    schema.expense: ("owner", "started_at"),
}


# Names of people; the workspace's own id; files of the other workspace's machine.
_LEFT_BEHIND = {schema.person, schema.workspace, schema.written_file}


_ALONG = {schema.build_output, schema.build_verdict}  # copied with their outcome


_LOCAL = {"lease_owner", "lease_until"}  # refers to a process of the other workspace


class MergeReport(msgspec.Struct, frozen=True):
    """Rows read from each table, and how many of them were new here."""

    read: dict[str, int]
    added: dict[str, int]


def merge(origin: Readable, target: Database, *, with_people: bool = False) -> MergeReport:
    """Copy all rows of ``origin`` that ``target`` lacks. Repeating it changes nothing.

    Each page is its own transaction, so an interrupted merge is completed by repeating it. If
    others write to the origin, pass a snapshot of it. Names of people are copied only on request.
    """
    keys: dict[str, dict[int, int]] = {}
    report = MergeReport({}, {})
    tables = [t for t in schema.metadata.tables.values() if t not in _LEFT_BEHIND | _ALONG]
    for table in [*tables, schema.person] if with_people else tables:
        name = table.name
        keys[name] = {}
        report.read[name] = 0
        before = _count(target, table)
        for page in _pages(origin, table):
            report.read[name] += len(page)
            if table is schema.build_outcome:
                copy_outcomes(origin, target, page, keys)
                continue
            with target.writing() as connection:
                _copy(connection, table, page, keys)
        report.added[name] = _count(target, table) - before
    return report


def _copy(
    connection: Connection, table: Table, page: Sequence[Any], keys: dict[str, dict[int, int]]
) -> None:
    names = tuple(c.name for c in table.columns if c.name != "id" and c.name not in _LOCAL)
    refers = {key.parent.name: key.column.table for key in table.foreign_keys}
    identity = _IDENTITY.get(table, ("hash",) if "hash" in names else ())
    # A row that refers to its own table is inserted singly, after the rows before it have keys.
    for group in _groups(page, [column for column, other in refers.items() if other is table]):
        rows: dict[int, dict[str, Any]] = {}
        for row in group:
            values = {name: row[name] for name in names}
            for column, other in refers.items():
                if values[column] is not None:
                    values[column] = keys[other.name][values[column]]
            rows[row.get("id", len(rows))] = values
        if not identity:
            tuples = [tuple(values.values()) for values in rows.values()]
            insert_rows(connection, table, tuples, columns=names, or_ignore=True)
        elif table is schema.call:
            keys[table.name] |= _copy_calls(connection, rows, names)
        else:
            keys[table.name] |= _copy_identified(connection, table, identity, rows, names)


def _copy_identified(
    connection: Connection,
    table: Table,
    identity: tuple[str, ...],
    rows: dict[int, dict[str, Any]],
    names: tuple[str, ...],
) -> dict[int, int]:
    def same(values: dict[str, Any]) -> Any:
        parts = tuple(values[name] for name in identity)
        return parts[0] if len(parts) == 1 else parts

    wanted = {same(values): tuple(values.values()) for values in rows.values()}
    # Looked up first: no constraint would refuse a duplicate failure.
    found = keys_by(connection, table, identity, wanted)
    new = {key: row for key, row in wanted.items() if key not in found}
    found |= insert_missing(connection, table, new, columns=names, by=identity)
    return {old: found[same(values)] for old, values in rows.items()}


def _copy_calls(
    connection: Connection, rows: dict[int, dict[str, Any]], names: tuple[str, ...]
) -> dict[int, int]:
    """Copy calls. Their identity is the request's hash, the attempt and the start time."""
    table = schema.call
    hashes = {values["request_hash"] for values in rows.values()}
    known: dict[tuple[Any, ...], int] = {}
    for chunk in chunks(hashes, 4000):
        query = select(table.c.id, table.c.request_hash, table.c.attempt, table.c.started_at).where(
            table.c.request_hash.in_(chunk)
        )
        known |= {tuple(rest): key for key, *rest in connection.execute(query)}
    identities = {
        old: (values["request_hash"], values["attempt"], values["started_at"])
        for old, values in rows.items()
    }
    new = [old for old, identity in identities.items() if identity not in known]
    fresh = take_keys(connection, table, len(new))
    for key, old in zip(fresh, new, strict=True):
        known[identities[old]] = key
    inserted = [(known[identities[old]], *rows[old].values()) for old in new]
    insert_rows(connection, table, inserted, columns=("id", *names))
    return {old: known[identity] for old, identity in identities.items()}


def _groups(page: Sequence[Any], itself: list[str]) -> Iterator[list[Any]]:
    plain = [row for row in page if all(row[column] is None for column in itself)]
    if plain:
        yield plain
    for row in page:
        if any(row[column] is not None for column in itself):
            yield [row]


def _pages(database: Readable, table: Table) -> Iterator[list[Any]]:
    """Yield all rows of a table as mappings, in primary key order, in pages."""

    def read(query: Any) -> Sequence[Any]:
        with database.reading() as connection:
            return connection.execute(query).all()

    for page in paged(read, select(table), list(table.primary_key.columns), _PAGE):
        yield [row._asdict() for row in page]


def _count(database: Database, table: Table) -> int:
    with database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


# The schema version of a database, without opening (and so migrating) it.


def schema_version(url: str) -> str | None:
    """Return the version, or None if the database has no Proofstone tables yet; creates no file.

    Raises WorkspaceUnusable if it cannot be read.
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


_NOTE = "copy."  # prefix of the notes' keys in the table ``workspace``


def copy_database(database: Database, file: Path, notes: Mapping[str, str]) -> None:
    """Write all rows of ``database``, as of one moment, to the new SQLite file ``file``.

    Rows of a server are copied by hash as in ``merge``, with the names of people. The file appears
    under its name only when complete. Raises StoreFailed.
    """
    with _put_in_place(file) as part:
        there = sqlite_file(database.url)
        if there is not None:
            _copy_pages(there, part)
        else:
            _copy_rows(database, part)
        _finish(part, notes)


def copy_file(origin: Path, file: Path, notes: Mapping[str, str]) -> None:
    """Copy an SQLite file of any schema version, without opening it as a workspace."""
    with _put_in_place(file) as part:
        _copy_pages(origin, part)
        _finish(part, notes)


def check_copy(file: Path) -> str:
    """Return the schema version of a copy.

    Raises WorkspaceUnusable if it is damaged or not a Proofstone database, SchemaTooNew and
    SchemaTooOld if this version cannot read it.
    """
    try:
        with closing(_open(file, "ro")) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            is_ours = {"alembic_version", "workspace", "source"} <= names
            query = "SELECT version_num FROM alembic_version"
            version = str(_one(connection, query)) if is_ours else ""
            trouble = _damage_in(connection)
    except sqlite3.Error as error:
        raise WorkspaceUnusable(
            f"cannot read {file} as a database: {error}",
            hint="use a file written by 'proofstone workspace backup'",
        ) from error
    if version:
        refuse_unknown(version, str(file))
    if trouble:
        raise WorkspaceUnusable(f"{file} is damaged: {trouble}", hint="use an older backup")
    if not version:
        raise WorkspaceUnusable(
            f"{file} is a database, but not a Proofstone database",
            hint="use a file written by 'proofstone workspace backup'",
        )
    return version


def take_notes_out(file: Path) -> dict[str, str]:
    """Remove and return the notes of a copy; leases of processes are removed as well."""
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
    """Copy in one step: a copy in several would restart whenever another process writes."""
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
    """Add the notes, merge the log into the file, and check it."""
    with closing(_open(part, "rw")) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        rows = [(_NOTE + key, value) for key, value in notes.items()]
        connection.executemany("INSERT OR REPLACE INTO workspace (key, value) VALUES (?, ?)", rows)
        connection.commit()
        trouble = _damage_in(connection)
    if trouble:
        raise StoreFailed(
            f"the copy is damaged: {trouble}",
            hint="check the disk; 'proofstone doctor' checks the workspace itself",
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
            f"cannot write {file}: {error}", hint="check the folder and the free space"
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
    """Return the first problem found by SQLite's own checks, or ""."""
    said = str(_one(connection, "PRAGMA integrity_check(1)"))
    if said != "ok":
        return said
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    return "" if broken is None else f"a row of {broken[0]} refers to a missing row of {broken[2]}"


def _one(connection: sqlite3.Connection, query: str) -> object:
    return connection.execute(query).fetchone()[0]
