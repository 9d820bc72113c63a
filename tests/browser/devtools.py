"""A Chromium driven by its DevTools protocol: one process, one websocket, nothing in the way."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from tools.chromium import quiet_flags

__all__ = ["PATIENCE_S", "DevTools", "Refused", "started"]

# How long anything may take before it counts as hanging. Nothing waits for time to pass.
PATIENCE_S = 60.0


class Refused(Exception):
    """The browser did not do what it was told; its words are the message."""


class DevTools:
    """Commands and events of a browser, in order, without any thread beside the caller's.

    Events are read while a command is answered, and kept until they are taken."""

    def __init__(self, runner: asyncio.Runner, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._runner = runner
        self._socket = socket
        self._last = 0
        self._events: list[dict[str, Any]] = []

    def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """What the browser answers; raises ``Refused`` with its message where it says no."""
        return self._runner.run(self._call(method, session, params))

    def events(self, session: str, *methods: str) -> list[dict[str, Any]]:
        """The parameters of all events of these kinds so far, first to last; they stay."""
        return [
            event["params"]
            for event in self._events
            if event.get("sessionId", "") == session and event["method"] in methods
        ]

    def wait(self, session: str, method: str, after: int = 0) -> dict[str, Any]:
        """The event of this kind that comes after the first ``after`` of them."""
        while len(found := self.events(session, method)) <= after:
            self._keep(self._runner.run(self._next()))
        return found[after]

    def forget(self, session: str) -> None:
        """Drops all events of a session that has ended."""
        self._events = [each for each in self._events if each.get("sessionId", "") != session]

    async def _call(self, method: str, session: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last += 1
        asked: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if session:
            asked["sessionId"] = session
        await self._socket.send_str(orjson.dumps(asked).decode())
        while (answer := await self._next()).get("id") != asked["id"]:
            self._keep(answer)
        if "error" in answer:
            raise Refused(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _keep(self, message: dict[str, Any]) -> None:
        if "method" in message:
            self._events.append(message)

    async def _next(self) -> dict[str, Any]:
        message = await self._socket.receive(timeout=PATIENCE_S)
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise Refused(f"the browser went away: {message.type.name}")
        received: dict[str, Any] = orjson.loads(message.data)
        return received


@contextlib.contextmanager
def started(program: str, profile: Path) -> Iterator[DevTools]:
    """A browser with a fresh profile in the folder ``profile``, ended with the block."""
    own = ["--remote-debugging-port=0", f"--user-data-dir={profile}"]
    with (profile / "stderr").open("wb") as talk:
        process = subprocess.Popen(
            [program, *quiet_flags(), *own, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=talk,
        )
    try:
        address = _address(process, profile)
        with asyncio.Runner() as runner:
            client = runner.run(_client())
            try:
                socket = runner.run(client.ws_connect(address, max_msg_size=0))
                yield DevTools(runner, socket)
            finally:
                runner.run(client.close())
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


async def _client() -> aiohttp.ClientSession:
    return aiohttp.ClientSession()


def _address(process: subprocess.Popen[bytes], profile: Path) -> str:
    """Where the browser listens: it writes port and path into its profile once it does."""
    told = profile / "DevToolsActivePort"
    latest = time.monotonic() + PATIENCE_S
    while time.monotonic() < latest and process.poll() is None:
        lines = told.read_text(encoding="ascii").split() if told.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.02)
    said = (profile / "stderr").read_text(encoding="utf-8", errors="replace")
    raise Refused(f"{process.args!r} did not start: {said[-2000:]}")
