"""A process that draws figures while this one makes the rest of a page.

What draws them (vl-convert) starts for most of a second, takes a tenth of one for a figure, and
lets no other thread run meanwhile: beside an audit of seconds that is a third of the time. Nothing
heavy is imported here, so that it is up and drawing when the first figure comes.
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
    """Starts at once; ends with the block. Without the extra ``[figures]`` it draws nothing."""

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
        """Return the future SVG of a Vega-Lite specification; None where no process can be had.

        The future raises BrokenProcessPool where the process has crashed or was killed.
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
        """Return True where the process ended before its work did."""
        future = self.begin(_NOTHING)
        return future is not None and isinstance(future.exception(), BrokenProcessPool)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Starts processes that no Ctrl-C ends: it reaches all of a terminal's processes, and the one
    that draws would say so with a traceback. One that comes meanwhile is heard afterwards. Windows
    cannot hold them."""
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
