"""One page of a PDF: its characters as segments, and what else is on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from proofstone.engines.ingest.layout import Block, BlockLine
from proofstone.engines.ingest.pdf.blocks import blocks_of
from proofstone.engines.ingest.pdf.columns import reading_order
from proofstone.engines.ingest.pdf.display import box_between, display_of
from proofstone.engines.ingest.pdf.figures import figures_of, parts_of
from proofstone.engines.ingest.pdf.furniture import EdgeRow, edge_rows
from proofstone.engines.ingest.pdf.glyphs import read_glyphs
from proofstone.engines.ingest.pdf.headings import Titles
from proofstone.engines.ingest.pdf.kinds import Style
from proofstone.engines.ingest.pdf.lines import Line, lines_of
from proofstone.engines.ingest.pdf.mending import Mender
from proofstone.engines.ingest.pdf.segments import Segment, segments_of, upright
from proofstone.records import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PrintedPage", "blocks_on", "read_printed"]


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
