"""Store scorings and scores: written in groups, read as one score table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection, Row, and_, func, insert, literal, select, update

from proofstone.records.ids import canonical_json, content_id, short
from proofstone.records.runs import OUTCOMES, Run, Score
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.records.verdicts import PanelVerdict
from proofstone.store import schema
from proofstone.store.database import Database
from proofstone.store.rows import (
    VERDICTS,
    StorePart,
    chunks,
    insert_missing,
    insert_new,
    insert_rows,
    record_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Judges' verdicts on responses: written with the score, read by scoring.

ScorePlace = tuple[int, int, int, str]  # keys of scoring and unit, sample, measure


def insert_score_verdicts(
    connection: Connection, made: Iterable[tuple[ScorePlace, PanelVerdict]]
) -> None:
    """Insert judges' verdicts by score."""
    rows = [(*place, said.state, said.label, canonical_json(said)) for place, said in made]
    if rows:
        insert_rows(connection, schema.score_verdict, rows)


def verdicts_of(connection: Connection, scorings: Sequence[int]) -> Iterator[PanelVerdict]:
    """Yield the verdicts of scorings, in the order of scorings, units and samples."""
    table = schema.score_verdict
    query = (
        select(table.c.payload)
        .where(table.c.scoring_id.in_(scorings))
        .order_by(table.c.scoring_id, table.c.unit_id, table.c.sample, table.c.measure)
    )
    for (payload,) in connection.execute(query):
        yield VERDICTS.decode(payload)


def verdicts_on(
    connection: Connection, scoring: int, items: Sequence[int]
) -> dict[tuple[int, int, str], PanelVerdict]:
    """Return the verdicts on some items in a scoring, by unit, sample and measure."""
    table, unit = schema.score_verdict, schema.unit
    query = (
        select(table.c.unit_id, table.c.sample, table.c.measure, table.c.payload)
        .join(unit, unit.c.id == table.c.unit_id)
        .where(table.c.scoring_id == scoring, unit.c.item_id.in_(items))
    )
    return {
        (key, sample, measure): VERDICTS.decode(payload)
        for key, sample, measure, payload in connection.execute(query)
    }


def judged_places(connection: Connection, scoring: int, measure: str) -> set[tuple[bytes, int]]:
    """Return the item ids and samples that have a verdict in a scoring."""
    table, unit = schema.score_verdict, schema.unit
    query = (
        select(schema.item.c.hash, table.c.sample)
        .select_from(table.join(unit).join(schema.item))
        .where(table.c.scoring_id == scoring, table.c.measure == measure)
    )
    return {(item, sample) for item, sample in connection.execute(query)}


Clusters = dict[tuple[str, bytes], int]  # (kind, key) -> the row's key


_BETWEEN_FLAGS = ", "  # they are words with spaces: "several answers"


_CLUSTERS_KEPT = 20_000  # cached keys; bounds memory for any bank size


_OUTCOME_CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}


class UnitRow(msgspec.Struct, frozen=True, gc=False):
    """A unit as stored: its item's key, its kind and payload, and the keys it shares with
    others.
    """

    item: int
    kind: str
    key: bytes
    version: int
    payload: bytes
    answer_key: str
    n_choices: int
    clusters: tuple[tuple[str, bytes], ...]


class ScoreRow(msgspec.Struct, frozen=True, gc=False):
    """A score of one sample of a unit."""

    unit: UnitRow
    sample: int
    score: Score


class ScoringInfo(msgspec.Struct, frozen=True, gc=False):
    """A scoring of a ``run``: its key and id, scorer, and completion time (None if interrupted).

    ``judge`` is its printed description. ``settings`` is the JSON of a method's own judging
    settings, or empty.
    """

    key: int
    id: bytes
    run: bytes
    method: str
    scorer_version: int
    judge: str
    settings: bytes
    created_at: float
    completed_at: float | None


class ScoreTally(msgspec.Struct, frozen=True, gc=False):
    """Number and sum of the scores of a kind of unit, answer key and outcome."""

    kind: str
    answer_key: str
    measure: str
    outcome: str
    n: int
    total: float


UnitPlace = tuple[int, str, bytes, int]  # the key of the scoring, measure, unit's key, sample


class AnswerCount(msgspec.Struct, frozen=True, gc=False):
    """Number of scores of a measure with this outcome, answer and basis."""

    measure: str
    outcome: str
    answer: str
    basis: str
    n: int


