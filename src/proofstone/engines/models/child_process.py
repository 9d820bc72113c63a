"""A child process from its first line of JSON to its end, on any operating system.

The child says once on stdout how it is to be reached, prints what it likes on stderr, and ends
when its stdin closes. See ``local_child``.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["ChildProcess"]

_TAIL_BYTES = 4096
_GOODBYE_S = 5.0


class ChildProcess:
    """A running child; made by ``start``. Belongs to the event loop that started it."""

    def __init__(self, process: Process) -> None:
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise ValueError("a child process is made with three pipes")
        self._process = process
        self._stdin = stdin
        self._stdout = stdout
        self._tail = bytearray()
        self._listener = asyncio.create_task(self._listen(stderr))

    @classmethod
    async def start(cls, command: Sequence[str]) -> ChildProcess:
        """Starts ``command`` in a process group of its own, so that a Ctrl-C for the parent is not
        one for the child. Raises OSError where there is no such program."""
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP
            made = asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, creationflags=flags
            )
        else:
            made = asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        return cls(await made)

    @property
    def alive(self) -> bool:
        """Whether the system has not yet reported its end."""
        return self._process.returncode is None

    async def first_line(self, within_s: float) -> bytes:
        """The line on stdout; empty where the child ended without one.

        Raises TimeoutError, ValueError for a line longer than 64 KB.
        """
        return await asyncio.wait_for(self._stdout.readline(), within_s)

    async def death(self, within_s: float) -> str:
        """How the child ended, in words, waiting so long for it; empty while it lives."""
        with suppress(TimeoutError):
            code = await asyncio.wait_for(self._process.wait(), within_s)
            await asyncio.wait([self._listener], timeout=within_s)  # its last words
            return _ending(code)
        return ""

    def tail(self) -> str:
        """The last that the child printed on stderr, as text."""
        return self._tail.decode("utf-8", "replace").strip()

    async def close(self, within_s: float = _GOODBYE_S) -> None:
        """Ends the child and takes leave of it: by closing its stdin, by force where it is still
        there after ``within_s``."""
        self._stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), within_s)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        # Both pipes are read to their end, or their transports outlive the event loop.
        await self._stdout.read()
        await self._listener

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while chunk := await stderr.read(_TAIL_BYTES):
            self._tail += chunk
            del self._tail[:-_TAIL_BYTES]


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
