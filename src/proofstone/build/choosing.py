"""Which documents stand for a folder, and which passages for a document: spread, and by a seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct

from proofstone.records.ids import Draws

Thing = TypeVar("Thing")


class Candidate(Struct, frozen=True, kw_only=True):
    """A document that may be chosen: its file within the folder, of which ``kind`` it is, and its
    ``size`` (passages, bytes: whatever orders documents by length)."""

    file: str
    kind: str
    size: int

    @property
    def group(self) -> tuple[str, str]:
        """Where it stands, by its first folder, and what it is."""
        return self.file.rpartition("/")[0].partition("/")[0], self.kind


def choose_documents(candidates: Sequence[Candidate], n: int, seed: int) -> list[Candidate]:
    """Up to ``n`` of the candidates, in the order of their files.

    Each subfolder and kind of file gets one before any gets a second; which come first, where there
    are fewer places than groups, is drawn. Within a group the places are spread over its sizes: one
    drawn from each of as many equal parts of it, small to large.
    """
    draws = Draws(seed, 0, "documents of a pilot")
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for each in sorted(candidates, key=lambda each: (each.size, each.file)):
        groups.setdefault(each.group, []).append(each)
    order = draws.shuffled(sorted(groups))
    places = dealt([len(groups[name]) for name in order], n)
    chosen = [
        candidate
        for name, k in zip(order, places, strict=True)
        for candidate in _one_of_each_part(groups[name], k, draws)
    ]
    return sorted(chosen, key=lambda each: each.file)


def spread_over(things: Sequence[Thing], n: int, draws: Draws) -> list[Thing]:
    """Up to ``n`` things in their order, one drawn from each of as many equal parts."""
    return _one_of_each_part(things, min(n, len(things)), draws)


def dealt(sizes: Sequence[int], n: int) -> list[int]:
    """How many of ``n`` each group gets, dealt one by one in turn, no group more than it has."""
    given = [0] * len(sizes)
    left = min(n, sum(sizes))
    while left:
        for at, size in enumerate(sizes):
            if left and given[at] < size:
                given[at] += 1
                left -= 1
    return given


def _one_of_each_part(things: Sequence[Thing], n: int, draws: Draws) -> list[Thing]:
    ends = [place * len(things) // n for place in range(n + 1)] if n else [0]
    return [things[start + draws.below(end - start)] for start, end in pairwise(ends)]
