"""What calls took by run and purpose; what commands at work leave behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from rows_for_tests import call, item, item_set, open_store, run

from proofstone.records.runs import Pace, Spent, Usage, usd
from proofstone.store.calls import Expense
from proofstone.store.copies import merge
from proofstone.store.database import this_process
from proofstone.store.store import Store
from proofstone.store.writer import Place


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


async def test_a_runs_calls_are_added_up_with_the_attempts_that_were_of_no_use(
    store: Store,
) -> None:
    """Of three attempts at one question two were billed for nothing, one of them by estimate; of
    another run's calls none counts; a call that two runs share counts in each."""
    items = [item("q1"), item("q2")]
    form = item_set(items)
    store.items.add_set(form, items, now=1.0)
    keys = [place.key for place in store.items.page(form.id, -1, 2)]
    mine, other = (store.runs.add(run(form, name), 1.0, "0") for name in ("a/m", "b/m"))
    broken = msgspec.structs.replace(call("q1"), state="failed", attempt=0, started_at=1.0)
    dropped = msgspec.structs.replace(
        broken, attempt=1, usage=Usage(30), estimated_tokens=90, cost_usd=0.5, started_at=2.0
    )
    good = msgspec.structs.replace(call("q1"), attempt=2, usage=Usage(10, 3, 2), started_at=3.0)
    failed = msgspec.structs.replace(call("q2"), state="failed", cost_usd=None, usage=Usage())
    foreign = call("other question", model="b/m")
    async with store.writer() as writer:
        await writer.write(broken)
        await writer.write(dropped)
        await writer.write(good, Place(mine, keys[0], 0, "answer"))
        await writer.write(failed, Place(mine, keys[1], 0, "answer"))
        await writer.write(foreign, Place(other, keys[0], 0, "answer"))
    found = store.calls.find_calls([good.request_hash]).get(good.request_hash)
    assert found is not None
    async with store.writer() as writer:
        await writer.write(found[0], Place(other, keys[1], 0, "answer"))
    first = Spent(
        calls=4, prompt_tokens=10 + 30 + 10, completion_tokens=3 + 3, reasoning_tokens=2,
        cost_usd=0.25 + 0.5 + 0.25, unpriced=1, estimated_calls=1, estimated_tokens=90 - 30,
        estimated_usd=0.5,
    )  # fmt: skip
    assert store.spent.of_runs([mine]) == first
    shared = store.spent.of_runs([other])
    assert (shared.calls, shared.cost_usd) == (3 + 1, 0.25 + 0.5 + 0.25 + 0.25)
    assert store.spent.of_runs([mine, other]).calls == 4 + 1
    assert store.spent.by_purpose() == {"ask": store.spent.of_runs([mine, other])}
    assert store.spent.of_runs([]) == Spent()
    one, latency = good.latency_s, foreign.latency_s
    assert store.paces.of_runs([mine]) == Pace(n_questions=1, median_latency_s=one)
    both = store.paces.of_runs([mine, other])
    assert (both.n_questions, both.median_latency_s) == (3, sorted([one, latency, one])[1])
    assert store.paces.of_runs([]) == Pace()


async def test_purposes_stand_apart_and_what_was_made_up_is_left_out(store: Store) -> None:
    async with store.writer() as writer:
        await writer.write(call("a"))
        await writer.write(msgspec.structs.replace(call("b"), purpose="control"))
        await writer.write(msgspec.structs.replace(call("c", model="sim/x"), simulated=True))
    spent = store.spent.by_purpose()
    assert {purpose: each.calls for purpose, each in spent.items()} == {"ask": 1, "control": 1}


async def test_an_estimate_comes_back_with_its_call(store: Store) -> None:
    guessed = msgspec.structs.replace(call("a"), estimated_tokens=123)
    async with store.writer() as writer:
        await writer.write(guessed)
        await writer.write(call("b"))
    assert store.calls.call(1).estimated_tokens == 123
    assert store.calls.call(2).estimated_tokens is None


