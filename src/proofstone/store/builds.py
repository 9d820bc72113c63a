"""Store builds: their rows, steps, lease, funnel and banks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, func, select

from proofstone.records.builds import BatchStep, Build, BuildFunnel, Outcome, PipelineRow, Step
from proofstone.records.ids import canonical_json, content_id
from proofstone.records.runs import Spent
from proofstone.records.tables import Funnel
from proofstone.records.verdicts import RowVerdict
from proofstone.store import schema
from proofstone.store.database import Database, give_back_lease, take_lease
from proofstone.store.rows import (
    StorePart,
    bank_versions,
    chunks,
    insert_record,
    insert_rows,
    key_of,
    keys_by,
)
from proofstone.store.writer import OutcomeRow, OutcomeStore, Writer

# Funnels of banks: counts of what filters left of the input files.


class FunnelStore(StorePart):
    """Add and read the funnels of banks."""

    def add(self, bank: bytes, funnel: Funnel, now: float) -> None:
        """Store the funnel of a bank; an identical one changes nothing."""
        payload = canonical_json(msgspec.to_builtins(funnel))
        identity = content_id("bank_funnel", [bank, payload])
        given = {"hash": identity, "payload": payload, "created_at": now}
        with self._database.writing() as connection:
            insert_record(connection, schema.bank_funnel, funnel, {"bank_id": bank}, **given)

    def of_bank(self, bank: bytes) -> list[Funnel]:
        """Return the funnels of a bank, oldest first: one for each file that gave these facts."""
        table = schema.bank_funnel
        query = (
            select(table.c.payload)
            .join(schema.bank, schema.bank.c.id == table.c.bank_id)
            .where(schema.bank.c.hash == bank)
            .order_by(table.c.created_at, table.c.hash)
        )
        return [msgspec.json.decode(p, type=Funnel) for p in self._scalars(query)]


_PAGE = 512


class EnteringRow(msgspec.Struct, frozen=True, gc=False):
    """A row that enters a build, with the id of its stored source if any."""

    row: PipelineRow
    source: bytes | None = None


class BuildStore(StorePart):
    """Add and read builds."""

    def __init__(self, database: Database, outcomes: OutcomeStore) -> None:
        super().__init__(database)
        self._outcomes = outcomes

    def add(self, build: Build, rows: Iterable[EnteringRow], now: float, version: str) -> int:
        """Store a build with its input rows, page by page, and return its key; existing parts are
        kept.
        """
        with self._database.writing() as connection:
            given = {"payload": canonical_json(build), "created_at": now, "version": version}
            key = insert_record(connection, schema.build, build, {}, **given)
        if self._n_inputs(key) < build.n_inputs:
            self._add_inputs(key, rows)
        return key

    def build(self, identity: bytes) -> tuple[int, Build]:
        """Return the key and record of a build; KeyError if there is none."""
        row = self._one(_select_builds().where(schema.build.c.hash == identity), identity)
        return row.id, _build(row)

    def every(self) -> list[tuple[int, Build]]:
        """Return all builds, newest first."""
        rows = self._rows(_select_builds().order_by(schema.build.c.id.desc()))
        return [(row.id, _build(row)) for row in rows]

    def pages(self, build: int) -> Iterator[list[PipelineRow]]:
        """Yield the input rows, in order."""
        table, row = schema.build_input, schema.build_row
        query = (
            select(table.c.position, row.c.hash, row.c.payload)
            .join(row, row.c.id == table.c.row_id)
            .where(table.c.build_id == build)
        )
        for page in self._pages(query, table.c.position, size=_PAGE):
            yield [PipelineRow(row.hash, row.payload) for row in page]

    # ---- steps reached

    def add_stage(self, build: int, position: int, step: int) -> None:
        """Record that a build reached a step at this position."""
        with self._database.writing() as connection:
            row = (build, position, step)
            insert_rows(connection, schema.build_stage, [row], or_ignore=True)

    def stages(self, build: int) -> list[bytes]:
        """Return the keys of the steps that a build reached, in order."""
        table, step = schema.build_stage, schema.build_step
        query = (
            select(step.c.hash)
            .join(table, table.c.step_id == step.c.id)
            .where(table.c.build_id == build)
            .order_by(table.c.position)
        )
        return self._scalars(query)

    def step_keys(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return the integer keys of the steps that are stored."""
        return self._keys_of(schema.build_step, keys)

    # ---- results

    def add_funnel(self, build: bytes, funnel: BuildFunnel, now: float) -> None:
        """Store the funnel of a complete build; an identical one changes nothing."""
        payload = canonical_json(funnel)
        identity = content_id("build_funnel", [build, payload])
        given = {"hash": identity, "payload": payload, "created_at": now}
        with self._database.writing() as connection:
            insert_record(connection, schema.build_funnel, funnel, {"build_id": build}, **given)

    def funnel(self, build: int) -> BuildFunnel | None:
        """Return the newest funnel of a build that was complete."""
        table = schema.build_funnel
        query = select(table.c.payload).where(table.c.build_id == build).order_by(table.c.id.desc())
        payload = self._scalar(query.limit(1))
        return None if payload is None else msgspec.json.decode(payload, type=BuildFunnel)

    def add_bank(self, build: int, bank: bytes) -> None:
        """Record that a build produced a bank."""
        with self._database.writing() as connection:
            row = (build, key_of(connection, schema.bank, bank))
            insert_rows(connection, schema.build_bank, [row], or_ignore=True)

    def banks(self, build: int) -> list[bytes]:
        """Return the banks that a build produced, oldest first."""
        table, bank = schema.build_bank, schema.bank
        query = (
            select(bank.c.hash).join(table, table.c.bank_id == bank.c.id)
            .where(table.c.build_id == build).order_by(bank.c.id)
        )  # fmt: skip
        return self._scalars(query)

    def of_bank(self, bank: bytes) -> list[tuple[int, Build]]:
        """Return the builds of a bank, or of a bank that it corrects, oldest first."""
        table = schema.build_bank
        query = (
            _select_builds()
            .join(table, table.c.build_id == schema.build.c.id)
            .where(table.c.bank_id.in_(bank_versions(bank)))
            .distinct()
            .order_by(schema.build.c.id)
        )
        rows = self._rows(query)
        return [(row.id, _build(row)) for row in rows]

    # ---- the lease

    def take_lease(self, build: int, owner: str, now: float) -> None:
        """Take or renew a build's lease. Raises RunInUse, naming the holder."""
        take_lease(self._database, schema.build, build, owner, now)

    def give_back_lease(self, build: int, owner: str) -> None:
        """Release a lease that this owner holds."""
        give_back_lease(self._database, schema.build, build, owner)

    # ---- internals

    def _n_inputs(self, build: int) -> int:
        table = schema.build_input
        query = select(func.count()).select_from(table).where(table.c.build_id == build)
        return int(self._scalar(query))

    def _add_inputs(self, build: int, rows: Iterable[EnteringRow]) -> None:
        position = 0
        for page in chunks(rows, _PAGE):
            with self._database.writing() as connection:
                keys = self._outcomes.add_rows(connection, (each.row for each in page))
                wanted = {each.source for each in page if each.source is not None}
                sources = keys_by(connection, schema.source, ("hash",), wanted) if wanted else {}
                values = [
                    (build, place, keys[each.row.id], sources.get(each.source or b""))
                    for place, each in enumerate(page, position)
                ]
                insert_rows(connection, schema.build_input, values, or_ignore=True)
            position += len(page)


