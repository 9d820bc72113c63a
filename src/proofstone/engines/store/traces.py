"""Rows as somebody meets them who follows a score back to where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import and_, func, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.score_verdicts import verdicts_on
from proofstone.records import OUTCOMES, PanelVerdict

__all__ = ["CallTrace", "FactTrace", "ResponseTrace", "ScoreTrace", "ScoringTrace", "TraceRows"]


class ResponseTrace(msgspec.Struct, frozen=True):
    """A response: the ids of its run and item, its sample and step, and the key of its call.
    ``is_last`` says that its step finishes the item."""

    run: bytes
    item: bytes
    sample: int
    step: str
    is_last: bool
    call: int


class CallTrace(msgspec.Struct, frozen=True):
    """A call by its key, its request's hash, and its number among the calls of that request."""

    key: int
    request: bytes
    number: int
    of: int


class ScoringTrace(msgspec.Struct, frozen=True):
    """A scoring with its run; ``completed_at`` is None where it was cut off."""

    key: int
    id: bytes
    run: bytes
    method: str
    scorer_version: int
    judge: str
    created_at: float
    completed_at: float | None


class ScoreTrace(msgspec.Struct, frozen=True, kw_only=True):
    """A score with the ids of its scoring, run and item; ``unit`` is the kind of what was scored,
    ``unit_key`` what tells units of an item apart (empty where the unit is the item); ``verdict``
    what judges said, where they were asked."""

    scoring: bytes
    run: bytes
    item: bytes
    sample: int
    measure: str
    unit: str
    unit_key: bytes
    outcome: str
    value: float | None
    answer: str
    basis: str
    flags: str
    gold: str
    n_choices: int
    verdict: PanelVerdict | None = None


class FactTrace(msgspec.Struct, frozen=True):
    """A fact whose payload is left as stored bytes; they are empty where it was purged."""

    id: bytes
    payload: bytes
    page: str
    source: bytes | None
    passage: bytes | None
    corrects: bytes | None


class TraceRows:
    """Finds rows by what stands before and behind them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def responses(self, run: int, item: int) -> list[ResponseTrace]:
        """The responses to an item in a run, by sample and in the order in which they came."""
        table = schema.response
        query = _responses().where(table.c.run_id == run, table.c.item_id == item)
        return [_response(row) for row in self._all(query.order_by(table.c.sample, table.c.id))]

    def served_by(self, call: int, limit: int) -> list[ResponseTrace]:
        """Up to ``limit`` responses that a call gave, oldest first."""
        table = schema.response
        query = _responses().where(table.c.call_id == call).order_by(table.c.id).limit(limit)
        return [_response(row) for row in self._all(query)]

    def failed_calls(self, run: int, item: int) -> list[int]:
        """The keys of the calls for an item in a run that brought no reply, oldest first."""
        table = schema.failure
        query = select(table.c.call_id).where(table.c.run_id == run, table.c.item_id == item)
        return [row[0] for row in self._all(query.order_by(table.c.id))]

    def calls(self, low: bytes, high: bytes, limit: int = 33) -> list[CallTrace]:
        """Calls whose request's hash is in [low, high], in the order of hash and start."""
        table = schema.call
        same = table.c.request_hash
        order = (table.c.attempt, table.c.started_at, table.c.id)
        query = (
            select(
                table.c.id,
                table.c.request_hash,
                (func.row_number().over(order_by=order, partition_by=same) - 1).label("number"),
                func.count().over(partition_by=same).label("of"),
            )
            .where(table.c.request_hash >= low, table.c.request_hash <= high)
            .order_by(table.c.request_hash, "number")
            .limit(limit)
        )
        return [CallTrace(*row) for row in self._all(query)]

    def call(self, key: int) -> CallTrace:
        """The call with this key, numbered."""
        query = select(schema.call.c.request_hash).where(schema.call.c.id == key)
        request = self._all(query)[0][0]
        return next(call for call in self.calls(request, request, 10_000) if call.key == key)

    def scoring(self, identity: bytes) -> ScoringTrace:
        """The scoring with this id; KeyError where there is none."""
        found = self._all(_scorings().where(schema.scoring.c.hash == identity))
        if not found:
            raise KeyError(identity)
        return _scoring(found[0])

    def scorings(self, run: bytes) -> list[ScoringTrace]:
        """The scorings of a run, oldest first."""
        query = _scorings().where(schema.run.c.hash == run).order_by(schema.scoring.c.id)
        return [_scoring(row) for row in self._all(query)]

    def scores(self, scoring: int, item: int) -> list[ScoreTrace]:
        """The scores of an item in a scoring, by unit, sample and measure."""
        score, unit = schema.score, schema.unit
        query = (
            select(
                score, unit.c.kind, unit.c.key, unit.c.gold, unit.c.n_choices,
                schema.item.c.hash.label("item_hash"), schema.scoring.c.hash.label("scoring_hash"),
                schema.run.c.hash.label("run_hash"),
            )
            .join(unit, unit.c.id == score.c.unit_id)
            .join(schema.item, schema.item.c.id == unit.c.item_id)
            .join(schema.scoring, schema.scoring.c.id == score.c.scoring_id)
            .join(schema.run, schema.run.c.id == schema.scoring.c.run_id)
            .where(score.c.scoring_id == scoring, unit.c.item_id == item)
            .order_by(unit.c.id, score.c.sample, score.c.measure)
        )  # fmt: skip
        with self._database.reading() as connection:
            said = verdicts_on(connection, scoring, [item])
            return [
                _score(row, said.get((row.unit_id, row.sample, row.measure)))
                for row in connection.execute(query)
            ]

    def facts_of_item(self, item: int) -> list[FactTrace]:
        """The facts that an item rests on, in its order."""
        edge = schema.item_fact
        query = (
            _facts()
            .join(edge, edge.c.fact_id == schema.fact.c.id)
            .where(edge.c.item_id == item)
            .order_by(edge.c.position)
        )
        return [FactTrace(*row) for row in self._all(query)]

    def fact(self, identity: bytes) -> FactTrace | None:
        """The fact with this id, or None."""
        found = self._all(_facts().where(schema.fact.c.hash == identity))
        return FactTrace(*found[0]) if found else None

    def forms_of_item(self, item: int) -> list[tuple[bytes, str]]:
        """The ids and names of the sets that hold an item, oldest first."""
        table, member = schema.item_set, schema.item_set_item
        query = (
            select(table.c.hash, table.c.name)
            .join(member, member.c.item_set_id == table.c.id)
            .where(member.c.item_id == item)
            .order_by(table.c.id)
        )
        return [(row[0], row[1]) for row in self._all(query)]

    def item_id(self, item: int) -> bytes:
        """The id of the item with this key."""
        found: bytes = self._all(select(schema.item.c.hash).where(schema.item.c.id == item))[0][0]
        return found

    def corrected_item(self, item: int) -> bytes | None:
        """The id of the item that an item corrects, or None."""
        before = schema.item.alias("before")
        query = (
            select(before.c.hash)
            .join(schema.item, schema.item.c.corrects_id == before.c.id)
            .where(schema.item.c.id == item)
        )
        found = self._all(query)
        return found[0][0] if found else None

    def _all(self, query: Any) -> Sequence[Any]:
        with self._database.reading() as connection:
            return connection.execute(query).all()


