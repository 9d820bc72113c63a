"""Scorings and scores in the store: written in groups, read as one score table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Row, func, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import chunks, insert_missing, insert_rows, keys_by
from proofstone.identity import content_id
from proofstone.records import OUTCOMES, Run, Score

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["ScoreRow", "ScoreStore", "ScoringInfo", "UnitRow"]

_UNIT = ("item_id", "kind", "key", "version", "payload", "gold", "n_choices")
_SCORE = (
    "scoring_id", "unit_id", "sample", "measure", "outcome", "value", "answer", "basis", "flags",
)  # fmt: skip
_CLUSTERS_KEPT = 20_000  # remembered keys; bounds memory whatever the bank's size
_OUTCOME_CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}


class UnitRow(msgspec.Struct, frozen=True, gc=False):
    """A unit as it is stored: its item's key, what it is, and the keys it shares with others."""

    item: int
    kind: str
    key: bytes
    version: int
    payload: bytes
    gold: str
    n_choices: int
    clusters: tuple[tuple[str, bytes], ...]


class ScoreRow(msgspec.Struct, frozen=True, gc=False):
    """A score of one sample of a unit."""

    unit: UnitRow
    sample: int
    score: Score


class ScoringInfo(msgspec.Struct, frozen=True, gc=False):
    """A scoring: its key and id, the run it belongs to, who scored, and when it was complete."""

    key: int
    id: bytes
    run: int
    scorer_version: int
    judge: str
    created_at: float
    completed_at: float | None


