"""Scores of triples that were verified: which of them a scoring has, and all of them in pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import and_, func, select

from proofstone.records.runs import OUTCOMES
from proofstone.records.triples import DIRECTIONS
from proofstone.records.verdicts import PanelVerdict
from proofstone.store import schema
from proofstone.store.database import Database

_PAGE = 2000


_DECODER = msgspec.json.Decoder(PanelVerdict)


ScoredPlace = tuple[int, str, bytes, int]  # the key of the scoring, measure, unit's key, sample


class VerifiedRow(msgspec.Struct, frozen=True, gc=False):
    """The score of a verified triple: its item's key, its payload as stored, what was decided, and
    what judges said."""

    item: int
    kind: str
    version: int
    payload: bytes
    sample: int
    measure: str
    outcome: str
    answer: str
    basis: str
    flags: str
    verdict: PanelVerdict | None


class VerifiedRows:
    """Reads the scores whose measures are directions of verifying."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_any(self, scorings: Sequence[int]) -> bool:
        """Whether any of these scorings has a verified triple."""
        score = schema.score
        query = (
            select(score.c.unit_id)
            .where(score.c.scoring_id.in_(scorings), score.c.measure.in_(DIRECTIONS))
            .limit(1)
        )
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def places(self, scorings: Sequence[int], items: Sequence[int]) -> set[ScoredPlace]:
        """Which triples of some items these scorings have."""
        score, unit = schema.score, schema.unit
        query = (
            select(score.c.scoring_id, score.c.measure, unit.c.key, score.c.sample)
            .join(unit, unit.c.id == score.c.unit_id)
            .where(
                score.c.scoring_id.in_(scorings),
                unit.c.item_id.in_(items),
                score.c.measure.in_(DIRECTIONS),
            )
        )
        with self._database.reading() as connection:
            return {tuple(row) for row in connection.execute(query)}

    def counts(self, scoring: int) -> dict[str, dict[str, int]]:
        """How many verified triples of a scoring came to what, by measure: the label, or unparsed;
        those without a reference are told apart from what judges found neutral."""
        score = schema.score
        columns = (score.c.measure, score.c.outcome, score.c.answer, score.c.basis)
        query = (
            select(*columns, func.count())
            .where(score.c.scoring_id == scoring, score.c.measure.in_(DIRECTIONS))
            .group_by(*columns)
            .order_by(*columns)
        )
        found: dict[str, dict[str, int]] = {}
        with self._database.reading() as connection:
            for measure, outcome, answer, basis, n in connection.execute(query):
                name = basis if basis == "no reference" else answer or OUTCOMES[outcome]
                counts = found.setdefault(measure, {})
                counts[name] = counts.get(name, 0) + n
        return found

    def pages(
        self, scoring: int, items: Sequence[int] | None = None, size: int = _PAGE
    ) -> Iterator[list[VerifiedRow]]:
        """The verified triples of a scoring, of these items alone where they are named, in the
        order of their units."""
        after: tuple[int, int, str] | None = None
        while True:
            query = _rows(scoring, items).limit(size)
            if after is not None:
                query = query.where(_behind(after))
            with self._database.reading() as connection:
                page = connection.execute(query).all()
            if not page:
                return
            yield [_row(row) for row in page]
            if len(page) < size:
                return
            after = (page[-1].unit_id, page[-1].sample, page[-1].measure)


def _rows(scoring: int, items: Sequence[int] | None) -> Any:
    score, unit, said = schema.score, schema.unit, schema.score_verdict
    same = [
        said.c[name] == score.c[name] for name in ("scoring_id", "unit_id", "sample", "measure")
    ]
    query = (
        select(
            unit.c.item_id, unit.c.kind, unit.c.version, unit.c.payload, score.c.unit_id,
            score.c.sample, score.c.measure, score.c.outcome, score.c.answer, score.c.basis,
            score.c.flags, said.c.payload.label("said"),
        )
        .select_from(score)
        .join(unit, unit.c.id == score.c.unit_id)
        .outerjoin(said, and_(*same))
        .where(score.c.scoring_id == scoring, score.c.measure.in_(DIRECTIONS))
        .order_by(score.c.unit_id, score.c.sample, score.c.measure)
    )  # fmt: skip
    return query if items is None else query.where(unit.c.item_id.in_(items))


def _behind(after: tuple[int, int, str]) -> Any:
    """The condition that a score stands behind (unit, sample, measure)."""
    table = schema.score
    unit, sample, measure = after
    later = (table.c.sample > sample) | ((table.c.sample == sample) & (table.c.measure > measure))
    return (table.c.unit_id > unit) | ((table.c.unit_id == unit) & later)


def _row(row: Any) -> VerifiedRow:
    return VerifiedRow(
        row.item_id, row.kind, row.version, row.payload, row.sample, row.measure,
        OUTCOMES[row.outcome], row.answer, row.basis, row.flags,
        None if row.said is None else _DECODER.decode(row.said),
    )  # fmt: skip
