"""One timer for all requests in flight: whose limit is over, and whose is not."""

from __future__ import annotations

import asyncio

import pytest

import virtual_time
from proofstone.models.retries import Deadlines

LIMIT_S = 10.0


async def stay(deadlines: Deadlines, seconds: float) -> str:
    """What becomes of a request that takes this long."""
    task = deadlines.enter()
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        if not deadlines.is_over(task):
            raise
        return "over"
    finally:
        deadlines.leave(task)
    return "done"


def test_only_what_stays_beyond_the_limit_is_ended() -> None:
    """A slow request is ended within a twentieth of its limit; the quick ones beside and after it
    are not."""

    async def work() -> None:
        deadlines = Deadlines(LIMIT_S)
        began = asyncio.get_running_loop().time()
        slow = asyncio.create_task(stay(deadlines, 60 * LIMIT_S))
        quick = [await stay(deadlines, 0.3 * LIMIT_S) for _ in range(3)]
        assert quick == ["done"] * 3
        assert await slow == "over"
        took = asyncio.get_running_loop().time() - began
        assert LIMIT_S <= took <= 1.051 * LIMIT_S
        assert await stay(deadlines, 0.9 * LIMIT_S) == "done"  # the watch begins anew after a pause

    virtual_time.run(work())


def test_a_task_goes_on_after_its_limit_was_over() -> None:
    """Ending a request does not leave the task cancelled."""

    async def work() -> None:
        deadlines = Deadlines(LIMIT_S)

        async def twice() -> list[str]:
            return [await stay(deadlines, 60 * LIMIT_S), await stay(deadlines, 0.1 * LIMIT_S)]

        task = asyncio.create_task(twice())
        assert await task == ["over", "done"]
        assert task.cancelling() == 0

    virtual_time.run(work())


async def test_somebody_elses_cancelling_passes() -> None:
    """A task that is cancelled from outside ends, whatever its limit."""
    deadlines = Deadlines(LIMIT_S)
    task = asyncio.create_task(stay(deadlines, 60 * LIMIT_S))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_beside_the_limit_is_not_swallowed() -> None:
    """Where both come in the same moment, the task ends."""
    deadlines = Deadlines(LIMIT_S)
    task = asyncio.create_task(stay(deadlines, 60 * LIMIT_S))
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    deadlines._began[task] = loop.time() - 2 * LIMIT_S
    deadlines._look(loop)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
