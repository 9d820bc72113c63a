"""Run work in the background, show its progress, and report spending.

A terminal shows one redrawn line for all runs; elsewhere a line is printed for each tenth.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from proofstone.records.calls import CallRecord, Clock
from proofstone.records.runs import Spent, usd
from proofstone.session.terminal import say

if TYPE_CHECKING:
    from proofstone.models.budget import Budget, Spending
    from proofstone.session.session import Session
    from proofstone.store.calls import Expense


@dataclass(slots=True)
class RunProgress:
    """Counters of one run. ``done`` counts committed (item, sample) only, of ``total``.

    ``before`` were done when this process began, so that a rate counts only its own work.
    ``stopped`` says why the model's work ended early, where it did, and what to do; ``notes`` what
    there is to know before it begins.
    """

    label: str
    total: int
    notes: tuple[str, ...] = ()
    before: int = 0
    done: int = 0
    failed: int = 0
    cached: int = 0
    in_flight: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cacheable_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    estimated_calls: int = 0
    estimated_tokens: int = 0
    estimated_usd: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    stopped: str = ""
    started: float = 0.0
    ended: float | None = None

    def begin(self, clock: Clock) -> None:
        """Starts the clock."""
        self.started = clock.monotonic()

    def end(self, clock: Clock) -> None:
        """Stops the clock."""
        self.ended = clock.monotonic()

    def count(self, call: CallRecord) -> None:
        """Adds what a call took; one from the cache is never handed in, it costs nothing."""
        self.calls += 1
        self.prompt_tokens += call.usage.prompt or 0
        self.completion_tokens += call.usage.completion or 0
        self.reasoning_tokens += call.usage.reasoning or 0
        if call.usage.cached is not None:
            self.cached_tokens += min(call.usage.cached, call.usage.prompt or 0)
            self.cacheable_tokens += call.usage.prompt or 0
        if call.estimated_tokens is not None:
            self.estimated_calls += 1
            counted = (call.usage.prompt or 0) + (call.usage.completion or 0)
            self.estimated_tokens += call.estimated_tokens - counted
            self.estimated_usd += call.cost_usd or 0.0
        if call.cost_usd is None:
            self.unpriced += call.state == "complete"
        else:
            self.cost_usd += call.cost_usd
        if call.error:
            self.errors[call.error] += 1

    def spent(self) -> Spent:
        """What the calls of this process took."""
        return Spent(**{name: getattr(self, name) for name in Spent.__struct_fields__})

    def rate(self, now: float) -> float:
        """Questions finished a second by this process."""
        elapsed = (self.ended if self.ended is not None else now) - self.started
        return (self.done - self.before) / elapsed if elapsed > 0 else 0.0

    def seconds_left(self, now: float) -> float | None:
        """The time left at the present rate; None before there is one."""
        rate = self.rate(now)
        return (self.total - self.done - self.failed) / rate if rate > 0 else None

    @property
    def complete(self) -> bool:
        """Whether nothing is left to ask."""
        return self.done >= self.total


T = TypeVar("T")


Watch = Callable[[list["RunProgress"]], None]


@contextmanager
def watching(*, quiet: bool) -> Iterator[Watch | None]:
    """Return a function that shows the progress of runs; the last state stays on the screen.

    On a KeyboardInterrupt it prints how to resume.
    """
    showing = nullcontext(None) if quiet else _redrawn() if sys.stderr.isatty() else _plain()
    try:
        with showing as watch:
            yield watch
    except KeyboardInterrupt:
        say(
            "interrupted: results so far are kept ('proofstone status' counts them); the same "
            "command resumes",
            quiet=quiet,
        )
        raise


def progress_line(runs: Sequence[RunProgress], now: float) -> str:
    """Return one line for all runs: ``312/720  43%  2.1/s  ETA 3:14  $0.42``."""
    done, total = sum(run.done for run in runs), sum(run.total for run in runs)
    share = done / total if total else 1.0
    parts = [f"{done}/{total}", f"{share:.0%}"]
    started = min((run.started for run in runs if run.started), default=0.0)
    ended = all(run.ended is not None for run in runs)
    until = max((run.ended or now for run in runs), default=now) if ended else now
    elapsed = until - started if started else 0.0
    rate = sum(run.done - run.before for run in runs) / elapsed if elapsed > 0 else 0.0
    if started:
        parts.append(f"{rate:.1f}/s")
    left = total - done - sum(run.failed for run in runs)
    if rate > 0 and left > 0 and not ended:
        parts.append(f"ETA {clock_text(left / rate)}")
    cost = sum(run.cost_usd for run in runs)
    if cost:
        parts.append(f"${cost:.2f}" if cost >= 0.01 else f"${cost:.4f}")
    return "  ".join(parts)


def error_line(progress: RunProgress) -> str:
    """Return the errors of one run by kind, behind its model: ``acme/large  timeout 3``."""
    kinds = ", ".join(f"{kind} {n}" for kind, n in progress.errors.most_common(4))
    return f"{progress.label}  errors: {kinds}"


def clock_text(seconds: float) -> str:
    """Return ``3:14``, or ``2:03:14`` from an hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _new_notes(shown: Sequence[RunProgress], told: set[str]) -> list[str]:
    """Return the notes of these runs that were not printed yet, each once."""
    notes = [note for run in shown for note in run.notes if note not in told]
    told.update(notes)
    return list(dict.fromkeys(notes))


