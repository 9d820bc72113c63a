"""kill -9 at any moment, then the same command: nothing lost, nothing scored or asked twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from killing import SOME, kill_after, seen_at
from proofstone.wiring import Workspace, create_workspace
from scripted_server import child_server

CONNECTIONS = 16
GROUP_ROWS = 256
MOST = 110  # requests before a kill
SCRIPT = Path(__file__).with_name("run_until_killed.py")


def set_up(folder: Path, url: str, n_pairs: int) -> str:
    """A workspace with a form of ``n_pairs`` two-step items and an entry for the server."""
    with create_workspace(folder) as workspace:
        pairs = [f"What follows {i}?={i + 1}" for i in range(n_pairs)]
        bank = workspace.build_bank("pairs", pairs, name="numbers", method="recall")
        (form,) = workspace.build_form(bank, seeds=[1])
    entry = f'[providers.scripted]\nbase_url = "{url}"\n'
    (folder / "proofstone.toml").write_text(entry, encoding="utf-8")
    return form.id.hex()


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
    assert kills * (MOST + SOME) < 2 * n_pairs, "the run could end before it is killed"
    with child_server("--reply", "7") as url:
        form = set_up(folder, url, n_pairs)
        for _ in range(kills):
            kill_after(rng.randint(0, MOST), url, [SCRIPT, folder, form])
        seen_at(url, answer=10**6)
        with create_workspace(folder) as workspace:
            check_whole(workspace, form, n_pairs)
        bodies = seen_at(url)["bodies"]
    assert len(bodies) == 2 * n_pairs
    assert sum(bodies.values()) - len(bodies) <= kills * (CONNECTIONS + GROUP_ROWS)


def test_a_few_kills(tmp_path: Path) -> None:
    """Six kills: what is asked again is at most what was in flight and one commit group a kill."""
    kill_often(tmp_path, kills=6, n_pairs=500, seed=1)


@pytest.mark.slow
def test_a_hundred_kills(tmp_path: Path) -> None:
    """A hundred kills at random moments."""
    kill_often(tmp_path, kills=100, n_pairs=8_000, seed=2)
