"""The one writer of a process: calls and responses, committed in groups from a thread of its own.

A group is what came within 20 ms, at most 256 rows, as one multi-row statement a table in one
transaction. "Finished" means committed: after a kill, at most what was in flight and one group is
asked again. No more than one group is ever uncommitted: beyond it ``write`` waits, which stops new
requests.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection

from proofstone.engines.store import schema
from proofstone.engines.store.calls import CALL, PROFILE, PROMPT, CallEncoder, EncodedCall
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing, insert_rows, take_keys
from proofstone.errors import ProofstoneError, StoreFailed
from proofstone.ports import CallRecord

__all__ = ["Place", "Writer"]

GROUP_ROWS = 256
GROUP_S = 0.020

_PLACED = ("run_id", "item_id", "sample", "step", "call_id")


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a response belongs: keys of run and item, sample number, step name."""

    run: int
    item: int
    sample: int
    step: str


class _Job(msgspec.Struct, gc=False):
    call: CallRecord | int  # an int is the key of a stored call, served again from the cache
    place: Place | None
    failed: bool
    committed: Callable[[], None] | None


class Writer:
    """Takes rows on the event loop and commits them in groups.

    Use as ``async with Writer(database) as writer``. After a failed commit every later ``write``
    and the exit raise StoreFailed; what was committed before stands.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._encoder = CallEncoder()
        self._jobs: deque[_Job] = deque()
        self._some = threading.Event()
        self._full = threading.Event()
        self._closing = False
        self._outstanding = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._failure: ProofstoneError | None = None
        self._thread = threading.Thread(target=self._work, name="proofstone-writer", daemon=True)
        self._profiles: dict[bytes, int] = {}

    async def __aenter__(self) -> Writer:
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self._closing = True
        self._some.set()
        self._full.set()
        await asyncio.to_thread(self._thread.join)
        self._settle_waiting()
        if self._failure is not None and _exc[0] is None:
            raise self._failure

    async def write(
        self,
        call: CallRecord | int,
        place: Place | None = None,
        committed: Callable[[], None] | None = None,
    ) -> None:
        """Queues a call (or the key of a cached one) and, with ``place``, the response it gives.

        A failed call at a place becomes a failure row, never a response. ``committed`` is called
        on the loop once the row is on disk. Waits while the queue is full. Raises StoreFailed.
        """
        while self._outstanding >= GROUP_ROWS and self._failure is None:
            space: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append(space)
            await space
        if self._failure is not None:
            raise self._failure
        failed = not isinstance(call, int) and call.state != "complete"
        self._jobs.append(_Job(call, place, failed, committed))
        self._outstanding += 1
        if len(self._jobs) >= GROUP_ROWS:
            self._full.set()
        self._some.set()

    async def flush(self) -> None:
        """Waits until everything written so far is committed. Raises StoreFailed."""
        while self._outstanding and self._failure is None:
            self._full.set()
            space: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append(space)
            await space
        if self._failure is not None:
            raise self._failure

    # ---- on the writer's thread

    def _work(self) -> None:
        while True:
            self._some.wait()
            if not self._closing:
                self._full.wait(GROUP_S)
            self._some.clear()
            self._full.clear()
            group = [self._jobs.popleft() for _ in range(min(len(self._jobs), GROUP_ROWS))]
            if self._jobs or self._closing:
                self._some.set()
            if not group:
                if self._closing:
                    return
                continue
            failure = self._commit(group)
            self._tell(group, failure)
            if failure is not None:
                return

    def _commit(self, group: list[_Job]) -> ProofstoneError | None:
        try:
            with self._database.writing() as connection:
                self._insert(connection, group)
        except ProofstoneError as error:
            return error
        except Exception as error:  # noqa: BLE001 - whatever it was, the run must hear of it
            return StoreFailed(f"could not store a group of replies: {error!r}")
        return None

    def _tell(self, group: list[_Job], failure: ProofstoneError | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle, group, failure)
        except RuntimeError:  # the loop was closed by a second Ctrl-C: nobody waits any more
            return

    def _insert(self, connection: Connection, group: list[_Job]) -> None:
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
        for job in group:
            if job.place is None:
                continue
            key = job.call if isinstance(job.call, int) else key_of[id(job)]
            place = job.place
            row = (place.run, place.item, place.sample, place.step, key)
            (failed if job.failed else done).append(row)
        insert_rows(connection, schema.response, _PLACED, done, or_ignore=True)
        insert_rows(connection, schema.failure, _PLACED, failed)

    def _profile_keys(
        self, connection: Connection, calls: Sequence[EncodedCall]
    ) -> dict[bytes, int]:
        new = {c.profile[0]: c.profile for c in calls if c.profile[0] not in self._profiles}
        if new:
            self._profiles |= insert_missing(connection, schema.profile, PROFILE, new)
        return self._profiles

    # ---- on the loop

    def _settle(self, group: list[_Job], failure: ProofstoneError | None) -> None:
        self._outstanding -= len(group)
        if failure is not None:
            self._failure = failure
        else:
            for job in group:
                if job.committed is not None:
                    job.committed()
        self._settle_waiting()

    def _settle_waiting(self) -> None:
        while self._waiting:
            space = self._waiting.popleft()
            if not space.done():
                space.set_result(None)