class ScoredUnit(msgspec.Struct, frozen=True, gc=False):
    """A score with its unit: the item's key, the stored payload, the decision, and the judges'
    verdict.
    """

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


class ScoreStore(StorePart):
    """Write scorings and read them back. Scoring again adds a new one."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._clusters: Clusters = {}

    def begin(
        self,
        run: int,
        record: Run,
        scorer_version: int,
        judge: str,
        now: float,
        settings: bytes = b"",
    ) -> int:
        """Add a scoring of a run and return its key.

        Its id hashes the text ``judge``, which describes all ``settings``, and not these bytes.
        """
        identity = content_id("scoring", [record.id, scorer_version, judge, now])
        columns = ("hash", "run_id", "method", "scorer_version", "judge", "settings", "created_at")
        row = (identity, run, record.method, scorer_version, judge, settings, now)
        with self._database.writing() as connection:
            return insert_missing(connection, schema.scoring, {identity: row}, columns=columns)[
                identity
            ]

    def add(self, scoring: int, rows: Sequence[ScoreRow]) -> None:
        """Store scores with their units and cluster edges, in one transaction."""
        with self._database.writing() as connection:
            clusters = self.insert(connection, scoring, rows)
        self.remember(clusters)

    def insert(
        self,
        connection: Connection,
        scoring: int,
        rows: Sequence[ScoreRow],
        more: Clusters = {},  # noqa: B006 - read only
    ) -> Clusters:
        """Store scores in an open transaction; return the keys of clusters found in it.

        Pass these to ``remember`` once it is committed. ``more`` are those found in it before.
        """
        units, clusters = self._unit_keys(connection, [row.unit for row in rows], more)
        values = [
            (
                scoring, units[_unit_identity(row.unit)], row.sample, row.score.measure,
                _OUTCOME_CODE[row.score.outcome], row.score.value, row.score.answer,
                row.score.basis, _BETWEEN_FLAGS.join(row.score.flags),
            )
            for row in rows
        ]  # fmt: skip
        insert_rows(connection, schema.score, values)
        insert_score_verdicts(
            connection,
            (
                ((scoring, units[_unit_identity(row.unit)], row.sample, row.score.measure), said)
                for row in rows
                if (said := row.score.verdict) is not None
            ),
        )
        return clusters

    def remember(self, clusters: Clusters) -> None:
        """Cache keys of committed clusters: pages of a form share them."""
        if len(self._clusters) > _CLUSTERS_KEPT:
            self._clusters.clear()
        self._clusters |= clusters

    def complete(self, scoring: int, now: float) -> None:
        """Mark a scoring as complete; the latest complete one of a run is current."""
        table = schema.scoring
        with self._database.writing() as connection:
            connection.execute(update(table).where(table.c.id == scoring).values(completed_at=now))

    def info(self, scoring: int) -> ScoringInfo:
        """Return the scoring with this key."""
        return self._scorings(schema.scoring.c.id == scoring)[0]

    def one(self, identity: bytes) -> ScoringInfo:
        """Return the scoring with this id; KeyError if there is none."""
        found = self._scorings(schema.scoring.c.hash == identity)
        if not found:
            raise KeyError(identity)
        return found[0]

    def newest(self, run: int, scorer_version: int, judge: str) -> ScoringInfo | None:
        """Return the newest scoring of a run by this scorer and judge, complete or not, or None."""
        table = schema.scoring.c
        by = (table.scorer_version == scorer_version, table.judge == judge)
        found = self._scorings(table.run_id == run, *by)
        return found[-1] if found else None

    def current(self, run: int) -> ScoringInfo | None:
        """Return the latest complete scoring of a run, or None."""
        newest = sorted(self.of_run(run), key=lambda one: (one.completed_at or 0.0, one.key))
        return newest[-1] if newest else None

    def of_run(self, run: int) -> list[ScoringInfo]:
        """Return the complete scorings of a run, oldest first."""
        table = schema.scoring.c
        found = self._scorings(table.run_id == run, table.completed_at.is_not(None))
        return sorted(found, key=lambda one: (one.created_at, one.key))

    def begun(self, run: int) -> list[ScoringInfo]:
        """Return all scorings of a run, complete or not, in insertion order."""
        return self._scorings(schema.scoring.c.run_id == run)

    def _scorings(self, *conditions: Any) -> list[ScoringInfo]:
        table = schema.scoring
        query = (
            select(
                table.c.id, table.c.hash, schema.run.c.hash, table.c.method,
                table.c.scorer_version, table.c.judge, table.c.settings, table.c.created_at,
                table.c.completed_at,
            )
            .join(schema.run, schema.run.c.id == table.c.run_id)
            .where(*conditions)
            .order_by(table.c.id)
        )  # fmt: skip
        return [ScoringInfo(*row) for row in self._rows(query)]

    def copy(self, scoring: int, other: int) -> None:
        """Copy the scores of a scoring to another of its run that has none.

        Verdicts are not copied: no judge was asked for them.
        """
        table = schema.score
        names = [column.name for column in table.columns if column.name != "scoring_id"]
        own = select(literal(other), *(table.c[name] for name in names)).where(
            table.c.scoring_id == scoring
        )
        with self._database.writing() as connection:
            connection.execute(insert(table).from_select(["scoring_id", *names], own))

    def n_scored(self, scoring: int) -> int:
        """Return how many (item, sample) have scores in a scoring."""
        table, unit = schema.score, schema.unit
        scored = (
            select(unit.c.item_id, table.c.sample)
            .distinct()
            .join(unit, unit.c.id == table.c.unit_id)
            .where(table.c.scoring_id == scoring)
            .subquery()
        )
        return int(self._scalar(select(func.count()).select_from(scored)))

    def has_any(self, scorings: Sequence[int], measures: Sequence[str]) -> bool:
        """Return True if any of these scorings has a score of one of these measures."""
        query = select(schema.score.c.unit_id).where(_of_measures(scorings, measures)).limit(1)
        return self._row(query) is not None

    def unit_places(
        self, scorings: Sequence[int], measures: Sequence[str], items: Sequence[int]
    ) -> set[UnitPlace]:
        """Return the units of some items that have scores in these scorings."""
        score, unit = schema.score, schema.unit
        query = (
            select(score.c.scoring_id, score.c.measure, unit.c.key, score.c.sample)
            .join(unit, unit.c.id == score.c.unit_id)
            .where(_of_measures(scorings, measures), unit.c.item_id.in_(items))
        )
        return {tuple(row) for row in self._rows(query)}

    def answer_counts(self, scoring: int, measures: Sequence[str]) -> list[AnswerCount]:
        """Return how often each outcome and answer occurs on each basis, by measure and in
        order.
        """
        score = schema.score
        columns = (score.c.measure, score.c.outcome, score.c.answer, score.c.basis)
        query = (
            select(*columns, func.count())
            .where(_of_measures([scoring], measures))
            .group_by(*columns)
            .order_by(*columns)
        )
        return [
            AnswerCount(measure, OUTCOMES[outcome], answer, basis, n)
            for measure, outcome, answer, basis, n in self._rows(
                query.group_by(*columns).order_by(*columns)
            )
        ]

    def unit_pages(
        self,
        scoring: int,
        measures: Sequence[str],
        items: Sequence[int] | None = None,
        size: int = 2000,
    ) -> Iterator[list[ScoredUnit]]:
        """Yield the scores of a scoring with their units and verdicts, in unit order, in pages.

        ``items`` limits it to these.
        """
        score, unit, said = schema.score.c, schema.unit.c, schema.score_verdict.c
        names = ("scoring_id", "unit_id", "sample", "measure")
        query = (
            select(
                unit.item_id, unit.kind, unit.version, unit.payload, score.sample, score.measure,
                score.outcome, score.answer, score.basis, score.flags, said.payload, score.unit_id,
            )
            .select_from(schema.score)
            .join(schema.unit, unit.id == score.unit_id)
            .outerjoin(schema.score_verdict, and_(*(said[name] == score[name] for name in names)))
            .where(_of_measures([scoring], measures))
        )  # fmt: skip
        if items is not None:
            query = query.where(unit.item_id.in_(items))
        for page in self._pages(query, score.unit_id, score.sample, score.measure, size=size):
            yield [_scored_unit(row) for row in page]

    def tallies(self, scoring: int) -> list[ScoreTally]:
        """Return the scores of a scoring, counted."""
        table, unit = schema.score, schema.unit
        groups = (unit.c.kind, unit.c.answer_key, table.c.measure, table.c.outcome)
        query = (
            select(*groups, func.count(), func.sum(table.c.value))
            .join(unit, unit.c.id == table.c.unit_id)
            .where(table.c.scoring_id == scoring)
            .group_by(*groups)
            .order_by(*groups)
        )
        return [
            ScoreTally(kind, answer_key, measure, OUTCOMES[outcome], n, total or 0.0)
            for kind, answer_key, measure, outcome, n, total in self._rows(query)
        ]

    def flags(self, scoring: int, measure: str) -> list[str]:
        """Return the flags of all scores of a measure, one by one."""
        table = schema.score
        query = select(table.c.flags).where(
            table.c.scoring_id == scoring, table.c.measure == measure, table.c.flags != ""
        )
        return [flag for (text,) in self._rows(query) for flag in text.split(_BETWEEN_FLAGS)]

    def scored_among(self, scoring: int, items: Sequence[int]) -> set[tuple[int, int]]:
        """Return the (item key, sample) of some items that have scores in a scoring."""
        table, unit = schema.score, schema.unit
        query = (
            select(unit.c.item_id, table.c.sample)
            .join(unit, unit.c.id == table.c.unit_id)
            .where(table.c.scoring_id == scoring, unit.c.item_id.in_(items))
        )
        return {(item, sample) for item, sample in self._rows(query)}

    def of_items(
        self, scoring: int, items: Sequence[int]
    ) -> dict[tuple[int, int, str], list[Score]]:
        """Return the scores of some items: (item, sample, unit kind) -> scores with verdicts."""
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
                said = verdicts_on(connection, scoring, chunk)
                for row in connection.execute(query):
                    key = (row.item_id, row.sample, row.kind)
                    verdict = said.get((row.unit_id, row.sample, row.measure))
                    found.setdefault(key, []).append(_score(row, verdict))
        return found

    def verdicts(self, scorings: Sequence[int]) -> list[PanelVerdict]:
        """Return the verdicts in scorings, in unit order."""
        with self._database.reading() as connection:
            return list(verdicts_of(connection, scorings))

    def judged(self, scoring: int, measure: str) -> set[tuple[bytes, int]]:
        """Return the item ids and samples that judges were asked about in a scoring."""
        with self._database.reading() as connection:
            return judged_places(connection, scoring, measure)

    def places(
        self, scoring: int, measure: str, outcomes: Sequence[str], right: bool | None, limit: int
    ) -> list[tuple[int, int]]:
        """Return up to ``limit`` (item key, sample) whose score has one of ``outcomes``, in unit
        order.

        ``right`` selects fully correct scores, or others (None: either).
        """
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
        if right is not None:
            query = query.where(table.c.value == 1.0 if right else table.c.value < 1.0)
        return [(item, sample) for item, sample in self._rows(query)]

    def _unit_keys(
        self, connection: Connection, units: Sequence[UnitRow], more: Clusters
    ) -> tuple[dict[tuple[int, str, bytes], int], Clusters]:
        """Return the keys of units, storing new ones with their cluster edges, and of the clusters
        found.

        The edges depend on the item only, so a later scoring finds them stored.
        """
        wanted = {_unit_identity(unit): unit for unit in units}
        rows = {
            identity: (
                unit.item, unit.kind, unit.key, unit.version, unit.payload, unit.answer_key,
                unit.n_choices,
            )
            for identity, unit in wanted.items()
        }  # fmt: skip
        known, new = insert_new(connection, schema.unit, rows, by=("item_id", "kind", "key"))
        named = {cluster for identity in new for cluster in wanted[identity].clusters}
        clusters = self._cluster_keys(connection, named, more)
        edges = [
            (known[identity], clusters[cluster])
            for identity in new
            for cluster in wanted[identity].clusters
        ]
        insert_rows(connection, schema.unit_cluster, edges, or_ignore=True)
        return known, clusters

    def _cluster_keys(
        self, connection: Connection, named: set[tuple[str, bytes]], more: Clusters
    ) -> Clusters:
        """Return the keys of clusters: cached ones, those found in this transaction, and new
        ones.
        """
        found = {
            cluster: key
            for cluster in named
            if (key := self._clusters.get(cluster) or more.get(cluster))
        }
        missing = {cluster: cluster for cluster in named if cluster not in found}
        columns = ("kind", "key")
        return found | insert_missing(connection, schema.cluster, missing, by=columns)


def _unit_identity(unit: UnitRow) -> tuple[int, str, bytes]:
    return unit.item, unit.kind, unit.key


def _of_measures(scorings: Sequence[int], measures: Sequence[str]) -> Any:
    return schema.score.c.scoring_id.in_(scorings) & schema.score.c.measure.in_(measures)


def _scored_unit(row: Any) -> ScoredUnit:
    item, kind, version, payload, sample, measure, outcome, answer, basis, flags, said, _key = row
    return ScoredUnit(
        item, kind, version, payload, sample, measure, OUTCOMES[outcome], answer, basis, flags,
        None if said is None else VERDICTS.decode(said),
    )  # fmt: skip


def _score(row: Row[Any], verdict: PanelVerdict | None = None) -> Score:
    flags = tuple(row.flags.split(_BETWEEN_FLAGS)) if row.flags else ()
    own = {"unit": row.unit_id, "outcome": OUTCOMES[row.outcome], "flags": flags}
    return record_of(Score, row, **own, verdict=verdict)


# Taxonomy levels as codes and names: a stratum is a path, shown by its name.

LEVELS = ("discipline", "field", "subfield", "book", "language")


_ABOVE: Mapping[str, tuple[str, ...]] = {
    "field": ("discipline",),
    "subfield": ("discipline", "field"),
}


_Path = tuple[str, ...]


def coded_levels(
    units: Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, NDArray[np.int32]]]:
    """Return by level the sorted names of its strata, and each unit's code among them.

    Two fields of one name in different disciplines are two strata, and so are subfields. Such a
    name is followed by its parent: ``History (Arts)``. Missing values form one stratum.
    """
    import numpy as np  # noqa: PLC0415 - numpy is not needed to print a help text

    names: dict[str, tuple[str, ...]] = {}
    codes: dict[str, NDArray[np.int32]] = {}
    for level in LEVELS:
        columns = [units[above] for above in (*_ABOVE.get(level, ()), level)]
        paths = [path if path[-1] else () for path in zip(*columns, strict=True)]
        shown = _shown(set(paths))
        order = sorted(shown, key=lambda path: (shown[path], path))
        place = {path: code for code, path in enumerate(order)}
        names[level] = tuple(shown[path] for path in order)
        codes[level] = np.array([place[path] for path in paths], dtype=np.int32)
    return names, codes


def _shown(paths: set[_Path]) -> dict[_Path, str]:
    """Return each path's last name, with its parents if another path has the same name."""
    shared = Counter(path[-1] for path in paths if path)
    return {path: _name(path, is_shared=bool(path) and shared[path[-1]] > 1) for path in paths}


