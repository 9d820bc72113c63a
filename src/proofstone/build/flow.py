"""Process rows through a sequence of steps; each step gets the rows that the previous one kept.

Stored outcomes are read from the journal, and the remaining rows are processed. Each step holds a
bounded number of rows and waits if the next one is full, so memory is bounded. Resume, results,
lists of dropped rows and the funnel read the same journal page by page, in the order in which rows
entered. So they agree, whatever the order of processing.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct, structs

from proofstone.errors import CallFailed
from proofstone.records.builds import (
    BatchStep,
    Drop,
    Journal,
    Kept,
    Outcome,
    PipelineRow,
    Step,
    StepContext,
)
from proofstone.records.ids import canonical_json, content_id

# Rows from their beginning each time, so that nobody must hold them.
Pages = Callable[[], Iterable[Sequence[PipelineRow]]]


class Visit(Struct, frozen=True, gc=False):
    """A page of rows at one step, with the outcomes that are known of them."""

    place: int
    rows: Sequence[PipelineRow]
    outcomes: Sequence[Outcome | None]


def walk(
    keys: Sequence[bytes],
    pages: Iterable[Sequence[PipelineRow]],
    journal: Journal,
    visit: Callable[[Visit], None] | None = None,
) -> Iterator[list[PipelineRow]]:
    """The rows that are left behind the last of the steps with these ``keys``, a page for each that
    entered, in order; ``visit`` sees each step of each page. Rows without an outcome end there."""
    for page in pages:
        rows = list(page)
        for place, key in enumerate(keys):
            if not rows:
                break
            found = journal.find(key, [row.id for row in rows])
            outcomes = [found.get(row.id) for row in rows]
            if visit is not None:
                visit(Visit(place, rows, outcomes))
            rows = kept_rows(rows, outcomes)
        yield rows


def kept_rows(rows: Sequence[PipelineRow], outcomes: Sequence[Outcome | None]) -> list[PipelineRow]:
    """What outcomes leave of rows, in order."""
    kept: list[PipelineRow] = []
    for row, outcome in zip(rows, outcomes, strict=True):
        if outcome is not None and not outcome.reason:
            kept.extend((row,) if outcome.kept is None else outcome.kept)
    return kept


def count_unfinished(
    keys: Sequence[bytes], pages: Iterable[Sequence[PipelineRow]], journal: Journal
) -> int:
    """How many of the rows that entered are not through all steps yet, with all that was made of
    them."""
    unfinished = 0
    for page in pages:
        rows, roots = list(page), list(range(len(page)))
        held: set[int] = set()
        for key in keys:
            if not rows:
                break
            found = journal.find(key, [row.id for row in rows])
            held.update(root for row, root in zip(rows, roots, strict=True) if row.id not in found)
            kept = [
                (each, root)
                for row, root in zip(rows, roots, strict=True)
                for each in kept_rows([row], [found.get(row.id)])
            ]
            rows, roots = [row for row, _ in kept], [root for _, root in kept]
        unfinished += len(held)
    return unfinished


# What steps have done so far: counters that the flow raises and a display reads.


@dataclass(slots=True)
class StepProgress:
    """Counters of one step in this process. ``done`` rows were worked on here, ``from_before`` are
    those whose outcome was known; ``kept`` counts rows that came out; ``failed`` rows, by kind, are
    tried again next time. ``batch_since``: when a batch step began with its rows, of all of which
    it counts none before the last (monotonic seconds; 0 outside that time)."""

    name: str
    entered: int = 0
    from_before: int = 0
    done: int = 0
    kept: int = 0
    in_flight: int = 0
    batch_since: float = 0.0
    dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str) -> None:
        """Counts a dropped row."""
        self.dropped[reason] += 1

    def fail(self, kind: str, times: int) -> None:
        """Counts a row that could not be worked on, as often as it came."""
        self.failed[kind] += times


# Rows and keys: what makes a row, a step and a batch the same one as before.


def make_row(value: Struct) -> PipelineRow:
    """A struct as a row; its id is fixed by its content."""
    payload = canonical_json(value)
    return PipelineRow(sha256(b"pipeline_row\n" + payload).digest(), payload)


def read_row(row: PipelineRow, kind: type[Struct]) -> Any:
    """The struct of a row; ValidationError where the row is none of this type."""
    return _decoder(kind).decode(row.payload)


@cache
def _decoder(kind: type[Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def step_key(step: Step | BatchStep, tools: Mapping[str, Any], seed: int) -> bytes:
    """Return the key of a step: its name, version and configuration.

    ``tools`` are the models of its roles with their settings, and the state of what it reads. The
    seed is part of the key if the step samples.
    """
    key: list[Any] = [step.name, step.version, step.config]
    used = {name: tools[name] for name in (*step.asks, *step.reads)}
    key += [used, seed if step.draws else None]
    return content_id("build_step", key)


def batch_key(step: bytes, inputs: bytes) -> bytes:
    """The key of a batch step over these very rows."""
    return sha256(b"build_batch\n" + step + inputs).digest()


def ids_digest(ids: Iterable[bytes]) -> bytes:
    """The hash of ids in their order."""
    state = sha256(b"pipeline_rows\n")
    for identity in ids:
        state.update(identity)
    return state.digest()


# One step at one row: its outcome, checked against what the step declares.

SAME = Outcome()


# Of a row that was on its way when the text of its source was purged: nothing is left to work on.
PURGED = Outcome(reason="text purged")


def is_async(step: Step | BatchStep) -> bool:
    """Whether the step's work is a coroutine function."""
    return inspect.iscoroutinefunction(step.work)


