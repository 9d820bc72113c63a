"""kill -9 at any moment, then the same command: nothing lost, nothing scored or asked twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from proofstone.wiring import Workspace, create_workspace
from scripted_server import child_server

CONNECTIONS = 16
GROUP_ROWS = 256


def set_up(folder: Path, url: str, n_pairs: int) -> str:
    """A workspace with a form of ``n_pairs`` two-step items and an entry for the server."""
    with create_workspace(folder) as workspace:
        pairs = [f"What follows {i}?={i + 1}" for i in range(n_pairs)]
        bank = workspace.build_bank("pairs", pairs, name="numbers", method="recall")
        (form,) = workspace.build_form(bank, seeds=[1])
    entry = f'[providers.scripted]\nbase_url = "{url}"\n'
    (folder / "proofstone.toml").write_text(entry, encoding="utf-8")
    return form.id.hex()


def run_and_kill(folder: Path, form: str, after_s: float) -> bool:
    """Whether the process was still at work when it was killed."""
    script = Path(__file__).with_name("run_until_killed.py")
    command = [sys.executable, str(script), str(folder), form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(after_s)
        at_work = process.poll() is None
        process.kill()
    return at_work


def asked_again(url: str) -> int:
    """How many requests the server got beyond one for each body."""
    with urllib.request.urlopen(f"{url}/seen", timeout=10) as reply:
        report = json.load(reply)
    return sum(report["bodies"].values()) - len(report["bodies"])


def check_whole(workspace: Workspace, form: str, n_pairs: int) -> None:
    """Every item has both replies and one score."""
    (result,) = workspace.run(form, models="scripted/one", ask="recall")
    assert result.complete
    count = {}
    with workspace.store.database.reading() as connection:
        for table in ("response", "score"):
            query = f"SELECT count(*) FROM {table}"
            count[table] = connection.exec_driver_sql(query).scalar()
    scoring = workspace.store.scores.current(result.planned.key)
    assert scoring is not None
    assert count["response"] == 2 * n_pairs
    assert workspace.store.scores.n_scored(scoring.key) == n_pairs


def kill_often(folder: Path, kills: int, n_pairs: int, seed: int) -> None:
    rng = random.Random(seed)
    with child_server("--reply", "7", "--delay", "0.03") as url:
        form = set_up(folder, url, n_pairs)
        hits = sum(run_and_kill(folder, form, rng.uniform(0.0, 0.8)) for _ in range(kills))
        with create_workspace(folder) as workspace:
            check_whole(workspace, form, n_pairs)
        again = asked_again(url)
    assert hits >= kills * 0.8, "the run ended before it could be killed: make it longer"
    assert again <= hits * (CONNECTIONS + GROUP_ROWS)


def test_a_few_kills(tmp_path: Path) -> None:
    """Six kills: what is asked again is at most what was in flight and one commit group a kill."""
    kill_often(tmp_path, kills=6, n_pairs=700, seed=1)


@pytest.mark.slow
def test_a_hundred_kills(tmp_path: Path) -> None:
    """A hundred kills at random moments."""
    kill_often(tmp_path, kills=100, n_pairs=12_000, seed=2)
