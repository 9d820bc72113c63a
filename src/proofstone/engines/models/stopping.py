"""Ending waits early: who queues for a slot or sleeps before a retry leaves at once when told to.

Requests in flight are not touched. The event that a run is stopped by is an ``asyncio.Event``; one
task watches it for all waits of an asker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from proofstone.errors import NotAsked
from proofstone.ports import Clock

__all__ = ["Halt", "Stopped"]


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