@contextmanager
def _redrawn() -> Iterator[Watch]:
    from rich.console import Console  # noqa: PLC0415 - not needed to print a help text
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=True, highlight=False)
    live = Live(console=console, auto_refresh=False, transient=False)
    told: set[str] = set()

    def watch(shown: list[RunProgress]) -> None:
        if not live.is_started and not _lines(shown):
            return  # it takes the terminal over, and a question may still have to be asked there
        live.start()
        for note in _new_notes(shown, told):
            live.console.print(Text(f"note: {note}"))
        live.update(Text("\n".join(_lines(shown)), overflow="ellipsis", no_wrap=True), refresh=True)

    try:
        yield watch
    finally:
        live.stop()


@contextmanager
def _plain() -> Iterator[Watch]:
    """Print a line for each tenth of all runs, and their errors at the end."""
    noted: set[str] = set()
    seen: list[RunProgress] = []
    told = 0

    def watch(shown: list[RunProgress]) -> None:
        nonlocal told
        for note in _new_notes(shown, noted):
            say(f"note: {note}")
        seen[:] = shown
        total = sum(run.total for run in shown)
        tenths = 10 * sum(run.done for run in shown) // total if total else 0
        if tenths > told:
            told = tenths
            say(progress_line(shown, time.monotonic()))

    yield watch
    started = [run for run in seen if run.started]
    if started and told < 10:
        say(progress_line(started, time.monotonic()))
    for run in started:
        if run.errors:
            say(error_line(run))


def _lines(shown: Sequence[RunProgress]) -> list[str]:
    started = [run for run in shown if run.started]
    if not started:
        return []
    errors = [error_line(run) for run in started if run.errors]
    return [progress_line(shown, time.monotonic()), *errors]


def tell_interrupt(in_flight: int) -> None:
    """Says that a first Ctrl-C was heard."""
    say(f"stopping: waiting for {in_flight} responses; press Ctrl-C again to quit at once")


def duration(seconds: float) -> str:
    """``41 s``, ``12 min``, ``3.4 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def watched(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]],
    shown: list[RunProgress],
    watch: Watch | None,
    on_interrupt: Callable[[int], None] | None,
) -> T:
    """Return the result of ``work`` in the background, calling ``watch`` with the counters
    ``shown``. At the first KeyboardInterrupt ``on_interrupt`` gets the number of pending responses.
    """

    def interrupted() -> None:
        if on_interrupt is not None:
            on_interrupt(sum(progress.in_flight for progress in shown))

    watching = None if watch is None else lambda: watch(shown)
    return Background(work).wait_stoppable(watching, interrupted)


# Coroutines for synchronous callers: an event loop in a separate thread.


class Background(Generic[T]):
    """A coroutine at work in another thread; ``watch`` is called while waiting for it.

    ``make`` gets the event that asks it to stop. The thread is a daemon: a second Ctrl-C leaves
    without waiting for it.
    """

    def __init__(self, make: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> None:
        self._make = make
        self._future: Future[T] = Future()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._work, name="proofstone-loop", daemon=True)
        self._thread.start()

    def wait(self, watch: Callable[[], None] | None = None, every_s: float = 0.25) -> T:
        """Return the coroutine's result or raise its exception. KeyboardInterrupt is passed on.
        ``watch`` is called once more at the end, so that short work is also shown."""
        while not self._future.done():
            failed = None
            with suppress(TimeoutError):
                failed = self._future.exception(timeout=every_s)
            if watch is not None and failed is None:
                watch()
        return self._future.result()

    def wait_stoppable(
        self, watch: Callable[[], None] | None, interrupted: Callable[[], None]
    ) -> T:
        """As ``wait``; a first KeyboardInterrupt asks to stop, and is told to ``interrupted``."""
        try:
            return self.wait(watch)
        except KeyboardInterrupt:
            self.ask_to_stop()
            interrupted()
            return self.wait(watch)

    def ask_to_stop(self) -> None:
        """Sets the stop event; the coroutine finishes what is in flight."""
        self._ready.wait()
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)

    def _work(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                self._future.set_result(runner.run(self._main()))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            self._ready.set()
            if not self._future.done():
                self._future.set_exception(error)

    async def _main(self) -> T:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._ready.set()
        return await self._make(self._stop)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where there is one; on Windows the default."""
    if sys.platform == "win32":
        return None
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


