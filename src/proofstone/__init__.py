"""Proofstone: build, review, run and audit knowledge benchmarks for language models.

``create_workspace`` and ``open_workspace`` return a ``Workspace``, the Python interface. They are
imported on first use: ``import proofstone`` itself loads nothing.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Workspace", "__version__", "create_workspace", "open_workspace"]


__version__ = "0.1.0"


_FROM_API = frozenset(__all__) - {"__version__"}


def __getattr__(name: str) -> Any:  # PEP 562
    """Return a name of ``__all__`` from its module."""
    if name not in _FROM_API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - the edge to the top of the layers is no import of this one

    value = getattr(importlib.import_module("proofstone.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
