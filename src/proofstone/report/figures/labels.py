"""Where labels stand so that none covers another: measured by estimate, placed by trying."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.report.columns import cell_width, fitting_end, printable

__all__ = ["Box", "Placed", "named", "place_labels", "spread", "text_width", "wrapped"]

_EM_A_CELL = 0.58  # of sans-serif letters, on the wide side; a Chinese character has two cells
_BREAKS = " -_/:.,"


class Box(Struct, frozen=True):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class Placed(Struct, frozen=True):
    """A label's left end and middle height; ``is_far``: a line has to lead to its point."""

    x: float
    y: float
    is_far: bool


def named(name: str) -> str:
    """A name as a figure shows it: no character that would break or reorder its line."""
    return printable(" ".join(name.split())) or "\N{EM DASH}"


def text_width(text: str, size: float = 12) -> float:
    """Pixels that a line of text takes, rather more than less."""
    return cell_width(text) * _EM_A_CELL * size


def wrapped(name: str, cells: int = 44) -> str:
    """A name in lines of at most ``cells`` terminal cells, broken where words end."""
    lines, line, rest = [], "", named(name)
    while rest:
        head, rest = _fitting(rest, cells)
        lines.append(head)
    if not lines:
        lines = [line]
    return "\n".join(lines)


def _fitting(text: str, cells: int) -> tuple[str, str]:
    """As much of ``text`` as fits, and the rest."""
    end = max(fitting_end(text, cells), 1)
    if end == len(text):
        return text, ""
    breaks = [place + 1 for place in range(end // 2, end) if text[place] in _BREAKS]
    end = breaks[-1] if breaks else end
    return text[:end].rstrip(), text[end:].lstrip()


def spread(wanted: Sequence[float], gap: float, ends: tuple[float, float]) -> list[float]:
    """Places at least ``gap`` apart, in the order of those ``wanted`` and near them; they leave the
    ``ends`` only where there are too many."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    # Blocks of labels that touch, each centred on what its labels want.
    blocks: list[tuple[float, list[int]]] = []
    for place in order:
        members = [place]
        start = _start(wanted, members, gap, ends)
        while blocks and blocks[-1][0] + gap * len(blocks[-1][1]) > start:
            members = blocks.pop()[1] + members
            start = _start(wanted, members, gap, ends)
        blocks.append((start, members))
    found = [0.0] * len(wanted)
    for start, members in blocks:
        for step, place in enumerate(members):
            found[place] = start + gap * step
    return found


def _start(
    wanted: Sequence[float], members: Sequence[int], gap: float, ends: tuple[float, float]
) -> float:
    """The first place of a block that is centred on what its members want, within the ends."""
    centre = sum(wanted[place] - gap * step for step, place in enumerate(members)) / len(members)
    return max(ends[0], min(centre, ends[1] - gap * (len(members) - 1)))


def place_labels(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    *,
    width: float,
    height: float,
    size: float = 11,
    taken: Sequence[Box] = (),
) -> list[Placed]:
    """A place for each text near its point, on no point and no other text; farther away, and in the
    end beyond the plane's lower edge, where it is crowded."""
    boxes = [*taken, *(Box(x - 5, y - 5, x + 5, y + 5) for x, y in points)]
    found: list[Placed] = []
    for (x, y), text in zip(points, texts, strict=True):
        long = text_width(text, size)
        box, placed = next(
            (box, placed)
            for box, placed in _tries(x, y, long, size, width, height)
            if not any(box.meets(other) for other in boxes)
        )
        boxes.append(box)
        found.append(placed)
    return found


def _tries(
    x: float, y: float, long: float, size: float, width: float, height: float
) -> Iterator[tuple[Box, Placed]]:
    """Boxes round a point, near ones first; those off the plane only past its right edge."""
    half = size * 0.62
    for ring in range(60):
        away = 8 + ring * half
        for turn in range(8 if not ring else 16):
            angle = 2 * math.pi * turn / (8 if not ring else 16)
            middle = y + away * math.sin(angle) * (1 if not ring else 1.0)
            side = math.cos(angle)
            left = x + away * side - (long if side < -0.1 else 0 if side > 0.1 else long / 2)
            box = Box(left, middle - half, left + long, middle + half)
            if box.left >= 0 and box.top >= -4 and box.bottom <= height and box.right <= width:
                yield box, Placed(left, middle, ring > 1)
    # Nothing near is free: a column of its own, right of the plane.
    for step in range(10_000):
        middle = half + step * 2 * half
        left = width + 12
        yield (
            Box(left, middle - half, left + long, middle + half),
            Placed(left, middle, True),
        )
