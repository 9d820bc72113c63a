"""Lines cut at the edges of a plane: what lies outside would still take room on a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["clipped"]

Point = tuple[float, float]
Ends = tuple[float, float]


def clipped(points: Sequence[Point], across: Ends, up: Ends) -> list[list[Point]]:
    """The parts of a line through ``points`` that lie within both ends, each as a line of its own;
    cut where it crosses an edge (Liang and Barsky 1984)."""
    runs: list[list[Point]] = []
    for first, second in pairwise(points):
        part = _within(first, second, across, up)
        if part is None:
            continue
        if runs and runs[-1][-1] == part[0]:
            runs[-1].append(part[1])
        else:
            runs.append([*part])
    return runs


def _within(first: Point, second: Point, across: Ends, up: Ends) -> tuple[Point, Point] | None:
    start, end = 0.0, 1.0
    for at, to, (low, high) in zip(first, second, (across, up), strict=True):
        step = to - at
        if step == 0.0:
            if not low <= at <= high:
                return None
            continue
        enters, leaves = sorted(((low - at) / step, (high - at) / step))
        start, end = max(start, enters), min(end, leaves)
    if start >= end:
        return None
    return _along(first, second, start), _along(first, second, end)


def _along(first: Point, second: Point, share: float) -> Point:
    if share in (0.0, 1.0):
        return second if share else first
    return (
        first[0] + share * (second[0] - first[0]),
        first[1] + share * (second[1] - first[1]),
    )
