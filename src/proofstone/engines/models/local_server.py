"""The server of a local model, seen from the parent: started, restarted when it dies, closed.

Native code can end its process at any time (a failed assertion, no memory); in a child process it
ends no run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from proofstone.engines.models.child_process import ChildProcess
from proofstone.engines.models.secret import Secret
from proofstone.errors import EndpointUnusable

__all__ = ["LocalServer", "ServerAddress"]

_DEATH_S = 5.0  # a dropped connection comes a moment before the system reports the death
_TAIL_LINES = 8
_INSTALL = "pip install 'proofstone[demo]'"


class ServerAddress(Struct, frozen=True):
    """Where a started child listens, and the key that only its parent knows."""

    url: str
    key: Secret


class _FirstLine(Struct, frozen=True):
    """What the child prints once: an address and a key, or an error and its detail."""

    address: str = ""
    key: str = ""
    error: str = ""
    detail: str = ""


class LocalServer:
    """One child process at a time, made by ``command`` and started when first needed.

    After more than ``restarts`` deaths with no good reply between (``worked``) it is started no
    more. ``title`` names the model in messages; the texts in ``hide`` (local paths) are cut from
    what the child printed. Belongs to one event loop.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        title: str,
        hide: Sequence[str] = (),
        ready_within_s: float = 300.0,
        restarts: int = 3,
    ) -> None:
        self._command = tuple(command)
        self._title = title
        self._hide = tuple(hide)
        self._ready_within_s = ready_within_s
        self._restarts = restarts
        self._deaths = 0
        self._last_words = ""
        self._child: ChildProcess | None = None
        self._address: ServerAddress | None = None
        self._lock = asyncio.Lock()

    async def address(self) -> ServerAddress:
        """Where the child listens, starting it where none runs.

        Raises EndpointUnusable where it cannot be started, or has died too often.
        """
        async with self._lock:
            if self._address is not None and self._child is not None and self._child.alive:
                return self._address
            if self._child is not None:
                await self._bury(self._child)
            if self._deaths > self._restarts:
                raise self._dies_too_often()
            self._address = await self._start()
            return self._address

    def worked(self) -> None:
        """Says that a good reply came, so that deaths are counted anew."""
        self._deaths = 0

    async def death(self) -> str:
        """How the child ended, with the last lines it printed; empty while it lives."""
        child = self._child
        ending = await child.death(_DEATH_S) if child is not None else self._last_words
        if child is None or not ending:
            return ending
        return f"the process of {self._title} ended ({ending}){self._tail(child)}"

    async def close(self) -> None:
        """Ends the child. A later ``address`` would start another."""
        async with self._lock:
            child, self._child, self._address = self._child, None, None
            if child is not None:
                await child.close()

    async def _bury(self, child: ChildProcess) -> None:
        self._deaths += 1
        self._last_words = await self.death()
        self._child = self._address = None
        await child.close()

    async def _start(self) -> ServerAddress:
        try:
            child = await ChildProcess.start(self._command)
        except OSError as error:
            raise EndpointUnusable(
                f"no process could be started for {self._title}: {error}"
            ) from error
        try:
            address = await self._reached(child)
        except BaseException:  # cancellation too must leave no process behind
            await child.close()
            raise
        self._child = child
        return address

    async def _reached(self, child: ChildProcess) -> ServerAddress:
        try:
            line = await child.first_line(self._ready_within_s)
        except TimeoutError:
            raise EndpointUnusable(
                f"{self._title} was not ready within {self._ready_within_s:g} s{self._tail(child)}",
                hint="a large file on a slow disk takes long: try again, it is cached by now",
            ) from None
        try:
            first = msgspec.json.decode(line or b"{}", type=_FirstLine)
        except ValueError as error:
            raise EndpointUnusable(
                f"{self._title}: its process printed no address but {line[:200]!r}"
            ) from error
        if first.address:
            return ServerAddress(first.address, Secret(first.key))
        raise await self._not_started(child, first)

    async def _not_started(self, child: ChildProcess, first: _FirstLine) -> EndpointUnusable:
        if first.error == "no-runner":
            return EndpointUnusable(
                f"{self._title} needs the package xllamacpp, which cannot be imported "
                f"({first.detail})",
                hint=_INSTALL,
            )
        ending = first.detail or await child.death(_DEATH_S) or "no reason given"
        return EndpointUnusable(f"{self._title} could not be loaded: {ending}{self._tail(child)}")

    def _dies_too_often(self) -> EndpointUnusable:
        return EndpointUnusable(
            f"{self._last_words}\nIt died {self._deaths} times with no reply between.",
            hint="a smaller ctx or parallel takes less memory: local/FILE.gguf?ctx=2048&parallel=1",
        )

    def _tail(self, child: ChildProcess) -> str:
        """The child's last lines below a message, without local paths; empty where it was quiet."""
        text = child.tail()
        for hidden in self._hide:
            text = text.replace(hidden, "...")
        lines = [line for line in text.splitlines() if line.strip()][-_TAIL_LINES:]
        return "".join(f"\n    {line}" for line in lines)
