"""Scores as columns: one query for the rows, one for their units, one for the cluster edges.

Rows go from the driver into arrays without becoming objects: 200,000 load in well under a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import chunks
from proofstone.engines.store.strata import LEVELS, coded_levels
from proofstone.identity import short
from proofstone.records import Respondent, ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["load_table"]


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
    """The score table of ``measure`` on units of one ``kind``.

    ``scorings`` maps a scoring's key to its respondent's place; ``item_sets`` ids to the names
    that forms are shown by; ``expected`` is the full number of rows by respondent, ``failed`` how
    many of the missing ones were tried.
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
    golds, gold = _coded(units["gold"])
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
        gold=gold,
        golds=golds,
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
    """One row a unit of these sets; a unit in several sets counts for the first."""
    unit, item, member = schema.unit, schema.item, schema.item_set_item
    query = (
        select(
            unit.c.id,
            item.c.hash,
            unit.c.gold,
            unit.c.n_choices,
            schema.item_set.c.hash,
            *(item.c[level] for level in LEVELS),
        )
        .join(item, item.c.id == unit.c.item_id)
        .join(member, member.c.item_id == item.c.id)
        .join(schema.item_set, schema.item_set.c.id == member.c.item_set_id)
        .where(schema.item_set.c.hash.in_(list(item_sets)), unit.c.kind == kind)
        .order_by(schema.item_set.c.id, member.c.position, unit.c.id)
    )
    rows = {row[0]: tuple(row) for row in reversed(connection.execute(query).all())}
    names = ("id", "item", "gold", "n_choices", "form", *LEVELS)
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
    """Those of the cluster keys that are facts, with the ids of these."""
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
    """The columns of a large result, from the driver's own tuples: a row object each would cost
    as much as reading does."""
    compiled = query.compile(connection, compile_kwargs={"literal_binds": True})
    cursor = connection.connection.cursor()
    try:
        cursor.execute(str(compiled))
        columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    finally:
        cursor.close()
    return dict(zip(names, columns, strict=True))


def _coded(values: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The different values in alphabetical order, and each value's place among them."""
    import numpy as np  # noqa: PLC0415

    names = tuple(sorted(set(values)))
    code = {name: place for place, name in enumerate(names)}
    return names, np.array([code[value] for value in values], dtype=np.int32)
