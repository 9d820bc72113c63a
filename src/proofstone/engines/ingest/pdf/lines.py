"""Lines from segments: what stands on one baseline, with its raised and lowered signs."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from proofstone.engines.ingest.pdf.segments import ACCENTS, Segment

__all__ = ["Line", "lines_of"]

_SAME = 0.22  # ems between baselines of one line
_SMALL = 0.87  # of the line's size: what may be raised or lowered
_RAISED, _LOWERED = 0.75, 0.45  # ems that small type may stand above or below the baseline
_NEAR = 0.6  # ems beside the line's other segments
_CELL = 1.6  # ems: a gap as wide lies between cells
_GAP, _SPACED_GAP, _SIGN_GAP = 0.12, 0.05, 0.25  # ems between segments that make a space
_OVER = -0.1  # ems: an accent is set over its letter, an opening quote (`) only close to one
_FLOATING = 1.2  # ems that roots, large delimiters and accents may stand off
_UP = dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
_DOWN = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))
_ORDINALS = {
    "st",
    "nd",
    "rd",
    "th",
    "e",
    "er",
    "re",
    "o",
    "a",
    "º",
    "ª",
    "°",
    "′",
    "″",
    "*",
    "†",
    "‡",
}
_LARGE = {"√", "∑", "∏", "∫", "(", ")", "[", "]", "{", "}", "|"}


@dataclass(slots=True, eq=False)
class Line:
    """What stands on one baseline, from left to right."""

    baseline: float
    size: float
    segments: list[Segment] = field(default_factory=list)
    left: float = 0.0
    right: float = 0.0
    text: str = ""
    cells: tuple[tuple[float, str], ...] = ()

    @property
    def top(self) -> float:
        """The upper edge."""
        return min(segment.top for segment in self.segments)

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return max(segment.bottom for segment in self.segments)

    @property
    def n_letters(self) -> int:
        """Characters that are no white space."""
        return sum(map(len, self.text.split()))

    @property
    def confidence(self) -> float:
        """How sure the reader is of it: the mean over its characters."""
        if all(segment.confidence == 1 for segment in self.segments):
            return 1.0
        n = sum(len(s.text) for s in self.segments)
        return sum(len(s.text) * s.confidence for s in self.segments) / n

    def share(self, trait: str) -> float:
        """The share of characters whose font has a trait (``is_bold``)."""
        n = sum(len(s.text) for s in self.segments)
        return sum(len(s.text) for s in self.segments if getattr(s.font, trait)) / n if n else 0.0


def lines_of(segments: Iterable[Segment]) -> list[Line]:
    """The lines of one column, from top to bottom.

    Larger type first: small type near a line's baseline and beside its other segments is raised or
    lowered type of it, elsewhere a line of its own.
    """
    lines: list[Line] = []
    baselines: list[float] = []
    by_baseline: dict[float, Line] = {}
    for segment in sorted(
        segments, key=lambda s: (_floats(s), -round(s.size, 1), s.baseline, s.left)
    ):
        line = _line_for(segment, baselines, by_baseline)
        if line is None:
            line = Line(segment.baseline, segment.size)
            lines.append(line)
            while line.baseline in by_baseline:
                line.baseline += 1e-6
            by_baseline[line.baseline] = line
            insort(baselines, line.baseline)
        line.segments.append(segment)
    for line in lines:
        _finish(line)
    return sorted((line for line in lines if line.text), key=lambda line: line.baseline)


def _line_for(
    segment: Segment, baselines: Sequence[float], by_baseline: dict[float, Line]
) -> Line | None:
    # Larger type came first, so no line within reach is more than three times as large.
    reach = 3 * segment.size
    low = bisect_left(baselines, segment.baseline - reach)
    best, nearest = None, 2.0
    for k in range(low, len(baselines)):
        if baselines[k] > segment.baseline + reach:
            break
        line = by_baseline[baselines[k]]
        off = (line.baseline - segment.baseline) / line.size  # above is positive
        distance = abs(off)
        if distance > _SAME and not _hangs_on(segment, line, off):
            continue
        if distance < nearest:
            best, nearest = line, distance
    return best


def _floats(segment: Segment) -> bool:
    """Whether a segment is a root, a large delimiter or an accent: such stand off the baseline."""
    return segment.text in ACCENTS or (segment.font.is_math and segment.text in _LARGE)


def _hangs_on(segment: Segment, line: Line, off: float) -> bool:
    """Whether a segment ``off`` ems above a line's baseline belongs to that line."""
    if _floats(segment):  # their own baseline is at their top
        return -0.1 <= off <= _FLOATING and _is_beside(segment, line)
    is_small = segment.size <= _SMALL * line.size
    return is_small and -_LOWERED <= off <= _RAISED and _is_beside(segment, line)


