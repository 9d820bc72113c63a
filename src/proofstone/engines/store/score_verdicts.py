"""What judges said of replies: written with the score that rests on it, read by scorings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from sqlalchemy import Connection, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.rows import chunks, insert_rows
from proofstone.engines.store.verdicts import wordless
from proofstone.identity import canonical_json
from proofstone.records import PanelVerdict

__all__ = [
    "ScorePlace",
    "empty_score_verdicts",
    "insert_score_verdicts",
    "judged_places",
    "verdicts_of",
    "verdicts_on",
]

ScorePlace = tuple[int, int, int, str]  # keys of scoring and unit, sample, measure
_COLUMNS = ("scoring_id", "unit_id", "sample", "measure", "state", "label", "payload")
_DECODER = msgspec.json.Decoder(PanelVerdict)
_CHUNK = 1000


def insert_score_verdicts(
    connection: Connection, made: Iterable[tuple[ScorePlace, PanelVerdict]]
) -> None:
    """Inserts what judges said, by the score that it is of."""
    rows = [(*place, said.state, said.label, canonical_json(said)) for place, said in made]
    if rows:
        insert_rows(connection, schema.score_verdict, _COLUMNS, rows)


def verdicts_of(connection: Connection, scorings: Sequence[int]) -> Iterator[PanelVerdict]:
    """The verdicts of scorings, in the order of scorings, units and samples."""
    table = schema.score_verdict
    query = (
        select(table.c.payload)
        .where(table.c.scoring_id.in_(scorings))
        .order_by(table.c.scoring_id, table.c.unit_id, table.c.sample, table.c.measure)
    )
    for (payload,) in connection.execute(query):
        yield _DECODER.decode(payload)


def verdicts_on(
    connection: Connection, scoring: int, items: Sequence[int]
) -> dict[tuple[int, int, str], PanelVerdict]:
    """The verdicts on some items in a scoring, by unit, sample and measure."""
    table, unit = schema.score_verdict, schema.unit
    query = (
        select(table.c.unit_id, table.c.sample, table.c.measure, table.c.payload)
        .join(unit, unit.c.id == table.c.unit_id)
        .where(table.c.scoring_id == scoring, unit.c.item_id.in_(items))
    )
    return {
        (key, sample, measure): _DECODER.decode(payload)
        for key, sample, measure, payload in connection.execute(query)
    }


def judged_places(connection: Connection, scoring: int, measure: str) -> set[tuple[bytes, int]]:
    """The items' ids and samples that have a verdict in a scoring."""
    table, unit = schema.score_verdict, schema.unit
    query = (
        select(schema.item.c.hash, table.c.sample)
        .join(unit, unit.c.id == table.c.unit_id)
        .join(schema.item, schema.item.c.id == unit.c.item_id)
        .where(table.c.scoring_id == scoring, table.c.measure == measure)
    )
    return {(item, sample) for item, sample in connection.execute(query)}


def empty_score_verdicts(connection: Connection, units: Iterable[int]) -> None:
    """Takes the judges' words out of the verdicts on these units; labels and counts stay."""
    table = schema.score_verdict
    place = (table.c.scoring_id, table.c.unit_id, table.c.sample, table.c.measure)
    for chunk in chunks(units, _CHUNK):
        query = select(*place, table.c.payload).where(table.c.unit_id.in_(chunk))
        for *key, payload in connection.execute(query).all():
            emptied = canonical_json(wordless(_DECODER.decode(payload)))
            here = [column == value for column, value in zip(place, key, strict=True)]
            connection.execute(update(table).where(*here).values(payload=emptied))