def _select_builds() -> Any:
    table = schema.build
    return select(table.c.id, table.c.hash, table.c.payload)


def _build(row: Row[Any]) -> Build:
    """Return a build under its current id: a purge of its inputs changes it."""
    return msgspec.structs.replace(msgspec.json.decode(row.payload, type=Build), id=row.hash)


# Journal of pipelines (``Journal``): read from the database, written by the one writer.
#
# Uncommitted writes are found as well.


class StoreJournal:
    """``Journal`` and ``Costs`` over a store, read-only without a writer."""

    def __init__(self, outcomes: OutcomeStore, writer: Writer | None = None) -> None:
        self._outcomes = outcomes
        self._writer = writer
        self._steps: dict[bytes, int] = {}
        self._uncommitted: dict[int, dict[bytes, Outcome]] = {}

    def register(self, key: bytes, step: Step | BatchStep) -> int:
        """Return the integer key of a step, storing it if new."""
        if key not in self._steps:
            self._steps[key] = self._outcomes.add_step(key, step)
        return self._steps[key]

    def know(self, steps: Mapping[bytes, int]) -> None:
        """Add the integer keys of stored steps."""
        self._steps |= steps

    def step(self, key: bytes) -> int:
        """Return the integer key of a known step."""
        return self._steps[key]

    def find(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Outcome]:
        """Return the outcomes of these rows at a step, committed or not."""
        key = self._steps[step]
        found = self._outcomes.find(key, rows)
        waiting = self._uncommitted.get(key)
        if waiting:
            for row in rows:
                if row in waiting and row not in found:
                    found[row] = waiting[row]
        return found

    async def write(self, step: bytes, outcomes: Sequence[tuple[bytes, Outcome]]) -> None:
        """Queue outcomes for the next group; wait while the queue is full. Raises StoreFailed."""
        if self._writer is None:
            raise RuntimeError("this journal is read-only")
        key = self._steps[step]
        waiting = self._uncommitted.setdefault(key, {})
        rows = [OutcomeRow(key, row, outcome) for row, outcome in outcomes]
        waiting.update(outcomes)
        await self._writer.write_outcomes(rows, lambda: self._settle(key, rows))

    async def flush(self) -> None:
        """Wait until everything is committed. Raises StoreFailed."""
        if self._writer is not None:
            await self._writer.flush()

    def spent(self, step: bytes, rows: Sequence[bytes]) -> Spent:
        """Return the cost of the calls for these rows at a step."""
        return self._outcomes.spent(self._steps[step], rows)

    def verdicts(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Sequence[RowVerdict]]:
        """Return the judges' verdicts on these rows at a step, for rows that have any."""
        return self._outcomes.verdicts(self._steps[step], rows)

    def errors(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the error of the newest failed call for each of these rows at a step."""
        return self._outcomes.errors(self._steps[step], rows)

    def _settle(self, key: int, rows: Sequence[OutcomeRow]) -> None:
        waiting = self._uncommitted[key]
        for row in rows:
            waiting.pop(row.row, None)
