"""A scripted server beside a test that is no coroutine, and a clock that hurries retries."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

from proofstone.engines.models.clock import SystemClock
from scripted_server import Act, Script, ScriptedServer

__all__ = ["HurriedClock", "configure", "running", "serving", "wait_until"]

Server = TypeVar("Server", bound=AbstractAsyncContextManager[object])


class HurriedClock(SystemClock):
    """Real time, but a sleep lasts a fortieth: a test need not sit out the pauses of retries."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 40)


@contextmanager
def serving(script: Script | Act | None = None) -> Iterator[ScriptedServer]:
    """A server on a loop of its own thread."""
    with running(ScriptedServer(script)) as server:
        yield server


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """``server``, entered on a loop of its own thread."""
    ready, done = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    try:
        assert ready.wait(10)
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(10)
        loop.close()


def configure(folder: Path, url: str, *more: str) -> None:
    """Makes ``scripted/...`` the models behind ``url`` in the workspace of ``folder``; ``more``
    are further lines of the provider's entry."""
    lines = ["[providers.scripted]", f'base_url = "{url}"', *more]
    (folder / "proofstone.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Returns once ``holds()``; fails the test if that takes too long."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
