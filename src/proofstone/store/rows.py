"""Write many rows: one multi-row INSERT per table, with keys allocated beforehand.

``executemany`` in a thread waits for the GIL once per row; a multi-row statement does once per
chunk. Chunks have few sizes, so that the driver's statement cache holds them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, structs
from sqlalchemy import Column, Connection, Row, Select, Table, or_, select, text, tuple_, update

from proofstone.records.ids import canonical_json, content_id
from proofstone.records.knowledge import Stratum
from proofstone.records.verdicts import PanelVerdict, RowVerdict
from proofstone.store import schema
from proofstone.store.database import Database

_CHUNKS = (128, 32, 8, 1)


LOOKUPS = (1, 8, 32, 128, 512)  # values per lookup: few statements for all


_BATCH = 4000  # values in one list of a statement


_PARAMETERS = 30_000  # SQLite accepts 32,766 in one statement, PostgreSQL 65,535


def chunks(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield ``values`` in lists of ``size``, the last one shorter."""
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


class StorePart:
    """Part of the store: reads and writes some of its tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _rows(self, query: Any) -> Sequence[Any]:
        """Return all rows of a query."""
        with self._database.reading() as connection:
            return connection.execute(query).all()

    def _row(self, query: Any) -> Any:
        """Return the row of a query with at most one, or None."""
        with self._database.reading() as connection:
            return connection.execute(query).one_or_none()

    def _one(self, query: Any, identity: bytes) -> Any:
        """Return the row of a query; KeyError for an id without one."""
        row = self._row(query)
        if row is None:
            raise KeyError(identity)
        return row

    def _keys_of(self, table: Table, identities: Iterable[bytes]) -> dict[bytes, int]:
        """Return the keys of the rows of a table with these hashes, if stored."""
        with self._database.reading() as connection:
            return keys_by(connection, table, ("hash",), identities)

    def _scalars(self, query: Any) -> list[Any]:
        """Return the values of a query's first column."""
        with self._database.reading() as connection:
            return list(connection.scalars(query))

    def _scalar(self, query: Any) -> Any:
        """Return the first value of a query's first row, or None."""
        with self._database.reading() as connection:
            return connection.scalar(query)

    def _pages(self, query: Any, *keys: Any, size: int) -> Iterator[Sequence[Any]]:
        """Yield pages as ``paged``; no transaction stays open between them."""
        return paged(self._rows, query, keys, size)

    def _among(self, query: Any, column: Any, values: Iterable[Any]) -> list[Any]:
        """Return the rows of a query whose ``column`` has one of these values, in batches."""
        with self._database.reading() as connection:
            return list(among(connection, query, column, values))


