"""Lazy greedy: the same items as greedy, with few of the gains computed.

Greedy takes the item with the largest marginal gain, k times; its value is at least 1 - 1/e of
the best (Nemhauser, Wolsey and Fisher 1978). A gain never grows, so a gain of an earlier step is a
bound, and only items whose bound reaches the best new gain are computed again (Minoux 1978).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from proofstone.selection.objective import Coverage, Floats

FIRST, MOST = 8, 64  # gains computed at once


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
    bounds = Bounds.of(coverage)
    chosen: list[int] = []
    while heap and len(chosen) < k:
        best, others = _best(coverage, bounds, covered, heap, room)
        if best is None:
            break
        for entry in others:
            heapq.heappush(heap, entry)
        chosen.append(best)
        coverage.cover(covered, best)
        if bounds is not None:
            bounds.cover(best)
        if room is not None:
            room.take(best)
    return chosen


Entry = tuple[float, int]  # minus a gain, or minus a bound on it; the row


def _best(
    coverage: Coverage,
    bounds: Bounds | None,
    covered: Floats,
    heap: list[Entry],
    room: Room | None,
) -> tuple[int | None, list[Entry]]:
    """Return the best item, and the others looked at, which the heap no longer holds."""
    best: Entry | None = None
    others: list[Entry] = []
    size = FIRST
    while heap and (best is None or heap[0] < best):
        batch: list[Entry] = []
        while heap and len(batch) < size and (best is None or heap[0] < best):
            entry = heapq.heappop(heap)
            if room is None or room.open[entry[1]]:
                batch.append(entry)
        size = min(2 * size, MOST)
        if bounds is not None:
            batch = sorted(bounds.lowered(batch))
        step = 1 if bounds is not None else MOST
        for start in range(0, len(batch), step):
            part = batch[start : start + step]
            if best is not None and best < part[0]:
                others += part
                continue
            rows = np.array([row for _bound, row in part], dtype=np.int64)
            gains = coverage.gains(covered, rows).tolist()
            entries = [(-gain, row) for gain, row in zip(gains, rows.tolist(), strict=True)]
            top = min(entries if best is None else [best, *entries])
            others += [entry for entry in entries if entry != top]
            if best is not None and best != top:
                others.append(best)
            best = top
    return (None if best is None else best[1]), others


class Bounds:
    """Bounds on the gains of a dense objective by single precision, in half of the time.

    A gain is the sum of max(w, covered) less the sum of covered. With w scaled to at most 1, each
    of n numbers is rounded by a share of 2^-24, and NumPy adds them pairwise in blocks of 128, so
    that no number takes part in more than 16 + log2(n) additions (Higham 1993). The bound is the
    sum plus this share of it.
    """

    def __init__(self, weighted: Floats) -> None:
        n = max(1, weighted.shape[1])
        self._scale = max(float(weighted.max(initial=0)), 1e-300)
        self._weighted = np.empty(weighted.shape, dtype=np.float32)
        np.divide(weighted, self._scale, out=self._weighted, casting="same_kind")
        self._covered = np.zeros(weighted.shape[1], dtype=np.float32)
        self._share = 2.0**-23 * (18 + np.log2(n))
        self._least = n * 1e-37  # numbers that single precision has no digits for

    @classmethod
    def of(cls, coverage: Coverage) -> Bounds | None:
        """Return the bounds; None for sparse scores, whose gains are read as fast themselves."""
        weighted = coverage.weighted
        return cls(weighted) if isinstance(weighted, np.ndarray) and weighted.size else None

    def cover(self, row: int) -> None:
        """Note that an item was taken."""
        np.maximum(self._covered, self._weighted[row], out=self._covered)

    def lowered(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the entries with the smaller of their bound and a new one."""
        rows = [row for _bound, row in entries]
        largest = self._weighted[rows]
        np.maximum(largest, self._covered, out=largest)
        sums = largest.sum(axis=1).astype(np.float64)
        before = float(self._covered.sum(dtype=np.float64))
        found = self._scale * (sums * (1 + self._share) - before * (1 - 2.0**-23) + self._least)
        return [
            (max(old, -new), row) for (old, row), new in zip(entries, found.tolist(), strict=True)
        ]
