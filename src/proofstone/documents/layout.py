"""What a reader of documents hands on: blocks in reading order, and the page they make.

A page's text is its blocks with an empty line between; each line of print keeps its place in that
text and its box on the page, so that any stretch of the text can be shown on the page's image.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proofstone.records.pages import Box, Mark, MarkKind, PageLayout, PlacedLine

BETWEEN = "\n\n"


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
    """A page's text and layout, and where each block with text begins in it."""

    text: str
    layout: PageLayout
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
        box = block.box or _around([line.box for line in block.lines])
        if block.kind != "text":
            marks.append(Mark(block.kind, at, end, box))
        if block.text:
            texts.append(block.text)
            at = end + len(BETWEEN)
    return LaidOut(BETWEEN.join(texts), PageLayout(tuple(lines), tuple(marks)), tuple(starts))


def _around(boxes: Sequence[Box]) -> Box | None:
    if not boxes:
        return None
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


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

    pages: Iterable[list[Block]]
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    language: str = ""
    licence: str = ""
    content: bytes = b""
    origin: str = ""
    detail: str = ""