def _name(path: _Path, *, is_shared: bool) -> str:
    if not path:
        return ""
    above = " / ".join(part for part in path[:-1] if part)
    return f"{path[-1]} ({above})" if is_shared and above else path[-1]


# Scores as columns: one query for the rows, one for their units, one for the cluster edges.
#
# Rows go from the driver into arrays without becoming objects: 200,000 load in well under a second.


def load_table(
    database: Database,
    *,
    respondents: Sequence[Respondent],
    scorings: Mapping[int, int],
    item_sets: Mapping[bytes, str],
    expected: Sequence[int],
    failed: Sequence[int] | None = None,
    measure: str,
    kind: str = "item",
) -> ScoreTable:
    """Return the score table of ``measure`` on units of one ``kind``.

    ``scorings`` maps a scoring's key to its model's index, ``item_sets`` ids to the names of forms.
    ``expected`` is the full number of rows by model, ``failed`` how many of the missing ones were
    tried.
    """
    import numpy as np  # noqa: PLC0415 - numpy is not needed to print a help text

    with database.reading() as connection:
        units = _units(connection, item_sets, kind)
        place = {key: place for place, key in enumerate(units["id"])}
        scores = _scores(connection, list(scorings), measure)
        edges = _edges(connection, item_sets, kind)
        facts = _fact_keys(connection, {key for _unit, key in edges})
    answers, answer = _coded(scores["answer"])
    forms, form = _coded([item_sets[identity] for identity in units["form"]])
    answer_keys, answer_key = _coded(units["answer_key"])
    names, strata = coded_levels(units)
    kept = [(place[unit], key) for unit, key in edges if unit in place]
    edge = np.array(kept, dtype=np.int64).reshape(-1, 2)
    return ScoreTable(
        respondents=tuple(respondents),
        unit=np.array([place[key] for key in scores["unit_id"]], dtype=np.int32),
        respondent=np.array([scorings[key] for key in scores["scoring_id"]], dtype=np.int32),
        sample=np.array(scores["sample"], dtype=np.int32),
        outcome=np.array(scores["outcome"], dtype=np.int8),
        value=np.array(scores["value"], dtype=np.float64),
        answer=answer,
        answers=answers,
        items=tuple(units["item"]),
        strata=strata,
        stratum_names=names,
        answer_key=answer_key,
        answer_keys=answer_keys,
        n_options=np.array(units["n_choices"], dtype=np.int32),
        form=form,
        forms=forms,
        cluster_unit=np.ascontiguousarray(edge[:, 0]),
        cluster_key=np.ascontiguousarray(edge[:, 1]),
        expected=np.array(expected, dtype=np.int64),
        failed=None if failed is None else np.array(failed, dtype=np.int64),
        key_names={key: f"fact:{short(identity)}" for key, identity in facts},
    )


