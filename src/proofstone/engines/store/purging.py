"""Purging: texts go for good, and hashes, scores, usage and costs stay.

An empty text is the mark of a purged row, and a payload that is no object. The hash of a purged
prompt or image is hashed once more, so that the same may be stored again should its source ever
come back.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from sqlalchemy import Connection, Table, func, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.alone import users_of
from proofstone.engines.store.opening import Database, sqlite_file
from proofstone.engines.store.purge_plan import PurgePlan
from proofstone.engines.store.purged_builds import empty_build_rows
from proofstone.engines.store.purged_reviews import empty_reviews
from proofstone.engines.store.purged_text import ids_in
from proofstone.engines.store.rows import chunks
from proofstone.engines.store.score_verdicts import empty_score_verdicts
from proofstone.errors import WorkspaceInUse
from proofstone.identity import canonical_json, content_id

__all__ = ["empty_rows", "rewrite"]

_CHUNK = 4000
_LONGEST_LABEL = 16  # an extracted answer beyond it is no label but words of the reply
# A page as books count them: 12, xiv, 12-14, A-3.
_NUMBER = re.compile(r"[A-Za-z]?[-.]?[0-9ivxlcIVXLC]+([-–,. ]+[0-9ivxlcIVXLC]+)*")
_EMPTIED = (
    "item_label", "passage", "page", "fact", "item", "unit", "prompt", "image", "call", "score",
    "build_row", "build_outcome", "review", "build_verdict", "score_verdict",
)  # fmt: skip


def empty_rows(connection: Connection, plan: PurgePlan) -> None:
    """Takes the texts of a plan out of their rows, in the transaction that is open."""
    _empty(connection, schema.passage, plan.passages, text="", heading="")
    _empty(connection, schema.page, plan.pages, text="", layout=b"")
    _empty_facts(connection, plan.texts_of_facts)
    _empty_places(connection, plan.facts)
    _empty(connection, schema.item, plan.texts_of_items, payload=b"")
    for chunk in chunks(plan.items, _CHUNK):
        label = schema.item_label
        held = label.c.item_id.in_(chunk)
        connection.execute(update(label).where(held).values(metadata=b""))
    _empty(connection, schema.unit, plan.texts_of_units, payload=b"")
    _empty(connection, schema.call, plan.replies, raw=b"", detail="")
    for chunk in chunks(plan.units | plan.texts_of_units, _CHUNK):
        table = schema.score
        long = table.c.unit_id.in_(chunk) & (func.length(table.c.answer) > _LONGEST_LABEL)
        connection.execute(update(table).where(long).values(answer=""))
    empty_score_verdicts(connection, plan.units | plan.verdicts | plan.texts_of_units)
    empty_reviews(connection, plan.facts, plan.items)
    _empty_named(connection, schema.prompt, plan.prompts)
    _empty_named(connection, schema.image, plan.images)
    empty_build_rows(connection, plan.rows)


def _empty_named(connection: Connection, table: Table, keys: Iterable[int]) -> None:
    """Empties bodies that their hash names, and gives the rows another hash."""
    for chunk in chunks(keys, _CHUNK):
        query = select(table.c.id, table.c.hash).where(table.c.id.in_(chunk))
        for key, identity in connection.execute(query).all():
            emptied = {"body": b"", "hash": content_id(f"purged-{table.name}", identity)}
            connection.execute(update(table).where(table.c.id == key).values(emptied))


def rewrite(database: Database) -> None:
    """Writes the whole database anew, so that nothing of what was emptied is left in its files.

    Raises WorkspaceInUse where another process keeps an older state of it open: the rows are empty
    then, and the log still holds the texts until this is done again.
    """
    file = sqlite_file(database.url)
    if file is None:
        with database.reading() as connection:
            free = connection.execution_options(isolation_level="AUTOCOMMIT")
            for name in _EMPTIED:
                free.exec_driver_sql(f'VACUUM FULL "{name}"')
        return
    with closing(sqlite3.connect(file, isolation_level=None, timeout=5.0)) as raw:
        raw.execute("PRAGMA secure_delete=ON")
        try:
            raw.execute("VACUUM")
            (is_busy, _log, _moved) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            is_busy = 1
    if is_busy:
        raise WorkspaceInUse(
            f"the rows are empty, but {file} is open in {users_of(file) or 'another process'}, "
            "and its log still holds the texts",
            hint="close that process, then repeat the command: it finishes the work",
        )


def _empty_facts(connection: Connection, keys: Iterable[int]) -> None:
    """Of a fact's payload the ids stay that it names: they say what it was derived from."""
    table = schema.fact
    for chunk in chunks(keys, _CHUNK):
        query = select(table.c.id, table.c.payload).where(table.c.id.in_(chunk))
        named = {row[0]: list(ids_in(row[1])) for row in connection.execute(query)}
        _empty(connection, table, named, payload=b"")
        for key, ids in named.items():
            if ids:
                _empty(connection, table, [key], payload=canonical_json(ids))


def _empty_places(connection: Connection, keys: Iterable[int]) -> None:
    """Takes the keys of a table's rows out of its facts, where pages of other sources stand; the
    number of a page stays."""
    table = schema.fact
    for chunk in chunks(keys, _CHUNK):
        query = select(table.c.id, table.c.page).where(table.c.id.in_(chunk), table.c.page != "")
        named = [row[0] for row in connection.execute(query) if not _NUMBER.fullmatch(row[1])]
        _empty(connection, table, named, page="")


def _empty(connection: Connection, table: Table, keys: Iterable[int], **values: Any) -> None:
    for chunk in chunks(keys, _CHUNK):
        connection.execute(update(table).where(table.c.id.in_(chunk)).values(values))