def outcome_of_row(step: Step, row: PipelineRow, context: StepContext) -> Outcome:
    """What a plain step makes of a row; an error names step and row."""
    if not row.payload:
        return PURGED
    value = read_row(row, step.takes)
    try:
        return with_verdicts(outcome_of(step, value, row, step.work(value, context)), context)
    except Exception as error:
        error.add_note(f"in step {step.name} at row {row.id.hex()[:8]}")
        raise


def outcome_of(step: Step | BatchStep, value: Any, row: PipelineRow, kept: Any) -> Outcome:
    """``kept`` as an outcome. Raises ValueError for a reason that the step does not declare, and
    where nothing was kept and no reason given."""
    if kept is value:
        return SAME
    if isinstance(kept, Drop):
        if kept.reason not in step.reasons:
            raise ValueError(
                f"step {step.name} dropped a row as {kept.reason!r}; "
                f"its reasons are: {', '.join(step.reasons) or 'none'}"
            )
        return Outcome(reason=kept.reason, found=kept.found)
    rows = tuple(make_row(each) for each in _structs(step, kept))
    return SAME if rows == (row,) else Outcome(kept=rows)


def with_verdicts(outcome: Outcome, context: StepContext) -> Outcome:
    """``outcome`` with what judges said on the way to it."""
    if not context.verdicts:
        return outcome
    return structs.replace(outcome, verdicts=tuple(context.verdicts))


def _structs(step: Step | BatchStep, kept: Kept) -> Sequence[Struct]:
    if isinstance(kept, Struct):
        return (kept,)
    if not kept:
        raise ValueError(f"step {step.name} kept nothing of a row: give Drop(reason) instead")
    return kept


# A journal in memory: for pipelines whose rows are held anyway, and for tests.


class MemoryJournal:
    """A ``Journal`` that lasts as long as the object."""

    def __init__(self) -> None:
        self._outcomes: dict[bytes, dict[bytes, Outcome]] = {}

    def find(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Outcome]:
        """The outcomes written of these rows."""
        known = self._outcomes.get(step, {})
        return {row: known[row] for row in rows if row in known}

    async def write(self, step: bytes, outcomes: Sequence[tuple[bytes, Outcome]]) -> None:
        """Keeps outcomes; the first one of a row holds."""
        known = self._outcomes.setdefault(step, {})
        for row, outcome in outcomes:
            known.setdefault(row, outcome)

    async def flush(self) -> None:
        """Nothing is ever waited for."""

    def entries(self) -> Iterator[tuple[bytes, Sequence[tuple[bytes, Outcome]]]]:
        """All that was written, by step, in the order in which it was."""
        for step, known in self._outcomes.items():
            yield step, list(known.items())


# A bounded channel between two steps: who is ahead waits.


class Channel:
    """Rows from any number of tasks to one; holds ``most``, and what was put at once beyond it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: deque[PipelineRow] = deque()
        self._closed = False
        self._putting: deque[asyncio.Future[None]] = deque()
        self._taking: asyncio.Future[None] | None = None

    async def put(self, rows: Iterable[PipelineRow]) -> None:
        """Adds rows, once there is room."""
        while len(self._rows) >= self._most:
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._putting.append(room)
            await room
        self._rows.extend(rows)
        self._wake_taker()

    async def take(self, most: int) -> list[PipelineRow]:
        """Up to ``most`` rows, one at least; none once the channel is closed and empty."""
        while not self._rows and not self._closed:
            self._taking = asyncio.get_running_loop().create_future()
            await self._taking
        rows = [self._rows.popleft() for _ in range(min(most, len(self._rows)))]
        while self._putting and len(self._rows) < self._most:
            room = self._putting.popleft()
            if not room.done():
                room.set_result(None)
                break  # it puts, and the next take lets in another
        return rows

    def close(self) -> None:
        """Says that nothing more comes."""
        self._closed = True
        self._wake_taker()

    def _wake_taker(self) -> None:
        if self._taking is not None and not self._taking.done():
            self._taking.set_result(None)


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
    """Process all rows of ``pages`` through ``steps`` until done or halted, and store every
    outcome.

    A row with a failed call stays pending and is counted. Raises what a step raises (except
    CallFailed) and what the journal raises.
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


