"""The one writer of a process: calls, responses, scores and outcomes of builds, in groups.

A group is what came within 30 to 80 ms, at most 256 calls, as a few multi-row statements in one
transaction. It is taken in a lull between replies where there is one. "Finished" means committed:
after a kill, at most what was in flight and one group is asked again. No more than one group is
ever uncommitted: beyond it ``write`` waits, which stops new requests.

Rows are encoded and inserted on the event loop, and only the commit, which waits for the disk, is
made in a thread: a thread that inserts hands the interpreter's lock back and forth once a
statement (decision 0004). Where another process or thread is writing, the whole group goes to a
thread and waits there. That thread is the writer's own: in a shared pool a commit could stand
behind those who wait for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import msgspec
from sqlalchemy import Connection

from proofstone.engines.store import schema
from proofstone.engines.store.calls import CALL, PROFILE, PROMPT, CallEncoder, EncodedCall
from proofstone.engines.store.opening import Database
from proofstone.engines.store.outcomes import BuildPlace, OutcomeRow, OutcomeStore
from proofstone.engines.store.rows import insert_missing, insert_rows, take_keys
from proofstone.engines.store.scores import Clusters, ScoreRow, ScoreStore
from proofstone.errors import ProofstoneError, StoreFailed
from proofstone.ports import CallRecord

__all__ = ["GROUP_ROWS", "PilotPlace", "Place", "Writer"]

GROUP_ROWS = 256
GROUP_S = 0.080
_YOUNG_S = 0.030  # a group is let grow before: a commit for every reply would wear the disk
_LULL_S = 0.004
_ENOUGH_ROWS = 128  # are committed at once: a larger insert holds up the loop for longer
_MOST_OUTCOMES = 2048  # uncommitted; plain steps make them as fast as they are taken

_PLACED = ("run_id", "item_id", "sample", "step", "call_id")
_PILOT = ("call_id", "item_id", "item_set_id", "shots")


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a response belongs: keys of run and item, sample number, step name."""

    run: int
    item: int
    sample: int
    step: str


class PilotPlace(msgspec.Struct, frozen=True, gc=False):
    """What a call outside of a run asked: keys of item and item set, number of worked examples."""

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
    """What is committed together: calls, and scores of replies and outcomes that rest on calls
    which are in it or came before."""

    jobs: list[_Job]
    scores: dict[int, list[ScoreRow]]
    outcomes: list[_Outcomes]


class Writer:
    """Takes rows on the event loop and commits them in groups.

    Use as ``async with Writer(database, scores, outcomes) as writer``. After a failed commit every
    later ``write`` and the exit raise StoreFailed; what was committed before stands. ``kept`` is
    told of each new call once it is on disk.
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
        """Queues a call (or the key of a cached one) and, with ``place``, the response it gives.

        A failed call at a place becomes a failure row, never a response. ``committed`` is called
        on the loop once the row is on disk. Waits while the queue is full. Raises StoreFailed.
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
        """Queues scores of a reply that was written before; they are committed with it or later,
        never earlier."""
        self._scores.setdefault(scoring, []).extend(rows)
        self._some.set()

    async def write_outcomes(
        self, rows: Sequence[OutcomeRow], committed: Callable[[], None]
    ) -> None:
        """Queues what steps made of rows; committed with the calls written before, or after them.
        Waits while too many are not committed yet. Raises StoreFailed."""
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
        """Waits until everything written so far is committed. Raises StoreFailed."""
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
        """Waits for the next moment at which work on the loop holds up the fewest replies."""
        await self._lull.wait()

    # ---- the work of the writer's task

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
                self._failure = StoreFailed("the writer was ended before it was closed")
            self._settle_waiting()

    async def _next_group(self) -> _Group | None:
        """All that came by the time it is taken; None once there is nothing and nothing comes."""
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
        """Ends when nothing was written for a moment, or the group is full or old.

        Replies come in bunches, one behind the other (each request leaves when the one before it
        was handled): rows inserted within a bunch hold up all that is behind them, and in the lull
        between two nobody.
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
            return StoreFailed(f"could not store a group of replies: {error!r}")
        self._score_store.remember(clusters)
        return None

    def _commit_waiting(self, group: _Group) -> Clusters:
        def insert(connection: Connection) -> Clusters:
            if not self._database.is_sqlite:
                self._profiles = {}  # of a transaction that is made again
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
        prompts = insert_missing(connection, schema.prompt, PROMPT, bodies)
        profiles = self._profile_keys(connection, calls)
        keys = take_keys(connection, schema.call, len(calls))
        rows = [
            (key, profiles[c.profile[0]], prompts[c.prompt_hash], *c.values)
            for key, c in zip(keys, calls, strict=True)
        ]
        insert_rows(connection, schema.call, CALL, rows)
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
        insert_rows(connection, schema.response, _PLACED, done, or_ignore=True)
        insert_rows(connection, schema.failure, _PLACED, failed)
        insert_rows(connection, schema.pilot_call, _PILOT, apart, or_ignore=True)
        if built:
            self._outcome_store.insert_calls(connection, built)

    def _profile_keys(
        self, connection: Connection, calls: Sequence[EncodedCall]
    ) -> dict[bytes, int]:
        new = {c.profile[0]: c.profile for c in calls if c.profile[0] not in self._profiles}
        if new:
            self._profiles |= insert_missing(connection, schema.profile, PROFILE, new)
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
