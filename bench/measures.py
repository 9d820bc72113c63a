"""Measurements of benches: lines with values and bounds."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Line", "Timing", "machine", "print_lines", "timed"]


@dataclass
class Line:
    """One measured line; ``bound`` is the bound as text, ``holds`` whether it is met."""

    name: str
    value: str
    bound: str = ""
    holds: bool | None = None


@dataclass
class Timing:
    """Wall and processor seconds of a block."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    notes: dict[str, float] = field(default_factory=dict)


@contextmanager
def timed() -> Iterator[Timing]:
    """Time a block over all threads of this process."""
    timing = Timing()
    wall, cpu = time.perf_counter(), time.process_time()
    yield timing
    timing.wall_s = time.perf_counter() - wall
    timing.cpu_s = time.process_time() - cpu


def machine() -> str:
    """Return a description of the machine and Python version."""
    cores = os.cpu_count() or 0
    system = f"{platform.system()} {platform.machine()}"
    return f"{system}, {cores} cores, Python {platform.python_version()}"


def print_lines(title: str, lines: list[Line]) -> bool:
    """Print a table; return True if every bound holds."""
    print(f"\n{title}")
    width = max(len(line.name) for line in lines)
    for line in lines:
        mark = {None: "", True: "ok", False: "FAILED"}[line.holds]
        print(f"  {line.name:<{width}}  {line.value:>22}  {line.bound:<34} {mark}".rstrip())
    return all(line.holds is not False for line in lines)
