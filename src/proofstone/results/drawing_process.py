"""A process that draws figures while this process builds the rest of a page.

The renderer (vl-convert) takes most of a second to start and a tenth of a second per figure, and it
blocks other threads. In an audit that takes seconds, this is a third of the time. This module
imports nothing heavy, so the process is ready when the first figure is.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from types import TracebackType
from typing import Any

_NOTHING: Mapping[str, Any] = {"mark": "point", "data": {"values": []}}


class DrawingProcess:
    """Start at once and end with the block; without the extra ``[figures]``, draw nothing."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        if importlib.util.find_spec("vl_convert") is not None:
            self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            with _interrupts_held():
                self.begin(_NOTHING)

    def __enter__(self) -> DrawingProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def begin(self, spec: Mapping[str, Any]) -> Future[str] | None:
        """Return the future SVG of a Vega-Lite specification; None if no process is available.

        The future raises BrokenProcessPool if the process crashed or was killed.
        """
        if self._pool is None:
            return None
        try:
            return self._pool.submit(_to_svg, spec)
        except OSError:
            return None
        except BrokenProcessPool as error:
            failed: Future[str] = Future()
            failed.set_exception(error)
            return failed

    @property
    def has_crashed(self) -> bool:
        """Return True if the process ended before its work was done."""
        future = self.begin(_NOTHING)
        return future is not None and isinstance(future.exception(), BrokenProcessPool)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which reaches all processes of a terminal.

    Otherwise the drawing process would print a traceback. An interrupt during the block is
    delivered afterwards. Windows cannot block interrupts.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _to_svg(spec: Mapping[str, Any]) -> str:
    import vl_convert  # noqa: PLC0415 - in the process that draws

    svg: str = vl_convert.vegalite_to_svg(dict(spec))
    return svg
