"""One page of a PDF: its characters as segments, and what else is on it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from proofstone.documents.layout import Block, BlockLine, box_around
from proofstone.documents.pdf.blocks import Mender, blocks_of, reading_order
from proofstone.documents.pdf.headings import EdgeRow, Titles, edge_rows
from proofstone.documents.pdf.lines import (
    Line,
    Segment,
    Style,
    lines_of,
    read_glyphs,
    segments_of,
    upright,
)
from proofstone.documents.pdf.tex_fonts import plain_call
from proofstone.records.pages import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray


# From a PDF page's own coordinates to the page as it is displayed, and back.


def display_of(page: Any, turn: int) -> NDArray[np.float64]:
    """The map (2, 3) to points from the top left corner, y downwards, where the page is turned
    clockwise by ``turn`` degrees (0, 90, 180 or 270)."""
    left, bottom, right, top = page.get_bbox()
    rows = {
        0: [[1, 0, -left], [0, -1, top]],
        90: [[0, 1, -bottom], [1, 0, -left]],
        180: [[-1, 0, right], [0, 1, -bottom]],
        270: [[0, -1, top], [-1, 0, right]],
    }
    return np.array(rows[turn % 360], dtype=np.float64)


def box_between(box: Box, origin: NDArray[np.float64], target: NDArray[np.float64]) -> Box:
    """A box under the map ``origin`` as it stands under ``target``; one that is tilted there, the
    box around it."""
    across, down = (box.left, box.right), (box.top, box.bottom)
    corners = np.array([[x, y] for x in across for y in down])
    own = (corners - origin[:, 2]) @ np.linalg.inv(origin[:, :2]).T
    there = own @ target[:, :2].T + target[:, 2]
    (x0, y0), (x1, y1) = there.min(axis=0).tolist(), there.max(axis=0).tolist()
    return Box(x0, y0, x1, y1)


# Where the figures of a page are: images, and drawings that are more than rules and frames.

_MOST_OBJECTS = 20_000


_MOST_PARTS = 2_000


_PATH, _IMAGE, _SHADING, _FORM = 2, 3, 4, 5


_DRAWN = {_PATH, _IMAGE, _SHADING, _FORM}


_THIN = 2.5  # points: a rule


_LEAST_SIDE = 24.0


_NEAR = 6.0  # points between parts of one figure


_LEAST_PARTS = 6  # a drawing of fewer is a frame, a box behind text or an underline


_WHOLE = 0.92  # of the page: a background or a scan


_TEXT_SHARE = 0.4  # of a figure's height that lines of text may take


_LONG = 7  # words: a label has fewer


def parts_of(page: Any, to_display: np.ndarray) -> list[tuple[bool, Box]]:
    """Whether image, and the box, of each object of the page that is neither text nor a rule."""
    handle, calls = ctypes.cast(page.raw, ctypes.c_void_p).value, _calls()
    edges = [ctypes.c_float() for _ in range(4)]
    places = [ctypes.addressof(edge) for edge in edges]
    parts: list[tuple[bool, Box]] = []
    for k in range(min(calls.count(handle), _MOST_OBJECTS)):
        thing = calls.thing(handle, k)
        kind = calls.kind(thing)
        if kind not in _DRAWN or not calls.bounds(thing, *places):
            continue
        left, bottom, right, top = (edge.value for edge in edges)
        corners = np.array([[left, bottom], [right, top]]) @ to_display[:, :2].T + to_display[:, 2]
        (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        if kind == _PATH and (x1 - x0 < _THIN or y1 - y0 < _THIN):
            continue
        parts.append((kind == _IMAGE, Box(x0, y0, x1, y1)))
        if len(parts) >= _MOST_PARTS:
            break
    return parts


class _Calls:
    """pdfium's functions for the objects of a page."""

    def __init__(self) -> None:
        from pypdfium2 import raw  # noqa: PLC0415 - in an extra

        pointer, index = ctypes.c_void_p, ctypes.c_int
        self.count = plain_call(raw.FPDFPage_CountObjects, index, pointer)
        self.thing = plain_call(raw.FPDFPage_GetObject, pointer, pointer, index)
        self.kind = plain_call(raw.FPDFPageObj_GetType, index, pointer)
        self.bounds = plain_call(raw.FPDFPageObj_GetBounds, index, *[pointer] * 5)


@cache
def _calls() -> _Calls:
    return _Calls()


def figures_of(
    parts: Sequence[tuple[bool, Box]], lines: Sequence[Line], width: float, height: float
) -> list[Box]:
    """The figures' boxes, from the top down; what lies behind running text is none."""
    drawn = [(is_image, box) for is_image, box in parts if _area(box) < _WHOLE * width * height]
    found = []
    for n, n_images, box in _clusters(drawn):
        if box.right - box.left < _LEAST_SIDE or box.bottom - box.top < _LEAST_SIDE:
            continue
        if not n_images and n < _LEAST_PARTS:
            continue
        inside = [line for line in lines if _holds(box, line)]
        long = sum(line.size for line in inside if len(line.text.split()) > _LONG)
        if long <= _TEXT_SHARE * (box.bottom - box.top):
            found.append(box)
    return sorted(found, key=lambda box: (box.top, box.left))


def _holds(box: Box, line: Line) -> bool:
    middle, level = (line.left + line.right) / 2, line.baseline - 0.3 * line.size
    return box.left <= middle <= box.right and box.top <= level <= box.bottom


