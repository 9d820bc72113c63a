"""What judges said of rows of builds: written with the outcome that rests on it, read by rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, structs
from sqlalchemy import Connection, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.rows import chunks, insert_rows, many_values
from proofstone.identity import canonical_json
from proofstone.records import Ballot, PanelVerdict, RowVerdict

__all__ = [
    "VERDICT",
    "empty_verdicts",
    "insert_verdicts",
    "select_verdicts",
    "steps_judged",
    "wordless",
]

VERDICT = ("step_id", "row_id", "position", "question", "state", "label", "payload")
_CHUNK = 1000


def insert_verdicts(
    connection: Connection, made: Iterable[tuple[tuple[int, int], Sequence[RowVerdict]]]
) -> None:
    """Inserts what judges said, by the keys of step and row, in the order in which they said it."""
    rows: list[tuple[Any, ...]] = [
        (*place, position, each.question, said.state, said.label, canonical_json(said))
        for place, verdicts in made
        for position, each in enumerate(verdicts)
        for said in (each.verdict,)
    ]
    if rows:
        insert_rows(connection, schema.build_verdict, VERDICT, rows)


def select_verdicts(
    connection: Connection, step: int, rows: Sequence[int]
) -> dict[int, list[RowVerdict]]:
    """The verdicts on rows at a step, by the key of the row, in their order."""
    table = schema.build_verdict
    found: dict[int, list[RowVerdict]] = {}
    for part in many_values(rows):
        query = (
            select(table.c.row_id, table.c.question, table.c.payload)
            .where(table.c.step_id == step, table.c.row_id.in_(part))
            .order_by(table.c.row_id, table.c.position)
        )
        for row, question, payload in connection.execute(query):
            found.setdefault(row, []).append(RowVerdict(question=question, verdict=_read(payload)))
    return found


def steps_judged(connection: Connection, steps: Sequence[int]) -> set[int]:
    """Those of these steps at which judges said anything."""
    table = schema.build_verdict
    return {
        step
        for step in steps
        if connection.execute(
            select(table.c.step_id).where(table.c.step_id == step).limit(1)
        ).first()
    }


def empty_verdicts(connection: Connection, rows: Iterable[int]) -> None:
    """Takes the judges' words out of the verdicts on these rows; labels and counts stay."""
    table = schema.build_verdict
    for step, row, position, payload in _of_rows(connection, rows):
        place = (table.c.step_id == step, table.c.row_id == row, table.c.position == position)
        emptied = canonical_json(wordless(_read(payload)))
        connection.execute(update(table).where(*place).values(payload=emptied))


def _of_rows(connection: Connection, rows: Iterable[int]) -> Iterator[Any]:
    table = schema.build_verdict
    columns = (table.c.step_id, table.c.row_id, table.c.position, table.c.payload)
    for chunk in chunks(rows, _CHUNK):
        yield from connection.execute(select(*columns).where(table.c.row_id.in_(chunk))).all()


def _read(payload: bytes) -> PanelVerdict:
    return _DECODER.decode(payload)


_DECODER = msgspec.json.Decoder(PanelVerdict)


def wordless(verdict: PanelVerdict) -> PanelVerdict:
    """A verdict without the judges' reasons and the text that it rests on: who voted how stays."""
    ballots = tuple(map(_wordless_ballot, verdict.ballots))
    return structs.replace(verdict, ballots=ballots, rests_on=UNSET)


def _wordless_ballot(ballot: Ballot) -> Ballot:
    heard = tuple(structs.replace(each, reason="") for each in ballot.heard)
    return structs.replace(ballot, reason="", heard=heard)
