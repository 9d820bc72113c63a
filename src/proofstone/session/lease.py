"""The lease of a run or a build, held while this process works on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from proofstone.errors import StoreFailed
from proofstone.records.calls import Clock
from proofstone.store.database import this_process

# Holding the lease of a run or a build while this process works on it.

_HEARTBEAT_S = 10.0


class _Leases(Protocol):
    def take_lease(self, key: int, owner: str, now: float, /) -> None: ...

    def give_back_lease(self, key: int, owner: str, /) -> None: ...


@asynccontextmanager
async def lease_held(leases: _Leases, key: int, clock: Clock) -> AsyncIterator[None]:
    """While inside, nobody else works on it. Raises RunInUse where another process does."""
    owner = this_process()
    leases.take_lease(key, owner, clock.now())
    heartbeat = asyncio.create_task(_renew(leases, key, owner, clock))
    try:
        yield
    finally:
        heartbeat.cancel()
        try:
            await asyncio.wait({heartbeat})  # a renewal under way would take it again
        finally:
            leases.give_back_lease(key, owner)


async def _renew(leases: _Leases, key: int, owner: str, clock: Clock) -> None:
    while True:
        await clock.sleep(_HEARTBEAT_S)
        renewal = asyncio.ensure_future(
            asyncio.to_thread(leases.take_lease, key, owner, clock.now())
        )
        try:
            await asyncio.shield(renewal)
        except StoreFailed:
            continue  # a server that is down now may be there at the next beat
        except asyncio.CancelledError:
            await asyncio.wait({renewal})  # its thread goes on whatever becomes of who waits
            raise