def expense(owner: str, started_at: float = 100.0) -> Expense:
    return Expense(
        owner=owner, runs="run:12345678", unit="USD", budget=5 * 10**12, started_at=started_at,
        exposed_calls=0, exposed=0,
    )  # fmt: skip


def dead_process() -> str:
    """The name, as a holder, of a process of this host that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return this_process().replace(this_process().split()[1], str(process.pid), 1)


def test_a_command_that_ends_leaves_what_it_says(store: Store) -> None:
    clean, torn = (store.expenses.begin(expense(this_process(), at)) for at in (1.0, 2.0))
    store.expenses.allow(clean, 9, 900, now=3.0)
    store.expenses.end(clean, 0, 0, now=4.0)
    store.expenses.end(torn, 3, 300, now=4.0)
    assert store.expenses.find_dead(now=5.0) == []
    (lost,) = store.expenses.lost()
    assert (lost.started_at, lost.exposed_calls, lost.exposed) == (2.0, 3, 300)


def test_what_a_dead_process_left_is_found_once(store: Store) -> None:
    """A living one's row is left alone; on another host one counts as dead after a minute."""
    owners = [this_process(), dead_process(), "process 1 on elsewhere"]
    keys = [store.expenses.begin(expense(owner)) for owner in owners]
    for key in keys:
        store.expenses.allow(key, 7, 700, now=100.0)
    found = store.expenses.find_dead(now=101.0)
    assert [each.owner for each in found] == owners[1:2]
    assert (found[0].exposed_calls, found[0].exposed) == (7, 700)
    assert store.expenses.find_dead(now=101.0) == []
    store.expenses.allow(keys[0], 7, 700, now=150.0)
    (late,) = store.expenses.find_dead(now=161.0)
    assert late.owner == owners[2]
    assert len(store.expenses.lost()) == 2


def test_a_dead_process_that_had_sent_nothing_left_nothing(store: Store) -> None:
    store.expenses.begin(expense(dead_process()))
    assert store.expenses.find_dead(now=101.0) == []
    assert store.expenses.lost() == []


def test_what_was_lost_comes_along_in_a_merge(store: Store, tmp_path: Path) -> None:
    key = store.expenses.begin(expense(this_process()))
    store.expenses.end(key, 3, 300, now=4.0)
    other = open_store(f"sqlite:///{tmp_path / 'other.sqlite'}")
    try:
        for _ in range(2):
            merge(store.database, other.database)
        assert other.expenses.lost() == store.expenses.lost()
    finally:
        other.close()


@pytest.mark.parametrize(
    ("amount", "text"),
    [(1234.5, "1,234.50"), (20.0, "20.0000"), (0.0493, "0.0493"), (0.00012345, "0.000123"),
     (0.0000004, "0.000000400"), (0.0, "0.0000")],
)  # fmt: skip
def test_money_is_shown_with_three_digits_at_least(amount: float, text: str) -> None:
    assert usd(amount) == text


@pytest.mark.parametrize(
    ("spent", "text"),
    [
        (Spent(), ""),
        (Spent(calls=3), "0.0000"),
        (Spent(calls=3, cost_usd=0.25), "0.2500"),
        (Spent(calls=3, cost_usd=0.25, estimated_usd=0.01), "~0.2500"),
        (Spent(calls=3, cost_usd=0.25, unpriced=1), "0.2500+"),
        (Spent(calls=3, unpriced=3), "?"),
    ],
)
def test_a_cell_says_what_of_a_cost_is_not_known(spent: Spent, text: str) -> None:
    assert spent.cost_text == text


def test_what_was_spent_adds_up() -> None:
    one = Spent(calls=1, prompt_tokens=2, cost_usd=0.5, estimated_tokens=7)
    other = Spent(calls=2, completion_tokens=3, cost_usd=0.25, unpriced=1)
    both = one + other
    assert both == Spent(
        calls=3, prompt_tokens=2, completion_tokens=3, cost_usd=0.75, unpriced=1, estimated_tokens=7
    )
    assert both.tokens == 2 + 3 + 7
