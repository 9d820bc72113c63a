"""Ask the items of a run: plan pages, send requests, and count what is committed as finished.

Workers take (item, sample) from small pages. A page omits what already has a response at the run's
last step, so a resumed run renders nothing that is done. Each call goes through the asker (cache,
limit, retries) and then to the writer. Finished items are scored in small groups while their
responses are in memory.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from proofstone.errors import CallFailed
from proofstone.method import Method
from proofstone.models.ask import Asked, Asker
from proofstone.models.responses import read_response
from proofstone.records.calls import CallRecord, Clock, Message
from proofstone.records.items import Oracle
from proofstone.records.runs import Response
from proofstone.run.asked_items import ask_item, asked_page
from proofstone.run.plan import PlannedRun
from proofstone.run.prompts import format_of, in_format, request_of, sent_to_model
from proofstone.run.scorings import Finished, open_scoring, score_responses
from proofstone.session.askers import lease_held
from proofstone.session.progress import RunProgress
from proofstone.store.items import StoredItem
from proofstone.store.store import Store
from proofstone.store.writer import Place, Writer

_PAGE = 128


_SCORED_AT_ONCE = 64


async def perform_run(
    store: Store,
    writer: Writer,
    method: Method,
    planned: PlannedRun,
    asker: Asker,
    *,
    progress: RunProgress,
    stop: asyncio.Event,
    clock: Clock,
    judges: str = "",
) -> None:
    """Ask what is left of a run, until done, stopped, or the model cannot be used.

    Returns when every response is committed; ``progress`` holds the result. Responses that a rule
    can score go to the scoring of these ``judges``; the others are left. Raises RunInUse if another
    process works on it, and StoreFailed if responses could not be stored.
    """
    async with lease_held(store.runs, planned.key, clock):
        scoring = open_scoring(store, method, planned.key, planned.run, clock, judges)
        loop = _RunLoop(store, writer, method, planned, asker, progress, stop, scoring)
        progress.begin(clock)
        try:
            await loop.work()
            await writer.flush()
        finally:
            progress.end(clock)


class _Job:
    """One (item, sample) to ask; ``partial``: some of its steps have responses."""

    __slots__ = ("partial", "sample", "stored")

    def __init__(self, stored: StoredItem, sample: int, partial: bool) -> None:
        self.stored = stored
        self.sample = sample
        self.partial = partial


@dataclass
class _RunLoop:
    """Hold the state of one run while it is being worked on."""

    store: Store
    writer: Writer
    method: Method
    planned: PlannedRun
    asker: Asker
    progress: RunProgress
    stop: asyncio.Event
    scoring: int

    def __post_init__(self) -> None:
        self._is_fresh = not self.store.runs.has_responses(self.planned.key)
        self.settings = sent_to_model(self.planned.run.settings)
        self._jobs: deque[_Job] = deque()
        self._finished: list[Finished] = []
        self._after = -1
        self._left = self.planned.n_items
        self._answer_format = format_of(
            self.planned.prompt_method.own_prompt, self.planned.run.settings
        )

    async def work(self) -> None:
        """Run as many workers as the endpoint allows concurrent requests."""
        keeping_up = asyncio.create_task(self._keep_up())
        workers: list[asyncio.Task[None]] = []
        try:
            for n in range(self.asker.max_connections):
                workers.append(asyncio.create_task(self._worker()))
                if (
                    n % 8 == 7
                ):  # starting all first requests in one step delayed the event loop by 30 ms
                    await asyncio.sleep(0)
            await asyncio.gather(*workers)
        finally:
            for task in (*workers, keeping_up):
                task.cancel()
            # If planning a page failed here, it failed in a worker too, which raised the error.
            await asyncio.gather(keeping_up, return_exceptions=True)
        await self._score_finished()

    async def _keep_up(self) -> None:
        """Plan ahead and score between batches of responses, when it delays no request."""
        while True:
            await self.writer.lull()
            self._plan_ahead()
            while self._finished:
                await asyncio.sleep(0)  # responses that arrived meanwhile go first
                await self._score_finished(_SCORED_AT_ONCE)

    async def _worker(self) -> None:
        while not self.stop.is_set() and self.asker.stopped is None:
            job = self._next()
            if job is None:
                return
            self.progress.in_flight += 1
            call = _ItemCall(self, job)
            try:
                await ask_item(self.method, job.stored.loaded, self.planned.prompt_method, call)
                await call.finish()
                responses = in_format(call.responses, self._answer_format)
                self._finished.append(Finished(job.stored, responses, job.sample))
            except CallFailed:
                pass  # recorded and counted where it occurred; others were not sent
            finally:
                self.progress.in_flight -= 1
        if self.asker.stopped is not None:
            self.progress.stopped = str(self.asker.stopped)

    async def _score_finished(self, most: int | None = None) -> None:
        """Score up to ``most`` finished items that are not scored yet."""
        finished, self._finished = self._finished[:most], self._finished[most:] if most else []
        try:
            rows = await score_responses(self.store, self.method, finished)
        except Exception:  # noqa: BLE001 - a scorer's fault must not end a run that costs money:
            return  # score_run finds it again, and raises it, when all responses are stored
        self.writer.write_scores(self.scoring, rows)

    def _next(self) -> _Job | None:
        """Return the next job; None if there is none left.

        Pages are small and read on the event loop. In a thread, the driver would release the
        interpreter lock at every row and wait to get it back.
        """
        while not self._jobs and self._left > 0:
            self._plan_next()
        return self._jobs.popleft() if self._jobs else None

    def _plan_ahead(self) -> None:
        if len(self._jobs) < _PAGE and self._left > 0:
            self._plan_next()

    def _plan_next(self) -> None:
        size = min(_PAGE, self._left)
        self._jobs.extend(self._plan_page(self._after, size))
        self._after += size
        self._left -= size

    def _plan_page(self, after: int, size: int) -> list[_Job]:
        """Return what is left to ask of the ``size`` items after position ``after``."""
        store, planned = self.store, self.planned
        if self._is_fresh:
            return [
                _Job(stored, sample, partial=False)
                for stored in asked_page(
                    store, planned.prompt_method, planned.item_set.id, after, size
                )
                for sample in range(planned.samples)
            ]
        steps = store.runs.steps_among(planned.key, planned.item_set.id, after, size)
        last = planned.run.last_step
        if sum(last in done for done in steps.values()) == size * planned.samples:
            return []
        return [
            _Job(stored, sample, (stored.key, sample) in steps)
            for stored in asked_page(store, planned.prompt_method, planned.item_set.id, after, size)
            for sample in range(planned.samples)
            if last not in steps.get((stored.key, sample), ())
        ]


class _ItemCall:
    """The ``Call`` for one (item, sample); stores ``responses`` by step."""

    __slots__ = ("_job", "_loop", "responses")

    def __init__(self, loop: _RunLoop, job: _Job) -> None:
        self._loop = loop
        self._job = job
        self.responses: dict[str, Response] = {}

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        loop, job = self._loop, self._job
        if job.partial and (kept := self._kept(step)) is not None:
            self.responses[step] = kept
            return kept
        request = request_of(
            loop.planned.run, loop.settings, job.stored.loaded, job.sample, step, messages,
            oracle=oracle, schema=schema,
        )  # fmt: skip
        place = Place(loop.planned.key, job.stored.key, job.sample, step)

        async def record(attempt: CallRecord) -> None:
            await self._record(attempt, place)

        asked = await loop.asker.ask(request, record)
        response = self.responses[step] = await self._finish(place, asked)
        return response

    async def finish(self) -> None:
        """Finish an item that ended before the run's last step.

        The response of the last asked step is stored for the last step; it is not asked or billed
        again.
        """
        loop, job = self._loop, self._job
        last = loop.planned.run.last_step
        if last in self.responses or not self.responses:
            return
        step = next(reversed(self.responses))
        await loop.writer.flush()  # the response's call has a key once it is on disk
        key = loop.store.runs.call_key(loop.planned.key, job.stored.key, job.sample, step)
        place = Place(loop.planned.key, job.stored.key, job.sample, last)
        await loop.writer.write(key, place, self._count_done)
        self.responses[last] = self.responses[step]

    def _kept(self, step: str) -> Response | None:
        loop, job = self._loop, self._job
        kept = loop.store.runs.steps_done(loop.planned.key, job.stored.key, job.sample).get(step)
        return None if kept is None else read_response(kept.wire, kept.raw)

    async def _record(self, call: CallRecord, place: Place) -> None:
        """Store an attempt that is not the last one: billed, but not used.

        It has a place, so that it counts with its run even if the run stops before the next
        attempt.
        """
        self._loop.progress.count(call)
        await self._loop.writer.write(call, None if call.state == "submitted" else place)

    async def _finish(self, place: Place, asked: Asked) -> Response:
        loop = self._loop
        progress, call = loop.progress, asked.record
        if asked.key is None:
            progress.count(call)
        else:
            progress.cached += 1
        is_last = place.step == loop.planned.run.last_step
        response = asked.response
        committed = self._count_done if is_last and response is not None else None
        await loop.writer.write(call if asked.key is None else asked.key, place, committed)
        if response is None:
            progress.failed += 1
            raise CallFailed(call.error, call.detail)
        return response

    def _count_done(self) -> None:
        self._loop.progress.done += 1


# Measured on the run-loop bench: repeated garbage collection over the bank, the libraries and the
# responses in flight takes a sixth of the loop's processor time. A hash or a compression that hands
# the interpreter to another thread gets it back after the switch interval, 5 ms by default.
_COLLECT_EVERY = 50_000


_SWITCH_S = 0.001


@contextmanager
def tuned_interpreter() -> Iterator[None]:
    """Run garbage collection rarely, skip existing objects, and switch threads quickly.

    Restores the former state at the end. Campaigns of one process may overlap: the outermost
    restores.
    """
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    if thresholds[0] >= _COLLECT_EVERY:
        yield
        return
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, *thresholds[1:])
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*thresholds)
        gc.unfreeze()
