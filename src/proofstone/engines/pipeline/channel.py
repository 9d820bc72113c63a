"""A bounded channel between two steps: who is ahead waits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from proofstone.ports import PipelineRow

__all__ = ["Channel"]


class Channel:
    """Rows from any number of tasks to one; holds ``most``, and what was put at once beyond it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: deque[PipelineRow] = deque()
        self._closed = False
        self._putting: deque[asyncio.Future[None]] = deque()
        self._taking: asyncio.Future[None] | None = None

    async def put(self, rows: Iterable[PipelineRow]) -> None:
        """Adds rows, once there is room."""
        while len(self._rows) >= self._most:
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._putting.append(room)
            await room
        self._rows.extend(rows)
        self._wake_taker()

    async def take(self, most: int) -> list[PipelineRow]:
        """Up to ``most`` rows, one at least; none once the channel is closed and empty."""
        while not self._rows and not self._closed:
            self._taking = asyncio.get_running_loop().create_future()
            await self._taking
        rows = [self._rows.popleft() for _ in range(min(most, len(self._rows)))]
        while self._putting and len(self._rows) < self._most:
            room = self._putting.popleft()
            if not room.done():
                room.set_result(None)
                break  # it puts, and the next take lets in another
        return rows

    def close(self) -> None:
        """Says that nothing more comes."""
        self._closed = True
        self._wake_taker()

    def _wake_taker(self) -> None:
        if self._taking is not None and not self._taking.done():
            self._taking.set_result(None)