def among(connection: Connection, query: Any, column: Any, values: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of a query whose ``column`` has one of any number of values, in batches."""
    for batch in chunks(values, _BATCH):
        yield from connection.execute(query.where(column.in_(batch))).all()


def paged(
    read: Callable[[Any], Sequence[Any]], query: Any, keys: Sequence[Any], size: int
) -> Iterator[Sequence[Any]]:
    """Yield the rows of a query in pages, in the order of ``keys``.

    ``keys`` are unique columns of the query. Each page begins after the last row of the one before.
    """
    ordered = query.order_by(*keys).limit(size)
    here = ordered
    while page := read(here):
        yield page
        if len(page) < size:
            return
        after = [getattr(page[-1], key.name) for key in keys]
        here = ordered.where(
            keys[0] > after[0] if len(keys) == 1 else tuple_(*keys) > tuple_(*after)
        )


# Conversion between records and rows: fields and columns of one name, with replacements.

_COLUMNS_OF = {"id": "hash", "at": "created_at"}  # of these fields, unless replaced


_FIELDS_OF = {column: name for name, column in _COLUMNS_OF.items()}


Record = TypeVar("Record", bound=Struct)


def record_of(kind: type[Record], row: Row[Any], /, **given: Any) -> Record:
    """Return the record of a row: each field is given, or the column of its name.

    ``id`` is read from the hash, ``at`` from created_at.
    """
    return kind(
        **{f: getattr(row, column) for f, column in _columns_read(kind, tuple(given))}, **given
    )


@cache
def _columns_read(kind: type[Struct], given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    names = (name for name in kind.__struct_fields__ if name not in given)
    return tuple((name, _COLUMNS_OF.get(name, name)) for name in names)


def row_of(table: Table, record: Struct, /, **given: Any) -> dict[str, Any]:
    """Return the row of a record, without its key: each column is given, or the field of its name.

    The hash is ``id``, created_at is ``at``. Nullable columns with neither are omitted.
    """
    return {
        name: getattr(record, field) if field else given[name]
        for name, field in _columns_written(table, type(record), tuple(given))
    }


@cache
def _columns_written(
    table: Table, kind: type[Struct], given: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Return the written columns, each with its field; empty if given."""
    columns = {
        str(name): column for name, column in table.columns.items()
    }  # hashes faster this way
    fields = {name: _FIELDS_OF.get(name, name) for name in columns if name != "id"}
    return tuple(
        (name, "" if name in given else field)
        for name, field in fields.items()
        if name in given or field in kind.__struct_fields__ or not columns[name].nullable
    )


def with_ids(table: Table, **fields: str) -> Select[Any]:
    """Select rows of a table, with the ids of the rows that they refer to.

    ``fields`` maps a field to the referring column. Self-references are selected from an alias.
    """
    columns: list[Any] = [table]
    joined: Any = table
    for field, column in fields.items():
        of = _referred(table, column)
        other: Any = of.alias() if of is table else of
        columns.append(other.c.hash.label(field))
        joined = joined.outerjoin(other, other.c.id == table.c[column])
    return select(*columns).select_from(joined)


def insert_record(
    connection: Connection,
    table: Table,
    record: Struct,
    refers: Mapping[str, bytes | None] = {},
    **given: Any,
) -> int:
    """Return the key of a record, storing it if new.

    ``refers`` maps columns to the ids of stored rows. Raises KeyError if one of these is missing.
    """
    (keys,) = referred_keys(connection, table, [refers])
    row = row_of(table, record, **keys, **given)
    values = {row["hash"]: tuple(row.values())}
    return insert_missing(connection, table, values, columns=tuple(row))[row["hash"]]


def referred_keys(
    connection: Connection, table: Table, refers: Sequence[Mapping[str, bytes | None]]
) -> list[dict[str, int | None]]:
    """Return the keys of stored rows by referring column, for each of ``refers``, which hold their
    ids.

    Raises KeyError if one of these is missing.
    """
    found: dict[str, dict[bytes | None, int | None]] = {}
    for column in refers[0] if refers else ():
        named = {identity for each in refers if (identity := each[column]) is not None}
        keys = keys_by(connection, _referred(table, column), ("hash",), named)
        found[column] = {None: None, **keys}
    return [{column: found[column][of] for column, of in each.items()} for each in refers]


def _referred(table: Table, column: str) -> Table:
    (key,) = table.c[column].foreign_keys
    return key.column.table


def hash_range(digits: str) -> tuple[bytes, bytes]:
    """Return the smallest and largest hash that starts with these hexadecimal digits."""
    return bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))


def stratum_of(row: Row[Any]) -> Stratum:
    """Return the stratum of a row with its four levels."""
    return Stratum(row.discipline, row.field, row.subfield, row.book)


@cache
def _statement(table: str, columns: tuple[str, ...], n: int, mark: str, tail: str) -> str:
    row = "(" + ",".join([mark] * len(columns)) + ")"
    names = ",".join(columns)
    return f"INSERT INTO {table} ({names}) VALUES {','.join([row] * n)}{tail}"  # noqa: S608


def _execute(connection: Connection, statement: str, values: tuple[Any, ...] = ()) -> Any:
    """Return the driver's own cursor on SQLite, where wrapping costs more than a small
    statement.
    """
    if connection.dialect.name == "sqlite":
        return connection.connection.cursor().execute(statement, values)
    return connection.exec_driver_sql(statement, values)


@cache
def _columns_of(table: Table) -> tuple[str, ...]:
    return tuple(str(column.name) for column in table.columns if column.name != "id")


