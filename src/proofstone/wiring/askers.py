"""Askers for the models that a command names: opened before anything is asked, closed after."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

from proofstone.engines.models import (
    Asker,
    CacheUse,
    Entry,
    Limiters,
    ModelConfig,
    open_asker,
)
from proofstone.ports import CallStore, Clock

__all__ = ["open_askers"]


@asynccontextmanager
async def open_askers(
    names: Sequence[str],
    config: ModelConfig,
    *,
    store: CallStore,
    clock: Clock,
    stop: asyncio.Event,
    max_connections: int | None = None,
    cache: CacheUse = "same",
) -> AsyncIterator[dict[str, Asker]]:
    """An asker a name; with ``cache`` "any" they take replies of any served version. Raises what
    ``open_asker`` raises, before anything is asked of any."""
    flags = Entry() if max_connections is None else Entry(max_connections=max_connections)
    limiters = Limiters()
    askers: dict[str, Asker] = {}
    async with AsyncExitStack() as opened:
        for name in names:
            askers[name] = await open_asker(
                name,
                config,
                store=store,
                clock=clock,
                rng=Random(),  # jitter only; nothing that enters an id
                limiters=limiters,
                flags=flags,
                stop=stop,
                cache=cache,
            )
            opened.push_async_callback(askers[name].close)
        yield askers
