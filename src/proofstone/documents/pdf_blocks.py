"""Build blocks from the lines of a PDF page: join paragraphs, order columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proofstone.documents.passages import Block, BlockLine
from proofstone.documents.pdf_headings import Titles, heading_at
from proofstone.documents.pdf_lines import (
    Frame,
    Line,
    Segment,
    Style,
    frame_of,
    is_caption,
    is_indexed,
    is_item,
    is_note,
    line_kinds,
)
from proofstone.records.pages import Box, MarkKind

# Join words that are hyphenated at line ends.

_WHOLE_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?![-\w])")  # whole: no hyphen after it


_CUT_WORD = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")


_NEXT_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


_MOST_WHOLE_WORDS = 200_000


_LONGEST_WORD = 80


# Before these, a hyphen is nearly always part of the word.
_KEEPING = {"self", "non", "well", "quasi", "pseudo", "semi", "cross", "half", "ex", "so", "e", "x"}


class Mender:
    """Join lines, and decide whether a hyphen at a line end is part of the word.

    The words of the document decide: ``learn`` them first. A word never seen whole was hyphenated.
    """

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()

    def copy(self) -> Mender:
        """Return a copy that knows the same words and learns separately."""
        other = Mender()
        other._words = self._words.copy()
        return other

    def learn(self, texts: Iterable[str]) -> None:
        """Count the whole words within lines, without those split at line ends."""
        if len(self._words) < _MOST_WHOLE_WORDS:
            self._words.update(_WHOLE_WORD.findall("\n".join(texts).lower()))

    def joint(self, before: str, after: str) -> tuple[int, str]:
        """Return how many characters to drop at the end of ``before``, and the joint.

        The joint is nothing, a space, or the hyphen.
        """
        cut = _CUT_WORD.search(before[-_LONGEST_WORD:]) if before.endswith("-") else None
        goes_on = _NEXT_WORD.match(after)
        if cut and goes_on:
            if goes_on[0][0].isupper():
                return 0, ""
            return (0, "") if self._keeps(cut[1].lower(), goes_on[0].lower()) else (1, "")
        if _is_wide(before[-1:]) and _is_wide(after[:1]):
            return 0, ""
        return 0, "" if before.endswith(("\u2014", "/")) and before[-2:-1].strip() else " "

    def _keeps(self, first: str, second: str) -> bool:
        whole = self._words.get(first + second, 0)
        hyphened = self._words.get(f"{first}-{second}", 0)
        if whole or hyphened:
            return hyphened > whole
        last = first.rpartition("-")[2]
        return last in _KEEPING or (last in self._words and second in self._words and "-" in first)


def _is_wide(character: str) -> bool:
    """Return True for Chinese and Japanese characters and punctuation, which take no spaces."""
    return "\u2e80" <= character <= "\u9fff" or "\uff00" <= character <= "\uffef"


_CELLS = " | "


_NOTE = 0.93  # relative to the body's size: smaller type


_ENDS = tuple('.!?:;。！？：；…”’")]')


_STOPS = tuple(".!?。！？…:：")


@dataclass(slots=True)
class _Draft:
    kind: MarkKind
    lines: list[Line] = field(default_factory=list)
    level: int = 0
    frame: Frame | None = None


def blocks_of(
    columns: Sequence[Sequence[Line]], style: Style, titles: Titles, mender: Mender
) -> list[Block]:
    """Return the blocks of a page, its columns in reading order.

    A paragraph split at the end of a column continues in the next one. ``titles`` are the page's
    titles in the outline.
    """
    drafts: list[_Draft] = []
    for lines in columns:
        if not lines:
            continue
        found = _drafts(lines, style, titles)
        if drafts and found and _goes_on(drafts[-1], found[0]):
            drafts[-1].lines += found.pop(0).lines
        drafts += found
    return [_block(draft, mender) for draft in drafts]


def _drafts(lines: Sequence[Line], style: Style, titles: Titles) -> list[_Draft]:
    frame = frame_of(lines)
    kinds = line_kinds(lines, frame)
    if sum(is_indexed(line.text) for line in lines) > 0.6 * len(lines) > 6:
        kinds = ["contents"] * len(kinds)
    drafts: list[_Draft] = []
    k = 0
    while k < len(lines):
        n, level = (
            heading_at(lines, k, style, frame, titles) if kinds[k] in {"text", "table"} else (0, 0)
        )
        if n:
            drafts.append(_Draft("heading", list(lines[k : k + n]), level, frame))
            k += n
            continue
        _take(drafts, lines[k], kinds[k], style, frame)
        k += 1
    return _with_notes(drafts, style)


def _take(drafts: list[_Draft], line: Line, kind: str, style: Style, frame: Frame) -> None:
    last = drafts[-1] if drafts else None
    if kind != "text":
        near = last is not None and line.baseline - last.lines[-1].baseline < 4.5 * line.size
        if last is not None and last.kind == kind and near:
            last.lines.append(line)
        else:
            drafts.append(_Draft(kind, [line], 0, frame))  # type: ignore[arg-type]
        return
    if last is not None and last.kind in {"text", "list", "caption"} and not _begins(last, line):
        last.lines.append(line)
        return
    opened: MarkKind = "text"
    if is_caption(line.text):
        opened = "caption"
    elif is_item(line.text):
        opened = "list"
    drafts.append(_Draft(opened, [line], 0, frame))


def _begins(draft: _Draft, line: Line) -> bool:
    last, frame = draft.lines[-1], draft.frame
    if frame is None or abs(line.size - last.size) > 0.08 * last.size:
        return True
    if line.baseline - last.baseline > (frame.leading + 0.28) * line.size:
        return True
    if is_item(line.text) and (draft.kind == "list" or line.left > frame.left + 0.5 * line.size):
        return True
    if is_note(line.text) and line.size < 0.95 * frame.size:
        return True
    if is_caption(line.text) and last.text.endswith(_ENDS):
        return True
    return _is_indented(draft, line, frame)


def _is_indented(draft: _Draft, line: Line, frame: Frame) -> bool:
    """Return True if a paragraph begins at ``line``, by its indent and the previous line."""
    last, first = draft.lines[-1], draft.lines[0]
    is_full = last.right > frame.right - 0.12 * frame.width
    indent = (line.left - last.left) / line.size
    if draft.kind == "list":
        return indent < -0.6 and line.left < first.left + 0.3 * line.size and not is_full
    if len(draft.lines) > 1 and draft.lines[1].left > first.left + 0.8 * line.size:
        return indent < -0.8  # hanging indent: the next entry begins further left
    if 0.8 < indent < 6 and last.left < frame.left + 0.6 * line.size:
        return not is_full or last.text.endswith(_ENDS)
    return not is_full and last.text.endswith(_ENDS) and line.text[:1].isupper()


def _with_notes(drafts: list[_Draft], style: Style) -> list[_Draft]:
    """Mark small type at the foot of a column as notes."""
    for draft in reversed(drafts):
        if draft.kind in {"equation", "table", "caption"}:
            continue
        if draft.kind not in {"text", "list"} or draft.lines[0].size > _NOTE * style.body:
            break
        draft.kind = "note"
    if all(draft.kind == "note" for draft in drafts):  # a column of small type alone is not a note
        for draft in drafts:
            draft.kind = "text"
    return drafts


def _goes_on(before: _Draft, after: _Draft) -> bool:
    """Return True if a column's first paragraph continues the last one of the previous column."""
    if before.kind not in {"text", "list"} or after.kind != "text":
        return False
    last, first = before.lines[-1].text, after.lines[0].text
    if abs(before.lines[-1].size - after.lines[0].size) > 0.05 * before.lines[-1].size:
        return False
    if last.endswith("-") and first[:1].islower():
        return True
    return not last.endswith(_STOPS) and (first[:1].islower() or "\u4e00" <= first[:1] <= "\u9fff")


