"""Askers for the models that a command names: opened before anything is asked, closed after."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

from proofstone.engines.models import (
    Asker,
    CacheUse,
    Entry,
    Limiters,
    ModelConfig,
    Spending,
    no_price,
    open_asker,
)
from proofstone.errors import NoPrice
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
    spending: Spending | None = None,
) -> AsyncIterator[dict[str, Asker]]:
    """An asker a name; with ``cache`` "any" they take replies of any served version. All share one
    spending, which has no budget unless one is given. Raises what ``open_asker`` raises (NoPrice
    for all models that lack one), before anything is asked of any."""
    flags = Entry() if max_connections is None else Entry(max_connections=max_connections)
    limiters = Limiters()
    spending = Spending() if spending is None else spending
    askers: dict[str, Asker] = {}
    async with AsyncExitStack() as opened:
        unpriced = []
        for name in names:
            try:
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
                    spending=spending,
                )
            except NoPrice:
                unpriced.append(name)
            else:
                opened.push_async_callback(askers[name].close)
        if unpriced:
            today = datetime.datetime.fromtimestamp(clock.now(), datetime.UTC).date()
            raise no_price(unpriced, today.isoformat())
        yield askers
