"""Writing many rows: one multi-row INSERT a table, keys taken from the database beforehand.

``executemany`` in a thread starves on the interpreter lock, once a row; a multi-row statement takes
it once a chunk. Chunks have few sizes, so that the driver's statement cache holds them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any

from sqlalchemy import Connection, Table, text

__all__ = [
    "LOOKUPS",
    "chunks",
    "insert_missing",
    "insert_new",
    "insert_rows",
    "key_of",
    "keys_by",
    "many_values",
    "select_many",
    "take_keys",
]

_CHUNKS = (128, 32, 8, 1)
LOOKUPS = (1, 8, 32, 128, 512)  # how many values one look-up takes: few statements for all
_PARAMETERS = 30_000  # SQLite takes 32,766 in one statement, PostgreSQL 65,535


def chunks(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """``values`` in lists of ``size``, the last one shorter."""
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


@cache
def _statement(table: str, columns: tuple[str, ...], n: int, mark: str, tail: str) -> str:
    row = "(" + ",".join([mark] * len(columns)) + ")"
    names = ",".join(columns)
    return f"INSERT INTO {table} ({names}) VALUES {','.join([row] * n)}{tail}"  # noqa: S608


def _execute(connection: Connection, statement: str, values: tuple[Any, ...] = ()) -> Any:
    """The driver's own cursor on SQLite, where wrapping it costs more than a small statement."""
    if connection.dialect.name == "sqlite":
        return connection.connection.cursor().execute(statement, values)
    return connection.exec_driver_sql(statement, values)


def insert_rows(
    connection: Connection,
    table: Table,
    columns: tuple[str, ...],
    rows: Sequence[Sequence[Any]],
    *,
    or_ignore: bool = False,
) -> int:
    """Inserts ``rows`` (values in the order of ``columns``) and returns how many went in;
    ``or_ignore`` skips those whose unique values are there."""
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    tail = " ON CONFLICT DO NOTHING" if or_ignore else ""
    start = inserted = 0
    for size in _CHUNKS:
        if size * len(columns) > _PARAMETERS:
            continue
        while len(rows) - start >= size:
            values = tuple(chain.from_iterable(rows[start : start + size]))
            statement = _statement(table.name, columns, size, mark, tail)
            inserted += _execute(connection, statement, values).rowcount
            start += size
    return inserted


def take_keys(connection: Connection, table: Table, n: int) -> range | list[int]:
    """``n`` fresh integer keys of ``table``, to be used in this write transaction."""
    if connection.dialect.name == "sqlite":  # the write lock is held: nobody else can take these
        ((top,),) = _execute(connection, f"SELECT coalesce(max(id), 0) FROM {table.name}")  # noqa: S608
        return range(top + 1, top + 1 + n)
    query = text("SELECT nextval(pg_get_serial_sequence(:table, 'id')) FROM generate_series(1, :n)")
    return [int(key) for (key,) in connection.execute(query, {"table": table.name, "n": n})]


@cache
def _lookup(table: str, columns: tuple[str, ...], n: int, mark: str) -> str:
    names = ",".join(columns)
    if len(columns) == 1:
        return f"SELECT id,{names} FROM {table} WHERE {names} IN ({','.join([mark] * n)})"  # noqa: S608
    row = "(" + ",".join([mark] * len(columns)) + ")"
    return f"SELECT id,{names} FROM {table} WHERE ({names}) IN (VALUES {','.join([row] * n)})"  # noqa: S608


def keys_by(
    connection: Connection, table: Table, columns: tuple[str, ...], wanted: Iterable[Any]
) -> dict[Any, int]:
    """The keys of the rows whose ``columns`` hold one of ``wanted`` (values, or tuples of them).

    Chunks are filled up with their last value, so that few statements serve all numbers.
    """
    found: dict[Any, int] = {}
    single = len(columns) == 1
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    for filled in many_values(list(wanted)):
        values = tuple(filled) if single else tuple(chain.from_iterable(filled))
        statement = _lookup(table.name, columns, len(filled), mark)
        rows = connection.exec_driver_sql(statement, values).all()
        if single:
            found.update((value, key) for key, value in rows)
        else:
            found.update((tuple(row[1:]), row[0]) for row in rows)
    return found


def many_values(values: Sequence[Any]) -> Iterator[list[Any]]:
    """``values`` in lists of few lengths, filled up with their last one, so that few statements
    serve all numbers."""
    for chunk in chunks(values, LOOKUPS[-1]):
        size = next(size for size in LOOKUPS if size >= len(chunk))
        yield chunk + [chunk[-1]] * (size - len(chunk))


def select_many(
    connection: Connection, query: str, first: tuple[Any, ...], values: Sequence[Any]
) -> list[Any]:
    """The rows of ``query`` for any number of values: ``{mark}`` stands for each of ``first``,
    ``{marks}`` for a list of values."""
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    found: list[Any] = []
    for part in many_values(values):
        statement = query.format(mark=mark, marks=",".join([mark] * len(part)))
        found += _execute(connection, statement, (*first, *part)).fetchall()
    return found


def key_of(connection: Connection, table: Table, identity: bytes) -> int:
    """The key of the row with this hash. Raises KeyError where there is none."""
    return keys_by(connection, table, ("hash",), [identity])[identity]


def insert_new(
    connection: Connection,
    table: Table,
    columns: tuple[str, ...],
    rows: Mapping[Any, Sequence[Any]],
    by: tuple[str, ...] = ("hash",),
) -> tuple[dict[Any, int], set[Any]]:
    """The key of each row of ``rows`` (identity -> values), after inserting those not there yet,
    and the identities that were not.

    ``by`` names the unique columns that make the identity: one value, or a tuple of several.
    Inserts first and looks only where something was there: rows are mostly new, and a look-up
    costs as much as an insert.
    """
    if not rows:
        return {}, set()
    fresh = dict(zip(rows, take_keys(connection, table, len(rows)), strict=True))
    values = [(fresh[identity], *row) for identity, row in rows.items()]
    if insert_rows(connection, table, ("id", *columns), values, or_ignore=True) == len(rows):
        return fresh, set(fresh)
    keys = keys_by(connection, table, by, rows)
    return keys, {identity for identity, key in keys.items() if key == fresh[identity]}


def insert_missing(
    connection: Connection,
    table: Table,
    columns: tuple[str, ...],
    rows: Mapping[Any, Sequence[Any]],
    by: tuple[str, ...] = ("hash",),
) -> dict[Any, int]:
    """The keys of ``insert_new`` alone."""
    return insert_new(connection, table, columns, rows, by)[0]
