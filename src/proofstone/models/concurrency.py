"""How many requests an endpoint gets at once: more while replies are good, fewer when it pushes
back.

As in TCP: from a modest start the limit grows by one a good reply, so it doubles each round trip,
until the first push-back (429, 503, a timeout); each push-back halves it, at most once a round
trip, since all that were on their way had been sent at the old rate; from then on it grows by one
a round trip. It never passes the maximum, and never grows while it is not used up.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Literal

from proofstone.models.retries import Halt

Feedback = Literal["good", "push_back", "neutral"]


_BACK_OFF = 0.5


class Limiter:
    """Slots for requests to one endpoint, on one event loop. First come, first served.

    ``enter`` takes a slot and gives its round; ``leave`` gives the slot back with what came of it.
    """

    def __init__(self, maximum: int, *, start: int = 16) -> None:
        self.maximum = maximum
        self.in_flight = 0
        self.limit = float(min(start, maximum))
        self._doubling = True
        self._round = 0  # counts back-offs: a reply to an older round's request says nothing new
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot."""
        return sum(not future.done() for future in self._waiting)

    def try_enter(self) -> int | None:
        """The round of a slot taken at once; None where one must wait (``enter``)."""
        if self._waiting or self.in_flight >= int(self.limit):
            return None
        self.in_flight += 1
        return self._round

    async def enter(self, halt: Halt) -> int:
        """Waits for a slot and takes it. Raises Stopped when ``halt`` comes first."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._wake()  # an abandoned waiter may stand before us at a free slot
        try:
            with halt.ends(future):
                await future
        except BaseException:  # cancelled or halted: a slot given meanwhile goes to the next
            if not future.cancel() and not future.cancelled() and future.exception() is None:
                self.in_flight -= 1
            self._wake()
            raise
        return self._round

    def leave(self, entered: int, feedback: Feedback) -> None:
        """Gives a slot back, with what its request says about the endpoint."""
        if feedback == "good":
            self._grow()
        elif feedback == "push_back":
            self._back_off(entered)
        self.in_flight -= 1
        if self._waiting:
            self._wake()

    def _grow(self) -> None:
        limit = self.limit
        if limit < self.maximum and self.in_flight >= int(limit):
            step = 1.0 if self._doubling else 1.0 / limit
            self.limit = min(limit + step, float(self.maximum))

    def _back_off(self, entered: int) -> None:
        if entered == self._round:
            self._round += 1
            self._doubling = False
            self.limit = max(1.0, self.limit * _BACK_OFF)

    def _wake(self) -> None:
        waiting = self._waiting
        while waiting and self.in_flight < int(self.limit):
            future = waiting.popleft()
            if not future.done():
                self.in_flight += 1
                future.set_result(None)
        while waiting and waiting[0].done():
            waiting.popleft()


class Limiters:
    """The limiter of each endpoint, so that models behind one address share it."""

    def __init__(self) -> None:
        self._by_endpoint: dict[str, Limiter] = {}

    def of(self, endpoint: str, maximum: int, *, at_once: bool = False) -> Limiter:
        """The endpoint's limiter; the lowest maximum that anyone gave holds. ``at_once`` begins
        there: somebody who names a number for this command knows the endpoint."""
        limiter = self._by_endpoint.get(endpoint)
        if limiter is None:
            start = {"start": maximum} if at_once else {}
            limiter = self._by_endpoint[endpoint] = Limiter(maximum, **start)
        elif maximum < limiter.maximum:
            limiter.maximum = maximum
            limiter.limit = min(limiter.limit, float(maximum))
        return limiter
