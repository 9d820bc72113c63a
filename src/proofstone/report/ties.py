"""Tied runs of a ranking: their names, and where each is drawn."""

from __future__ import annotations

import string
from collections.abc import Sequence

__all__ = ["tie_lanes", "tie_letters"]


def tie_letters(tie: int) -> str:
    """a to z, then aa, ab, ...: the name of the tied run of that number, from 0."""
    name = ""
    while tie >= 0:
        tie, place = divmod(tie, 26)
        name, tie = string.ascii_lowercase[place] + name, tie - 1
    return name


def tie_lanes(ties: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """A lane for each tied run, so that runs that overlap stand side by side."""
    free_from: list[int] = []
    chosen = []
    for first, last in ties:
        lane = next((i for i, start in enumerate(free_from) if start <= first), len(free_from))
        free_from[lane : lane + 1] = [last + 1]
        chosen.append(lane)
    return tuple(chosen)