# What was spent, and what a killed command may have been billed for, in words.


def spent_text(spent: Spent) -> str:
    """``0.0493 USD (up to 0.0012 of it estimated: 3 calls without a count), 12,345 tokens``; money
    only where something was paid, and how many calls had no price. The share of prompt tokens from
    prefix caches follows, if endpoints report any."""
    tokens = f"{spent.tokens:,} tokens"
    if spent.cached_share:
        tokens += f" ({spent.cached_share:.1%} of prompt tokens from the prefix cache)"
    if not spent.cost_usd:
        return tokens + _estimated(spent, f"{spent.estimated_tokens:,}")
    if not spent.estimated_usd:  # what is estimated has no price
        tokens += _estimated(spent, f"{spent.estimated_tokens:,}")
    estimated = _estimated(spent, usd(spent.estimated_usd)) if spent.estimated_usd else ""
    paid = f"{usd(spent.cost_usd)} USD{estimated}"
    unpriced = f"{_calls(spent.unpriced)} without a price, " if spent.unpriced else ""
    return f"{paid}, {unpriced}{tokens}"


def beside_text(name: str, spent: Spent) -> str:
    """What a search took (``brave: 3 searches, 0.015 USD``), or a model that embeds texts."""
    if "/" in name:
        n = "1 embedding request" if spent.calls == 1 else f"{spent.calls:,} embedding requests"
        return f"{name}: {n}, {spent_text(spent)}"
    n = "1 search" if spent.calls == 1 else f"{spent.calls:,} searches"
    if spent.unpriced:
        return f"{name}: {n} without a price"
    unsure = (
        f", {spent.estimated_calls:,} of them without an answer" if spent.estimated_calls else ""
    )
    return f"{name}: {n}{unsure}, {usd(spent.cost_usd)} USD"


def tell_beside(
    beside: Mapping[str, Spent], what: str = "additional cost", *, quiet: bool = False
) -> None:
    """Print the cost of searches and embeddings, which runs and builds do not include."""
    for name, spent in sorted(beside.items()):
        say(f"{what}: {beside_text(name, spent)}", quiet=quiet)


@contextmanager
def beside_told(
    spending: Spending, what: str = "additional cost", *, quiet: bool
) -> Iterator[None]:
    """Print the cost of searches and embeddings after a command, also after an error."""
    try:
        yield
    finally:
        tell_beside(spending.beside, what, quiet=quiet)


def lost_text(lost: Expense) -> str:
    """Describe what an interrupted command may have been billed for in addition to stored calls."""
    from proofstone.models.budget import shown  # noqa: PLC0415

    runs = f" ({lost.runs})" if lost.runs else ""
    calls = f"up to {_calls(lost.exposed_calls)} of an interrupted command{runs}"
    if lost.exposed is None:
        why = "it had no budget, so what they cost is not bounded"
        return f"{calls} may have been billed, in flight or not stored yet; {why}"
    amount = shown("USD" if lost.unit == "USD" else "tokens", lost.exposed)
    return f"up to {amount} may have been billed for {calls}, in flight or not stored yet"


def tell_lost(session: Session, *, quiet: bool = False) -> None:
    """Print what interrupted commands may have been billed for since the last report."""
    for lost in newly_lost(session):
        say(f"note: {lost_text(lost)}; they are asked again", quiet=quiet)


def _estimated(spent: Spent, part: str) -> str:
    if not spent.estimated_calls:
        return ""
    return f" (up to {part} of it estimated: {_calls(spent.estimated_calls)} without a count)"


def _calls(n: int) -> str:
    return "1 call" if n == 1 else f"{n:,} calls"


def newly_lost(session: Session) -> list[Expense]:
    """Return what interrupted commands may have been billed for in addition to stored calls; each
    is reported once."""
    return session.store.expenses.find_dead(session.clock.now())


def start_spending(session: Session, budget: Budget | str | Spending | None) -> Spending:
    """What is spent under a budget, or without one, for calls that are to share it. One that is
    shared already is returned."""
    from proofstone.models.budget import Spending, read_budget  # noqa: PLC0415

    if isinstance(budget, Spending):
        return budget
    return Spending(read_budget(budget) if isinstance(budget, str) else budget)
