"""Coroutines for callers that are not: an event loop in a thread of its own.

So the same call works in a script, in a notebook whose loop is running, and under a command line
whose main thread draws progress and takes Ctrl-C (which Windows hands to no event loop).
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

T = TypeVar("T")


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
        """The coroutine's result; its exception is raised here. KeyboardInterrupt passes. ``watch``
        is called once more where it came to an end, or what is over at once would not be seen."""
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