def _is_beside(segment: Segment, line: Line) -> bool:
    reach = _NEAR * line.size
    return any(
        segment.left <= other.right + reach and segment.right >= other.left - reach
        for other in line.segments
    )


def _finish(line: Line) -> None:
    segments = line.segments
    segments.sort(key=lambda s: s.left)
    line.left = segments[0].left
    line.right = max(s.right for s in segments)
    widths: dict[float, float] = {}
    for s in segments:
        widths[s.size] = widths.get(s.size, 0.0) + len(s.text)
    line.size = max(widths, key=lambda size: widths[size])
    _join(line)


def _join(line: Line) -> None:
    """Sets the text with its spaces, raised signs and accents, and the cells between wide gaps."""
    cells: list[tuple[float, str]] = []
    start, text, right = line.left, "", line.left
    for side, group in groupby(line.segments, key=lambda s: _side(s, line)):
        for segment, piece in _pieces(side, list(group), line):
            gap = (segment.left - right) / line.size
            if text and gap > _CELL:
                cells.append((start, text.strip()))
                start, text = segment.left, piece
            elif text and gap < _OVER and piece in ACCENTS:
                text = text.rstrip() + ACCENTS[piece]
            elif text and text[-1] in ACCENTS and gap < _OVER:
                text = text[:-1] + piece[:1] + ACCENTS[text[-1]] + piece[1:]
            else:
                bar = _SIGN_GAP if side else _SPACED_GAP if segment.spaced else _GAP
                text += " " + piece if text and gap > bar else piece
            right = max(right, segment.right)
    cells.append((start, text.strip()))
    line.cells = tuple((x, unicodedata.normalize("NFC", cell)) for x, cell in cells if cell)
    line.text = " ".join(cell for _x, cell in line.cells)


def _side(segment: Segment, line: Line) -> int:
    """1 for small type that is raised, -1 for lowered, 0 for what stands on the line."""
    off = (line.baseline - segment.baseline) / line.size
    if segment.size > _SMALL * line.size or abs(off) <= 0.08 or _floats(segment):
        return 0
    return 1 if off > 0 else -1


def _pieces(side: int, group: list[Segment], line: Line) -> list[tuple[Segment, str]]:
    """The texts of neighbours on one side of the baseline: raised and lowered ones as one sign."""
    if not side:
        return [(segment, segment.text) for segment in group]
    found: list[tuple[Segment, str]] = []
    for segment in group:
        if found and segment.left - found[-1][0].right < _SIGN_GAP * line.size:
            before, text = found[-1]
            joined = before._replace(right=max(before.right, segment.right))
            found[-1] = (joined, text + segment.text)
        else:
            found.append((segment, segment.text))
    return [(segment, _sign(side, text)) for segment, text in found]


def _sign(side: int, text: str) -> str:
    """Raised or lowered text as such characters where there are some, else after ^ or _."""
    table, mark = (_UP, "^") if side > 0 else (_DOWN, "_")
    if all(character in table for character in text):
        return "".join(table[character] for character in text)
    if side > 0 and text in _ORDINALS:
        return text
    return f"{mark}{text}" if len(text) == 1 else f"{mark}{{{text}}}"
