"""Askers for the models that a command names: opened before anything is asked, closed after."""

from __future__ import annotations

import asyncio
import datetime
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from random import Random
from typing import Any, Protocol, TypeVar

from proofstone.errors import NoPrice, StoreFailed
from proofstone.models.ask import Asker
from proofstone.models.budget import Exposure, Spending, no_price, unbounded_response
from proofstone.models.concurrency import Limiters
from proofstone.models.config import ModelConfig
from proofstone.models.entries import Entry
from proofstone.models.registry import open_asker
from proofstone.records.calls import CacheUse, CallRecord, CallStore, Clock
from proofstone.session.progress import Background
from proofstone.session.session import Session
from proofstone.store.calls import Expense
from proofstone.store.database import this_process
from proofstone.store.store import Store

# A budget over the runs of one command: what must hold before, what a kill leaves on record.

_HEARTBEAT_S = 2.0


_RUNS_NAMED = 8


Kept = Callable[[CallRecord], None]


T = TypeVar("T")


def check_responses_end(asked: Sequence[tuple[Asker, Mapping[str, Any]]]) -> None:
    """Raise UnboundedResponse naming all models without a token limit that a budget needs."""
    names = [asker.model.name for asker, settings in asked if not asker.fits_a_budget(settings)]
    if names:
        raise unbounded_response(list(dict.fromkeys(names)))


@asynccontextmanager
async def on_record(
    store: Store, askers: Collection[Asker], clock: Clock, *, runs: Sequence[str] = ()
) -> AsyncIterator[Kept | None]:
    """While inside, a kill leaves behind how much may be billed and is not stored; ``runs`` names
    what is asked. Gives what the writer is to tell of each call on disk.

    The bound is what these askers, which share one spending, have under way and not committed, at
    most: calls, and with a budget what is put aside for them. Nothing is recorded where no model
    bills.
    """
    spending = next((asker.spending for asker in askers), None)
    if spending is None or not any(asker.bills for asker in askers):
        yield None if spending is None else spending.keep
        return
    record = _Record(store, clock, spending, " ".join(runs[:_RUNS_NAMED]))
    spending.record_in(record)
    heartbeat = asyncio.create_task(record.keep_alive())
    try:
        yield spending.keep
    finally:
        heartbeat.cancel()
        record.end()
        spending.record_in(None)


class _Record:
    """The row of this command among the expenses. ``Journal`` of its spending."""

    def __init__(self, store: Store, clock: Clock, spending: Spending, runs: str) -> None:
        self._expenses = store.expenses
        self._clock = clock
        self._spending = spending
        budget = spending.budget
        self._is_bounded = budget is not None
        self._writing = threading.Lock()
        self._has_ended = False
        self._key = store.expenses.begin(
            Expense(
                owner=this_process(),
                runs=runs,
                unit="" if budget is None else budget.unit,
                budget=None if budget is None else budget.amount,
                started_at=clock.now(),
                exposed_calls=0,
                exposed=self._amount(Exposure(0, 0)),
            )
        )

    async def allow(self, most: Exposure) -> None:
        """Returns once it is on disk that so much may be billed."""
        await asyncio.to_thread(self._allow, most)

    async def keep_alive(self) -> None:
        """Renews the row now and then, its bound as low as it has been of late."""
        while True:
            await self._clock.sleep(_HEARTBEAT_S)
            with suppress(StoreFailed):  # the writer says so; the bound on disk is only too high
                await self._spending.tighten()

    def end(self) -> None:
        """Ends the row with what was sent and is not stored: nothing, unless the command broke off
        or could not store."""
        left = self._spending.exposure
        with self._writing, suppress(StoreFailed):  # else it stays open, for the next command
            self._has_ended = True
            self._expenses.end(self._key, left.calls, self._amount(left), self._clock.now())

    def _allow(self, most: Exposure) -> None:
        """Record an allowance. It runs on a thread that continues if the waiting task is canceled,
        so it must not write after the end."""
        with self._writing:
            if not self._has_ended:
                now = self._clock.now()
                self._expenses.allow(self._key, most.calls, self._amount(most), now)

    def _amount(self, exposure: Exposure) -> int | None:
        return exposure.amount if self._is_bounded else None


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
    """Open one asker per name. All share one spending, which has no budget unless one is given.

    With ``cache`` "any", cached responses of any model version are accepted. Raises what
    ``open_asker`` raises (NoPrice for all models without a price), before any call.
    """
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


def session_askers(
    session: Session,
    names: Sequence[str],
    max_connections: int | None,
    stop: asyncio.Event,
    cache: CacheUse = "same",
    spending: Spending | None = None,
) -> AbstractAsyncContextManager[dict[str, Asker]]:
    """Askers of these models, on record while they are open; see ``open_askers``."""
    return open_askers(
        names,
        session.config,
        store=session.store.calls,
        clock=session.clock,
        stop=stop,
        max_connections=max_connections,
        cache=cache,
        spending=spending,
    )


def with_askers(
    session: Session,
    names: Sequence[str],
    ask: Callable[[dict[str, Asker]], Awaitable[T]],
    *,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
) -> T:
    """What ``ask`` makes with askers of these models, at work in the background."""

    async def work(stop: asyncio.Event) -> T:
        async with session_askers(session, names, max_connections, stop, cache, spending) as opened:
            return await ask(opened)

    return Background(work).wait()


# Holding the lease of a run or a build while this process works on it.

_LEASE_S = 10.0


class _Leases(Protocol):
    def take_lease(self, key: int, owner: str, now: float, /) -> None: ...

    def give_back_lease(self, key: int, owner: str, /) -> None: ...


@asynccontextmanager
async def lease_held(leases: _Leases, key: int, clock: Clock) -> AsyncIterator[None]:
    """Hold a lease on a run. Raises RunInUse if another process holds it."""
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
        await clock.sleep(_LEASE_S)
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
