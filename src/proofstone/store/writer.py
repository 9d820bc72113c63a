"""The one writer of a process: calls, responses, scores and build outcomes, in groups.

A group is what arrived within 30 to 80 ms, at most 256 calls, as a few multi-row statements in one
transaction. It is written in a pause between responses if there is one. "Finished" means committed:
after a kill, at most the requests in flight and one group are repeated. No more than one group is
ever uncommitted: beyond it ``write`` waits, which stops new requests.

Rows are encoded and inserted on the event loop, and only the commit, which waits for the disk, runs
in a thread. A thread that inserts exchanges the GIL once per statement (decision 0004). If another
process or thread is writing, the whole group goes to a thread and waits there. That thread belongs
to the writer: in a shared pool a commit could be queued behind those who wait for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, func, select

from proofstone.errors import ProofstoneError, StoreFailed
from proofstone.records.builds import BatchStep, Outcome, PipelineRow, Step
from proofstone.records.calls import CallRecord
from proofstone.records.ids import canonical_json
from proofstone.records.runs import Spent
from proofstone.records.verdicts import RowVerdict
from proofstone.store import schema
from proofstone.store.calls import CALL, CallEncoder, EncodedCall, spent_of, totals
from proofstone.store.database import Database
from proofstone.store.rows import (
    StorePart,
    insert_missing,
    insert_rows,
    insert_verdicts,
    keys_by,
    many_values,
    select_many,
    select_verdicts,
    steps_judged,
    take_keys,
)
from proofstone.store.scores import Clusters, ScoreRow, ScoreStore

# Step outcomes: found for many rows together, inserted by the writer in its groups.
#
# Row keys are integers in insertion order, so the rows of a pipeline are stored close together;
# only lookups by hash are scattered.


_REMEMBERED = 100_000  # recently used row keys: about 15 MB


class BuildPlace(msgspec.Struct, frozen=True, gc=False):
    """The place of a build's call: the key of a step, the id of a row."""

    step: int
    row: bytes


class OutcomeRow(msgspec.Struct, frozen=True, gc=False):
    """The outcome of the step with this key for a row."""

    step: int
    row: bytes
    outcome: Outcome


