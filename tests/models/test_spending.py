"""Spending: put aside before, taken after, never beyond the budget; on record before it is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.models.budget import Budget, BudgetSpent, Exposure, Spending
from proofstone.models.retries import Halt, Stopped
from proofstone.records.calls import CallRecord
from proofstone.records.runs import Usage
from serving import settled


def took(tokens: int) -> CallRecord:
    """The row of a call that took so many tokens."""
    return CallRecord(
        request_hash=b"", model="m", endpoint="", wire="", prompt_hash=b"", state="complete",
        usage=Usage(tokens, 0),
    )  # fmt: skip


def of(tokens: int, journal: Notes | None = None) -> Spending:
    spending = Spending(Budget("tokens", tokens))
    spending.record_in(journal)
    return spending


@dataclass
class Notes:
    """A journal in memory; ``gate`` holds its writing, ``fails`` makes it fail."""

    allowed: list[Exposure] = field(default_factory=list)
    gate: asyncio.Event | None = None
    fails: bool = False

    async def allow(self, most: Exposure) -> None:
        if self.gate is not None:
            await self.gate.wait()
        await asyncio.sleep(0)
        if self.fails:
            raise OSError("disk full")
        self.allowed.append(most)


async def test_calls_of_a_free_model_take_nothing_off_what_a_kill_loses() -> None:
    """They were never settled; beside them one call of 7 tokens was, and is not committed yet."""
    spending = Spending(None)
    await spending.reserve(0, Halt())
    spending.settle(0, took(7))
    free = msgspec.structs.replace(took(320), model="free")
    for _ in range(12):
        spending.keep(free)
    assert spending.exposure == Exposure(1, 7)
    spending.keep(took(7))
    assert spending.exposure == Exposure(0, 0)


async def test_what_is_put_aside_cannot_be_spent_twice() -> None:
    spending, halt = of(100), Halt()
    await spending.reserve(60, halt)
    second = asyncio.create_task(spending.reserve(60, halt))
    await asyncio.sleep(0)
    assert not second.done()
    spending.settle(60, took(10))  # cost less: 90 are left
    await second
    assert (spending.spent, spending.reserved, spending.left) == (10, 60, 30)


async def test_the_budget_is_reached_only_when_nothing_is_under_way() -> None:
    spending, halt = of(100), Halt()
    await spending.reserve(60, halt)
    second = asyncio.create_task(spending.reserve(60, halt))
    await asyncio.sleep(0)
    spending.settle(60, took(60))
    with pytest.raises(BudgetSpent):
        await second
    await spending.reserve(40, halt)  # what fits goes on
    with pytest.raises(BudgetSpent):
        spending.settle(40, took(40))
        await spending.reserve(1, halt)
    assert spending.refused == 2


async def test_first_come_first_served_and_the_small_one_goes_on_after_the_large_one() -> None:
    """A large call waits at the head; when it cannot be had at all, the small one behind it is."""
    spending, halt = of(100), Halt()
    await spending.reserve(90, halt)
    large = asyncio.create_task(spending.reserve(80, halt))
    small = asyncio.create_task(spending.reserve(5, halt))
    await asyncio.sleep(0)
    assert not large.done()
    assert not small.done()  # 10 are left, but it came second
    spending.settle(90, took(90))
    with pytest.raises(BudgetSpent):
        await large
    await small
    assert spending.left == 100 - 90 - 5


async def test_a_halt_ends_waits_and_gives_nothing_away() -> None:
    spending, halt = of(100), Halt()
    await spending.reserve(100, halt)
    waiting = [asyncio.create_task(spending.reserve(50, halt)) for _ in range(3)]
    await asyncio.sleep(0)
    halt.now("the run stops")
    for task in waiting:
        with pytest.raises(Stopped):
            await task
    spending.settle(100, took(0))
    assert (spending.left, spending.in_flight) == (100, 0)
    await spending.reserve(100, Halt())


async def test_a_cancelled_wait_gives_back_what_it_was_given() -> None:
    """Cancelled in the moment between being given its share and taking it up."""
    spending, halt = of(100), Halt()
    await spending.reserve(100, halt)
    first = asyncio.create_task(spending.reserve(70, halt))
    second = asyncio.create_task(spending.reserve(70, halt))
    await asyncio.sleep(0)
    spending.settle(100, took(0))
    first.cancel()
    await second
    assert spending.reserved == 70
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_an_abandoned_attempt_is_taken_whole() -> None:
    spending = of(100)
    await spending.reserve(70, Halt())
    spending.abandon(70)
    assert (spending.spent, spending.exposure) == (70, Exposure(1, 70))


async def test_more_than_was_bounded_is_taken_and_ends_the_work() -> None:
    spending, halt = of(100), Halt()
    await spending.reserve(60, halt)
    spending.settle(60, took(150))
    assert spending.left == -50
    with pytest.raises(BudgetSpent):
        await spending.reserve(1, halt)


# ---------------------------------------------------------------- what a kill would leave


async def test_nothing_is_sent_before_it_is_on_record() -> None:
    notes = Notes(gate=asyncio.Event())
    spending = of(1000, notes)
    sent = asyncio.create_task(spending.reserve(10, Halt()))
    await settled()
    assert not sent.done()
    assert notes.gate is not None
    notes.gate.set()
    await sent
    assert notes.allowed[-1].amount >= 10
    assert notes.allowed[-1].calls >= 1


async def test_what_could_not_be_put_on_record_is_not_sent() -> None:
    spending = of(1000, Notes(fails=True))
    with pytest.raises(OSError, match="disk full"):
        await spending.reserve(10, Halt())
    assert (spending.reserved, spending.in_flight) == (0, 0)


async def test_a_billed_call_stays_exposed_until_its_row_is_committed() -> None:
    spending = of(1000, Notes())
    await spending.reserve(50, Halt())
    row = took(20)
    spending.settle(50, row)
    assert spending.exposure == Exposure(1, 20)
    spending.keep(row)
    assert spending.exposure == Exposure(0, 0)
    assert spending.spent == 20


async def test_the_record_falls_to_the_most_of_late() -> None:
    notes = Notes()
    spending, halt = of(10_000, notes), Halt()
    rows = [took(100) for _ in range(64)]
    for _ in rows:
        await spending.reserve(100, halt)
    for row in rows:
        spending.settle(100, row)
        spending.keep(row)
    await spending.reserve(7, halt)
    await spending.tighten()  # covers the 64 that were under way since the start
    assert notes.allowed[-1].amount >= 6400
    await spending.tighten()
    assert notes.allowed[-1] == Exposure(1, 7)
    assert len(notes.allowed) < 64 / 2


async def test_what_the_falling_record_does_not_cover_waits_for_it() -> None:
    """The lower amount is in force before it is written, so nothing relies on the higher one."""
    notes = Notes()
    spending, halt = of(10_000, notes), Halt()
    await spending.reserve(4000, halt)
    spending.settle(4000, took(0))
    for _ in range(2):
        await spending.reserve(10, halt)
    await spending.tighten()
    spending.settle(10, took(0))
    notes.gate = asyncio.Event()
    falling = asyncio.create_task(spending.tighten())  # to two calls of 20 in all
    later = asyncio.create_task(spending.reserve(100, halt))
    await settled()
    assert not later.done()
    notes.gate.set()
    await asyncio.gather(falling, later)
    assert [most.amount >= 110 for most in notes.allowed[-2:]] == [False, True]


async def test_the_record_never_passes_the_budget() -> None:
    notes = Notes()
    spending, halt = of(100, notes), Halt()
    for _ in range(10):
        await spending.reserve(10, halt)
    assert max(most.amount for most in notes.allowed) == 100


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 64), st.integers(0, 3000))
def test_however_calls_come_the_budget_holds_and_the_record_covers(
    seed: int, connections: int, budget: int
) -> None:
    """Workers with random bounds, counts, delays, drops and late commits: at every moment what is
    spent and put aside is within the budget and what is not committed is on record; at the end
    nothing is put aside, and whoever was refused met no call under way."""

    async def scenario() -> None:
        rng, notes = Random(seed), Notes()
        spending = of(budget, notes)
        halt, unkept = Halt(), list[CallRecord]()
        charged = sent = 0
        sent_calls = 0

        def check() -> None:
            assert spending.spent + spending.reserved <= budget
            unkept_amount = sum(row.usage.prompt or 0 for row in unkept)
            unkept_calls = sum(row.usage.prompt != 0 for row in unkept)
            on_record = notes.allowed[-1]
            assert sent + unkept_amount <= on_record.amount
            assert sent_calls + unkept_calls <= on_record.calls

        async def worker() -> None:
            nonlocal charged, sent, sent_calls
            for _ in range(12):
                most = rng.randint(1, 100)
                try:
                    await spending.reserve(most, halt)
                except BudgetSpent:
                    return
                sent, sent_calls = sent + most, sent_calls + 1
                check()
                await asyncio.sleep(0)
                billed = rng.choice([0, most, rng.randint(0, most)])
                row = took(billed)
                spending.settle(most, row)
                sent, sent_calls = sent - most, sent_calls - 1
                charged += billed
                unkept.append(row)
                check()
                if rng.random() < 0.3:
                    while unkept:
                        spending.keep(unkept.pop())
                if rng.random() < 0.1:
                    await spending.tighten()

        await asyncio.gather(*(worker() for _ in range(connections)))
        while unkept:
            spending.keep(unkept.pop())
        assert (spending.reserved, spending.in_flight) == (0, 0)
        assert spending.spent == charged <= budget
        assert spending.exposure == Exposure(0, 0)

    asyncio.run(scenario())
