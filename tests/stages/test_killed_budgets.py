"""kill -9 under a budget: what is told covers what may have been billed and is not stored."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from killing import SOME, kill_after, seen_at
from proofstone.api import Workspace, create_workspace
from proofstone.keep.backup import STORE
from proofstone.models.budget import money
from proofstone.models.retries import Halt
from proofstone.session.askers import on_record, session_askers
from proofstone.session.folders import MARK
from proofstone.store.calls import Expense
from scripted_server import answer, child_server
from serving import configure, serving

CONNECTIONS, GROUP_ROWS = 16, 256
LEAST, MOST = 1000, 1300  # requests before a kill: far more than may be under way
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


class Watched:
    """What can have been under way at once, at most, and in one group of the writer: as seen from
    outside, look by look."""

    def __init__(self, folder: Path, url: str, lost_before: int) -> None:
        self._under_way = self._group = 0
        self._url = url
        self._lost_before = lost_before
        self._store = sqlite3.connect(f"file:{folder / MARK / STORE}?mode=ro", uri=True)
        self._stored = self._count()

    def __call__(self) -> None:
        """What was sent by now and was not stored at the last look; what was stored since."""
        sent, before = seen_at(self._url)["requests"], self._stored
        self._stored = self._count()
        self._under_way = max(self._under_way, sent - before - self._lost_before)
        self._group = max(self._group, self._stored - before)

    def most(self) -> int:
        """The most that a command can have held for unrecorded: it hears of a group only when that
        is on disk, and what is on its way to the server was not seen there."""
        seen = CONNECTIONS + self._under_way + self._group
        return min(CONNECTIONS + GROUP_ROWS, seen)

    def _count(self) -> int:
        (stored,) = self._store.execute("SELECT count(*) FROM call").fetchone()
        return int(stored)


def kill_often(folder: Path, kills: int, seed: int, *budget: str) -> list[Expense]:
    """What was told after each kill. Each time it covers what was sent and is not stored, and is no
    more than what was under way at once, with the record's room of a quarter above it."""
    rng, told, lost_before = random.Random(seed), list[Expense](), 0
    n_pairs = kills * (MOST + SOME) // 2 + 100
    with child_server("--response", "7") as url:
        form = set_up(folder, url, n_pairs)
        for _ in range(kills):
            wanted, watched = rng.randint(LEAST, MOST), Watched(folder, url, lost_before)
            kill_after(wanted, url, [SCRIPT, folder, form, *budget], watched)
            watched()
            most = 1.25 * watched.most() + 1
            with create_workspace(folder) as workspace:
                lost = seen_at(url)["requests"] - stored_calls(workspace) - lost_before
                lost_before += lost
                found = workspace.newly_lost()
                assert workspace.newly_lost() == []  # told once
                bounds = sum(each.exposed_calls for each in found)
                amount = sum(each.exposed or 0 for each in found)
            assert lost <= bounds <= most, f"{bounds} told, {lost} lost, {most} at most"
            if budget:
                assert money(lost * COST) <= amount
                assert amount <= money(1.25 * CONNECTIONS * WORST + most * COST)
            told += found
    return told


def test_what_may_have_been_billed_is_told_after_each_kill(tmp_path: Path) -> None:
    told = kill_often(tmp_path, 1, 1, "10USD")
    assert len(told) == 1
    with create_workspace(tmp_path) as workspace:
        assert workspace.store.expenses.lost() == told


@pytest.mark.slow
@pytest.mark.parametrize("budget", [(), ("50USD",)], ids=["no budget", "budget"])
def test_many_kills(tmp_path: Path, budget: tuple[str, ...]) -> None:
    kill_often(tmp_path, 8, 2, *budget)


def test_without_a_budget_the_number_of_calls_is_told(tmp_path: Path) -> None:
    """Their cost is not bounded."""
    (lost,) = kill_often(tmp_path, 1, 3)
    assert (lost.exposed, lost.unit) == (None, "")


def test_what_is_told_of_a_slow_run_is_about_what_was_in_flight(tmp_path: Path) -> None:
    """At 16 connections and 200 ms a reply at most a few times 16 replies are uncommitted. All that
    the connections and the writer can hold would be 272."""
    with child_server("--response", "7", "--delay", "0.2") as url:
        form = set_up(tmp_path, url, 400)
        kill_after(200, url, [SCRIPT, tmp_path, form])
        with create_workspace(tmp_path) as workspace:
            (lost,) = workspace.newly_lost()
            assert seen_at(url)["requests"] - stored_calls(workspace) <= lost.exposed_calls
    assert lost.exposed_calls <= 1.25 * (CONNECTIONS + 3 * CONNECTIONS) + 1


@pytest.mark.parametrize("budget", ["5USD", "0.002USD", None])
def test_a_command_that_ends_leaves_nothing(tmp_path: Path, budget: str | None) -> None:
    with child_server("--response", "7") as url:
        form = set_up(tmp_path, url, 20)
        with create_workspace(tmp_path) as workspace:
            workspace.run(form, models="scripted/one", prompt_method="recall", budget=budget)
            assert workspace.newly_lost() == workspace.store.expenses.lost() == []


async def test_a_bound_that_is_written_late_does_not_outlive_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread writes on where the heartbeat that waited for it was cancelled."""
    held = threading.Event()
    with serving(answer()) as server, create_workspace(tmp_path) as workspace:
        configure(tmp_path, server.url)
        expenses = workspace.store.expenses
        allow = expenses.allow

        def late(*bound: Any) -> None:
            held.wait(10)
            allow(*bound)

        monkeypatch.setattr(expenses, "allow", late)
        stop = asyncio.Event()
        async with session_askers(workspace, ["scripted/one"], None, stop) as askers:
            spending = askers["scripted/one"].spending
            assert spending is not None
            async with on_record(workspace.store, askers.values(), workspace.clock):
                rising = asyncio.create_task(spending.reserve(0, Halt()))
                await asyncio.sleep(0.05)
                rising.cancel()
                await asyncio.gather(rising, return_exceptions=True)
                threading.Timer(0.05, held.set).start()
        await asyncio.sleep(0.2)
        assert expenses.lost() == []
