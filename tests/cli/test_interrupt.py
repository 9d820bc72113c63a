"""Ctrl-C as a terminal sends it: once stops new requests, twice leaves at once; 130 both times."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripted_server import Act, ScriptedServer, Seen, answer
from serving import configure, serving, wait_until
from told import Proofstone

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="a console's Ctrl-C reaches the whole process group"
)
CONNECTIONS = 3
QUESTIONS = 8


class Pace:
    """How long the endpoint takes; a test changes it in mid-run."""

    seconds = 0.0

    def __call__(self, _seen: Seen) -> Act:
        return answer("Answer: A").later(self.seconds)


@pytest.fixture
def pace() -> Pace:
    return Pace()


@pytest.fixture
def server(made: Path, pace: Pace) -> Iterator[ScriptedServer]:
    with serving(pace) as serves:
        configure(made, serves.url, f"max_connections = {CONNECTIONS}")
        yield serves


def start(folder: Path) -> subprocess.Popen[str]:
    """The command as in a terminal: a shell's background job would hand on that SIGINT is ignored,
    and a handler is not handed on."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command = ["run", "old-books", "-m", "scripted/one", "-w", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "proofstone", *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_once_waits_for_what_is_in_flight_and_says_how_to_go_on(
    made: Path, pace: Pace, server: ScriptedServer, proofstone: Proofstone
) -> None:
    """Three requests are in flight: no more are sent, their replies are kept and scored, and the
    printed line asks only the five that are left."""
    pace.seconds = 1.0
    with start(made) as process:
        wait_until(lambda: server.requests == CONNECTIONS)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert server.requests == CONNECTIONS
    assert "stopping: waiting for 3 replies in flight; Ctrl-C again leaves at once\n" in err
    assert f"{CONNECTIONS} of {QUESTIONS} scored, incomplete" in out
    step = re.search(r"go on: proofstone (resume run:\w{8})\n", err)
    assert step is not None
    pace.seconds = 0.0
    told = proofstone(*step[1].split(), "-w", made)
    assert (told.code, server.requests) == (0, QUESTIONS)


def test_twice_leaves_at_once(
    made: Path, pace: Pace, server: ScriptedServer, proofstone: Proofstone
) -> None:
    """With an endpoint that takes a minute: the second one ends the process within seconds, no
    traceback, and the same command goes on."""
    pace.seconds = 60.0
    with start(made) as process:
        wait_until(lambda: server.requests == CONNECTIONS)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert any("stopping: waiting for" in line for line in iter(process.stderr.readline, ""))
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _out, err = process.communicate(timeout=30)
        assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "what was committed is kept, and the same command goes on" in err
    pace.seconds = 0.0
    told = proofstone("run", "old-books", "-m", "scripted/one", "-w", made)
    assert told.code == 0, told.err
    assert server.requests == CONNECTIONS + QUESTIONS
