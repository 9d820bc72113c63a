"""Rows through steps one behind the other: each step at work on rows that the one before it kept.

What is known of a row is taken from the journal; the rest is worked on, a bounded number of rows a
step, and whoever is ahead waits. So memory holds what is on its way and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from proofstone.engines.pipeline.channel import Channel
from proofstone.engines.pipeline.progress import StepProgress
from proofstone.engines.pipeline.rows import read_row
from proofstone.engines.pipeline.working import (
    PURGED,
    is_async,
    outcome_of,
    outcome_of_row,
    with_verdicts,
)
from proofstone.errors import CallFailed
from proofstone.ports import Journal, Outcome, PipelineRow, Step, StepContext

__all__ = ["KeyedStep", "Workshop", "run_flow"]

_TAKEN = 256  # rows looked up in the journal at once
_AHEAD = 512  # rows that may wait before a step


@dataclass(frozen=True, slots=True)
class KeyedStep:
    """A step with its key and its counters."""

    step: Step
    key: bytes
    progress: StepProgress


@dataclass(frozen=True, slots=True)
class Workshop:
    """What steps are worked with: the journal, contexts (of a step, its key and a row's id), and
    whether to begin nothing new."""

    journal: Journal
    open_context: Callable[..., StepContext]
    is_halted: Callable[[], bool] = lambda: False


async def run_flow(
    steps: Sequence[KeyedStep], pages: Iterable[Sequence[PipelineRow]], workshop: Workshop
) -> None:
    """Brings all rows of ``pages`` through ``steps``, until done or halted; returns once every
    outcome is kept. A row of which a call failed is left where it is, and counted.

    Raises what a step raises besides CallFailed, and what the journal raises.
    """
    channels = [Channel(_AHEAD) for _ in steps]
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_feed(pages, channels[0], workshop))
            for place, step in enumerate(steps):
                following = channels[place + 1] if place + 1 < len(steps) else None
                work = _StepWork(step, channels[place], following, workshop)
                tasks.create_task(work.run())
    except ExceptionGroup as several:  # one failure says enough; the others follow from it
        raise _first(several) from several
    await workshop.journal.flush()


def _first(several: ExceptionGroup[Exception]) -> Exception:
    error = several.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


async def _feed(pages: Iterable[Sequence[PipelineRow]], first: Channel, workshop: Workshop) -> None:
    for page in pages:
        if workshop.is_halted():
            break
        await first.put(page)
        await asyncio.sleep(0)
    first.close()


class _StepWork:
    """One step at work on what comes through its channel."""

    def __init__(
        self, keyed: KeyedStep, inbox: Channel, outbox: Channel | None, workshop: Workshop
    ) -> None:
        self._step, self._key, self._progress = keyed.step, keyed.key, keyed.progress
        self._inbox, self._outbox = inbox, outbox
        self._workshop = workshop
        self._slots = asyncio.Semaphore(keyed.step.at_once)
        self._doing: dict[bytes, int] = {}  # rows under way, and how often each came meanwhile
        self._is_async = is_async(keyed.step)

    async def run(self) -> None:
        """Works until the channel is closed and empty."""
        journal = self._workshop.journal
        async with asyncio.TaskGroup() as tasks:
            while rows := await self._inbox.take(_TAKEN):
                found = journal.find(self._key, [row.id for row in rows])
                self._progress.entered += len(rows)
                known = [(row, found[row.id]) for row in rows if row.id in found]
                self._progress.from_before += len(known)
                await self._pass_on(known)
                left = [row for row in rows if row.id not in found]
                if self._is_async:
                    await self._start(left, tasks)
                elif left:
                    await self._work_through(left)
                await asyncio.sleep(0)
        if self._outbox is not None:
            self._outbox.close()

    async def _work_through(self, rows: Sequence[PipelineRow]) -> None:
        """A plain step at its rows, here and now."""
        if self._workshop.is_halted():
            return
        step, made = self._step, {}
        for row in rows:
            if row.id not in made:
                context = self._workshop.open_context(step, self._key, row.id)
                made[row.id] = outcome_of_row(step, row, context)
        await self._workshop.journal.write(self._key, list(made.items()))
        self._progress.done += len(rows)
        await self._pass_on([(row, made[row.id]) for row in rows])

    async def _start(self, rows: Sequence[PipelineRow], tasks: asyncio.TaskGroup) -> None:
        new = []
        for row in rows:  # all of them before the first wait: one may be done by then
            if row.id not in self._doing:
                new.append(row)
            self._doing[row.id] = self._doing.get(row.id, 0) + 1
        for row in new:
            await self._slots.acquire()
            if self._workshop.is_halted():
                self._slots.release()
                return
            tasks.create_task(self._work_on(row))

    async def _work_on(self, row: PipelineRow) -> None:
        step, progress = self._step, self._progress
        progress.in_flight += 1
        try:
            outcome = await self._outcome(row)
        except CallFailed as failure:
            times = self._doing.pop(row.id)
            if not self._workshop.is_halted():  # else it was not sent, and nobody's fault
                progress.fail(failure.kind, times)
            return
        except Exception as error:
            error.add_note(f"in step {step.name} at row {row.id.hex()[:8]}")
            raise
        finally:
            progress.in_flight -= 1
            self._slots.release()
        await self._workshop.journal.write(self._key, [(row.id, outcome)])
        times = self._doing.pop(row.id)
        progress.done += times
        await self._pass_on([(row, outcome)] * times)

    async def _outcome(self, row: PipelineRow) -> Outcome:
        if not row.payload:
            return PURGED
        step = self._step
        value = read_row(row, step.takes)
        context = self._workshop.open_context(step, self._key, row.id)
        kept = await step.work(value, context)  # type: ignore[misc]
        return with_verdicts(outcome_of(step, value, row, kept), context)

    async def _pass_on(self, made: Sequence[tuple[PipelineRow, Outcome]]) -> None:
        """Counts outcomes, and hands what was kept to the next step."""
        kept: list[PipelineRow] = []
        for row, outcome in made:
            if outcome.reason:
                self._progress.drop(outcome.reason)
            else:
                kept.extend((row,) if outcome.kept is None else outcome.kept)
        self._progress.kept += len(kept)
        if self._outbox is not None and kept:
            await self._outbox.put(kept)
