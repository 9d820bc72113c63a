"""Builds: what entered them, the steps that they reached, their lease, funnel and banks."""

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

# Funnels of banks: what filters left of the files that they were read from, in counts.


class FunnelStore(StorePart):
    """Adds and reads the funnels of banks."""

    def add(self, bank: bytes, funnel: Funnel, now: float) -> None:
        """Stores the funnel of a bank; the same one again changes nothing."""
        payload = canonical_json(msgspec.to_builtins(funnel))
        identity = content_id("bank_funnel", [bank, payload])
        given = {"hash": identity, "payload": payload, "created_at": now}
        with self._database.writing() as connection:
            insert_record(connection, schema.bank_funnel, funnel, {"bank_id": bank}, **given)

    def of_bank(self, bank: bytes) -> list[Funnel]:
        """The funnels of a bank, oldest first: one for each file that left these very facts."""
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
    """A row that enters a build, and the id of the source that it was taken from, where there is
    one that is stored."""

    row: PipelineRow
    source: bytes | None = None


class BuildStore(StorePart):
    """Adds and reads builds."""

    def __init__(self, database: Database, outcomes: OutcomeStore) -> None:
        super().__init__(database)
        self._outcomes = outcomes

    def add(self, build: Build, rows: Iterable[EnteringRow], now: float, version: str) -> int:
        """Stores a build with the rows that enter it, page by page, and returns its key; what is
        there of it stays."""
        with self._database.writing() as connection:
            given = {"payload": canonical_json(build), "created_at": now, "version": version}
            key = insert_record(connection, schema.build, build, {}, **given)
        if self._n_inputs(key) < build.n_inputs:
            self._add_inputs(key, rows)
        return key

    def build(self, identity: bytes) -> tuple[int, Build]:
        """The key and record of a build; KeyError where there is none."""
        row = self._one(_select_builds().where(schema.build.c.hash == identity), identity)
        return row.id, _build(row)

    def every(self) -> list[tuple[int, Build]]:
        """All builds, newest first."""
        rows = self._rows(_select_builds().order_by(schema.build.c.id.desc()))
        return [(row.id, _build(row)) for row in rows]

    def pages(self, build: int) -> Iterator[list[PipelineRow]]:
        """The rows that entered, in order."""
        table, row = schema.build_input, schema.build_row
        query = (
            select(table.c.position, row.c.hash, row.c.payload)
            .join(row, row.c.id == table.c.row_id)
            .where(table.c.build_id == build)
        )
        for page in self._pages(query, table.c.position, size=_PAGE):
            yield [PipelineRow(row.hash, row.payload) for row in page]

    # ---- the steps that were reached

    def add_stage(self, build: int, position: int, step: int) -> None:
        """Says that a build reached a step at this place."""
        with self._database.writing() as connection:
            row = (build, position, step)
            insert_rows(connection, schema.build_stage, [row], or_ignore=True)

    def stages(self, build: int) -> list[bytes]:
        """The keys of the steps that a build reached, in order."""
        table, step = schema.build_stage, schema.build_step
        query = (
            select(step.c.hash)
            .join(table, table.c.step_id == step.c.id)
            .where(table.c.build_id == build)
            .order_by(table.c.position)
        )
        return self._scalars(query)

    def step_keys(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """The integer keys of steps, of those that are stored."""
        return self._keys_of(schema.build_step, keys)

    # ---- what came of it

    def add_funnel(self, build: bytes, funnel: BuildFunnel, now: float) -> None:
        """Stores the funnel of a build that is whole; the same one again changes nothing."""
        payload = canonical_json(funnel)
        identity = content_id("build_funnel", [build, payload])
        given = {"hash": identity, "payload": payload, "created_at": now}
        with self._database.writing() as connection:
            insert_record(connection, schema.build_funnel, funnel, {"build_id": build}, **given)

    def funnel(self, build: int) -> BuildFunnel | None:
        """The newest funnel of a build that was whole."""
        table = schema.build_funnel
        query = select(table.c.payload).where(table.c.build_id == build).order_by(table.c.id.desc())
        payload = self._scalar(query.limit(1))
        return None if payload is None else msgspec.json.decode(payload, type=BuildFunnel)

    def add_bank(self, build: int, bank: bytes) -> None:
        """Says which bank came of a build."""
        with self._database.writing() as connection:
            row = (build, key_of(connection, schema.bank, bank))
            insert_rows(connection, schema.build_bank, [row], or_ignore=True)

    def banks(self, build: int) -> list[bytes]:
        """The banks that came of a build, oldest first."""
        table, bank = schema.build_bank, schema.bank
        query = (
            select(bank.c.hash).join(table, table.c.bank_id == bank.c.id)
            .where(table.c.build_id == build).order_by(bank.c.id)
        )  # fmt: skip
        return self._scalars(query)

    def of_bank(self, bank: bytes) -> list[tuple[int, Build]]:
        """The builds that a bank came of, or a bank that it corrects, oldest first."""
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
        """Takes or renews a build's lease. Raises RunInUse, naming the holder."""
        take_lease(self._database, schema.build, build, owner, now)

    def give_back_lease(self, build: int, owner: str) -> None:
        """Ends a lease that this owner holds."""
        give_back_lease(self._database, schema.build, build, owner)

    # ---- inside

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
    """A build under the id that it has now: a purge of what entered gives it another."""
    return msgspec.structs.replace(msgspec.json.decode(row.payload, type=Build), id=row.hash)


# The journal of pipelines (``Journal``): read from the database, written by the one writer.
#
# What was written and is not committed yet is found as well.


class StoreJournal:
    """``Journal`` and ``Costs`` over a store. Without a writer it is only read."""

    def __init__(self, outcomes: OutcomeStore, writer: Writer | None = None) -> None:
        self._outcomes = outcomes
        self._writer = writer
        self._steps: dict[bytes, int] = {}
        self._uncommitted: dict[int, dict[bytes, Outcome]] = {}

    def register(self, key: bytes, step: Step | BatchStep) -> int:
        """The integer key of a step, stored from now on."""
        if key not in self._steps:
            self._steps[key] = self._outcomes.add_step(key, step)
        return self._steps[key]

    def know(self, steps: Mapping[bytes, int]) -> None:
        """Takes the integer keys of steps that are stored."""
        self._steps |= steps

    def step(self, key: bytes) -> int:
        """The integer key of a step that is known here."""
        return self._steps[key]

    def find(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Outcome]:
        """The outcomes of these rows at a step, committed or not."""
        key = self._steps[step]
        found = self._outcomes.find(key, rows)
        waiting = self._uncommitted.get(key)
        if waiting:
            for row in rows:
                if row in waiting and row not in found:
                    found[row] = waiting[row]
        return found

    async def write(self, step: bytes, outcomes: Sequence[tuple[bytes, Outcome]]) -> None:
        """Queues outcomes for the next group; waits while the queue is full. Raises StoreFailed."""
        if self._writer is None:
            raise RuntimeError("this journal is only read")
        key = self._steps[step]
        waiting = self._uncommitted.setdefault(key, {})
        rows = [OutcomeRow(key, row, outcome) for row, outcome in outcomes]
        waiting.update(outcomes)
        await self._writer.write_outcomes(rows, lambda: self._settle(key, rows))

    async def flush(self) -> None:
        """Waits until all is committed. Raises StoreFailed."""
        if self._writer is not None:
            await self._writer.flush()

    def spent(self, step: bytes, rows: Sequence[bytes]) -> Spent:
        """What the calls for these rows took at a step."""
        return self._outcomes.spent(self._steps[step], rows)

    def verdicts(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Sequence[RowVerdict]]:
        """What judges said of these rows at a step, of those on which they said anything."""
        return self._outcomes.verdicts(self._steps[step], rows)

    def errors(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, str]:
        """Why the newest failed call for each of these rows failed at a step."""
        return self._outcomes.errors(self._steps[step], rows)

    def _settle(self, key: int, rows: Sequence[OutcomeRow]) -> None:
        waiting = self._uncommitted[key]
        for row in rows:
            waiting.pop(row.row, None)