class ScoreStore:
    """Writes scorings and reads them back. Scoring again makes a new one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._clusters: dict[tuple[str, bytes], int] = {}
        self._fresh_clusters: dict[tuple[str, bytes], int] = {}

    def begin(self, run: int, record: Run, scorer_version: int, judge: str, now: float) -> int:
        """A new scoring of a run; its key."""
        identity = content_id("scoring", [record.id, scorer_version, judge, now])
        columns = ("hash", "run_id", "method", "scorer_version", "judge", "created_at")
        row = (identity, run, record.method, scorer_version, judge, now)
        with self._database.writing() as connection:
            return insert_missing(connection, schema.scoring, columns, {identity: row})[identity]

    def add(self, scoring: int, rows: Sequence[ScoreRow]) -> None:
        """Stores scores with their units and cluster edges, in one transaction."""
        with self._database.writing() as connection:
            units = self._unit_keys(connection, [row.unit for row in rows])
            values = [
                (
                    scoring, units[_unit_identity(row.unit)], row.sample, row.score.measure,
                    _OUTCOME_CODE[row.score.outcome], row.score.value, row.score.answer,
                    row.score.basis, " ".join(row.score.flags),
                )
                for row in rows
            ]  # fmt: skip
            insert_rows(connection, schema.score, _SCORE, values)
        if len(self._clusters) > _CLUSTERS_KEPT:
            self._clusters.clear()
        self._clusters |= self._fresh_clusters

    def complete(self, scoring: int, now: float) -> None:
        """Marks a scoring as whole; the latest whole one of a run is current."""
        table = schema.scoring
        with self._database.writing() as connection:
            connection.execute(update(table).where(table.c.id == scoring).values(completed_at=now))

    def current(self, run: int) -> ScoringInfo | None:
        """The latest complete scoring of a run, or None."""
        table = schema.scoring
        query = (
            select(table)
            .where(table.c.run_id == run, table.c.completed_at.is_not(None))
            .order_by(table.c.completed_at.desc(), table.c.id.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _scoring(row)

    def n_scored(self, scoring: int, measure: str) -> int:
        """How many scores of a measure a scoring has."""
        table = schema.score
        query = select(func.count()).where(
            table.c.scoring_id == scoring, table.c.measure == measure
        )
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def of_items(
        self, scoring: int, items: Sequence[int]
    ) -> dict[tuple[int, int, str], list[Score]]:
        """The scores of some items in a scoring: (item, sample, unit kind) -> scores."""
        table, unit = schema.score, schema.unit
        found: dict[tuple[int, int, str], list[Score]] = {}
        with self._database.reading() as connection:
            for chunk in chunks(items, 4000):
                query = (
                    select(table, unit.c.item_id, unit.c.kind)
                    .join(unit, unit.c.id == table.c.unit_id)
                    .where(table.c.scoring_id == scoring, unit.c.item_id.in_(chunk))
                    .order_by(table.c.unit_id)
                )
                for row in connection.execute(query):
                    key = (row.item_id, row.sample, row.kind)
                    found.setdefault(key, []).append(_score(row))
        return found

    def places(
        self, scoring: int, measure: str, outcomes: Sequence[str], value: float | None, limit: int
    ) -> list[tuple[int, int]]:
        """Up to ``limit`` (item key, sample) whose score has one of ``outcomes`` and ``value``
        (None: any value), in the order of the units."""
        table, unit = schema.score, schema.unit
        query = (
            select(unit.c.item_id, table.c.sample)
            .join(unit, unit.c.id == table.c.unit_id)
            .where(
                table.c.scoring_id == scoring,
                table.c.measure == measure,
                table.c.outcome.in_([OUTCOMES.index(o) for o in outcomes]),
            )
            .order_by(table.c.unit_id, table.c.sample)
            .limit(limit)
        )
        if value is not None:
            query = query.where(table.c.value == value)
        with self._database.reading() as connection:
            return [(item, sample) for item, sample in connection.execute(query)]

    def _unit_keys(
        self, connection: Connection, units: Sequence[UnitRow]
    ) -> dict[tuple[int, str, bytes], int]:
        """The keys of units, storing those not there yet with their cluster edges (which depend on
        the item alone, so that a later scoring finds them written)."""
        wanted = {_unit_identity(unit): unit for unit in units}
        identity_columns = ("item_id", "kind", "key")
        before = keys_by(connection, schema.unit, identity_columns, wanted)
        new = {identity: unit for identity, unit in wanted.items() if identity not in before}
        rows = {
            identity: (
                unit.item, unit.kind, unit.key, unit.version, unit.payload, unit.gold,
                unit.n_choices,
            )
            for identity, unit in new.items()
        }  # fmt: skip
        known = before | insert_missing(connection, schema.unit, _UNIT, rows, by=identity_columns)
        clusters = self._cluster_keys(
            connection, {cluster for unit in new.values() for cluster in unit.clusters}
        )
        edges = [
            (known[identity], clusters[cluster])
            for identity, unit in new.items()
            for cluster in unit.clusters
        ]
        columns = ("unit_id", "cluster_id")
        insert_rows(connection, schema.unit_cluster, columns, edges, or_ignore=True)
        return known

    def _cluster_keys(
        self, connection: Connection, named: set[tuple[str, bytes]]
    ) -> dict[tuple[str, bytes], int]:
        """The keys of clusters, remembered once they are committed: pages of a form share them."""
        known = self._clusters
        missing = {cluster: cluster for cluster in named if cluster not in known}
        columns = ("kind", "key")
        found = insert_missing(connection, schema.cluster, columns, missing, by=columns)
        self._fresh_clusters = found
        return {cluster: known[cluster] for cluster in named if cluster in known} | found


def _unit_identity(unit: UnitRow) -> tuple[int, str, bytes]:
    return unit.item, unit.kind, unit.key


def _scoring(row: Row[Any]) -> ScoringInfo:
    return ScoringInfo(
        row.id, row.hash, row.run_id, row.scorer_version, row.judge, row.created_at,
        row.completed_at,
    )  # fmt: skip


def _score(row: Row[Any]) -> Score:
    return Score(
        unit=row.unit_id, measure=row.measure, outcome=OUTCOMES[row.outcome], value=row.value,
        answer=row.answer, basis=row.basis, flags=tuple(row.flags.split()),
    )  # fmt: skip
