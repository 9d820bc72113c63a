"""A scripted server beside a test that is no coroutine, and a clock that hurries retries."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

from proofstone.models.retries import SystemClock
from scripted_server import Act, Script, ScriptedServer

__all__ = ["PATIENCE_S", "HurriedClock", "configure", "running", "serving", "settled", "wait_until"]

# How long anything may take before it counts as hanging, however busy the machine is.
PATIENCE_S = 120.0

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
        assert ready.wait(PATIENCE_S)
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(PATIENCE_S)
        loop.close()


def configure(folder: Path, url: str, *more: str) -> None:
    """Makes ``scripted/...`` the models behind ``url`` in the workspace of ``folder``; ``more``
    are further lines of the provider's entry."""
    lines = ["[providers.scripted]", f'base_url = "{url}"', *more]
    (folder / "proofstone.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


async def settled() -> None:
    """Returns once the tasks of this loop have gone as far as they go without time or sockets."""
    for _ in range(100):
        await asyncio.sleep(0)


def wait_until(holds: Callable[[], bool]) -> None:
    """Returns once ``holds()``; fails the test where it seems that it never will."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
