"""The limiter: growth while replies are good, one back-off a round trip, and who comes first."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.models.concurrency import Feedback, Limiter, Limiters
from proofstone.models.retries import Halt, Stopped


def fill(limiter: Limiter) -> list[int]:
    """Takes every free slot."""
    entered = []
    while (slot := limiter.try_enter()) is not None:
        entered.append(slot)
    return entered


def round_trip(limiter: Limiter, feedback: Feedback) -> int:
    """Fills all slots and gives each back with the same feedback; the slots there were."""
    slots = fill(limiter)
    for done, entered in enumerate(slots):
        limiter.leave(entered, feedback)
        # others take the place at once, as waiting requests do
        if feedback == "good" and done < len(slots):
            fill(limiter)
    n = len(slots)
    while limiter.in_flight:
        limiter.leave(-1, "neutral")
    return n


def test_it_starts_modestly_and_doubles_each_round_trip_to_the_maximum() -> None:
    limiter = Limiter(100)
    assert [round_trip(limiter, "good") for _ in range(5)] == [16, 32, 64, 100, 100]


def test_it_starts_at_a_smaller_maximum() -> None:
    limiter = Limiter(4)
    assert [round_trip(limiter, "good") for _ in range(2)] == [4, 4]


def test_a_push_back_halves_once_a_round_trip_and_growth_is_by_one_from_then_on() -> None:
    limiter = Limiter(100)
    assert round_trip(limiter, "push_back") == 16
    assert limiter.limit == 16 / 2
    sizes = [round_trip(limiter, "good") for _ in range(3)]
    assert sizes[0] == 8
    assert sizes[1] - sizes[0] <= 1
    assert sizes[2] - sizes[1] <= 1
    assert limiter.limit > 8


def test_requests_of_an_older_round_do_not_halve_again() -> None:
    limiter = Limiter(64)
    old = fill(limiter)
    limiter.leave(old[0], "push_back")
    assert limiter.limit == 8
    for entered in old[1:]:
        limiter.leave(entered, "push_back")
    assert limiter.limit == 8
    limiter.leave(fill(limiter)[0], "push_back")
    assert limiter.limit == 4


def test_it_never_falls_below_one() -> None:
    limiter = Limiter(2)
    for _ in range(5):
        round_trip(limiter, "push_back")
    assert limiter.limit == 1
    assert round_trip(limiter, "good") == 1


def test_it_does_not_grow_while_it_is_not_used_up() -> None:
    limiter = Limiter(100)
    for _ in range(50):
        entered = limiter.try_enter()
        assert entered is not None
        limiter.leave(entered, "good")
    assert limiter.limit == 16


@given(st.integers(1, 40), st.lists(st.sampled_from(["in", "good", "push_back", "neutral"])))
def test_it_is_never_over_its_limit_when_a_slot_is_given(maximum: int, steps: list[str]) -> None:
    limiter = Limiter(maximum)
    held: list[int] = []
    for step in steps:
        if step == "in":
            free = limiter.in_flight < int(limiter.limit)
            entered = limiter.try_enter()
            assert (entered is not None) == free
            held += [] if entered is None else [entered]
        elif held:
            limiter.leave(held.pop(0), step)  # type: ignore[arg-type]
        assert limiter.in_flight == len(held)
        assert 1 <= limiter.limit <= maximum


async def test_those_who_wait_come_in_order() -> None:
    limiter = Limiter(1)
    order: list[int] = []

    async def use(name: int) -> None:
        entered = limiter.try_enter()
        if entered is None:
            entered = await limiter.enter(Halt())
        order.append(name)
        await asyncio.sleep(0)
        limiter.leave(entered, "good")

    await asyncio.gather(*(use(name) for name in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert limiter.in_flight == 0


async def test_a_cancelled_wait_takes_no_slot() -> None:
    limiter = Limiter(1)
    (held,) = fill(limiter)
    waits = [asyncio.create_task(limiter.enter(Halt())) for _ in range(3)]
    await asyncio.sleep(0)
    waits[0].cancel()
    limiter.leave(held, "good")
    waits[1].cancel()  # its slot was just given to it
    done = await asyncio.gather(*waits, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in done] == [True, True, False]
    assert limiter.in_flight == 1
    assert limiter.waiting == 0


async def test_a_halt_ends_all_waits_and_refuses_new_ones() -> None:
    limiter, event = Limiter(1), asyncio.Event()
    halt = Halt(event)
    fill(limiter)
    waits = [asyncio.create_task(limiter.enter(halt)) for _ in range(3)]
    await asyncio.sleep(0)
    assert limiter.waiting == 3
    event.set()
    done = await asyncio.gather(*waits, return_exceptions=True)
    assert [type(result) for result in done] == [Stopped] * 3
    with pytest.raises(Stopped):
        await limiter.enter(halt)
    assert limiter.in_flight == 1
    assert limiter.waiting == 0
    halt.close()


def test_models_behind_one_endpoint_share_the_lowest_maximum() -> None:
    limiters = Limiters()
    first = limiters.of("https://a", 64)
    assert limiters.of("https://a", 8) is first
    assert first.maximum == 8
    assert first.limit == 8
    assert limiters.of("https://a", 32).maximum == 8
    assert limiters.of("https://b", 32) is not first
