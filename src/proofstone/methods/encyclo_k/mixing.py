"""The order in which the groups of a form take turns, so that any first part of it is a fair
mixture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heapreplace

from proofstone.draws import Draws

__all__ = ["evenly_mixed"]


def evenly_mixed(counts: Sequence[int], seed: int) -> Iterator[int]:
    """Indices of groups, each as often as its count, spread evenly over the whole.

    Member k of a group of c stands at (k + start) / c, start uniform in [0, 1).
    """
    starts = [Draws(seed, at, "order of groups").uniform() for at in range(len(counts))]
    queue = [(starts[at] / count, at, 0) for at, count in enumerate(counts) if count]
    heapify(queue)
    for _ in range(sum(counts)):
        _, at, asked = queue[0]
        yield at
        heapreplace(queue, ((asked + 1 + starts[at]) / counts[at], at, asked + 1))