def _responses() -> Any:
    table = schema.response
    return (
        select(
            schema.run.c.hash.label("run_hash"), schema.item.c.hash.label("item_hash"),
            table.c.sample, table.c.step, and_(table.c.step == schema.run.c.last_step),
            table.c.call_id,
        )
        .join(schema.run, schema.run.c.id == table.c.run_id)
        .join(schema.item, schema.item.c.id == table.c.item_id)
    )  # fmt: skip


def _response(row: Any) -> ResponseTrace:
    run, item, sample, step, is_last, call = row
    return ResponseTrace(run, item, sample, step, bool(is_last), call)


def _scorings() -> Any:
    table = schema.scoring
    return select(
        table.c.id, table.c.hash, schema.run.c.hash.label("run_hash"), table.c.method,
        table.c.scorer_version, table.c.judge, table.c.created_at, table.c.completed_at,
    ).join(schema.run, schema.run.c.id == table.c.run_id)  # fmt: skip


def _scoring(row: Any) -> ScoringTrace:
    return ScoringTrace(*row)


def _score(row: Any, verdict: PanelVerdict | None) -> ScoreTrace:
    return ScoreTrace(
        scoring=row.scoring_hash, run=row.run_hash, item=row.item_hash, sample=row.sample,
        measure=row.measure, unit=row.kind, unit_key=row.key, outcome=OUTCOMES[row.outcome],
        value=row.value, answer=row.answer, basis=row.basis, flags=row.flags, gold=row.gold,
        n_choices=row.n_choices, verdict=verdict,
    )  # fmt: skip


def _facts() -> Any:
    fact, corrected = schema.fact, schema.fact.alias("corrected")
    return (
        select(
            fact.c.hash, fact.c.payload, fact.c.page, schema.source.c.hash.label("source_hash"),
            schema.passage.c.hash.label("passage_hash"), corrected.c.hash.label("corrects_hash"),
        )
        .select_from(fact)
        .outerjoin(schema.source, schema.source.c.id == fact.c.source_id)
        .outerjoin(schema.passage, schema.passage.c.id == fact.c.passage_id)
        .outerjoin(corrected, corrected.c.id == fact.c.corrects_id)
    )  # fmt: skip