# A batch step: it sees all rows that reached it, each once, and says what it makes of some.

_WRITTEN = 256


class Batch:
    """``BatchRows`` over pages of rows: ids are held, rows are read as they are wanted."""

    def __init__(self, step: BatchStep, pages: Pages) -> None:
        self._step = step
        self._pages = pages
        is_full = {row.id: bool(row.payload) for page in pages() for row in page}
        self.ids = tuple(identity for identity, full in is_full.items() if full)
        self.purged = tuple(identity for identity, full in is_full.items() if not full)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Any]:
        return (read_row(row, self._step.takes) for row in self.rows())

    def rows(self) -> Iterator[PipelineRow]:
        """The rows, each once, in order; those whose text was purged are left out."""
        place = 0
        for page in self._pages():
            for row in page:
                # A repeated row comes behind its first place, so it is never the next one.
                if place < len(self.ids) and row.id == self.ids[place]:
                    place += 1
                    yield row


def read_batch(step: BatchStep, key: bytes, pages: Pages) -> tuple[Batch, bytes]:
    """The rows of a batch step, and its key over these very rows."""
    batch = Batch(step, pages)
    return batch, batch_key(key, ids_digest(batch.ids))


async def run_batch(
    step: BatchStep, key: bytes, batch: Batch, workshop: Workshop, progress: StepProgress
) -> bool:
    """Process all rows in a batch step, unless that is done, and return True on success.

    Raises what the step raises (except CallFailed), and ValueError for places outside the batch.
    """
    if batch.purged:
        await workshop.journal.write(key, [(row, PURGED) for row in batch.purged])
    if not len(batch) or _is_known(key, batch, workshop):
        progress.entered = progress.from_before = len(batch)
        return True
    if workshop.is_halted():
        return False
    progress.entered, progress.batch_since = len(batch), monotonic()
    context = workshop.open_context(step, key, key)
    try:
        if is_async(step):
            made = await step.work(batch, context)  # type: ignore[misc]
        else:
            made = await asyncio.to_thread(step.work, batch, context)
    except CallFailed as failure:
        if not workshop.is_halted():
            progress.fail(failure.kind, len(batch))
        return False
    except Exception as error:
        error.add_note(f"in step {step.name}")
        raise
    finally:
        progress.batch_since = 0.0
    await _write(step, key, batch, made, workshop)
    progress.done = len(batch)
    return True


def _is_known(key: bytes, batch: Batch, workshop: Workshop) -> bool:
    ids = batch.ids
    for start in range(0, len(ids), _WRITTEN):
        part = ids[start : start + _WRITTEN]
        if len(workshop.journal.find(key, part)) < len(part):
            return False
    return True


async def _write(
    step: BatchStep, key: bytes, batch: Batch, made: Mapping[int, Any], workshop: Workshop
) -> None:
    strays = [place for place in made if not 0 <= place < len(batch)]
    if strays:
        raise ValueError(f"step {step.name} returned place {strays[0]} of {len(batch)} rows")
    group: list[tuple[bytes, Outcome]] = []
    for place, row in enumerate(batch.rows()):
        outcome = SAME
        if place in made:
            outcome = outcome_of(step, read_row(row, step.takes), row, made[place])
        group.append((row.id, outcome))
        if len(group) >= _WRITTEN:
            await workshop.journal.write(key, group)
            group = []
    await workshop.journal.write(key, group)
    await workshop.journal.flush()


# A pipeline from its first step to its last: flows of rows, and batch steps between them.

# Told each step as it is reached: its place and its key.
Reached = Callable[[int, Step | BatchStep, bytes], None]


class Performed(Struct, frozen=True):
    """Hold the keys of the reached steps, and whether every row is processed."""

    keys: tuple[bytes, ...]
    complete: bool


def check_names(steps: Sequence[Step | BatchStep]) -> None:
    """Raises ValueError where two steps have one name, or there is none."""
    names = [step.name for step in steps]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"a pipeline needs steps of different names, not {names}")


