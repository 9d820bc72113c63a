"""Merging one workspace into another by hash: what is there stays, what is new comes along.

Integer keys mean nothing outside their store, so each table's are translated as it is copied, in
the order in which tables refer to each other. Names of people never travel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, func, select, tuple_

from proofstone.store import schema
from proofstone.store.database import Database, Readable
from proofstone.store.rows import VERDICT, chunks, insert_missing, insert_rows, keys_by, take_keys

# Merging outcomes of build steps: each with all the rows that it kept and what judges said on the
# way to it, or not at all.
#
# A model may have made other rows of the same one in either workspace. The outcome that is there
# stays, and nothing of the other's is mixed in.

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


_PAGE = 1000


class _Copied(msgspec.Struct, frozen=True):
    """How a table is copied: which columns refer to which tables, and what makes a row the same.

    ``identity`` is empty for pure relations, whose whole row is their identity.
    """

    table: Table
    refers: dict[str, Table]
    identity: tuple[str, ...] = ("hash",)


_s = schema


_PLAN = (
    _Copied(_s.source, {}),
    _Copied(_s.passage, {"source_id": _s.source}),
    _Copied(_s.page, {"source_id": _s.source}),
    _Copied(_s.page_passage, {"page_id": _s.page, "passage_id": _s.passage}, ()),
    _Copied(_s.fact, {"source_id": _s.source, "passage_id": _s.passage, "corrects_id": _s.fact}),
    _Copied(_s.fact_role, {"fact_id": _s.fact}, ()),
    _Copied(_s.bank, {}),
    _Copied(_s.bank_fact, {"bank_id": _s.bank, "fact_id": _s.fact}, ()),
    _Copied(_s.bank_funnel, {"bank_id": _s.bank}),
    _Copied(_s.item, {"corrects_id": _s.item}),
    _Copied(_s.item_fact, {"item_id": _s.item, "fact_id": _s.fact}, ()),
    _Copied(_s.item_set, {"bank_id": _s.bank}),
    _Copied(_s.item_set_item, {"item_set_id": _s.item_set, "item_id": _s.item}, ()),
    _Copied(_s.item_label, {"item_set_id": _s.item_set, "item_id": _s.item}, ()),
    _Copied(_s.item_set_role, {"item_set_id": _s.item_set}, ()),
    _Copied(_s.corrected_set, {"item_set_id": _s.item_set, "corrects_id": _s.item_set}, ()),
    _Copied(_s.corrected_bank, {"bank_id": _s.bank, "corrects_id": _s.bank}, ()),
    _Copied(_s.run, {"item_set_id": _s.item_set}),
    _Copied(_s.run_limit, {"run_id": _s.run}, ()),
    _Copied(_s.image, {}),
    _Copied(_s.prompt, {}),
    _Copied(_s.profile, {}),
    _Copied(
        _s.call,
        {"profile_id": _s.profile, "prompt_id": _s.prompt},
        ("request_hash", "attempt", "started_at"),
    ),
    _Copied(
        _s.response,
        {"run_id": _s.run, "item_id": _s.item, "call_id": _s.call},
        ("run_id", "item_id", "sample", "step"),
    ),
    _Copied(_s.failure, {"run_id": _s.run, "item_id": _s.item, "call_id": _s.call}, ("call_id",)),
    _Copied(
        _s.pilot_call,
        {"call_id": _s.call, "item_id": _s.item, "item_set_id": _s.item_set},
        (),
    ),
    _Copied(_s.build_row, {}),
    _Copied(_s.build_step, {}),
    _Copied(_s.build_outcome, {"step_id": _s.build_step, "row_id": _s.build_row}, ()),
    _Copied(
        _s.build_call,
        {"step_id": _s.build_step, "row_id": _s.build_row, "call_id": _s.call},
        (),
    ),
    _Copied(_s.build, {}),
    _Copied(
        _s.build_input,
        {"build_id": _s.build, "row_id": _s.build_row, "source_id": _s.source},
        (),
    ),
    _Copied(_s.build_stage, {"build_id": _s.build, "step_id": _s.build_step}, ()),
    _Copied(_s.build_funnel, {"build_id": _s.build}),
    _Copied(_s.build_bank, {"build_id": _s.build, "bank_id": _s.bank}, ()),
    _Copied(_s.unit, {"item_id": _s.item}, ("item_id", "kind", "key")),
    _Copied(_s.cluster, {}, ("kind", "key")),
    _Copied(_s.unit_cluster, {"unit_id": _s.unit, "cluster_id": _s.cluster}, ()),
    _Copied(_s.scoring, {"run_id": _s.run}),
    _Copied(_s.score, {"scoring_id": _s.scoring, "unit_id": _s.unit}, ()),
    _Copied(_s.score_verdict, {"scoring_id": _s.scoring, "unit_id": _s.unit}, ()),
    _Copied(_s.model_card, {}),
    _Copied(_s.run_card, {"run_id": _s.run, "model_card_id": _s.model_card}, ()),
    _Copied(_s.model_check, {}),
    _Copied(_s.actor, {}),
    _Copied(
        _s.correction,
        {
            "fact_id": _s.fact, "item_id": _s.item, "item_set_id": _s.item_set,
            "actor_id": _s.actor, "follows_id": _s.correction,
        },
    ),
    _Copied(
        _s.ruling,
        {
            "item_id": _s.item, "call_id": _s.call, "run_id": _s.run, "actor_id": _s.actor,
            "replaces_id": _s.ruling,
        },
    ),
    _Copied(
        _s.placement,
        {
            "source_id": _s.source, "build_id": _s.build, "actor_id": _s.actor,
            "follows_id": _s.placement,
        },
    ),
    _Copied(
        _s.review_sheet,
        {"bank_id": _s.bank, "item_set_id": _s.item_set, "actor_id": _s.actor},
    ),
    _Copied(
        _s.review_place,
        {"sheet_id": _s.review_sheet, "fact_id": _s.fact, "item_id": _s.item},
        (),
    ),
    _Copied(_s.withdrawn_sheet, {"sheet_id": _s.review_sheet, "actor_id": _s.actor}),
    _Copied(
        _s.review,
        {
            "fact_id": _s.fact, "item_id": _s.item, "actor_id": _s.actor,
            "sheet_id": _s.review_sheet, "corrects_id": _s.review,
        },
    ),
    _Copied(_s.review_decision, {"item_set_id": _s.item_set, "bank_id": _s.bank}),
    _Copied(_s.semantic_map, {"item_set_id": _s.item_set, "bank_id": _s.bank}),
    _Copied(_s.plan, {"item_set_id": _s.item_set, "bank_id": _s.bank}),
    _Copied(_s.tombstone, {"actor_id": _s.actor}),
    _Copied(_s.expense, {}, ("owner", "started_at")),
)  # fmt: skip


_PEOPLE = _Copied(_s.person, {"actor_id": _s.actor}, ())  # only where all is copied


# Names of people; the workspace's own id; files of the other workspace's machine.
_LEFT_BEHIND = {_s.person, _s.workspace, _s.written_file}


_ALONG = {_s.build_output, _s.build_verdict}  # come along with the outcome that they belong to


_LOCAL = {"lease_owner", "lease_until"}  # of a process on the other workspace


class MergeReport(msgspec.Struct, frozen=True):
    """How many rows each table had to give, and how many of them were new here."""

    read: dict[str, int]
    added: dict[str, int]


def merge(origin: Readable, target: Database, *, with_people: bool = False) -> MergeReport:
    """Copies all rows of ``origin`` that ``target`` lacks. Doing it twice changes nothing.

    Each page is its own transaction, so a merge that was cut off is finished by repeating it. Where
    others write to the origin, hand in a snapshot of it. Names of people travel only on request.
    """
    keys: dict[str, dict[int, int]] = {}
    report = MergeReport({}, {})
    for copied in (*_PLAN, _PEOPLE) if with_people else _PLAN:
        name = copied.table.name
        keys[name] = {}
        report.read[name] = 0
        before = _count(target, copied.table)
        for page in _pages(origin, copied.table):
            report.read[name] += len(page)
            if copied.table is schema.build_outcome:
                copy_outcomes(origin, target, page, keys)
                continue
            with target.writing() as connection:
                _copy(connection, copied, page, keys)
        report.added[name] = _count(target, copied.table) - before
    return report


def _copy(
    connection: Connection,
    copied: _Copied,
    page: Sequence[Any],
    keys: dict[str, dict[int, int]],
) -> None:
    names = [c.name for c in copied.table.columns if c.name != "id" and c.name not in _LOCAL]
    own = keys[copied.table.name]
    itself = [column for column, table in copied.refers.items() if table is copied.table]
    # A row that refers to its own table comes alone, after the rows before it have keys.
    for group in _groups(page, itself):
        rows: dict[int, dict[str, Any]] = {}
        for row in group:
            values = {name: row[name] for name in names}
            for column, table in copied.refers.items():
                if values[column] is not None:
                    values[column] = keys[table.name][values[column]]
            rows[row.get("id", len(rows))] = values
        if not copied.identity:
            tuples = [tuple(values.values()) for values in rows.values()]
            insert_rows(connection, copied.table, tuple(names), tuples, or_ignore=True)
        elif copied.table is schema.call:
            own |= _copy_calls(connection, rows, names)
        else:
            own |= _copy_identified(connection, copied, rows, names)


def _copy_identified(
    connection: Connection, copied: _Copied, rows: dict[int, dict[str, Any]], names: list[str]
) -> dict[int, int]:
    def identity(values: dict[str, Any]) -> Any:
        parts = tuple(values[name] for name in copied.identity)
        return parts[0] if len(parts) == 1 else parts

    wanted = {identity(values): tuple(values.values()) for values in rows.values()}
    # Looked for before: a failure's identity is no constraint that would refuse it twice.
    found = keys_by(connection, copied.table, copied.identity, wanted)
    new = {key: row for key, row in wanted.items() if key not in found}
    found |= insert_missing(connection, copied.table, tuple(names), new, by=copied.identity)
    return {old: found[identity(values)] for old, values in rows.items()}


def _copy_calls(
    connection: Connection, rows: dict[int, dict[str, Any]], names: list[str]
) -> dict[int, int]:
    """Calls have no hash of their own: the request's, the attempt and the start make them one."""
    table = schema.call
    hashes = {values["request_hash"] for values in rows.values()}
    known: dict[tuple[Any, ...], int] = {}
    for chunk in chunks(hashes, 4000):
        query = select(table.c.id, table.c.request_hash, table.c.attempt, table.c.started_at).where(
            table.c.request_hash.in_(chunk)
        )
        known |= {tuple(rest): key for key, *rest in connection.execute(query)}
    identities = {
        old: (values["request_hash"], values["attempt"], values["started_at"])
        for old, values in rows.items()
    }
    new = [old for old, identity in identities.items() if identity not in known]
    fresh = take_keys(connection, table, len(new))
    for key, old in zip(fresh, new, strict=True):
        known[identities[old]] = key
    inserted = [(known[identities[old]], *rows[old].values()) for old in new]
    insert_rows(connection, table, ("id", *names), inserted)
    return {old: known[identity] for old, identity in identities.items()}


def _groups(page: Sequence[Any], itself: list[str]) -> Iterator[list[Any]]:
    plain = [row for row in page if all(row[column] is None for column in itself)]
    if plain:
        yield plain
    for row in page:
        if any(row[column] is not None for column in itself):
            yield [row]


def _pages(database: Readable, table: Table) -> Iterator[list[Any]]:
    """All rows of a table as mappings, in the order of their primary key, in pages."""
    primary = list(table.primary_key.columns)
    after: tuple[Any, ...] | None = None
    while True:
        query = select(table).order_by(*primary).limit(_PAGE)
        if after is not None:
            query = query.where(_behind(primary, after))
        with database.reading() as connection:
            page = [dict(row) for row in connection.execute(query).mappings()]
        if not page:
            return
        yield page
        after = tuple(page[-1][column.name] for column in primary)


def _behind(primary: list[Any], after: tuple[Any, ...]) -> Any:
    """The condition that a row stands behind ``after`` in the order of the primary key."""
    first, *rest = primary
    if not rest:
        return first > after[0]
    return (first > after[0]) | ((first == after[0]) & _behind(rest, after[1:]))


def _count(database: Database, table: Table) -> int:
    with database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())
