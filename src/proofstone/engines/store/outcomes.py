"""What steps made of rows: found by many rows at once, inserted by the writer in its groups.

Keys of rows are integers in the order in which they were stored, so what a pipeline works on lies
close together; only a row's hash is looked for anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import (
    insert_missing,
    insert_rows,
    keys_by,
    many_values,
    select_many,
)
from proofstone.engines.store.spent import spent_of, totals
from proofstone.engines.store.verdicts import insert_verdicts, select_verdicts, steps_judged
from proofstone.identity import canonical_json
from proofstone.ports import BatchStep, Outcome, PipelineRow, Step
from proofstone.records import RowVerdict, Spent

__all__ = ["BuildPlace", "OutcomeRow", "OutcomeStore"]

_STEP = ("hash", "name", "version", "config")
_ROW = ("hash", "payload")
_OUTCOME = ("step_id", "row_id", "is_same", "reason", "found")
_OUTPUT = ("step_id", "row_id", "position", "output_id")
_CALL = ("step_id", "row_id", "call_id")
_REMEMBERED = 100_000  # keys of rows lately seen: about 15 MB


class BuildPlace(msgspec.Struct, frozen=True, gc=False):
    """Where a call of a build belongs: the key of a step, the id of a row."""

    step: int
    row: bytes


class OutcomeRow(msgspec.Struct, frozen=True, gc=False):
    """What the step with this key made of a row."""

    step: int
    row: bytes
    outcome: Outcome


class OutcomeStore:
    """Steps, rows and outcomes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keys: dict[bytes, int] = {}

    # ---- reading

    def find(self, step: int, rows: Sequence[bytes]) -> dict[bytes, Outcome]:
        """The outcomes that are stored of these rows at a step."""
        with self._database.reading() as connection:
            keys = self._known_keys(connection, rows)
            named = {key: row for row, key in keys.items()}
            query = (
                "SELECT row_id, is_same, reason, found FROM build_outcome"
                " WHERE step_id = {mark} AND row_id IN ({marks})"
            )
            made = select_many(connection, query, (step,), list(named))
            changed = [key for key, is_same, reason, _found in made if not is_same and not reason]
            kept = self._outputs(connection, step, changed) if changed else {}
        return {
            named[key]: Outcome(tuple(kept[key]) if key in kept else None, reason, found)
            for key, _is_same, reason, found in made
        }

    def spent(self, step: int, rows: Sequence[bytes]) -> Spent:
        """What the calls for these rows took at a step, each row and call counted once."""
        found = Spent()
        with self._database.reading() as connection:
            keys = list(self._known_keys(connection, rows).values())
            for part in many_values(keys):
                made, call = schema.build_call, schema.call
                asked = (
                    select(call.c.request_hash)
                    .join(made, made.c.call_id == call.c.id)
                    .where(made.c.step_id == step, made.c.row_id.in_(part))
                )
                query = totals().where(call.c.request_hash.in_(asked))
                found += spent_of(connection.execute(query).one())
        return found

    def latency_s(self, step: int, rows: Sequence[bytes]) -> float:
        """The seconds that the calls for these rows took at a step, one after the other."""
        made, call, total = schema.build_call, schema.call, 0.0
        with self._database.reading() as connection:
            for part in many_values(list(self._known_keys(connection, rows).values())):
                query = (
                    select(func.coalesce(func.sum(call.c.latency_s), 0.0))
                    .join(made, made.c.call_id == call.c.id)
                    .where(made.c.step_id == step, made.c.row_id.in_(part))
                )
                total += float(connection.execute(query).scalar_one())
        return total

    def errors(self, step: int, rows: Sequence[bytes]) -> dict[bytes, str]:
        """Why calls for these rows failed at a step: the newest failure of each that has one."""
        call, made, row = schema.call, schema.build_call, schema.build_row
        found: dict[bytes, str] = {}
        with self._database.reading() as connection:
            for part in many_values(list(self._known_keys(connection, rows).values())):
                query = (
                    select(row.c.hash, call.c.error)
                    .select_from(made)
                    .join(call, call.c.id == made.c.call_id)
                    .join(row, row.c.id == made.c.row_id)
                    .where(made.c.step_id == step, made.c.row_id.in_(part))
                    .where(call.c.state == "failed")
                    .order_by(call.c.id)
                )
                found |= {row.hash: row.error for row in connection.execute(query)}
        return found

    def verdicts(self, step: int, rows: Sequence[bytes]) -> dict[bytes, list[RowVerdict]]:
        """What judges said of these rows at a step, of those on which they said anything."""
        with self._database.reading() as connection:
            keys = self._known_keys(connection, rows)
            named = {key: row for row, key in keys.items()}
            found = select_verdicts(connection, step, list(named))
        return {named[key]: verdicts for key, verdicts in found.items()}

    def judged(self, steps: Sequence[int]) -> set[int]:
        """Those of these steps at which judges said anything."""
        with self._database.reading() as connection:
            return steps_judged(connection, steps)

    def forget(self) -> None:
        """Forgets keys that it remembers: a purge gave rows other ids."""
        self._keys.clear()

    # ---- adding

    def add_step(self, key: bytes, step: Step | BatchStep) -> int:
        """The integer key of a step, stored where it is not yet."""
        row = (key, step.name, step.version, canonical_json(step.config))
        with self._database.writing() as connection:
            return insert_missing(connection, schema.build_step, _STEP, {key: row})[key]

    def keep_rows(self, rows: Iterable[PipelineRow]) -> None:
        """Stores rows that enter no build, to be worked on for a pilot."""
        with self._database.writing() as connection:
            self.add_rows(connection, rows)

    def add_rows(self, connection: Connection, rows: Iterable[PipelineRow]) -> dict[bytes, int]:
        """The integer keys of rows, stored where they are not yet, in the open transaction."""
        wanted = {row.id: (row.id, row.payload) for row in rows}
        keys = {identity: self._keys[identity] for identity in wanted if identity in self._keys}
        new = {identity: row for identity, row in wanted.items() if identity not in keys}
        added = insert_missing(connection, schema.build_row, _ROW, new)
        self._remember(added)
        return keys | added

    def insert(self, connection: Connection, made: Sequence[OutcomeRow]) -> None:
        """Inserts outcomes of rows that are stored, with the rows that they kept and what judges
        said; those that have an outcome already are left as they are."""
        kept = self.add_rows(connection, (row for each in made for row in each.outcome.kept or ()))
        keys = self._known_keys(connection, [each.row for each in made])
        there = self._there(connection, {(each.step, keys[each.row]) for each in made})
        outcomes: list[tuple[Any, ...]] = []
        outputs: list[tuple[Any, ...]] = []
        judged: list[tuple[tuple[int, int], Sequence[RowVerdict]]] = []
        for each in made:
            place, outcome = (each.step, keys[each.row]), each.outcome
            if place in there:
                continue
            there.add(place)
            is_same = outcome.kept is None and not outcome.reason
            outcomes.append((*place, is_same, outcome.reason, outcome.found))
            for position, row in enumerate(outcome.kept or ()):
                outputs.append((*place, position, kept[row.id]))
            if outcome.verdicts:
                judged.append((place, outcome.verdicts))
        insert_rows(connection, schema.build_outcome, _OUTCOME, outcomes)
        insert_rows(connection, schema.build_output, _OUTPUT, outputs)
        insert_verdicts(connection, judged)

    def insert_calls(self, connection: Connection, calls: Sequence[tuple[BuildPlace, int]]) -> None:
        """Inserts which call was made where; a place that is no row is one without content."""
        places = {place.row for place, _call in calls}
        keys = self._known_keys(connection, list(places))
        empty = (PipelineRow(row, b"") for row in places if row not in keys)
        keys |= self.add_rows(connection, empty)
        rows = [(place.step, keys[place.row], call) for place, call in calls]
        insert_rows(connection, schema.build_call, _CALL, rows, or_ignore=True)

    # ---- inside

    def _outputs(
        self, connection: Connection, step: int, rows: Sequence[int]
    ) -> dict[int, list[PipelineRow]]:
        query = (
            "SELECT o.row_id, o.output_id, r.hash, r.payload FROM build_output o"
            " JOIN build_row r ON r.id = o.output_id"
            " WHERE o.step_id = {mark} AND o.row_id IN ({marks}) ORDER BY o.row_id, o.position"
        )
        kept: dict[int, list[PipelineRow]] = {}
        keys: dict[bytes, int] = {}
        for row, output, identity, payload in select_many(connection, query, (step,), rows):
            kept.setdefault(row, []).append(PipelineRow(bytes(identity), bytes(payload)))
            keys[bytes(identity)] = output
        self._remember(keys)
        return kept

    def _there(self, connection: Connection, places: set[tuple[int, int]]) -> set[tuple[int, int]]:
        query = "SELECT row_id FROM build_outcome WHERE step_id = {mark} AND row_id IN ({marks})"
        found: set[tuple[int, int]] = set()
        for step in {step for step, _row in places}:
            rows = [row for other, row in places if other == step]
            found |= {(step, row) for (row,) in select_many(connection, query, (step,), rows)}
        return found

    def _known_keys(self, connection: Connection, rows: Sequence[bytes]) -> dict[bytes, int]:
        known = self._keys
        keys = {row: known[row] for row in rows if row in known}
        if len(keys) < len(rows):
            missing = [row for row in dict.fromkeys(rows) if row not in keys]
            found = keys_by(connection, schema.build_row, ("hash",), missing)
            self._remember(found)
            keys |= found
        return keys

    def _remember(self, keys: dict[bytes, int]) -> None:
        """Adds keys; of too many, those that came first go."""
        known = self._keys
        if len(known) + len(keys) > _REMEMBERED:
            for old in list(known)[: len(known) // 2]:
                del known[old]
        known |= keys
