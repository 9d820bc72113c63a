"""Merging outcomes of build steps: each with all the rows that it kept and what judges said on the
way to it, or not at all.

A model may have made other rows of the same one in either workspace. The outcome that is there
stays, and nothing of the other's is mixed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select, tuple_

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import chunks, insert_rows
from proofstone.engines.store.snapshot import Readable
from proofstone.engines.store.verdicts import VERDICT

__all__ = ["copy_outcomes"]

_OUTCOME = ("step_id", "row_id", "is_same", "reason", "found")
_OUTPUT = ("step_id", "row_id", "position", "output_id")
_CHUNK = 500  # pairs looked for at once

Keys = Mapping[str, Mapping[int, int]]


def copy_outcomes(
    origin: Readable, target: Database, page: Sequence[Mapping[str, Any]], keys: Keys
) -> None:
    """Copies a page of outcomes that ``target`` lacks; ``keys`` translate those of the origin, by
    table."""
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
        insert_rows(connection, schema.build_outcome, _OUTCOME, outcomes)
        outputs = [
            (*new[each.step_id, each.row_id], each.position, rows[each.output_id])
            for each in kept
            if (each.step_id, each.row_id) in new
        ]
        insert_rows(connection, schema.build_output, _OUTPUT, outputs)
        verdicts = [
            (*new[each.step_id, each.row_id], *each[2:])
            for each in said
            if (each.step_id, each.row_id) in new
        ]
        insert_rows(connection, schema.build_verdict, VERDICT, verdicts)


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