def _scores(connection: Connection, scorings: list[int], measure: str) -> dict[str, Sequence[Any]]:
    table = schema.score
    columns = ("scoring_id", "unit_id", "sample", "outcome", "value", "answer")
    query = select(*(table.c[name] for name in columns)).where(
        table.c.scoring_id.in_(scorings), table.c.measure == measure
    )
    return _columns(connection, query, columns)


def _units(
    connection: Connection, item_sets: Mapping[bytes, str], kind: str
) -> dict[str, Sequence[Any]]:
    """Return one row per unit of these sets; a unit in several sets counts for the first."""
    unit, item, member = schema.unit, schema.item, schema.item_set_item
    query = (
        select(
            unit.c.id,
            item.c.hash,
            unit.c.answer_key,
            unit.c.n_choices,
            schema.item_set.c.hash,
            *(item.c[level] for level in LEVELS),
        )
        .select_from(unit.join(item).join(member).join(schema.item_set))
        .where(schema.item_set.c.hash.in_(list(item_sets)), unit.c.kind == kind)
        .order_by(schema.item_set.c.id, member.c.position, unit.c.id)
    )
    rows = {row[0]: tuple(row) for row in reversed(connection.execute(query).all())}
    names = ("id", "item", "answer_key", "n_choices", "form", *LEVELS)
    columns = list(zip(*reversed(rows.values()), strict=True)) or [()] * len(names)
    return dict(zip(names, columns, strict=True))


