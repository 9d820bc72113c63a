"""The system's clock, as ``ports.Clock``."""

from __future__ import annotations

import asyncio
import time

__all__ = ["SystemClock"]


class SystemClock:
    """Wall time in seconds since the epoch, the monotonic count, and sleep."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment; never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Lets other tasks run for ``seconds``."""
        await asyncio.sleep(seconds)