class OutcomeStore(StorePart):
    """Store steps, rows and outcomes."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._keys: dict[bytes, int] = {}

    # ---- reading

    def find(self, step: int, rows: Sequence[bytes]) -> dict[bytes, Outcome]:
        """Return the stored outcomes of these rows at a step."""
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
        """Return the cost of the calls for these rows at a step, each row and call counted once."""
        found, same = Spent(), schema.call.c.request_hash
        for connection, here in self._calls_for(step, rows):
            asked = select(same).join(schema.build_call).where(here)
            found += spent_of(connection.execute(totals().where(same.in_(asked))).one())
        return found

    def latency_s(self, step: int, rows: Sequence[bytes]) -> float:
        """Return the total seconds of the calls for these rows at a step."""
        total, seconds = 0.0, func.coalesce(func.sum(schema.call.c.latency_s), 0.0)
        for connection, here in self._calls_for(step, rows):
            query = select(seconds).select_from(schema.call.join(schema.build_call)).where(here)
            total += float(connection.execute(query).scalar_one())
        return total

    def errors(self, step: int, rows: Sequence[bytes]) -> dict[bytes, str]:
        """Return the newest failure of each of these rows that has one at a step."""
        call, made, row = schema.call, schema.build_call, schema.build_row
        failed = (
            select(row.c.hash, call.c.error)
            .select_from(made.join(call).join(row))
            .where(call.c.state == "failed")
            .order_by(call.c.id)
        )
        return {
            identity: error
            for connection, here in self._calls_for(step, rows)
            for identity, error in connection.execute(failed.where(here))
        }

    def verdicts(self, step: int, rows: Sequence[bytes]) -> dict[bytes, list[RowVerdict]]:
        """Return the judges' verdicts on these rows at a step, for rows that have any."""
        with self._database.reading() as connection:
            keys = self._known_keys(connection, rows)
            named = {key: row for row, key in keys.items()}
            found = select_verdicts(connection, step, list(named))
        return {named[key]: verdicts for key, verdicts in found.items()}

    def judged(self, steps: Sequence[int]) -> set[int]:
        """Return the steps that have verdicts."""
        with self._database.reading() as connection:
            return steps_judged(connection, steps)

    def _calls_for(
        self, step: int, rows: Sequence[bytes]
    ) -> Iterator[tuple[Connection, ColumnElement[bool]]]:
        """Yield a connection, with the condition that a call was made for one of a batch of
        rows.
        """
        made = schema.build_call.c
        with self._database.reading() as connection:
            for part in many_values(list(self._known_keys(connection, rows).values())):
                yield connection, (made.step_id == step) & made.row_id.in_(part)

    def forget(self) -> None:
        """Drop cached keys: a purge gave rows other ids."""
        self._keys.clear()

    # ---- adding

    def add_step(self, key: bytes, step: Step | BatchStep) -> int:
        """Return the integer key of a step, storing it if new."""
        row = (key, step.name, step.version, canonical_json(step.config))
        with self._database.writing() as connection:
            return insert_missing(connection, schema.build_step, {key: row})[key]

    def keep_rows(self, rows: Iterable[PipelineRow]) -> None:
        """Store rows of a pilot, which enter no build."""
        with self._database.writing() as connection:
            self.add_rows(connection, rows)

    def add_rows(self, connection: Connection, rows: Iterable[PipelineRow]) -> dict[bytes, int]:
        """Return the integer keys of rows, storing new ones, in the open transaction."""
        wanted = {row.id: (row.id, row.payload) for row in rows}
        keys = {identity: self._keys[identity] for identity in wanted if identity in self._keys}
        new = {identity: row for identity, row in wanted.items() if identity not in keys}
        added = insert_missing(connection, schema.build_row, new)
        self._remember(added)
        return keys | added

    def insert(self, connection: Connection, made: Sequence[OutcomeRow]) -> None:
        """Insert outcomes of stored rows, with the rows that they kept and the verdicts.

        Rows with an outcome are left as they are.
        """
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
        insert_rows(connection, schema.build_outcome, outcomes)
        insert_rows(connection, schema.build_output, outputs)
        insert_verdicts(connection, judged)

    def insert_calls(self, connection: Connection, calls: Sequence[tuple[BuildPlace, int]]) -> None:
        """Insert which call was made where; an unknown row is one without content."""
        places = {place.row for place, _call in calls}
        keys = self._known_keys(connection, list(places))
        empty = (PipelineRow(row, b"") for row in places if row not in keys)
        keys |= self.add_rows(connection, empty)
        rows = [(place.step, keys[place.row], call) for place, call in calls]
        insert_rows(connection, schema.build_call, rows, or_ignore=True)

    # ---- internals

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
        """Cache keys; if there are too many, the oldest are dropped."""
        known = self._keys
        if len(known) + len(keys) > _REMEMBERED:
            for old in list(known)[: len(known) // 2]:
                del known[old]
        known |= keys


GROUP_ROWS = 256


GROUP_S = 0.080


_YOUNG_S = 0.030  # a group may grow until then: a commit per response would wear the disk


_LULL_S = 0.004


_ENOUGH_ROWS = 128  # are committed at once: a larger insert blocks the loop for longer


_MOST_OUTCOMES = 2048  # uncommitted; plain steps make them as fast as they are accepted


class Place(msgspec.Struct, frozen=True, gc=False):
    """The place of a response: keys of run and item, sample number, step name."""

    run: int
    item: int
    sample: int
    step: str


class PilotPlace(msgspec.Struct, frozen=True, gc=False):
    """The place of a pilot call: keys of item and item set, number of few-shot examples."""

    item: int
    item_set: int
    shots: int


AnyPlace = Place | PilotPlace | BuildPlace


class _Job(msgspec.Struct, gc=False):
    call: CallRecord | int  # an int is the key of a stored call, served again from the cache
    place: AnyPlace | None
    failed: bool
    committed: Callable[[], None] | None


class _Outcomes(msgspec.Struct, frozen=True, gc=False):
    rows: Sequence[OutcomeRow]
    committed: Callable[[], None]


class _Group(msgspec.Struct, frozen=True, gc=False):
    """One commit: calls, and scores and outcomes that depend on these or earlier calls."""

    jobs: list[_Job]
    scores: dict[int, list[ScoreRow]]
    outcomes: list[_Outcomes]


class Writer:
    """Accept rows on the event loop and commit them in groups.

    Use as ``async with Writer(database, scores, outcomes) as writer``. After a failed commit every
    later ``write`` and the exit raise StoreFailed; committed rows are kept. ``kept`` is called with
    each new call once it is on disk.
    """

    def __init__(
        self,
        database: Database,
        scores: ScoreStore,
        outcomes: OutcomeStore,
        kept: Callable[[CallRecord], None] | None = None,
    ) -> None:
        self._database = database
        self._outcome_store = outcomes
        self._kept = kept
        self._score_store = scores
        self._encoder = CallEncoder()
        self._jobs: list[_Job] = []
        self._scores: dict[int, list[ScoreRow]] = {}
        self._outcomes: list[_Outcomes] = []
        self._n_outcomes = 0
        self._some = asyncio.Event()
        self._full = asyncio.Event()
        self._lull = asyncio.Event()
        self._closing = False
        self._outstanding = 0
        self._committing = False
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._failure: ProofstoneError | None = None
        self._profiles: dict[bytes, int] = {}

    async def __aenter__(self) -> Writer:
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="proofstone-commit")
        self._work_task = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self._closing = True
        self._some.set()
        self._full.set()
        try:
            await self._work_task
        finally:
            self._thread.shutdown(wait=False)
        if self._failure is not None and _exc[0] is None:
            raise self._failure

    async def write(
        self,
        call: CallRecord | int,
        place: AnyPlace | None = None,
        committed: Callable[[], None] | None = None,
    ) -> None:
        """Queue a call (or the key of a cached one) and, with ``place``, its response.

        A failed call at a place becomes a failure row, never a response. ``committed`` is called on
        the loop once the row is on disk. Waits while the queue is full. Raises StoreFailed.
        """
        while self._outstanding >= GROUP_ROWS and self._failure is None:
            await self._next_commit()
        if self._failure is not None:
            raise self._failure
        failed = not isinstance(call, int) and call.state != "complete"
        self._jobs.append(_Job(call, place, failed, committed))
        self._outstanding += 1
        if len(self._jobs) >= _ENOUGH_ROWS:
            self._full.set()
        self._some.set()

    def write_scores(self, scoring: int, rows: Sequence[ScoreRow]) -> None:
        """Queue scores of a response that was written before; never committed before it."""
        self._scores.setdefault(scoring, []).extend(rows)
        self._some.set()

    async def write_outcomes(
        self, rows: Sequence[OutcomeRow], committed: Callable[[], None]
    ) -> None:
        """Queue step outcomes; committed with the calls written before, or after them.

        Waits while too many are uncommitted. Raises StoreFailed.
        """
        while self._n_outcomes >= _MOST_OUTCOMES and self._failure is None:
            await self._next_commit()
        if self._failure is not None:
            raise self._failure
        self._outcomes.append(_Outcomes(rows, committed))
        self._n_outcomes += len(rows)
        if self._n_outcomes >= _MOST_OUTCOMES:
            self._full.set()
        self._some.set()

    async def flush(self) -> None:
        """Wait until everything written so far is committed. Raises StoreFailed."""
        while self._is_behind() and self._failure is None:
            self._full.set()
            await self._next_commit()
        if self._failure is not None:
            raise self._failure

    def _is_behind(self) -> bool:
        return bool(self._outstanding or self._scores or self._n_outcomes or self._committing)

    async def _next_commit(self) -> None:
        space: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(space)
        await space

    async def lull(self) -> None:
        """Wait for the next moment at which work on the loop delays the fewest responses."""
        await self._lull.wait()

    # ---- the writer's task

    async def _work(self) -> None:
        try:
            while self._failure is None:
                group = await self._next_group()
                if group is None:
                    return
                self._failure = await self._commit(group)
                self._settle(group)
        finally:
            if self._failure is None and not self._closing:
                self._failure = StoreFailed("the writer was canceled before it was closed")
            self._settle_waiting()

    async def _next_group(self) -> _Group | None:
        """Return everything queued so far; None when nothing is left or coming."""
        while True:
            await self._some.wait()
            if not self._closing and not self._full.is_set():
                await self._bunch()
            self._full.clear()
            self._lull.set()
            self._lull.clear()
            if not self._closing:
                self._some.clear()
            if self._jobs or self._scores or self._outcomes:
                group = _Group(self._jobs, self._scores, self._outcomes)
                self._jobs, self._scores, self._outcomes = [], {}, []
                self._committing = True
                return group
            if self._closing:
                return None

    async def _bunch(self) -> None:
        """Wait until nothing was written for a moment, or the group is full or old.

        Responses arrive in bursts (each request starts when the one before it was handled). Rows
        inserted within a burst delay all that follow; in the pause between two bursts they delay
        none.
        """
        oldest = self._loop.time() + GROUP_S
        written, pause = -1, _YOUNG_S
        while len(self._jobs) != written and self._loop.time() < oldest:
            written = len(self._jobs)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._full.wait()
                    return
            pause = _LULL_S

    async def _commit(self, group: _Group) -> ProofstoneError | None:
        clusters: Clusters | None = None
        try:
            with self._database.writing_at_once() as connection:
                if connection is not None:
                    clusters = self._insert(connection, group)
                    await self._loop.run_in_executor(self._thread, connection.commit)
            if clusters is None:
                clusters = await self._loop.run_in_executor(
                    self._thread, self._commit_waiting, group
                )
        except ProofstoneError as error:
            return error
        except Exception as error:  # noqa: BLE001 - whatever it was, the run must hear of it
            return StoreFailed(f"could not store a group of responses: {error!r}")
        self._score_store.remember(clusters)
        return None

    def _commit_waiting(self, group: _Group) -> Clusters:
        def insert(connection: Connection) -> Clusters:
            if not self._database.is_sqlite:
                self._profiles = {}  # of a transaction that is repeated
            return self._insert(connection, group)

        return self._database.transact(insert)

    def _insert(self, connection: Connection, group: _Group) -> Clusters:
        # Rows before the calls that were made for them.
        made = [row for outcomes in group.outcomes for row in outcomes.rows]
        if made:
            self._outcome_store.insert(connection, made)
        self._insert_jobs(connection, group.jobs)
        clusters: Clusters = {}
        for scoring, rows in group.scores.items():
            clusters |= self._score_store.insert(connection, scoring, rows, clusters)
        return clusters

    def _insert_jobs(self, connection: Connection, group: list[_Job]) -> None:
        asked = [job for job in group if not isinstance(job.call, int)]
        calls = self._encoder.encode([job.call for job in asked])  # type: ignore[misc]
        bodies = {c.prompt_hash: (c.prompt_hash, c.prompt) for c in calls}
        prompts = insert_missing(connection, schema.prompt, bodies)
        profiles = self._profile_keys(connection, calls)
        keys = take_keys(connection, schema.call, len(calls))
        rows = [
            (key, profiles[c.profile[0]], prompts[c.prompt_hash], *c.values)
            for key, c in zip(keys, calls, strict=True)
        ]
        insert_rows(connection, schema.call, rows, columns=CALL)
        key_of = {id(job): key for key, job in zip(keys, asked, strict=True)}
        done: list[tuple[Any, ...]] = []
        failed: list[tuple[Any, ...]] = []
        apart: list[tuple[Any, ...]] = []
        built: list[tuple[BuildPlace, int]] = []
        for job in group:
            if job.place is None:
                continue
            key = job.call if isinstance(job.call, int) else key_of[id(job)]
            place = job.place
            if isinstance(place, PilotPlace):
                apart.append((key, place.item, place.item_set, place.shots))
                continue
            if isinstance(place, BuildPlace):
                built.append((place, key))
                continue
            row = (place.run, place.item, place.sample, place.step, key)
            (failed if job.failed else done).append(row)
        insert_rows(connection, schema.response, done, or_ignore=True)
        insert_rows(connection, schema.failure, failed)
        insert_rows(connection, schema.pilot_call, apart, or_ignore=True)
        if built:
            self._outcome_store.insert_calls(connection, built)

    def _profile_keys(
        self, connection: Connection, calls: Sequence[EncodedCall]
    ) -> dict[bytes, int]:
        new = {c.profile[0]: c.profile for c in calls if c.profile[0] not in self._profiles}
        if new:
            self._profiles |= insert_missing(connection, schema.profile, new)
        return self._profiles

    def _settle(self, group: _Group) -> None:
        self._outstanding -= len(group.jobs)
        self._n_outcomes -= sum(len(outcomes.rows) for outcomes in group.outcomes)
        self._committing = False
        if self._failure is None:
            for job in group.jobs:
                if job.committed is not None:
                    job.committed()
            for outcomes in group.outcomes:
                outcomes.committed()
            if self._kept is not None:
                for job in group.jobs:
                    if not isinstance(job.call, int):
                        self._kept(job.call)
        self._settle_waiting()

    def _settle_waiting(self) -> None:
        while self._waiting:
            space = self._waiting.popleft()
            if not space.done():
                space.set_result(None)
