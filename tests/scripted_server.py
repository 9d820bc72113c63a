"""A chat-completions server that does what a script says: answers, delays, errors, broken bodies.

In a test, on the test's own loop::

    async with ScriptedServer(in_turn(drop(), half(), answer("Answer: B"))) as s:
        ...  # ask s.url; s.requests counts, s.seen keeps the last requests

In a process of its own, by ``child_server()`` or by hand; then it prints its port::

    python tests/scripted_server.py --port 0 --response "Answer: A" --delay 0.05
    python tests/scripted_server.py --fast            # one fixed completion, as fast as it goes

``GET /seen`` tells how many requests came and how often each body did; ``GET /seen?answer=40`` that
40 more are answered, and those behind them wait for ever: who asks for more is at work until ended.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from scripted_acts import (
    Act,
    Script,
    Seen,
    answer,
    answering,
    completion,
    drop,
    drop_after_headers,
    empty,
    error,
    half,
    hang,
    html,
    huge,
    in_turn,
    malformed,
    models_list,
    text_answer,
    with_faults,
)

__all__ = [
    "Act",
    "Script",
    "ScriptedServer",
    "Seen",
    "answer",
    "answering",
    "child_server",
    "completion",
    "drop",
    "drop_after_headers",
    "empty",
    "error",
    "half",
    "hang",
    "html",
    "huge",
    "in_turn",
    "malformed",
    "models_list",
    "text_answer",
    "with_faults",
]
_SCRIPTED_GETS = ("/api.php", "/web/")  # a wiki's, and a page's or a search's of the web


class ScriptedServer:
    """The server on 127.0.0.1, while its ``async with`` lasts. ``fast`` keeps no request and takes
    the script's answer to none for the answer to all. With a context ``tls`` it speaks TLS."""

    def __init__(
        self, script: Script | Act | None = None, *, port: int = 0, keep: int = 1000,
        fast: bool = False, tls: ssl.SSLContext | None = None,
    ) -> None:  # fmt: skip
        act = answer() if script is None else script
        self._script: Script = (lambda _seen: act) if isinstance(act, Act) else act
        self._port = port
        self._tls = tls
        self._server: asyncio.Server | None = None
        self.connections: set[asyncio.Transport] = set()
        self.fixed = _response(self._script(Seen(0, "", "", {}, b""))) if fast else b""
        self.requests = 0
        self.left: int | None = None  # how many more are answered, where that is bounded
        self.seen: deque[Seen] = deque(maxlen=keep)
        self.bodies: Counter[str] = Counter()
        self.listing: Script | None = None  # what GET /models brings, where something does
        self.in_flight = 0
        self.most_in_flight = 0

    async def __aenter__(self) -> ScriptedServer:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Connection(self), "127.0.0.1", self._port, backlog=1024, ssl=self._tls
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for transport in list(self.connections):
            transport.abort()
        await self._server.wait_closed()

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        """The base address for a client."""
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/v1"

    def take(self, head: bytes, body: bytes) -> Act:
        """Counts a request and says what is to be done about it."""
        lines = head.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        if method == "GET" and "/models" in path and self.listing is not None:
            return self.listing(Seen(self.requests, method, path, headers, body))
        if method == "GET" and not any(part in path for part in _SCRIPTED_GETS):
            if bound := path.partition("/seen?answer=")[2]:
                self.left = int(bound)
            report = {"requests": self.requests, "bodies": self.bodies}
            return Act(json.dumps(report).encode())
        seen = Seen(self.requests, method, path, headers, body)
        self.requests += 1
        self.seen.append(seen)
        self.bodies[sha256(body).hexdigest()] += 1
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                return hang()
        return self._script(seen)


class _Connection(asyncio.Protocol):
    """One kept-alive connection: requests with a Content-Length, one after the other."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]  # uvloop's is not a subclass
        self._server.connections.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        if not buffer[:1].isalpha():  # no HTTP: a client that means https
            self._transport.write(_response(Act(b"", 400)))
            self._transport.close()
            return
        while (end := buffer.find(b"\r\n\r\n")) >= 0:
            stop = end + 4 + _content_length(buffer[:end])
            if len(buffer) < stop:
                break
            self._handle(buffer[:end], buffer[end + 4 : stop])
            buffer = buffer[stop:]
        self._buffer = buffer

    def _handle(self, head: bytes, body: bytes) -> None:
        server = self._server
        if server.fixed and head.startswith(b"POST"):
            server.requests += 1
            self._transport.write(server.fixed)
            return
        act = server.take(head, body)
        server.in_flight += 1
        server.most_in_flight = max(server.most_in_flight, server.in_flight)
        if act.delay_s > 0:
            asyncio.get_running_loop().call_later(act.delay_s, self._perform, act)
        else:
            self._perform(act)

    def _perform(self, act: Act) -> None:
        if act.gate is not None and not act.gate.is_set():
            asyncio.get_running_loop().call_later(0.01, self._perform, act)
            return
        self._server.in_flight -= 1
        if act.drop == "never_answer":
            return
        if act.drop == "before":
            self._transport.close()
            return
        response = _response(act)
        if act.drop == "after_headers":
            response = response[: response.index(b"\r\n\r\n") + 4]
        self._transport.write(response)
        if act.drop or act.promise is not None:
            self._transport.close()


def _content_length(head: bytes) -> int:
    lower = head.lower()
    start = lower.find(b"content-length:")
    return 0 if start < 0 else int(lower[start + 15 :].split(b"\r\n", 1)[0])


def _response(act: Act) -> bytes:
    length = len(act.body) if act.promise is None else act.promise
    headers = {"Content-Type": act.content_type, "Content-Length": str(length), **act.headers}
    lines = [f"HTTP/1.1 {act.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + act.body


@contextmanager
def child_server(*arguments: str) -> Iterator[str]:
    """The base address of a server in a process of its own, which ends with this one."""
    command = [sys.executable, str(Path(__file__).resolve()), "--until-stdin-closes", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as it:
        assert it.stdin is not None
        assert it.stdout is not None
        yield f"http://127.0.0.1:{int(it.stdout.readline())}/v1"
        it.stdin.close()
        it.wait(120)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A scripted chat-completions server.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--response", default="Answer: A", help="the text of each completion")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--faults", type=float, default=0.0, help="the share that meets a fault")
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    parser.add_argument("--fast", action="store_true", help="one fixed completion, nothing kept")
    parser.add_argument("--until-stdin-closes", action="store_true")
    return parser


async def _serve(options: argparse.Namespace) -> None:
    act = answer(options.response).later(options.delay)
    script: Script = lambda _seen: act  # noqa: E731
    if options.faults:
        script = with_faults(script, options.faults, options.seed)
    async with ScriptedServer(script, port=options.port, keep=0, fast=options.fast) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        if options.until_stdin_closes:
            await asyncio.to_thread(sys.stdin.read)
        else:
            await asyncio.Event().wait()


def main(argv: Sequence[str] | None = None) -> None:
    """Serves until told to end."""
    options = _parser().parse_args(argv)
    run: Callable[[Any], Any] = asyncio.run
    with suppress(ImportError):
        import uvloop  # noqa: PLC0415 - not on every system

        run = uvloop.run
    with suppress(KeyboardInterrupt):
        run(_serve(options))


if __name__ == "__main__":
    main()