def _block(draft: _Draft, mender: Mender) -> Block:
    if draft.kind in {"equation", "code", "table", "contents"}:
        texts = [_row(line, draft.kind) for line in draft.lines]
        return _stacked(draft, texts)
    text = ""
    lines: list[BlockLine] = []
    for line in draft.lines:
        piece = line.text
        if text:
            cut, between = mender.joint(text, piece)
            text = (text[:-cut] if cut else text) + between
        lines.append(BlockLine(len(text), _box(line), line.confidence))
        text += piece
    return Block(draft.kind, text, tuple(lines), draft.level)


def _row(line: Line, kind: MarkKind) -> str:
    if kind == "table":
        return _CELLS.join(text for _left, text in line.cells)
    return "  ".join(text for _left, text in line.cells) if kind == "contents" else line.text


def _stacked(draft: _Draft, texts: Sequence[str]) -> Block:
    """Return a block that keeps its lines; code keeps its indentation."""
    left = min(line.left for line in draft.lines)
    lines: list[BlockLine] = []
    text = ""
    for line, piece in zip(draft.lines, texts, strict=True):
        if text:
            text += "\n"
        shift = round((line.left - left) / (0.55 * line.size)) if draft.kind == "code" else 0
        text += " " * (min(shift, 80) if lines else 0)
        lines.append(BlockLine(len(text), _box(line), line.confidence))
        text += piece
    return Block(draft.kind, text, tuple(lines))


def _box(line: Line) -> Box:
    return Box(line.left, line.top, line.right, line.bottom)


# Reading order of a page: adjacent columns, and content that spans them.

_STEP = 2.0  # points between tested positions of a gutter


_MARGIN = 0.2  # of the width: minimum distance of a gutter from an edge


_LEAST_GUTTER = 0.7  # ems


_JOINED = 0.6  # ems between segments of one line


_LEAST_ROWS = 5  # rows on either side of a gutter


_FILLED = 0.55  # of a column's width that half of its rows fill, unlike a table's cells


_DEPTH = 3


def reading_order(segments: Sequence[Segment], depth: int = _DEPTH) -> list[list[Segment]]:
    """Return groups of segments in reading order; each is one column of lines.

    Content that spans a gutter divides the columns: the columns above it are read first. A page of
    one column is one group; an empty page has none.
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
    """A span of a row without a wide gap.

    Segments end at each change of font, so a gap between two of them can look like a gutter.
    """

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
    """Return the vertical bands covered by spanning content; nearly touching bands are merged."""
    bands: list[tuple[float, float]] = []
    for segment in sorted(crossing, key=lambda s: s.top):
        if bands and segment.top <= bands[-1][1] + 0.9 * segment.size:
            bands[-1] = (bands[-1][0], max(bands[-1][1], segment.bottom))
        else:
            bands.append((segment.top, segment.bottom))
    return bands


def _gutter(segments: Sequence[_Span]) -> tuple[float, float] | None:
    """Return the edges of the strip with most rows of text on both sides and fewest across."""
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
    """Return strips that few segments cover, away from the edges."""
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