def _area(box: Box) -> float:
    return max(0.0, box.right - box.left) * max(0.0, box.bottom - box.top)


def _clusters(parts: Sequence[tuple[bool, Box]]) -> list[tuple[int, int, Box]]:
    """Parts that touch or nearly so, as (how many, how many images, box around)."""
    clusters: list[tuple[int, int, Box]] = []
    for is_image, box in sorted(parts, key=lambda part: part[1].top):
        n, images = 1, int(is_image)
        merged = box
        apart = []
        for other in clusters:
            if _touch(merged, other[2]):
                n, images = n + other[0], images + other[1]
                merged = box_around((merged, other[2])) or merged
            else:
                apart.append(other)
        clusters = [*apart, (n, images, merged)]
    return clusters


def _touch(a: Box, b: Box) -> bool:
    return (
        a.left - _NEAR <= b.right
        and b.left - _NEAR <= a.right
        and a.top - _NEAR <= b.bottom
        and b.top - _NEAR <= a.bottom
    )


_AXIS = 2.6  # ems around a figure


_LABEL = 10  # characters


@dataclass(frozen=True)
class PrintedPage:
    """What is printed on a page, turned so that most of its text stands upright.

    ``parts`` are images and drawings. ``shown`` and ``upright`` map the page's own coordinates to
    those displayed and to those of the segments.
    """

    width: float
    height: float
    segments: list[Segment]
    edges: list[EdgeRow]
    parts: list[tuple[bool, Box]]
    n_unmapped: int
    shown: NDArray[np.float64]
    upright: NDArray[np.float64]

    @property
    def image_share(self) -> float:
        """The share of the page that its largest image covers."""
        areas = [(b.right - b.left) * (b.bottom - b.top) for is_image, b in self.parts if is_image]
        whole = self.width * self.height
        return max(areas, default=0.0) / whole if whole else 0.0


def read_printed(document: Any, index: int) -> PrintedPage:
    """What is printed on the page with this index from 0.

    Raises pdfium's PdfiumError for a page that cannot be loaded, TooManyCharacters.
    """
    page = document[index]
    text_page = None
    try:
        text_page = page.get_textpage()
        width, height = page.get_size()
        turn = page.get_rotation()
        shown = display_of(page, turn)
        glyphs = read_glyphs(text_page, shown, turn)
        angle, mapped = upright(glyphs), shown
        if angle:
            mapped = display_of(page, turn + angle)
            glyphs = read_glyphs(text_page, mapped, turn + angle)
        segments = segments_of(glyphs)
        extent = width if angle in {90, 270} else height
        edges = edge_rows(segments, extent)
        parts = parts_of(page, mapped)
        return PrintedPage(width, height, segments, edges, parts, glyphs.unmapped, shown, mapped)
    finally:
        if text_page is not None:
            text_page.close()
        page.close()


def blocks_on(
    page: PrintedPage, left_out: set[int], style: Style, titles: Titles, mender: Mender
) -> list[Block]:
    """The blocks of a page without the segments that are ``left_out``, boxes as displayed.

    Figures stand where they begin; labels within a figure are its text.
    """
    segments = [s for k, s in enumerate(page.segments) if k not in left_out]
    columns = [lines_of(group) for group in reading_order(segments)]
    figures = figures_of(page.parts, [line for lines in columns for line in lines],
                         page.width, page.height) if page.parts else []  # fmt: skip
    labels: list[list[Line]] = [[] for _ in figures]
    kept = [_without(lines, figures, labels) for lines in columns]
    blocks = blocks_of(kept, style, titles, mender)
    for box, inside in zip(figures, labels, strict=True):
        _insert(blocks, _figure(box, inside))
    if page.upright is page.shown:
        return blocks
    return [_displayed(block, page) for block in blocks]


def _without(lines: Iterable[Line], figures: list[Box], labels: list[list[Line]]) -> list[Line]:
    kept = []
    for line in lines:
        middle, level = (line.left + line.right) / 2, line.baseline - 0.3 * line.size
        # The numbers and names at the axes of a plot stand just outside of it.
        reach = _AXIS * line.size if line.n_letters <= _LABEL else 0.0
        for box, inside in zip(figures, labels, strict=True):
            across = box.left - reach <= middle <= box.right + reach
            if across and box.top - reach <= level <= box.bottom + reach:
                inside.append(line)
                break
        else:
            kept.append(line)
    return kept


def _figure(box: Box, labels: list[Line]) -> Block:
    lines, text = [], ""
    for line in labels:
        text += "\n" if text else ""
        box_of_line = Box(line.left, line.top, line.right, line.bottom)
        lines.append(BlockLine(len(text), box_of_line, line.confidence))
        text += line.text
    return Block("figure", text, tuple(lines), box=box)


def _insert(blocks: list[Block], figure: Block) -> None:
    """Before the first block that begins below the figure's middle in the figure's column."""
    box = figure.box or Box(0, 0, 0, 0)
    middle = (box.top + box.bottom) / 2
    for place, block in enumerate(blocks):
        first = block.lines[0].box if block.lines else block.box
        if first and first.top >= middle and first.left < box.right and first.right > box.left:
            blocks.insert(place, figure)
            return
    blocks.append(figure)


def _displayed(block: Block, page: PrintedPage) -> Block:
    def turned(box: Box) -> Box:
        return box_between(box, page.upright, page.shown)

    lines = tuple(replace(line, box=turned(line.box)) for line in block.lines)
    return replace(block, lines=lines, box=turned(block.box) if block.box else None)
