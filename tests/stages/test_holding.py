"""A lease is given back for good, also while it is being renewed."""

from __future__ import annotations

import asyncio
import threading

import pytest

from proofstone.models.retries import SystemClock
from proofstone.session.askers import lease_held
from serving import PATIENCE_S


class SlowLeases:
    """Leases of which every renewal takes until it is let go."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.renewing = threading.Event()
        self.go_on = threading.Event()

    def take_lease(self, key: int, owner: str, now: float, /) -> None:
        if self.said:
            self.renewing.set()
            assert self.go_on.wait(PATIENCE_S)
        self.said.append("taken")

    def give_back_lease(self, key: int, owner: str, /) -> None:
        self.said.append("given back")


class EagerClock(SystemClock):
    """A clock on which no time is waited."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0)


@pytest.mark.parametrize("fails", [False, True])
def test_a_renewal_under_way_is_waited_for(fails: bool) -> None:
    """Else its thread would take the lease after it was given back, and nobody could go on."""
    leases = SlowLeases()

    async def work() -> None:
        async with lease_held(leases, 1, EagerClock()):
            await asyncio.to_thread(leases.renewing.wait, PATIENCE_S)
            asyncio.get_running_loop().call_later(0.05, leases.go_on.set)
            if fails:
                raise ValueError("work failed")

    if fails:
        with pytest.raises(ValueError, match="work failed"):
            asyncio.run(work())
    else:
        asyncio.run(work())
    assert leases.said == ["taken", "taken", "given back"]
