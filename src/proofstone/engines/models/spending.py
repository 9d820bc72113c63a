"""What a command has spent of its budget: the worst case is put aside before each attempt, and what
was billed is taken after it.

So the budget is never passed by what could be known. Who finds too little left waits while others'
attempts are under way: most cost less than was put aside for them. Only when none is under way is
the budget reached. First come, first served.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple, Protocol

from proofstone.engines.models.budget import Budget, Unit, charge
from proofstone.engines.models.stopping import Halt
from proofstone.ports import CallRecord
from proofstone.records import Spent

__all__ = ["BudgetSpent", "Exposure", "Journal", "Spending"]

_ENDLESS = 2**62
_ROOM = 1.25  # how much more than now is recorded at once, so that recording is rare


class BudgetSpent(Exception):
    """No attempt is under way, and what is left does not cover another one."""


class Exposure(NamedTuple):
    """Attempts that may be billed and are not on record yet: how many, and how much at most."""

    calls: int
    amount: int


class Journal(Protocol):
    """Keeps the exposure where a killed process leaves it behind."""

    async def allow(self, most: Exposure) -> None:
        """Returns once it is on disk that the exposure may be as much as ``most``."""


class _Waiter(NamedTuple):
    amount: int
    future: asyncio.Future[None]


class Spending:
    """The spending of one command, over all its models and purposes; used on one loop at a time.

    ``reserve`` before an attempt, then ``settle`` with its row, or ``abandon`` where none came
    back; ``keep`` once the row is committed. Amounts are in the budget's unit. Without a budget
    nothing is refused and nothing put aside: the attempts are counted, and amounts are tokens.
    ``beside`` adds up what searches and embeddings took, by the name of the search or model.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget
        self._most = _ENDLESS if budget is None else budget.amount
        self._unit: Unit = "tokens" if budget is None else budget.unit
        self.spent = 0
        self.reserved = 0
        self.in_flight = 0
        self.refused = 0  # reservations that did not fit any more
        self.beside: dict[str, Spent] = {}
        self._journal: Journal | None = None
        self._unkept = Exposure(0, 0)  # billed, its row not committed yet
        self._charged: set[str] = set()  # models of which calls were settled
        self._allowed = Exposure(0, 0)
        self._peak = Exposure(0, 0)
        self._recording = asyncio.Lock()
        self._waiting: deque[_Waiter] = deque()

    def record_in(self, journal: Journal | None) -> None:
        """From now on nothing is sent before ``journal`` has on record what it may cost; nothing is
        under way now. None ends that."""
        self._journal, self._recording = journal, asyncio.Lock()
        self._allowed = self._peak = self._unkept = Exposure(0, 0)

    @property
    def left(self) -> int:
        """What is neither spent nor put aside; below 0 where an endpoint counted beyond bounds."""
        return self._most - self.spent - self.reserved

    @property
    def exposure(self) -> Exposure:
        """What a kill at this moment would leave unrecorded, at most."""
        unkept = self._unkept
        return Exposure(unkept.calls + self.in_flight, unkept.amount + self.reserved)

    async def reserve(self, amount: int, halt: Halt) -> None:
        """Puts ``amount`` aside. Raises BudgetSpent, and Stopped when ``halt`` comes first."""
        if not self._waiting and amount <= self.left:
            self._take(amount)
        elif not self._waiting and not self.in_flight:
            self.refused += 1
            raise BudgetSpent
        else:
            await self._queue(amount, halt)
        if self._journal is not None:
            await self._record(self._journal, amount)

    def settle(self, reserved: int, call: CallRecord) -> None:
        """Takes what an attempt was charged in place of what was put aside for it."""
        self._charged.add(call.model)
        self.take(reserved, charge(self._unit, call))

    def take(self, reserved: int, billed: int) -> None:
        """The same for a request that is no call of a model: a search, or texts to embed."""
        if billed:
            self._unkept = Exposure(self._unkept.calls + 1, self._unkept.amount + billed)
        self._take_back(reserved, billed)

    def abandon(self, reserved: int) -> None:
        """Takes all that was put aside for an attempt of which nothing came back."""
        self._unkept = Exposure(self._unkept.calls + 1, self._unkept.amount + reserved)
        self._take_back(reserved, reserved)

    def give_back(self, reserved: int) -> None:
        """Frees what was put aside for an attempt that was not sent."""
        self._take_back(reserved, 0)

    def keep(self, call: CallRecord) -> None:
        """A settled attempt's row is committed: a kill no longer loses it. Calls of a model that
        takes nothing, being free or made up, were never settled."""
        if call.model in self._charged:
            self.noted(charge(self._unit, call))

    def noted(self, billed: int) -> None:
        """The same for what was taken by ``take``, where all of it is in the log."""
        if billed:
            self._unkept = Exposure(self._unkept.calls - 1, self._unkept.amount - billed)

    async def tighten(self) -> None:
        """Lowers what is on record to the most since the last time; to be called now and then."""
        if self._journal is None:
            return
        async with self._recording:
            allowed, self._peak = self._peak, self.exposure
            # What falls is in force before it is written, what rises (for those who wait to be
            # recorded) only after: so what is on record is never too little.
            self._allowed = _smallest(self._allowed, allowed)
            await self._journal.allow(allowed)
            self._allowed = allowed

    def _take(self, amount: int) -> None:
        self.reserved += amount
        self.in_flight += 1
        self._peak = _largest(self._peak, self.exposure)

    def _take_back(self, reserved: int, billed: int) -> None:
        self.reserved -= reserved
        self.in_flight -= 1
        self.spent += billed
        if self._waiting:
            self._wake()

    async def _queue(self, amount: int, halt: Halt) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiter(amount, future))
        self._wake()  # an abandoned waiter may stand before us
        try:
            with halt.ends(future):
                await future
        except BaseException:  # cancelled or halted: what was given meanwhile goes back
            if not future.cancel() and not future.cancelled() and future.exception() is None:
                self.give_back(amount)
            else:
                self._wake()
            raise

    def _wake(self) -> None:
        waiting = self._waiting
        while waiting:
            amount, future = waiting[0]
            if not future.done():
                if amount <= self.left:
                    self._take(amount)
                    future.set_result(None)
                elif self.in_flight:
                    return
                else:
                    self.refused += 1
                    future.set_exception(BudgetSpent())
            waiting.popleft()

    async def _record(self, journal: Journal, amount: int) -> None:
        """Returns once what is on record covers the exposure."""
        if self._covered():
            return
        try:
            async with self._recording:
                if self._covered():
                    return
                now, before = self.exposure, self._allowed
                # Never more than the budget lets happen; never less than others rely on by now.
                most = max(now.amount, min(int(now.amount * _ROOM), now.amount + self.left))
                allowed = _largest(before, Exposure(int(now.calls * _ROOM) + 1, most))
                await journal.allow(allowed)
                self._allowed = allowed
        except BaseException:  # nothing was sent
            self.give_back(amount)
            raise

    def _covered(self) -> bool:
        now, allowed = self.exposure, self._allowed
        return now.calls <= allowed.calls and now.amount <= allowed.amount


def _largest(one: Exposure, other: Exposure) -> Exposure:
    return Exposure(max(one.calls, other.calls), max(one.amount, other.amount))


def _smallest(one: Exposure, other: Exposure) -> Exposure:
    return Exposure(min(one.calls, other.calls), min(one.amount, other.amount))
