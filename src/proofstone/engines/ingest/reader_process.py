"""The reading process as its starter sees it: jobs in, answers out, and an end in words."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO, BinaryIO, cast

import msgspec

from proofstone.engines.ingest.messages import Answer, Job, receive, send

__all__ = ["ReaderProcess"]

_COMMAND = "proofstone.engines.ingest.worker"
_TAIL = 2000
_KILLED = -9  # by the system, short of memory
_answer = msgspec.msgpack.Decoder(Answer)


class ReaderProcess:
    """A child that reads documents. ``overdue_at`` is when its silence counts as its end; whoever
    watches the clock calls ``kill``."""

    def __init__(self, memory_bytes: int) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = _started(memory_bytes, environment, self._words)
        self._input = cast("BinaryIO", self._process.stdin)
        self._output = cast("BinaryIO", self._process.stdout)
        self.overdue_at = float("inf")
        self.was_overdue = False

    def ask(self, job: Job) -> bool:
        """Hands in a job; whether the process still takes one."""
        try:
            send(self._input, job)
        except OSError:
            return False
        return True

    def answer(self, within_s: float) -> Answer | None:
        """The next answer; None where the process has ended, or was ended for its silence."""
        self.overdue_at = time.monotonic() + within_s
        try:
            body = receive(self._output)
        except (OSError, ValueError):
            body = None
        finally:
            self.overdue_at = float("inf")
        if body is None:
            return None
        try:
            answer: Answer = _answer.decode(body)
        except msgspec.DecodeError:
            return None
        return answer

    def check_clock(self, now: float) -> None:
        """Ends the process where its answer is overdue."""
        if now > self.overdue_at:
            self.was_overdue = True
            self._process.kill()

    def ending(self) -> str:
        """How the process ended, in words; waits for it."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if self.was_overdue:
            return "took too long"
        tail = self._tail()
        if "MemoryError" in tail or code == _KILLED:
            return "needed more memory than is allowed"
        if code < 0:
            return f"crashed its reader ({_signal(-code)})"
        lines = tail.strip().splitlines()
        return f"crashed its reader ({lines[-1][:200] if lines else f'exit code {code}'})"

    def _tail(self) -> str:
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _TAIL))
        return self._words.read().decode("utf-8", "replace")

    def close(self) -> None:
        """Ends the process, by force where need be, and takes leave of it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._input, self._output):
            try:
                stream.close()
            except OSError:
                continue  # what was left in the pipe has no reader any more
        self._words.close()


def _started(
    memory_bytes: int, environment: dict[str, str], words: IO[bytes]
) -> subprocess.Popen[bytes]:
    """The child, in a group of its own: a Ctrl-C for the parent is none for the child."""
    command = [sys.executable, "-m", _COMMAND, str(memory_bytes)]
    pipe = subprocess.PIPE
    if sys.platform == "win32":
        return subprocess.Popen(  # noqa: S603
            command, stdin=pipe, stdout=pipe, stderr=words, env=environment,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )  # fmt: skip
    return subprocess.Popen(  # noqa: S603
        command, stdin=pipe, stdout=pipe, stderr=words, env=environment, start_new_session=True
    )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
