"""What a reader of documents hands on: blocks in reading order, and the page they make.

A page's text is its blocks with an empty line between; each line of print keeps its place in that
text and its box on the page, so that any stretch of the text can be shown on the page's image.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from proofstone.errors import BadInput
from proofstone.records.pages import Box, Mark, MarkKind, PageLayout, PlacedLine

BETWEEN = "\n\n"


MOST_BLOCKS = 200_000  # of one document


CELLS = " | "  # between the cells of a table's row


_LONGEST_CELL = 400  # characters: longer ones are laid out by a table, not tabulated


_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of print within a block's text, from ``start`` on, its box, and how sure its reader
    is of it."""

    start: int
    box: Box
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list, table, equation, caption, note, code or figure.

    ``level`` of a heading counts from 1. A figure may have no text; ``box`` is then its place.
    """

    kind: MarkKind
    text: str
    lines: tuple[BlockLine, ...] = ()
    level: int = 0
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A page's text and layout, its blocks, and where each of them begins in the text."""

    text: str
    layout: PageLayout
    blocks: Sequence[Block]
    starts: tuple[int, ...]


def lay_out(blocks: Sequence[Block]) -> LaidOut:
    """The page that blocks make; empty text where no block has any."""
    texts: list[str] = []
    lines: list[PlacedLine] = []
    marks: list[Mark] = []
    starts: list[int] = []
    at = 0
    for block in blocks:
        starts.append(at)
        end = at + len(block.text)
        ends = [*(line.start for line in block.lines[1:]), len(block.text)][: len(block.lines)]
        lines += [
            PlacedLine(at + line.start, at + stop, line.box, line.confidence)
            for line, stop in zip(block.lines, ends, strict=True)
        ]
        box = block.box or box_around(line.box for line in block.lines)
        if block.kind != "text":
            marks.append(Mark(block.kind, at, end, box))
        if block.text:
            texts.append(block.text)
            at = end + len(BETWEEN)
    layout = PageLayout(tuple(lines), tuple(marks))
    return LaidOut(BETWEEN.join(texts), layout, blocks, tuple(starts))


def box_around(boxes: Iterable[Box]) -> Box | None:
    """The smallest box that holds these; None where there are none."""
    edges = list(zip(*((box.left, box.top, box.right, box.bottom) for box in boxes), strict=True))
    return Box(min(edges[0]), min(edges[1]), max(edges[2]), max(edges[3])) if edges else None


_Each = TypeVar("_Each")


def bounded(blocks: Iterable[_Each], name: str) -> Iterator[_Each]:
    """The blocks of the document ``name`` one by one. Raises BadInput beyond ``MOST_BLOCKS``."""
    for place, block in enumerate(blocks):
        if place >= MOST_BLOCKS:
            raise too_many_blocks(name)
        yield block


def too_many_blocks(name: str) -> BadInput:
    """What is said of the document ``name`` beyond ``MOST_BLOCKS``."""
    return BadInput(f"{name} has more than {MOST_BLOCKS:,} blocks.", hint="Split it.")


_LISTS: tuple[MarkKind, ...] = ("list",)


def grouped(blocks: Iterable[Block], kinds: Collection[MarkKind] = _LISTS) -> list[Block]:
    """The blocks with those that follow each other and are of one of these kinds as one."""
    made: list[Block] = []
    for kind, same in groupby(blocks, key=lambda block: block.kind):
        if kind in kinds:
            made.append(Block(kind, "\n".join(block.text for block in same)))
        else:
            made += same
    return made


def rows_text(rows: Iterable[Sequence[str]]) -> str:
    """The rows of a table that hold something, a line each."""
    return "\n".join(CELLS.join(row).strip() for row in rows if any(row))


def only_lays_out(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table holds no rows of short cells, but the parts of a page."""
    is_long = any(len(cell) > _LONGEST_CELL for row in rows for cell in row)
    return is_long or max(map(len, rows), default=0) < 2


def check_text(
    blocks: Iterable[Block], name: str, without: Collection[MarkKind] = ("heading", "figure")
) -> None:
    """Raises BadInput where no block but those of the kinds ``without`` has text."""
    if not any(block.text and block.kind not in without for block in blocks):
        raise BadInput(f"{name} holds no text that could be a passage.")


def stated_year(texts: Iterable[str]) -> int | None:
    """The first year from 1500 to 2099 that a text states; None where none does."""
    found = (year for text in texts if (year := _YEAR.search(text)))
    return next((int(year[1]) for year in found), None)


# Raised and lowered signs in plain text: as such characters, else after ``^`` and ``_``.

_MARKS = {"sup": "^", "sub": "_"}


_SIGNS = {
    "sup": dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True)),
    "sub": dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True)),
}


def set_off(place: str, text: str) -> str:
    """Raised (``sup``) or lowered (``sub``) text as such characters, else after ^ or _."""
    table = _SIGNS[place]
    if not text or all(character in table for character in text):
        return "".join(table[character] for character in text)
    if text.isalpha() and place == "sup" and len(text) <= 2:
        return text  # 1st
    return f"{_MARKS[place]}{text}" if len(text) == 1 else f"{_MARKS[place]}{{{text}}}"


# What a reader of written documents hands on: blocks by page, and what the document says of
# itself.


@dataclass(frozen=True)
class Written:
    """A document of one page, which then has no number, or of several, counted from 1.

    ``content`` is a digest of all files that it came from, where they are more than one,
    ``origin`` its address and ``detail`` its revision where it has such.
    """

    pages: Sequence[list[Block]]
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    language: str = ""
    licence: str = ""
    content: bytes = b""
    origin: str = ""
    detail: str = ""

    @property
    def blocks(self) -> list[Block]:
        """The blocks of all pages."""
        return [block for page in self.pages for block in page]