def insert_rows(
    connection: Connection,
    table: Table,
    rows: Sequence[Sequence[Any]],
    *,
    columns: tuple[str, ...] = (),
    or_ignore: bool = False,
) -> int:
    """Insert ``rows`` (values in the order of ``columns``, default: all after the key).

    Returns how many were inserted; ``or_ignore`` skips existing unique values.
    """
    columns = columns or _columns_of(table)
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
    """Return ``n`` fresh integer keys of ``table``, for use in this write transaction."""
    if (
        connection.dialect.name == "sqlite"
    ):  # the write lock is held: no other process can take these
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
    """Return the keys of the rows whose ``columns`` hold one of ``wanted`` (values, or tuples of
    them).

    Chunks are padded with their last value, so that few statements serve all sizes.
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
    """Yield ``values`` in lists of few lengths, padded with their last one.

    So few statements serve all sizes.
    """
    for chunk in chunks(values, LOOKUPS[-1]):
        size = next(size for size in LOOKUPS if size >= len(chunk))
        yield chunk + [chunk[-1]] * (size - len(chunk))


def select_many(
    connection: Connection, query: str, first: tuple[Any, ...], values: Sequence[Any]
) -> list[Any]:
    """Return the rows of ``query`` for any number of values.

    ``{mark}`` is replaced by each of ``first``, ``{marks}`` by a list of values.
    """
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    found: list[Any] = []
    for part in many_values(values):
        statement = query.format(mark=mark, marks=",".join([mark] * len(part)))
        found += _execute(connection, statement, (*first, *part)).fetchall()
    return found


def key_of(connection: Connection, table: Table, identity: bytes) -> int:
    """Return the key of the row with this hash. Raises KeyError if there is none."""
    return keys_by(connection, table, ("hash",), [identity])[identity]


def insert_new(
    connection: Connection,
    table: Table,
    rows: Mapping[Any, Sequence[Any]],
    by: tuple[str, ...] = ("hash",),
    *,
    columns: tuple[str, ...] = (),
) -> tuple[dict[Any, int], set[Any]]:
    """Return the key of each of ``rows`` (identity -> values), inserting new ones, and the new
    identities.

    ``by`` names the unique columns of the identity: one value, or a tuple of several. Inserts first
    and looks up only existing rows: most rows are new, and a lookup costs as much as an insert.
    """
    if not rows:
        return {}, set()
    fresh = dict(zip(rows, take_keys(connection, table, len(rows)), strict=True))
    values = [(fresh[identity], *row) for identity, row in rows.items()]
    columns = ("id", *(columns or _columns_of(table)))
    if insert_rows(connection, table, values, columns=columns, or_ignore=True) == len(rows):
        return fresh, set(fresh)
    keys = keys_by(connection, table, by, rows)
    return keys, {identity for identity, key in keys.items() if key == fresh[identity]}


def insert_missing(
    connection: Connection,
    table: Table,
    rows: Mapping[Any, Sequence[Any]],
    by: tuple[str, ...] = ("hash",),
    *,
    columns: tuple[str, ...] = (),
) -> dict[Any, int]:
    """Return only the keys of ``insert_new``."""
    return insert_new(connection, table, rows, by, columns=columns)[0]


def insert_dicts(
    connection: Connection, table: Table, rows: Mapping[bytes, Mapping[str, Any]]
) -> tuple[dict[Any, int], set[Any]]:
    """Return the result of ``insert_new`` for rows with the same columns by name."""
    columns = tuple(next(iter(rows.values()), ()))
    values = {identity: tuple(row.values()) for identity, row in rows.items()}
    return insert_new(connection, table, values, columns=columns)


# Judges' verdicts on rows of builds: written with the outcome, read by row.


def insert_verdicts(
    connection: Connection, made: Iterable[tuple[tuple[int, int], Sequence[RowVerdict]]]
) -> None:
    """Insert judges' verdicts by the keys of step and row, in order."""
    rows: list[tuple[Any, ...]] = [
        (*place, position, each.question, said.state, said.label, canonical_json(said))
        for place, verdicts in made
        for position, each in enumerate(verdicts)
        for said in (each.verdict,)
    ]
    if rows:
        insert_rows(connection, schema.build_verdict, rows)


def select_verdicts(
    connection: Connection, step: int, rows: Sequence[int]
) -> dict[int, list[RowVerdict]]:
    """Return the verdicts on rows at a step, by row key, in order."""
    table = schema.build_verdict
    found: dict[int, list[RowVerdict]] = {}
    for part in many_values(rows):
        query = (
            select(table.c.row_id, table.c.question, table.c.payload)
            .where(table.c.step_id == step, table.c.row_id.in_(part))
            .order_by(table.c.row_id, table.c.position)
        )
        for row, question, payload in connection.execute(query):
            said = RowVerdict(question=question, verdict=VERDICTS.decode(payload))
            found.setdefault(row, []).append(said)
    return found


