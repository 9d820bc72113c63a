"""A time limit for many requests, without a timer for each.

A timer a request costs as much as reading its reply does. Here the requests in flight stand in the
order in which they began, and one timer looks at the oldest a few times within the limit; so a
request may take up to a twentieth of the limit (at most a second) longer before it is ended.
"""

from __future__ import annotations

import asyncio

__all__ = ["Deadlines"]


class Deadlines:
    """Ends tasks that stay longer than ``limit_s`` between ``enter`` and ``leave``, on one loop.

    A task is in at most one request at a time. One that is ended gets CancelledError, and
    ``is_over`` tells its own limit from anybody else's cancelling.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._every_s = min(1.0, limit_s / 20)
        self._began: dict[asyncio.Task[object], float] = {}
        self._over: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def enter(self) -> asyncio.Task[object]:
        """Begins the current task's request."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is made in a task")
        loop = task.get_loop()
        self._began[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self._every_s, self._look, loop)
        return task

    def leave(self, task: asyncio.Task[object]) -> None:
        """Ends the task's request."""
        self._began.pop(task, None)

    def is_over(self, task: asyncio.Task[object]) -> bool:
        """Whether the CancelledError that the task has just caught is its limit's alone."""
        if task not in self._over:
            return False
        self._over.discard(task)
        return task.uncancel() == 0

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        latest = loop.time() - self.limit_s
        for task, began in list(self._began.items()):
            if began > latest:
                break
            del self._began[task]
            self._over.add(task)
            task.cancel()
        if self._began:
            self._timer = loop.call_later(self._every_s, self._look, loop)
