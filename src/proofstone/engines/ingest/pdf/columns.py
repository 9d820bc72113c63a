"""The order in which a page is read: columns beside each other, and what goes across them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proofstone.engines.ingest.pdf.segments import Segment

__all__ = ["reading_order"]

_STEP = 2.0  # points between the places at which a gutter is looked for
_MARGIN = 0.2  # of the width: a gutter is not nearer to an edge
_LEAST_GUTTER = 0.7  # ems
_JOINED = 0.6  # ems between segments of one line
_LEAST_ROWS = 5  # rows on either side of a gutter
_FILLED = 0.55  # of a column's width that half of its rows fill: a table's cells do not
_DEPTH = 3


def reading_order(segments: Sequence[Segment], depth: int = _DEPTH) -> list[list[Segment]]:
    """The segments in groups to be read one after the other; each is one column of lines.

    What crosses the gutter between two columns divides them: the columns above it are read first.
    A page of one column is one group; an empty page none.
    """
    if not segments:
        return []
    spans = _spans(segments) if depth else []
    gutter = _gutter(spans) if depth else None
    if gutter is None:
        return [list(segments)]
    left_edge, right_edge = gutter
    crossing = [s for s in spans if s.left < left_edge - 1 and s.right > right_edge + 1]
    ordered: list[list[Segment]] = []
    top = float("-inf")
    for band_top, band_bottom in [*_bands(crossing), (float("inf"), float("inf"))]:
        inside = [s for s in segments if top <= _middle(s) < band_top]
        ordered += _beside(inside, (left_edge + right_edge) / 2, depth)
        across = [s for s in segments if band_top <= _middle(s) < band_bottom]
        if across:
            ordered.append(across)
        top = band_bottom
    return ordered


class _Span(NamedTuple):
    """A stretch of a row without a wide gap: segments end at each change of font, so that a line of
    text may seem to leave a gutter free where only a word ends."""

    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    size: float


def _spans(segments: Sequence[Segment]) -> list[_Span]:
    rows: dict[int, list[_Span]] = {}
    for s in sorted(segments, key=lambda s: s.left):
        row = rows.setdefault(round(s.baseline), [])
        if row and s.left - row[-1].right < _JOINED * min(s.size, row[-1].size):
            last = row[-1]
            row[-1] = _Span(
                last.left, min(last.top, s.top), max(last.right, s.right),
                max(last.bottom, s.bottom), last.baseline, max(last.size, s.size),
            )  # fmt: skip
        else:
            row.append(_Span(s.left, s.top, s.right, s.bottom, s.baseline, s.size))
    return [span for row in rows.values() for span in row]


def _middle(segment: Segment) -> float:
    return (segment.top + segment.bottom) / 2


def _beside(segments: list[Segment], gutter: float, depth: int) -> list[list[Segment]]:
    left = [s for s in segments if (s.left + s.right) / 2 < gutter]
    right = [s for s in segments if (s.left + s.right) / 2 >= gutter]
    return reading_order(left, depth - 1) + reading_order(right, depth - 1)


def _bands(crossing: Sequence[_Span]) -> list[tuple[float, float]]:
    """Where something goes across, from top to bottom; what nearly touches is one band."""
    bands: list[tuple[float, float]] = []
    for segment in sorted(crossing, key=lambda s: s.top):
        if bands and segment.top <= bands[-1][1] + 0.9 * segment.size:
            bands[-1] = (bands[-1][0], max(bands[-1][1], segment.bottom))
        else:
            bands.append((segment.top, segment.bottom))
    return bands


def _gutter(segments: Sequence[_Span]) -> tuple[float, float] | None:
    """The edges of the strip that has the most rows of text on both sides and the fewest across."""
    left, right = min(s.left for s in segments), max(s.right for s in segments)
    sizes = sorted(s.size for s in segments)
    em = sizes[len(sizes) // 2]
    if right - left < 14 * em or len(segments) < 2 * _LEAST_ROWS:
        return None
    strips = _free_strips(segments, left, right)
    best: tuple[float, float, float] | None = None
    for start, end in strips:
        if end - start < _LEAST_GUTTER * em:
            continue
        weight = _weight(segments, start, end, left, right, em)
        if weight > 0 and (best is None or weight > best[0]):
            best = (weight, start, end)
    return None if best is None else best[1:]


def _free_strips(segments: Sequence[_Span], left: float, right: float) -> list[tuple[float, float]]:
    """Runs of places that hardly any segment covers, away from the edges."""
    n = int((right - left) / _STEP) + 1
    covered = [0.0] * (n + 1)
    for s in segments:
        covered[max(0, int((s.left - left) / _STEP))] += 1
        covered[min(n, int((s.right - left) / _STEP) + 1)] -= 1
    depth, cover = 0.0, []
    for change in covered[:n]:
        depth += change
        cover.append(depth)
    low, high = int(n * _MARGIN), int(n * (1 - _MARGIN))
    bar = min(cover[low:high], default=0) + max(1.0, 0.02 * len(segments))
    strips, start = [], None
    for k in range(low, high + 1):
        free = k < high and cover[k] <= bar
        if free and start is None:
            start = k
        elif not free and start is not None:
            strips.append((left + start * _STEP, left + k * _STEP))
            start = None
    return strips


def _weight(
    segments: Sequence[_Span], start: float, end: float, left: float, right: float, em: float
) -> float:
    """Rows beside the strip less rows across it; 0 or less where it is no gutter."""
    ones: dict[int, float] = {}
    twos: dict[int, float] = {}
    across: set[int] = set()
    for s in segments:
        row = round(s.baseline / em)
        if s.right <= start + 1:
            ones[row] = ones.get(row, 0.0) + s.right - s.left
        elif s.left >= end - 1:
            twos[row] = twos.get(row, 0.0) + s.right - s.left
        else:
            across.add(row)
    if min(len(ones), len(twos)) < _LEAST_ROWS:
        return 0.0
    for rows, width in ((ones, start - left), (twos, right - end)):
        filled = sum(wide >= _FILLED * width for wide in rows.values())
        if filled < len(rows) / 2:
            return 0.0
    return min(len(ones), len(twos)) - len(across)