def steps_judged(connection: Connection, steps: Sequence[int]) -> set[int]:
    """Return the steps that have verdicts."""
    table = schema.build_verdict
    return {
        step
        for step in steps
        if connection.execute(
            select(table.c.step_id).where(table.c.step_id == step).limit(1)
        ).first()
    }


VERDICTS = msgspec.json.Decoder(PanelVerdict)


def empty_verdicts(connection: Connection, of: Column[int], keys: Iterable[int]) -> None:
    """Remove the judges' words from verdicts whose column ``of`` has one of these keys.

    Labels and counts are kept.
    """
    table = of.table
    place = list(table.primary_key.columns)
    for key in among(connection, select(*place, table.c.payload), of, keys):
        emptied = canonical_json(wordless(VERDICTS.decode(key.payload)))
        here = [column == value for column, value in zip(place, key[:-1], strict=True)]
        connection.execute(update(table).where(*here).values(payload=emptied))


def wordless(verdict: PanelVerdict) -> PanelVerdict:
    """Return a verdict without the judges' reasons and the cited text; the votes are kept."""
    judge_votes = tuple(
        structs.replace(
            judge_vote,
            reason="",
            heard=tuple(structs.replace(each, reason="") for each in judge_vote.heard),
        )
        for judge_vote in verdict.judge_votes
    )
    return structs.replace(verdict, judge_votes=judge_votes, rests_on=UNSET)


# Keys of a bank or form and of those that it corrects, directly or not.


def bank_versions(bank: bytes) -> Select[tuple[int]]:
    """Select the keys of a bank and of all that it corrects; none if it is missing."""
    return _versions(schema.bank, schema.corrected_bank, "bank_id", bank)


def form_versions(form: bytes) -> Select[tuple[int]]:
    """Select the keys of a form and of all that it corrects; none if it is missing."""
    return _versions(schema.item_set, schema.corrected_set, "item_set_id", form)


def _versions(of: Table, made: Table, column: str, target: bytes) -> Select[tuple[int]]:
    name = f"{of.name}_versions"  # two of them may be in one query
    known = select(of.c.id).where(of.c.hash == target).cte(name, recursive=True)
    former = select(made.c.corrects_id).join(known, known.c.id == made.c[column])
    return select(known.union(former).c.id)


# Results about a bank or form that can be repeated: rows that are added and never changed.

TargetKind = Literal["bank", "form"]


Kept = TypeVar("Kept", bound=Struct)


def of_kind(kind: str, target: bytes) -> dict[str, bytes | None]:
    """Return a bank or form by the columns that refer to either."""
    is_bank = kind == "bank"
    return {"bank_id": target if is_bank else None, "item_set_id": None if is_bank else target}


class TargetStore(StorePart, Generic[Kept]):
    """Records of one type in one table, each of a bank or form."""

    def __init__(self, database: Database, table: Table, kind: type[Kept]) -> None:
        super().__init__(database)
        self._table = table
        self._kind = kind

    def add(self, kind: TargetKind, target: bytes, record: Kept, now: float) -> None:
        """Store a record of a stored bank or form; an identical one changes nothing."""
        payload = canonical_json(record)
        identity = content_id(self._table.name, [kind, target, payload])
        given = {"hash": identity, "payload": payload, "created_at": now}
        with self._database.writing() as connection:
            insert_record(connection, self._table, record, of_kind(kind, target), **given)

    def every(self, target: bytes) -> list[Kept]:
        """Return the records of a bank or form, oldest first."""
        of_bank = select(schema.bank.c.id).where(schema.bank.c.hash == target)
        of_form = select(schema.item_set.c.id).where(schema.item_set.c.hash == target)
        return self._read(of_bank, of_form)

    def behind(self, target: bytes) -> list[Kept]:
        """Return the same, with those of the banks or forms that this one corrects."""
        return self._read(bank_versions(target), form_versions(target))

    def _read(self, banks: Select[tuple[int]], forms: Select[tuple[int]]) -> list[Kept]:
        table = self._table
        query = (
            select(table.c.payload)
            .where(or_(table.c.bank_id.in_(banks), table.c.item_set_id.in_(forms)))
            .order_by(table.c.created_at, table.c.hash)
        )
        payloads = self._scalars(query)
        return [msgspec.json.decode(payload, type=self._kind) for payload in payloads]
