"""Lazy greedy: the same items as greedy, with few of the gains computed.

Greedy takes the item with the largest marginal gain, k times; its value is at least 1 - 1/e of
the best (Nemhauser, Wolsey and Fisher 1978). A gain never grows, so a gain of an earlier step is a
bound, and only items whose bound reaches the best new gain are computed again (Minoux 1978).
"""

from __future__ import annotations

import heapq
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from proofstone.selection.objective import Coverage

FIRST, MOST = 4, 64  # gains computed at once


class Room(Protocol):
    """What may still be taken. A closed item never opens again."""

    @property
    def open(self) -> NDArray[np.bool_]:
        """By item, whether it may be taken."""
        ...

    def take(self, row: int) -> None:
        """Note that an item was taken, and close those that no longer fit."""
        ...


def lazy_greedy(coverage: Coverage, k: int, room: Room | None = None) -> list[int]:
    """Return the rows of at most ``k`` items, in the order of choice.

    Of equal gains the smaller id comes first. Gains of 0 are taken too: k items are asked for.
    With ``room`` there may be fewer items.
    """
    covered = np.zeros(len(coverage.references))
    first = coverage.gains(covered)
    heap = [(-gain, row) for row, gain in enumerate(first.tolist())]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < k:
        best, others = _best(coverage, covered, heap, room)
        if best is None:
            break
        for entry in others:
            heapq.heappush(heap, entry)
        chosen.append(best)
        coverage.cover(covered, best)
        if room is not None:
            room.take(best)
    return chosen


Entry = tuple[float, int]


def _best(
    coverage: Coverage, covered: NDArray[np.float64], heap: list[Entry], room: Room | None
) -> tuple[int | None, list[Entry]]:
    """Return the best item, and the others computed for it, which the heap no longer holds."""
    best: Entry | None = None
    others: list[Entry] = []
    size = FIRST
    while heap and (best is None or heap[0] < best):
        batch: list[int] = []
        while heap and len(batch) < size and (best is None or heap[0] < best):
            row = heapq.heappop(heap)[1]
            if room is None or room.open[row]:
                batch.append(row)
        size = min(2 * size, MOST)
        if not batch:
            continue
        rows = np.array(batch, dtype=np.int64)
        entries = [
            (-gain, row)
            for gain, row in zip(coverage.gains(covered, rows).tolist(), batch, strict=True)
        ]
        top = min(entries) if best is None else min(best, *entries)
        others += [entry for entry in entries if entry != top]
        if best is not None and best != top:
            others.append(best)
        best = top
    return (None if best is None else best[1]), others
