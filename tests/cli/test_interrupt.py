"""Ctrl-C as a terminal sends it: once stops new requests, twice leaves at once; 130 both times."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripted_server import ScriptedServer, answer
from serving import PATIENCE_S, configure, serving, wait_until
from told import Proofstone

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="a console's Ctrl-C reaches the whole process group"
)
CONNECTIONS = 3
QUESTIONS = 8


@pytest.fixture(autouse=True)
def signals_as_in_a_terminal() -> None:
    """A shell's background job would hand on that SIGINT is ignored, nohup that SIGHUP is; handlers
    are not handed on."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def gate() -> threading.Event:
    """Until it is set the endpoint answers nothing."""
    return threading.Event()


@pytest.fixture
def server(made: Path, gate: threading.Event) -> Iterator[ScriptedServer]:
    with serving(answer("Answer: A").once_open(gate)) as serves:
        configure(made, serves.url, f"max_connections = {CONNECTIONS}")
        yield serves


def start(folder: Path, *before: str) -> subprocess.Popen[str]:
    """The command as in a terminal."""
    command = ["run", "old-books", "-m", "scripted/one", "-w", str(folder)]
    return subprocess.Popen(
        [*before, sys.executable, "-m", "proofstone", *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def until(process: subprocess.Popen[str], start: str) -> str:
    """The first line on stderr that starts so."""
    assert process.stderr is not None
    return next(line for line in iter(process.stderr.readline, "") if line.startswith(start))


@pytest.mark.parametrize("stops", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP] * 2,
                                   [signal.SIGTERM, signal.SIGHUP]], ids=str)  # fmt: skip
def test_once_waits_for_what_is_in_flight_and_says_how_to_go_on(
    made: Path,
    gate: threading.Event,
    server: ScriptedServer,
    proofstone: Proofstone,
    stops: list[signal.Signals],
) -> None:
    """Three requests are in flight: no more are sent, their replies are kept and scored, and the
    printed line asks only the five that are left."""
    with start(made) as process:
        wait_until(lambda: server.requests == CONNECTIONS)
        process.send_signal(stops[0])
        said = until(process, "stopping: ")
        for more in stops[1:]:
            process.send_signal(more)
        gate.set()
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert server.requests == CONNECTIONS
    assert said == "stopping: waiting for 3 responses; press Ctrl-C again to quit at once\n"
    assert f"{CONNECTIONS} of {QUESTIONS} scored, incomplete" in out
    step = re.search(r"Next: proofstone (run --resume run:\w{8})\n", err)
    assert step is not None
    told = proofstone(*step[1].split(), "-w", made)
    assert (told.code, server.requests) == (0, QUESTIONS)


def test_twice_leaves_at_once(
    made: Path, gate: threading.Event, server: ScriptedServer, proofstone: Proofstone
) -> None:
    """With an endpoint that does not answer: the second one ends the process, no traceback, and
    the same command goes on."""
    with start(made) as process:
        wait_until(lambda: server.requests == CONNECTIONS)
        process.send_signal(signal.SIGINT)
        until(process, "stopping: waiting for")
        process.send_signal(signal.SIGINT)
        _out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "results so far are kept ('proofstone status' counts them)" in err
    gate.set()
    told = proofstone("run", "old-books", "-m", "scripted/one", "-w", made)
    assert told.code == 0, told.err
    assert server.requests == CONNECTIONS + QUESTIONS


def test_a_hangup_that_is_ignored_at_the_start_stays_so(
    made: Path, gate: threading.Event, server: ScriptedServer
) -> None:
    """As under nohup: the run goes on to its end."""
    with start(made, "nohup") as process:
        wait_until(lambda: server.requests == CONNECTIONS)
        process.send_signal(signal.SIGHUP)
        gate.set()
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    assert server.requests == QUESTIONS
    assert "incomplete" not in out


def test_a_terminal_that_closes_loses_no_reply(
    made: Path, gate: threading.Event, server: ScriptedServer, proofstone: Proofstone
) -> None:
    """The replies in flight are kept, though whatever is printed has nowhere to go."""
    screen, end = os.openpty()
    command = [sys.executable, "-m", "proofstone", "run", "old-books", "-m", "scripted/one"]
    session = "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    session += "os.execv(sys.argv[1], sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", session, *command, "-w", str(made)],
        stdin=end, stdout=end, stderr=end,
    ) as process:  # fmt: skip
        os.close(end)
        wait_until(lambda: server.requests == CONNECTIONS)
        os.close(screen)
        wait_until(lambda: process.poll() is not None or _is_left(process.pid))
        gate.set()
        process.wait(PATIENCE_S)
    assert server.requests == CONNECTIONS
    told = proofstone("run", "old-books", "-m", "scripted/one", "-w", made)
    assert (told.code, server.requests) == (0, QUESTIONS), told.err


def _is_left(pid: int) -> bool:
    """Whether a process has let go of its terminal."""
    return str(Path(f"/proc/{pid}/fd/2").readlink()) == os.devnull
