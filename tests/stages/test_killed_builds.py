"""kill -9 in the middle of a build, then the same command: as if it had never been interrupted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from killing import SOME, kill_after, seen_at
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from scripted_server import child_server
from serving import configure

CONNECTIONS = 16
GROUP_ROWS = 256
LEAST, MOST = 1000, 1300  # requests before a kill: far more than may be asked again
TOPICS = 500  # a kill: 2.7 requests each
SCRIPT = Path(__file__).with_name("build_until_killed.py")


@pytest.fixture(autouse=True)
def _outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "outside"))


def build(workspace: Workspace, entering: str) -> BuildResult:
    return workspace.build_in_steps(
        "drills", [entering], name="drills", models="scripted/one", judge="scripted/two"
    )


def asked(url: str) -> tuple[int, int]:
    """How many different requests the server got, and how many beyond one for each."""
    bodies = seen_at(url)["bodies"]
    return len(bodies), sum(bodies.values()) - len(bodies)


def kill_often(folder: Path, kills: int, seed: int) -> None:
    """Asked again is at most what was in flight, and one group a kill."""
    rng, topics = random.Random(seed), kills * TOPICS
    with child_server("--response", "7") as url:
        with create_workspace(folder / "undisturbed") as workspace:
            configure(workspace.folder, url)
            expected = build(workspace, str(topics))
        different, once = asked(url)
        assert once == 0
        assert kills * (MOST + SOME) < different, "the build could end before it is killed"
        with create_workspace(folder / "killed") as workspace:
            configure(workspace.folder, url)
        for _ in range(kills):
            kill_after(rng.randint(LEAST, MOST), url, [SCRIPT, folder / "killed", str(topics)])
        seen_at(url, answer=10**6)
        with create_workspace(folder / "killed") as workspace:
            result = build(workspace, str(topics))
        again = asked(url)[1] - different
    assert result.bank == expected.bank
    assert result.build == expected.build
    assert result.funnel == expected.funnel
    # Each step has its own connections: what was in flight at both, and one group.
    assert 0 <= again <= kills * (2 * CONNECTIONS + GROUP_ROWS)


def test_a_kill(tmp_path: Path) -> None:
    kill_often(tmp_path, kills=1, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_many_kills(tmp_path: Path, seed: int) -> None:
    kill_often(tmp_path, kills=8, seed=seed)
