"""kill -9 under a budget: what is told covers what may have been billed and is not stored."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from killing import SOME, kill_after, seen_at
from proofstone.engines.models.budget import money
from proofstone.engines.store import Expense
from proofstone.wiring import Workspace, create_workspace
from scripted_server import child_server
from serving import configure

CONNECTIONS, GROUP_ROWS = 16, 256
MOST = 110  # requests before a kill
SCRIPT = Path(__file__).with_name("run_until_killed.py")
PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'
COST = (100 * 2.0 + 5 * 10.0) / 1e6  # of one reply of the scripted server
WORST = (700 * 2.0 + 64 * 10.0) / 1e6  # of one call of these short prompts, generously


def set_up(folder: Path, url: str, n_pairs: int) -> str:
    """A workspace with a form of ``n_pairs`` two-step items and a priced entry for the server."""
    with create_workspace(folder) as workspace:
        pairs = [f"What follows {i}?={i + 1}" for i in range(n_pairs)]
        bank = workspace.build_bank("pairs", pairs, name="numbers", method="recall")
        (form,) = workspace.build_form(bank, seeds=[1])
    configure(folder, url, PRICE)
    return form.id.hex()


def stored_calls(workspace: Workspace) -> int:
    with workspace.store.database.reading() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM call").scalar_one())


def kill_often(folder: Path, kills: int, n_pairs: int, seed: int) -> list[Expense]:
    """What was told after each kill; each time it covers what was sent and is not stored."""
    rng, told, lost_before = random.Random(seed), list[Expense](), 0
    assert kills * (MOST + SOME) < 2 * n_pairs, "the run could end before it is killed"
    with child_server("--reply", "7") as url:
        form = set_up(folder, url, n_pairs)
        for _ in range(kills):
            kill_after(rng.randint(1, MOST), url, [SCRIPT, folder, form, "5USD"])
            with create_workspace(folder) as workspace:
                lost = seen_at(url)["requests"] - stored_calls(workspace) - lost_before
                lost_before += lost
                found = workspace.newly_lost()
                assert workspace.newly_lost() == []  # told once
                bounds = sum(each.exposed_calls for each in found)
                amount = sum(each.exposed or 0 for each in found)
            assert lost <= bounds
            assert money(lost * COST) <= amount
            told += found
    return told


def check_tight(told: list[Expense]) -> None:
    """The bound is one of what can be under way, not of all that was asked or of the budget."""
    assert all(each.exposed_calls <= 1.25 * (CONNECTIONS + GROUP_ROWS) + 1 for each in told)
    most = money(1.25 * (CONNECTIONS * WORST + GROUP_ROWS * COST))
    assert all((each.exposed or 0) <= most for each in told)


def test_what_may_have_been_billed_is_told_after_each_kill(tmp_path: Path) -> None:
    told = kill_often(tmp_path, kills=3, n_pairs=300, seed=1)
    assert len(told) == 3
    check_tight(told)
    with create_workspace(tmp_path) as workspace:
        assert workspace.store.expenses.lost() == told


@pytest.mark.slow
def test_a_hundred_kills(tmp_path: Path) -> None:
    check_tight(kill_often(tmp_path, kills=100, n_pairs=8_000, seed=2))


def test_without_a_budget_the_number_of_calls_is_told(tmp_path: Path) -> None:
    with child_server("--reply", "7") as url:
        form = set_up(tmp_path, url, 200)
        kill_after(MOST, url, [SCRIPT, tmp_path, form])
        with create_workspace(tmp_path) as workspace:
            (lost,) = workspace.newly_lost()
            assert seen_at(url)["requests"] - stored_calls(workspace) <= lost.exposed_calls
    assert (lost.exposed_calls, lost.exposed) == (CONNECTIONS + GROUP_ROWS, None)


def test_a_command_that_ends_leaves_nothing(tmp_path: Path) -> None:
    with child_server("--reply", "7") as url:
        form = set_up(tmp_path, url, 20)
        with create_workspace(tmp_path) as workspace:
            for budget in ("5USD", "0.002USD", None):
                workspace.run(form, models="scripted/one", ask="recall", budget=budget)
            assert workspace.newly_lost() == workspace.store.expenses.lost() == []