def plain_keys(
    steps: Sequence[Step | BatchStep], tools: Mapping[str, Any], seed: int
) -> tuple[bytes, ...]:
    """The keys of steps before it is known which rows reach them: of batch steps without these."""
    return tuple(step_key(step, tools, seed) for step in steps)


async def perform_pipeline(
    steps: Sequence[Step | BatchStep],
    keys: Sequence[bytes],
    pages: Pages,
    workshop: Workshop,
    *,
    progress: Sequence[StepProgress],
    reached: Reached,
) -> Performed:
    """Brings all rows through all steps as far as they come; ``keys`` are ``plain_keys``.

    A batch step waits for all rows, and is not reached while one of them is held up before it.
    """
    check_names(steps)
    done: list[bytes] = []
    while len(done) < len(steps):
        start = len(done)
        step = steps[start]
        if isinstance(step, BatchStep):
            through = _through(done, pages, workshop)
            batch, key = read_batch(step, keys[start], through)
            reached(start, step, key)
            done.append(key)
            if not await run_batch(step, key, batch, workshop, progress[start]):
                return Performed(tuple(done), complete=False)
            _count(done, pages, workshop, progress[start])
            continue
        flowing = _flowing(steps, keys, progress, start)
        for place, keyed in enumerate(flowing, start):
            reached(place, keyed.step, keyed.key)
        through = _through(done, pages, workshop)
        await run_flow(flowing, through(), workshop)
        done += [keyed.key for keyed in flowing]
        if workshop.is_halted() or any(keyed.progress.failed for keyed in flowing):
            return Performed(tuple(done), complete=False)
    return Performed(tuple(done), complete=True)


def _flowing(
    steps: Sequence[Step | BatchStep],
    keys: Sequence[bytes],
    progress: Sequence[StepProgress],
    start: int,
) -> list[KeyedStep]:
    """The row steps from ``start`` up to the next batch step."""
    found = []
    for place in range(start, len(steps)):
        step = steps[place]
        if isinstance(step, BatchStep):
            break
        found.append(KeyedStep(step, keys[place], progress[place]))
    return found


def _through(done: Sequence[bytes], pages: Pages, workshop: Workshop) -> Pages:
    keys = tuple(done)

    def rows() -> Iterator[list[PipelineRow]]:
        return walk(keys, pages(), workshop.journal)

    return rows


def _count(done: Sequence[bytes], pages: Pages, workshop: Workshop, progress: StepProgress) -> None:
    """Counts what the batch step that was done last made of the rows."""
    last = len(done) - 1

    def visit(seen: Visit) -> None:
        if seen.place == last:
            for outcome in seen.outcomes:
                if outcome is not None and outcome.reason:
                    progress.drop(outcome.reason)
                elif outcome is not None:
                    progress.kept += 1 if outcome.kept is None else len(outcome.kept)

    for _rows in walk(tuple(done), pages(), workshop.journal, visit):
        pass


# Plain steps over rows that are held anyway: no loop and no store, the same outcomes.


class PlainStep(Struct, frozen=True):
    """What a step made of the rows that reached it, in their order."""

    name: str
    rows: tuple[PipelineRow, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def kept(self) -> list[PipelineRow]:
        """The rows that came out of it."""
        return kept_rows(self.rows, self.outcomes)


def perform_plain(
    steps: Sequence[Step | BatchStep], entering: Sequence[PipelineRow], *, seed: int = 0
) -> list[PlainStep]:
    """All rows through all steps, none of which waits or asks; what each made of them.

    Raises what a step raises, ValueError for a step that asks a model or waits.
    """
    check_names(steps)
    rows, done = list(entering), []
    for step in steps:
        if step.asks or is_async(step):
            raise ValueError(f"step {step.name} asks or waits: perform it with a journal")
        known = _of_batch(step, rows, seed) if isinstance(step, BatchStep) else {}
        for row in rows:
            if isinstance(step, Step) and row.id not in known:
                context = StepContext(row=row.id, calls={}, seed=seed)
                known[row.id] = outcome_of_row(step, row, context)
        done.append(PlainStep(step.name, tuple(rows), tuple(known[row.id] for row in rows)))
        rows = done[-1].kept
    return done


def _of_batch(step: BatchStep, rows: Sequence[PipelineRow], seed: int) -> dict[bytes, Outcome]:
    once = list({row.id: row for row in rows}.values())
    values = [read_row(row, step.takes) for row in once]
    made: Any = step.work(values, StepContext(row=b"", calls={}, seed=seed))
    return {
        row.id: outcome_of(step, value, row, made[place]) if place in made else SAME
        for place, (row, value) in enumerate(zip(once, values, strict=True))
    }
