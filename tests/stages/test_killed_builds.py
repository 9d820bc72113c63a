"""kill -9 in the middle of a build, then the same command: as if it had never been interrupted."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from proofstone.stages.building import BuildResult
from proofstone.wiring import Workspace, create_workspace
from scripted_server import child_server
from serving import configure

CONNECTIONS = 16
GROUP_ROWS = 256


@pytest.fixture(autouse=True)
def _outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "outside"))


def build(workspace: Workspace, entering: str) -> BuildResult:
    return workspace.build_in_steps(
        "drills", [entering], name="drills", models="scripted/one", judge="scripted/two"
    )


def build_and_kill(folder: Path, entering: str, after_s: float) -> bool:
    """Whether the process was still at work when it was killed."""
    script = Path(__file__).with_name("build_until_killed.py")
    command = [sys.executable, str(script), str(folder), entering]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "building\n"
        time.sleep(after_s)
        at_work = process.poll() is None
        process.kill()
    return at_work


def asked(url: str) -> tuple[int, int]:
    """How many different requests the server got, and how many beyond one for each."""
    with urllib.request.urlopen(f"{url}/seen", timeout=10) as reply:
        bodies = json.load(reply)["bodies"]
    return len(bodies), sum(bodies.values()) - len(bodies)


def kill_often(folder: Path, kills: int, topics: int, seed: int) -> None:
    rng = random.Random(seed)
    with child_server("--reply", "7", "--delay", "0.03") as url:
        with create_workspace(folder / "undisturbed") as workspace:
            configure(workspace.folder, url)
            expected = build(workspace, str(topics))
        different, once = asked(url)
        assert once == 0
        with create_workspace(folder / "killed") as workspace:
            configure(workspace.folder, url)
        hits = sum(
            build_and_kill(folder / "killed", str(topics), rng.uniform(0.1, 0.8))
            for _ in range(kills)
        )
        with create_workspace(folder / "killed") as workspace:
            result = build(workspace, str(topics))
        again = asked(url)[1] - different
    assert result.bank == expected.bank
    assert result.build == expected.build
    assert result.funnel == expected.funnel
    assert hits >= kills * 0.8, "the build ended before it could be killed: make it longer"
    # Each step has its own connections: what was in flight at both, and one group.
    assert 0 <= again <= hits * (2 * CONNECTIONS + GROUP_ROWS)


def test_a_kill(tmp_path: Path) -> None:
    """Asked again is at most what was in flight, and one group."""
    kill_often(tmp_path, kills=1, topics=300, seed=1)


@pytest.mark.slow
def test_many_kills(tmp_path: Path) -> None:
    """Forty kills at random moments."""
    kill_often(tmp_path, kills=40, topics=6000, seed=2)
