"""A real HTTP proxy for tests: tunnels by CONNECT, absolute addresses otherwise, logins checked.

It sends every host's requests to 127.0.0.1, at the port asked for, so that a test can use names
that stand in no DNS: ``http://models.test:PORT``.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from contextlib import suppress

__all__ = ["ScriptedProxy"]


class ScriptedProxy:
    """The proxy on 127.0.0.1, while its ``async with`` lasts.

    ``login`` ("user:password") is demanded where given, ``status`` answered to all where given.
    ``seen`` holds the first line of each request, ``heads`` all of them.
    """

    def __init__(self, *, login: str = "", status: int = 0) -> None:
        self._login = login
        self._status = status
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.seen: list[str] = []
        self.heads: list[bytes] = []

    async def __aenter__(self) -> ScriptedProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def address(self) -> str:
        """Host and port, as after http:// in a proxy variable."""
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # Cancelled when the test ends: said to nobody, where a stream's own task would log it.
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._handle(reader, writer)
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line = head.split(b"\r\n", 1)[0].decode()
        self.seen.append(line)
        self.heads.append(head)
        wanted = b"Basic " + b64encode(self._login.encode())
        status = 407 if self._login and wanted not in head else self._status
        if status:
            writer.write(f"HTTP/1.1 {status} Proxy says no\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
            return
        method, target, version = line.split(" ")
        place = target if method == "CONNECT" else target.split("/")[2]
        there, out = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = "/" + target.split("/", 3)[3]
            lines = head.split(b"\r\n")[1:]  # a proxy keeps what is meant for it
            kept = [line for line in lines if not line.lower().startswith(b"proxy-")]
            out.write(b"\r\n".join([f"{method} {path} {version}".encode(), *kept]))
        try:
            await asyncio.gather(_pipe(reader, out), _pipe(there, writer))
        finally:
            out.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    with suppress(OSError, RuntimeError, NotImplementedError):
        writer.close()
