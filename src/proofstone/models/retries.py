"""Wait before retries, as endpoints ask, with time limits; end waits when a run stops."""

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
    """How often and when a transient failure is retried.

    There are up to ``most`` retries. Each waits a random time below ``first_s``, doubled each time
    up to ``longest_s``, or the time that the endpoint asks for. A request for more than
    ``patience_s`` is not waited for.
    """

    most: int = 5
    first_s: float = 0.5
    longest_s: float = 30.0
    patience_s: float = 300.0

    def wait(self, retry: int, asked_s: float | None, draw: float) -> float | None:
        """Return the seconds before the next attempt; None if there is none.

        ``retry`` counts earlier retries, ``asked_s`` is what the endpoint asks for, if anything,
        and ``draw`` is uniform below 1.
        """
        jitter = draw * min(self.longest_s, self.first_s * 2.0**retry)
        if asked_s is None:
            return jitter
        # Random jitter on top: requests with the same wait must not return simultaneously.
        return asked_s + jitter if asked_s <= self.patience_s else None


# End waits early: a task that waits for a slot or a retry leaves immediately.
#
# Requests in flight are not affected. A run is stopped by an ``asyncio.Event``; one task watches it
# for all waits of an asker.


class Stopped(NotAsked):
    """The call was given up before it was sent, because the run stops. Nothing is stored."""

    def __init__(self, detail: str = "the run stops") -> None:
        super().__init__("stopped", detail)


class Halt:
    """Wake every wait and refuse new ones, once ``now`` is called or the event is set."""

    def __init__(self, event: asyncio.Event | None = None) -> None:
        self._event = event
        self._watcher: asyncio.Task[None] | None = None
        self._waits: set[asyncio.Future[None]] = set()
        self._reason = ""

    @property
    def is_set(self) -> bool:
        """Return True if waits are refused."""
        return bool(self._reason) or (self._event is not None and self._event.is_set())

    def now(self, reason: str) -> None:
        """End all waits, now and from now on; they raise Stopped with the reason."""
        self._reason = self._reason or reason
        for future in self._waits:
            if not future.done():
                future.set_exception(self._stopped())

    @contextmanager
    def ends(self, future: asyncio.Future[None]) -> Iterator[None]:
        """While inside, a halt ends ``future`` with Stopped.

        Raises Stopped if the halt came first, unless the future is done.
        """
        if self.is_set and not future.done():
            raise self._stopped()
        self._watch()
        self._waits.add(future)
        try:
            yield
        finally:
            self._waits.discard(future)

    async def sleep(self, seconds: float, clock: Clock) -> None:
        """Sleep by the clock. Raises Stopped as soon as there is a halt."""
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
        """Stop watching the event."""
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
# A timer per request costs as much as parsing its response. Here requests in flight are kept in the
# order of their start, and one timer checks the oldest a few times within the limit. A request may
# therefore take up to a twentieth of the limit (at most a second) longer.


class Deadlines:
    """End tasks that stay longer than ``limit_s`` between ``enter`` and ``leave``, on one loop.

    A task is in at most one request at a time. A task that is ended gets CancelledError;
    ``is_over`` distinguishes its time limit from other cancellations.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._every_s = min(1.0, limit_s / 20)
        self._began: dict[asyncio.Task[object], float] = {}
        self._over: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def enter(self) -> asyncio.Task[object]:
        """Begin the current task's request."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is made in a task")
        loop = task.get_loop()
        self._began[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self._every_s, self._look, loop)
        return task

    def leave(self, task: asyncio.Task[object]) -> None:
        """End the task's request."""
        self._began.pop(task, None)

    def is_over(self, task: asyncio.Task[object]) -> bool:
        """Return True if the CancelledError that the task just caught is its time limit's alone."""
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


# The machine's clocks.


class SystemClock:
    """``Clock`` over the operating system's clocks and the running event loop."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never go back; only differences have a meaning."""
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``."""
        await asyncio.sleep(seconds)


# Requested waits in errors: Google's RetryInfo; OpenAI's "Please try again in 1m26.604s"; Azure's
# "Please retry after 7 seconds"; Gemini's "Please retry in 25.46s".
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


_SEARCHED = 8192  # maximum length of an error's message


def read_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return seconds from ``now`` (since the epoch), 0 or more; None without a request to wait.

    Reads ``Retry-After`` in seconds or as an HTTP date, and the more precise ``Retry-After-Ms``.
    The latter is ignored if it is 0 and the former is not.
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
    """Return the seconds that a rate limit's error message asks for; None without any.

    Only for errors of a rate limit or a busy server: other messages may quote a prompt.
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
