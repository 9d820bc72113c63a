"""Waiting: before a retry, as an endpoint asks, until a time limit, and ended when a run stops."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from math import isfinite

from msgspec import Struct

from proofstone.errors import NotAsked
from proofstone.records.calls import Clock


class Retries(Struct, frozen=True, gc=False, kw_only=True):
    """How often and how late a transient failure is tried again: ``most`` times after the first,
    each after a uniform draw below ``first_s`` doubled each time up to ``longest_s``, or after what
    the endpoint asks for; one that asks for more than ``patience_s`` is not waited for."""

    most: int = 5
    first_s: float = 0.5
    longest_s: float = 30.0
    patience_s: float = 300.0

    def wait(self, retry: int, asked_s: float | None, draw: float) -> float | None:
        """Seconds until the try after ``retry`` retries; None where it is not waited for.
        ``asked_s`` is what the endpoint asks for, if anything; ``draw`` is uniform below 1."""
        jitter = draw * min(self.longest_s, self.first_s * 2.0**retry)
        if asked_s is None:
            return jitter
        # Jitter on top: all that were told the same moment must not come back in it.
        return asked_s + jitter if asked_s <= self.patience_s else None


# Ending waits early: who queues for a slot or sleeps before a retry leaves at once when told to.
#
# Requests in flight are not touched. The event that a run is stopped by is an ``asyncio.Event``;
# one task watches it for all waits of an asker.


class Stopped(NotAsked):
    """The call was given up before it was sent, because the run stops. Nothing is recorded."""

    def __init__(self, detail: str = "the run stops") -> None:
        super().__init__("stopped", detail)


class Halt:
    """Wakes every wait that is under way, and refuses new ones, once ``now`` is called or the
    event is set."""

    def __init__(self, event: asyncio.Event | None = None) -> None:
        self._event = event
        self._watcher: asyncio.Task[None] | None = None
        self._waits: set[asyncio.Future[None]] = set()
        self._reason = ""

    @property
    def is_set(self) -> bool:
        """Whether waits are refused."""
        return bool(self._reason) or (self._event is not None and self._event.is_set())

    def now(self, reason: str) -> None:
        """Ends all waits, now and from now on; they raise Stopped with the reason."""
        self._reason = self._reason or reason
        for future in self._waits:
            if not future.done():
                future.set_exception(self._stopped())

    @contextmanager
    def ends(self, future: asyncio.Future[None]) -> Iterator[None]:
        """While inside, a halt ends ``future`` with Stopped. Raises Stopped where it came before,
        unless the future is done."""
        if self.is_set and not future.done():
            raise self._stopped()
        self._watch()
        self._waits.add(future)
        try:
            yield
        finally:
            self._waits.discard(future)

    async def sleep(self, seconds: float, clock: Clock) -> None:
        """Sleeps by the clock. Raises Stopped as soon as there is a halt."""
        if self.is_set:
            raise self._stopped()
        waking: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sleeping = asyncio.ensure_future(clock.sleep(seconds))
        sleeping.add_done_callback(lambda _: _wake(waking))
        try:
            with self.ends(waking):
                await waking
        finally:
            sleeping.cancel()

    def close(self) -> None:
        """Ends the watching of the event."""
        if self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None

    def _stopped(self) -> Stopped:
        return Stopped(self._reason or "the run stops")

    def _watch(self) -> None:
        if self._event is not None and self._watcher is None:
            self._watcher = asyncio.create_task(self._follow(self._event))

    async def _follow(self, event: asyncio.Event) -> None:
        await event.wait()
        self.now("the run stops")


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


# A time limit for many requests, without a timer for each.
#
# A timer a request costs as much as reading its reply does. Here the requests in flight stand in
# the order in which they began, and one timer looks at the oldest a few times within the limit; so
# a request may take up to a twentieth of the limit (at most a second) longer before it is ended.


class Deadlines:
    """Ends tasks that stay longer than ``limit_s`` between ``enter`` and ``leave``, on one loop.

    A task is in at most one request at a time. One that is ended gets CancelledError, and
    ``is_over`` tells its own limit from anybody else's cancelling.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._every_s = min(1.0, limit_s / 20)
        self._began: dict[asyncio.Task[object], float] = {}
        self._over: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def enter(self) -> asyncio.Task[object]:
        """Begins the current task's request."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is made in a task")
        loop = task.get_loop()
        self._began[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self._every_s, self._look, loop)
        return task

    def leave(self, task: asyncio.Task[object]) -> None:
        """Ends the task's request."""
        self._began.pop(task, None)

    def is_over(self, task: asyncio.Task[object]) -> bool:
        """Whether the CancelledError that the task has just caught is its limit's alone."""
        if task not in self._over:
            return False
        self._over.discard(task)
        return task.uncancel() == 0

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        latest = loop.time() - self.limit_s
        for task, began in list(self._began.items()):
            if began > latest:
                break
            del self._began[task]
            self._over.add(task)
            task.cancel()
        if self._began:
            self._timer = loop.call_later(self._every_s, self._look, loop)


# The machine's own time.


class SystemClock:
    """``Clock`` over the operating system's clocks and the running event loop."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        """Returns after ``seconds``."""
        await asyncio.sleep(seconds)


# How long an endpoint asks one to wait: Google's RetryInfo; OpenAI's "Please try again in
# 1m26.604s"; Azure's "Please retry after 7 seconds"; Gemini's "Please retry in 25.46s".
_RETRY_INFO = re.compile(rb'"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"')


_ASKED = re.compile(
    rb"(?:try again in|retry after|retry in) (?=\d)((?:[\d.]{1,12} ?[a-z]{1,12} ?){1,4})"
)


_PART = re.compile(rb"([\d.]+) ?([a-z]+)")


_UNITS = {
    **dict.fromkeys((b"ms", b"millisecond", b"milliseconds"), 0.001),
    **dict.fromkeys((b"s", b"sec", b"second", b"seconds"), 1.0),
    **dict.fromkeys((b"m", b"min", b"minute", b"minutes"), 60.0),
    **dict.fromkeys((b"h", b"hour", b"hours"), 3600.0),
}


_SEARCHED = 8192  # an error's words; nothing longer is one


def read_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from ``now`` (since the epoch), 0 or more; None where the endpoint does not say.

    Reads ``Retry-After`` in seconds or as an HTTP date, and the finer ``Retry-After-Ms``, unless
    that says 0 where the former asks for a wait.
    """
    milliseconds = _number(headers.get("Retry-After-Ms", ""))
    if milliseconds is not None and milliseconds > 0:
        return milliseconds / 1000
    text = headers.get("Retry-After", "").strip()
    seconds = _number(text)
    if seconds is None and text:
        seconds = _until(text, now)
    if seconds is None:
        return None if milliseconds is None else 0.0
    return max(0.0, seconds)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _until(text: str, now: float) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return None


def delay_in_body(raw: bytes) -> float | None:
    """Seconds that a limit's error asks for in its words; None where it names none.

    Only for errors that a limit or a busy server made: other words may quote a prompt.
    """
    start = raw[:_SEARCHED]
    info = _RETRY_INFO.search(start)
    if info is not None:
        return float(info[1])
    asked = _ASKED.search(start.lower())
    if asked is None:
        return None
    total, known = 0.0, False
    for count, unit in _PART.findall(asked[1]):
        seconds = _number(count.decode())
        if unit not in _UNITS or seconds is None:
            break
        total, known = total + seconds * _UNITS[unit], True
    return total if known else None
