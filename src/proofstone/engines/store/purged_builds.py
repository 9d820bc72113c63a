"""What of builds goes when a source is purged: rows that entered from it or name it, what was made
of them, and the calls that were made for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.purged_text import Finder, ids_in, strings_of
from proofstone.engines.store.rows import chunks
from proofstone.engines.store.verdicts import empty_verdicts
from proofstone.identity import content_id

__all__ = ["calls_for_rows", "derived_build_rows", "empty_build_rows"]

_CHUNK = 4000
_PAGE = 500  # payloads held at once while they are searched


def derived_build_rows(
    connection: Connection, sources: Collection[int], ids: frozenset[bytes], finder: Finder
) -> set[int]:
    """The keys of rows that entered from the sources, that name one of ``ids`` (theirs, their
    passages', their facts') or quote their texts, and of all that steps made of these."""
    entered = schema.build_input
    query = select(entered.c.row_id).where(entered.c.source_id.in_(sources)).distinct()
    found = set(connection.scalars(query))
    for key, payload in _payloads(connection):
        if key not in found and payload and _speaks_of(payload, ids, finder):
            found.add(key)
    output, more = schema.build_output, found
    while more:
        more = set(_in(connection, output.c.output_id, output.c.row_id, more)) - found
        found |= more
    return found


def calls_for_rows(connection: Connection, rows: Iterable[int]) -> set[int]:
    """The keys of the calls that steps made for these rows."""
    made = schema.build_call
    return set(_in(connection, made.c.call_id, made.c.row_id, rows))


def empty_build_rows(connection: Connection, rows: Iterable[int]) -> None:
    """Takes the texts out of rows, what quotes them out of their outcomes, and the words of judges
    out of their verdicts. Such a row, and a build that it entered, get another hash: they are
    others should their source ever come back."""
    row, outcome, entered = schema.build_row, schema.build_outcome, schema.build_input
    rows = list(rows)
    empty_verdicts(connection, rows)
    builds: set[int] = set()
    for chunk in chunks(rows, _CHUNK):
        quotes = outcome.c.row_id.in_(chunk)
        connection.execute(update(outcome).where(quotes).values(found=""))
        query = select(row.c.id, row.c.hash).where(row.c.id.in_(chunk), row.c.payload != b"")
        full = connection.execute(query).all()
        builds |= set(_in(connection, entered.c.build_id, entered.c.row_id, (k for k, _ in full)))
        for key, identity in full:
            emptied = {"payload": b"", "hash": content_id("purged-build_row", identity)}
            connection.execute(update(row).where(row.c.id == key).values(emptied))
    build = schema.build
    for key in sorted(builds):
        identity = connection.execute(select(build.c.hash).where(build.c.id == key)).scalar_one()
        renamed = content_id("purged-build", identity)
        connection.execute(update(build).where(build.c.id == key).values(hash=renamed))


def _speaks_of(payload: bytes, ids: frozenset[bytes], finder: Finder) -> bool:
    if not ids.isdisjoint(ids_in(payload)):
        return True
    return any(finder.finds(text) for text in strings_of(payload))


def _payloads(connection: Connection) -> Iterator[tuple[int, bytes]]:
    table, after = schema.build_row, 0
    while True:
        query = select(table.c.id, table.c.payload).where(table.c.id > after)
        page = connection.execute(query.order_by(table.c.id).limit(_PAGE)).all()
        if not page:
            return
        yield from ((row[0], row[1]) for row in page)
        after = page[-1][0]


def _in(connection: Connection, wanted: Any, column: Any, keys: Iterable[int]) -> Iterator[int]:
    for chunk in chunks(keys, _CHUNK):
        yield from connection.scalars(select(wanted).where(column.in_(chunk)).distinct())
