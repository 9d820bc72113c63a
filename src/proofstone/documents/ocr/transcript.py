"""A page as a model wrote it down from its image: simple Markdown, made into a page's blocks.

Nothing says where on the page a word stands, so that every block has the whole page as its box; and
nothing says how sure the model is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofstone.documents.layout import Block, BlockLine, lay_out
from proofstone.documents.passages import Cutter, garbled
from proofstone.documents.reader import PageRead, page_read
from proofstone.records.pages import Box, MarkKind
from proofstone.texts.languages import guess_language

_HEADING = re.compile(r"(#{1,6})\s+(\S.*?)\s*#*\s*$")


_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


_DISPLAY = "$$"


_BETWEEN_CELLS = " | "


_RULE = re.compile(r"\|?[\s:|-]*--[\s:|-]*$")


_POINT = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+\S")


_FIGURE = re.compile(r"\[figure\]$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page that a model read: its number, its size in points, the language that is stated for its
    document, if any, its reader's name, and by which requests it was read."""

    number: int
    width: float
    height: float
    language: str
    reader: str
    detail: str


def transcribed_page(text: str, seen: SeenPage, cutter: Cutter) -> PageRead:
    """The page with this text, cut into passages under the headings of ``cutter``; its language is
    that of its letters where none is stated. What is no words is an unread page."""
    why = garbled(text)
    whole = Box(0.0, 0.0, seen.width, seen.height)
    blocks = [] if why else [_placed(block, whole) for block in blocks_of(text)]
    laid_out = lay_out(blocks)
    return page_read(
        laid_out, cutter, seen.language or guess_language([laid_out.text]), number=seen.number,
        reader=seen.reader, size=(seen.width, seen.height), reason="garbled" if why else "",
        detail=f"{why}; {seen.detail}" if why else seen.detail,
    )  # fmt: skip


def blocks_of(text: str) -> list[Block]:
    """Headings, tables, lists, displayed formulas, code, figures and paragraphs, in order, without
    the signs that marked them. What is not marked is a paragraph."""
    return [block for lines in _stretches(text) for block in _blocks(lines)]


def _placed(block: Block, box: Box) -> Block:
    lines = (BlockLine(0, box),) if block.text else ()
    return Block(block.kind, block.text, lines, block.level, box)


def _stretches(text: str) -> Iterator[list[str]]:
    """Lines between empty ones; a fence and a displayed formula are one, whatever is in them."""
    stretch: list[str] = []
    closing = ""
    for line in text.splitlines():
        if closing:
            stretch.append(line)
            if line.strip().endswith(closing):
                yield stretch
                stretch, closing = [], ""
        elif opened := _opening(line):
            yield stretch
            stretch, closing = [line], opened
        elif line.strip():
            stretch.append(line.rstrip())
        else:
            yield stretch
            stretch = []
    yield stretch


def _opening(line: str) -> str:
    """What closes the stretch that a line begins; empty where it begins none."""
    if fence := _FENCE.match(line):
        return fence[1]
    bare = line.strip()
    is_whole = len(bare) > len(_DISPLAY) and bare.endswith(_DISPLAY)
    return _DISPLAY if bare.startswith(_DISPLAY) and not is_whole else ""


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The blocks of one stretch: headings within it are blocks of their own."""
    begun: list[str] = []
    for line in lines:
        heading = _HEADING.match(line) if not (begun and _FENCE.match(begun[0])) else None
        if heading is None:
            begun.append(line)
            continue
        yield from _block(begun)
        begun = []
        yield Block("heading", heading[2], level=len(heading[1]))
    yield from _block(begun)


def _block(lines: Sequence[str]) -> Iterator[Block]:
    if not lines:
        return
    text = "\n".join(lines).strip()
    kind: MarkKind = "text"
    if _FENCE.match(lines[0]):
        body = lines[1:-1] if len(lines) > 1 and _FENCE.match(lines[-1]) else lines[1:]
        kind, text = "code", "\n".join(body).strip("\n")
    elif text.startswith(_DISPLAY):
        kind, text = "equation", text.strip("$").strip()
    elif all(line.lstrip().startswith("|") for line in lines):
        kind, text = "table", "\n".join(_rows(lines))
    elif _FIGURE.match(text):
        yield Block("figure", "")
        return
    elif _POINT.match(lines[0]):
        kind = "list"
    if text.strip():
        yield Block(kind, text)


def _rows(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        bare = line.strip()
        if not _RULE.match(bare):
            yield _BETWEEN_CELLS.join(cell.strip() for cell in bare.strip("|").split("|"))
