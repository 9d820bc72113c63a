"""The machine's own time."""

from __future__ import annotations

import asyncio
import time

__all__ = ["SystemClock"]


class SystemClock:
    """``ports.Clock`` over the operating system's clocks and the running event loop."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        """Returns after ``seconds``."""
        await asyncio.sleep(seconds)
