"""Rows through steps: the same result at any concurrency, nothing done twice, failures held up."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import Bench, Number

from proofstone.build.flow import Channel, make_row
from proofstone.records.builds import BatchStep, Drop, Kept, Step, StepContext


def expected(numbers: list[int]) -> list[Number]:
    """Even, no multiple of three, and as many copies as the rest of it by three."""
    kept = [n for n in numbers if n % 2 == 0 and n % 3]
    return [Number(n, f"copy {i}") for n in kept for i in range(n % 3)]


@given(st.lists(st.integers(0, 60), max_size=40), st.integers(1, 9))
def test_the_result_is_in_the_order_of_the_inputs_at_any_concurrency(
    numbers: list[int], at_once: int
) -> None:
    """Also where the same number comes several times."""
    bench = Bench()
    result = bench.perform([bench.drop_odd(), bench.copies(at_once)], numbers)
    assert result.performed.complete
    assert result.left == expected(numbers)
    assert bench.most_at_once <= at_once
    assert len(bench.seen) == len(set(bench.seen))  # a row is worked on once


@given(
    st.lists(st.integers(0, 60), max_size=30),
    st.lists(st.integers(0, 60), max_size=30),
)
def test_what_is_known_of_a_row_is_never_made_again(before: list[int], now: list[int]) -> None:
    """Whichever rows entered before, and in whichever company."""
    bench = Bench()
    steps = [bench.drop_odd(), bench.copies()]
    bench.perform(steps, before)
    result = bench.perform(steps, now)
    assert result.left == expected(now)
    assert len(bench.seen) == len(set(bench.seen))


def test_a_raised_version_works_on_its_step_again_and_on_no_other() -> None:
    """The rows that it makes are the same, so the steps behind it have nothing to do."""
    bench = Bench()
    bench.perform([bench.drop_odd(), bench.copies()], list(range(10)))
    bench.seen.clear()
    again = bench.perform([bench.drop_odd(version=2), bench.copies()], list(range(10)))
    assert again.left == expected(list(range(10)))
    assert sorted(bench.seen) == [("even", n) for n in range(10)]


def test_a_failed_row_is_held_up_and_tried_again() -> None:
    """It is neither dropped nor lost: the pipeline is not complete until it is through."""
    bench = Bench()
    bench.failing = {4, 8}
    steps = [bench.drop_odd(), bench.copies(), bench.first_of_tens()]
    held = bench.perform(steps, list(range(20)))
    assert not held.performed.complete
    assert held.progress[1].failed == {"overloaded": 2}
    assert held.funnel.steps[1].pending == 2
    assert len(held.performed.keys) == 2  # a batch step waits for all rows
    bench.failing = set()
    bench.seen.clear()
    whole = bench.perform(steps, list(range(20)))
    assert whole.performed.complete
    copies = sum(n % 3 for n in (2, 4, 8, 10, 14, 16))
    assert sorted(bench.seen) == [("copy", 4), ("copy", 8), ("tens", copies)]
    assert [row.n for row in whole.left] == [2, 10]


def test_a_batch_step_sees_each_row_once_and_is_done_once() -> None:
    """It is done again where one of its rows is another, and only then."""
    bench = Bench()
    steps = [bench.drop_odd(), bench.first_of_tens()]
    result = bench.perform(steps, [2, 4, 2, 12, 14])
    assert [row.n for row in result.left] == [2, 2, 12]  # what came twice goes on twice
    assert ("tens", 4) in bench.seen
    bench.seen.clear()
    bench.perform(steps, [2, 4, 2, 12, 14])
    assert bench.seen == []
    bench.perform(steps, [2, 4, 12, 14, 16])
    assert bench.seen == [("even", 16), ("tens", 5)]


def test_steps_go_on_behind_a_batch_step() -> None:
    """Rows flow again from what it left."""
    bench = Bench()
    result = bench.perform([bench.first_of_tens(), bench.copies()], list(range(40)))
    assert [row.n for row in result.left] == [10, 20, 20]  # of 0, 10, 20, 30
    assert result.performed.complete


def test_halting_ends_what_is_not_begun() -> None:
    """What was done is kept, and the same call goes on."""
    bench = Bench()
    steps = [bench.drop_odd(), bench.copies(at_once=2)]
    halted = bench.perform(steps, list(range(0, 200, 2)), is_halted=lambda: len(bench.seen) > 120)
    assert not halted.performed.complete
    assert 0 < halted.funnel.pending < 100
    result = bench.perform(steps, list(range(0, 200, 2)))
    assert result.left == expected(list(range(0, 200, 2)))
    assert len(bench.seen) == len(set(bench.seen))


def test_the_configuration_the_models_and_the_seed_of_a_step_make_its_key() -> None:
    """Each where it matters: tools where it asks, the seed where it draws."""

    def seen_again(**changes: object) -> bool:
        bench = Bench()
        base = {"asks": ("writer",), "draws": True, "config": {"least": 1}}

        def work(row: Number, _context: StepContext) -> Kept:
            bench.seen.append(("step", row.n))
            return row

        tools = {"writer": changes.pop("model", "a")}
        seed = changes.pop("seed", 0)
        for fields, used, drawn in (
            (base, {"writer": "a"}, 0),
            ({**base, **changes}, tools, seed),
        ):
            step = Step(name="step", version=1, takes=Number, work=work, **fields)  # type: ignore[arg-type]
            bench.perform([step], [1], tools=used, seed=drawn)  # type: ignore[arg-type]
        return len(bench.seen) == 2

    assert not seen_again()
    assert seen_again(config={"least": 2})
    assert seen_again(model="b")
    assert seen_again(seed=1)
    assert not seen_again(at_once=7)


def test_a_step_states_its_reasons_and_keeps_something_or_gives_one() -> None:
    """What it did not declare is a fault of the step, named with the step and the row."""

    def step(work: object) -> Step:
        return Step(name="odd one", version=1, takes=Number, work=work, reasons=("odd",))  # type: ignore[arg-type]

    bench = Bench()
    with pytest.raises(ValueError, match="dropped a row as 'even'; its reasons are: odd") as raised:
        bench.perform([step(lambda _row, _context: Drop("even"))], [1])
    assert raised.value.__notes__ == [f"in step odd one at row {make_row(Number(1)).id.hex()[:8]}"]
    with pytest.raises(ValueError, match="kept nothing of a row"):
        bench.perform([step(lambda _row, _context: [])], [1])
    with pytest.raises(ValueError, match="different names"):
        bench.perform([bench.drop_odd(), bench.drop_odd()], [1])


def test_a_batch_step_speaks_of_places_that_there_are() -> None:
    """Another place is a fault of the step."""

    def work(_rows: object, _context: StepContext) -> dict[int, Kept]:
        return {3: Drop("gone")}

    bench = Bench()
    batch = BatchStep(name="all", version=1, takes=Number, work=work, reasons=("gone",))
    with pytest.raises(ValueError, match="place 3 of 2 rows"):
        bench.perform([batch], [1, 2])


def test_whoever_is_ahead_waits() -> None:
    """A channel holds its number of rows and what was put at once beyond it."""
    rows = [make_row(Number(n)) for n in range(100)]

    async def work() -> tuple[list[int], list[int]]:
        channel, held, taken = Channel(4), [], []

        async def put() -> None:
            for row in rows:
                await channel.put([row])
                held.append(len(channel._rows))
            channel.close()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(put())
            while got := await channel.take(3):
                taken.append(len(got))
        return held, taken

    held, taken = asyncio.run(work())
    assert max(held) <= 4
    assert sum(taken) == 100
