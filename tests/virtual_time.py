"""An event loop whose time passes only while all of its tasks wait, and then at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["run"]

Result = TypeVar("Result")


class _Leap(selectors.SelectSelector):
    """Waits for nothing: the time that a wait would take is added up."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout:
            self.passed += timeout
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leap = _Leap()
        super().__init__(self._leap)

    def time(self) -> float:
        return self._leap.passed


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """What the coroutine returns. It may wait for time and tasks, not for sockets or threads."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
