"""A budget over the runs of one command: what must hold before, what a kill leaves on record."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from proofstone.engines.models import Asker, Exposure, Spending, unbounded_reply
from proofstone.engines.store import GROUP_ROWS, Expense, Store, this_process
from proofstone.errors import StoreFailed
from proofstone.ports import CallRecord, Clock
from proofstone.stages.planning import PlannedRun

__all__ = ["check_bounded", "check_replies_end", "on_record"]

_HEARTBEAT_S = 10.0
_RUNS_NAMED = 8

Kept = Callable[[CallRecord], None]


def check_bounded(runs: Sequence[tuple[PlannedRun, Asker]]) -> None:
    """Raises UnboundedReply, naming all models whose replies a budget cannot hold."""
    check_replies_end([(asker, planned.run.settings) for planned, asker in runs])


def check_replies_end(asked: Sequence[tuple[Asker, Mapping[str, Any]]]) -> None:
    """The same for models with the settings that they are asked with."""
    names = [asker.model.name for asker, settings in asked if not asker.fits_a_budget(settings)]
    if names:
        raise unbounded_reply(list(dict.fromkeys(names)))


@asynccontextmanager
async def on_record(
    store: Store,
    askers: Collection[Asker],
    spending: Spending | None,
    clock: Clock,
    *,
    runs: Sequence[str] = (),
) -> AsyncIterator[Kept | None]:
    """While inside, a kill leaves behind how much may be billed and is not stored; ``runs`` names
    what is asked. Gives what the writer is to tell of each call on disk.

    With a budget the bound is what is put aside and not committed, at most; without one it is the
    number of connections and what the writer holds, and costs nothing a call. Nothing is recorded
    where no model bills.
    """
    billing = [asker for asker in askers if asker.bills]
    if not billing:
        yield None if spending is None else spending.keep
        return
    record = _Record(store, clock, spending, billing, " ".join(runs[:_RUNS_NAMED]))
    if spending is not None:
        spending.record_in(record)
    heartbeat = asyncio.create_task(record.keep_alive())
    try:
        yield None if spending is None else spending.keep
    except BaseException:
        record.end(is_clean=False)
        raise
    else:
        record.end(is_clean=True)
    finally:
        heartbeat.cancel()
        if spending is not None:
            spending.record_in(None)


class _Record:
    """The row of this command among the expenses. ``Journal`` of its spending."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        spending: Spending | None,
        billing: Sequence[Asker],
        runs: str,
    ) -> None:
        self._expenses = store.expenses
        self._clock = clock
        self._spending = spending
        # A worker has one call on its way or to be written; the writer holds no more than a group.
        self._most_calls = sum(asker.max_connections for asker in billing) + GROUP_ROWS
        self._key = store.expenses.begin(
            Expense(
                owner=this_process(),
                runs=runs,
                unit="" if spending is None else spending.budget.unit,
                budget=None if spending is None else spending.budget.amount,
                started_at=clock.now(),
                exposed_calls=self._most_calls if spending is None else 0,
                exposed=None if spending is None else 0,
            )
        )

    async def allow(self, most: Exposure) -> None:
        """Returns once it is on disk that so much may be billed."""
        now = self._clock.now()
        await asyncio.to_thread(self._expenses.allow, self._key, most.calls, most.amount, now)

    async def keep_alive(self) -> None:
        """Renews the row now and then, its bound as low as it has been of late."""
        while True:
            await self._clock.sleep(_HEARTBEAT_S)
            with suppress(StoreFailed):  # the writer says so; the bound on disk is only too high
                if self._spending is None:
                    await asyncio.to_thread(self._expenses.renew, self._key, self._clock.now())
                else:
                    await self._spending.tighten()

    def end(self, *, is_clean: bool) -> None:
        """Ends the row with what was billed and could not be stored."""
        left = Exposure(0, 0) if self._spending is None else self._spending.exposure
        if self._spending is None and not is_clean:
            left = Exposure(self._most_calls, 0)
        amount = None if self._spending is None else left.amount
        with suppress(StoreFailed):  # the row stays open, and the next command finds it
            self._expenses.end(self._key, left.calls, amount, self._clock.now())
