"""Looking at all configured models online; what was asked is kept as a check, where there is a
store, so that nothing leaves unrecorded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from proofstone.engines.models import ModelConfig, Online, look_online
from proofstone.engines.store import Store
from proofstone.ports import Clock
from proofstone.records import ModelCheck

__all__ = ["look_at_all"]

_AT_ONCE = 8
_SENT_FROM = ("address", "key", "model")  # a request that ended here had reached the endpoint


async def look_at_all(
    names: Sequence[str], config: ModelConfig, clock: Clock, store: Store | None
) -> list[Online]:
    """One look a name, several at once, in the order of the names."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def look(name: str) -> Online:
        async with slots:
            return await look_online(name, config, clock)

    found = list(await asyncio.gather(*(look(name) for name in dict.fromkeys(names))))
    if store is not None:
        now = clock.now()
        store.models.add_checks([_kept(online, now) for online in found if _has_left(online)])
    return found


def _has_left(online: Online) -> bool:
    failed = next((step.name for step in online.steps if step.state == "failed"), "model")
    return failed in _SENT_FROM


def _kept(online: Online, now: float) -> ModelCheck:
    failed = next((step for step in online.steps if step.state == "failed"), None)
    return ModelCheck(
        model=online.name,
        state="answered" if failed is None else "failed",
        endpoint=online.endpoint,
        detail="" if failed is None else failed.found,
        checked_at=now,
    )
