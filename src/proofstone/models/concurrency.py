"""Adapt the number of concurrent requests to an endpoint's responses.

Works like TCP congestion control. From a small start the limit grows by one per successful
response, so it doubles per round trip, until the first rejection (429, 503, a timeout). Each
rejection halves it, at most once per round trip, since requests in flight were sent at the old
rate. From then on it grows by one per round trip. It never exceeds the maximum, and never grows
while it is not used up.
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

    ``enter`` takes a slot and returns its round; ``leave`` returns the slot with the request's
    result.
    """

    def __init__(self, maximum: int, *, start: int = 16) -> None:
        self.maximum = maximum
        self.in_flight = 0
        self.limit = float(min(start, maximum))
        self._doubling = True
        self._round = (
            0  # counts reductions: a result of an older round's request adds no information
        )
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """Return how many requests wait for a slot."""
        return sum(not future.done() for future in self._waiting)

    def try_enter(self) -> int | None:
        """Return the round of a slot that is free now; None if one must wait (``enter``)."""
        if self._waiting or self.in_flight >= int(self.limit):
            return None
        self.in_flight += 1
        return self._round

    async def enter(self, halt: Halt) -> int:
        """Wait for a slot and take it. Raises Stopped if ``halt`` comes first."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._wake()  # an abandoned waiter may be ahead of this one at a free slot
        try:
            with halt.ends(future):
                await future
        except BaseException:  # cancelled or halted: a slot granted meanwhile goes to the next
            if not future.cancel() and not future.cancelled() and future.exception() is None:
                self.in_flight -= 1
            self._wake()
            raise
        return self._round

    def leave(self, entered: int, feedback: Feedback) -> None:
        """Return a slot, with what its request says about the endpoint."""
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
        """Return the endpoint's limiter; the lowest maximum given applies.

        ``at_once`` is the start value: a user who gives a number for this command knows the
        endpoint.
        """
        limiter = self._by_endpoint.get(endpoint)
        if limiter is None:
            start = {"start": maximum} if at_once else {}
            limiter = self._by_endpoint[endpoint] = Limiter(maximum, **start)
        elif maximum < limiter.maximum:
            limiter.maximum = maximum
            limiter.limit = min(limiter.limit, float(maximum))
        return limiter