def _edges(
    connection: Connection, item_sets: Mapping[bytes, str], kind: str
) -> Sequence[tuple[int, int]]:
    table, unit, member = schema.unit_cluster, schema.unit, schema.item_set_item
    query = (
        select(table.c.unit_id, table.c.cluster_id)
        .join(unit, unit.c.id == table.c.unit_id)
        .join(member, member.c.item_id == unit.c.item_id)
        .join(schema.item_set, schema.item_set.c.id == member.c.item_set_id)
        .where(schema.item_set.c.hash.in_(list(item_sets)), unit.c.kind == kind)
        .distinct()
    )
    return [tuple(row) for row in connection.execute(query)]


def _fact_keys(connection: Connection, keys: set[int]) -> list[tuple[int, bytes]]:
    """Return those of the cluster keys that are facts, with the fact ids."""
    table, fact = schema.cluster, schema.fact
    found = []
    for some in chunks(sorted(keys), 500):
        query = (
            select(table.c.id, fact.c.hash)
            .join(fact, fact.c.hash == table.c.key)
            .where(table.c.id.in_(some))
        )
        found += [tuple(row) for row in connection.execute(query)]
    return found


def _columns(
    connection: Connection, query: Any, names: tuple[str, ...]
) -> dict[str, Sequence[Any]]:
    """Return the columns of a large result from the driver's own tuples.

    One row object each would cost as much as reading.
    """
    compiled = query.compile(connection, compile_kwargs={"literal_binds": True})
    cursor = connection.connection.cursor()
    try:
        cursor.execute(str(compiled))
        columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    finally:
        cursor.close()
    return dict(zip(names, columns, strict=True))


def _coded(values: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the distinct values in alphabetical order, and each value's index among them."""
    import numpy as np  # noqa: PLC0415

    names = tuple(sorted(set(values)))
    code = {name: place for place, name in enumerate(names)}
    return names, np.array([code[value] for value in values], dtype=np.int32)
