"""Calls into pdfium with plain argument types: a third of the time of the checked ones."""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["plain_call"]


def plain_call(function: Any, result: Any, *arguments: Any) -> Any:
    """A function of ``pypdfium2.raw`` that takes addresses and numbers as they are. The interpreter
    lock is kept, which for calls of less than a microsecond costs less than giving it up."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)
