"""The body of a DOCX as blocks, page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from proofstone.engines.ingest.docx.names import child, is_on, local, value
from proofstone.engines.ingest.docx.numbering import Numbering
from proofstone.engines.ingest.docx.runs import NEW_PAGE, Said, said_in
from proofstone.engines.ingest.docx.styles import PLAIN, Style
from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.raised import set_off
from proofstone.errors import BadInput
from proofstone.records import MarkKind

__all__ = ["MOST_BLOCKS", "Body", "Parts", "paragraphs_of"]

MOST_BLOCKS = 200_000
_CELL = 400  # characters: longer ones are laid out by a table, not tabulated
_SPACE = re.compile(r"[ \t\u00a0\n]+")
_WITHIN = {"sdt", "sdtContent", "smartTag", "customXml", "ins", "moveTo", "AlternateContent",
           "Choice", "body"}  # fmt: skip
_CONTENTS = {"table of contents", "bibliographies"}


@dataclass(frozen=True)
class Parts:
    """What the body refers to: styles, lists, and notes by (kind, id)."""

    styles: dict[str, Style]
    numbering: Numbering
    notes: dict[tuple[str, str], Any]


class Body:
    """Reads paragraphs and tables one after the other into ``pages`` of blocks.

    A page ends at a page break that the author set, and at the end of a section whose next one
    begins on a new page. Notes stand behind the section of text that calls them.
    """

    def __init__(self, parts: Parts, name: str) -> None:
        self.pages: list[list[Block]] = [[]]
        self.title = ""
        self._parts = parts
        self._name = name
        self._note_numbers: dict[tuple[str, str], int] = {}
        self._waiting: list[tuple[str, str]] = []
        self._n_blocks = 0

    def read(self, body: Any) -> None:
        """Reads a whole body."""
        breaks = _section_breaks(body)
        self._read(body, breaks, in_contents=False)
        self._place_notes()
        self.pages = [_joined(page) for page in self.pages if page] or [[]]

    def _read(self, element: Any, breaks: Iterator[bool], *, in_contents: bool) -> None:
        for part in element:
            name = local(part)
            if name == "p":
                self._paragraph(part, in_contents=in_contents)
                if child(part, "pPr", "sectPr") is not None and next(breaks, False):
                    self._turn()
            elif name == "tbl":
                self._table(part, breaks, in_contents=in_contents)
            elif name in _WITHIN:
                gallery = value(part, "sdtPr", "docPartObj", "docPartGallery").lower()
                self._read(part, breaks, in_contents=in_contents or gallery in _CONTENTS)

    def _paragraph(self, paragraph: Any, *, in_contents: bool = False) -> None:
        looks = child(paragraph, "pPr")
        style = self._parts.styles.get(value(paragraph, "pPr", "pStyle"), PLAIN)
        if looks is not None and is_on(looks, "pageBreakBefore"):
            self._turn()
        said = said_in(paragraph, self._note_numbers)
        kind, level = (style.kind, style.level)
        own = value(looks, "outlineLvl") if looks is not None else ""
        if own.isdigit() and int(own) < 9 and said.text.strip():
            kind, level = "heading", int(own) + 1
        if in_contents:
            kind, level = "contents", 0
        if kind == "heading" and said.text.strip():
            self._place_notes()
        if style.is_title and not self.title:
            self.title = _plain(said.text.replace(NEW_PAGE, " "))
        self._say(said, kind, level, self._mark(looks, style) if kind == "text" else "")
        self._waiting += said.notes
        for box in said.boxes:
            self._read(box, iter(()), in_contents=in_contents)

    def _say(self, said: Said, kind: MarkKind, level: int, mark: str) -> None:
        """The blocks of a paragraph: its text, formulas and figures."""
        for place, text in enumerate(said.text.split(NEW_PAGE)):
            if place:
                self._turn()
            shown = text.strip("\n").rstrip() if kind == "code" else _plain(text)
            if shown and mark:
                self._add(Block("list", f"{mark} {shown}" if not place else shown))
            elif shown:
                self._add(Block(kind, shown, level=level))
        for formula in said.formulas:
            self._add(Block("equation", formula))
        for described in said.figures:
            self._add(Block("figure", described))

    def _mark(self, looks: Any, style: Style) -> str:
        """What stands before an item of a list, further in where its list is within another."""
        listed = style.numbering
        number = value(looks, "numPr", "numId") if looks is not None else ""
        if number:
            depth = value(looks, "numPr", "ilvl")
            listed = (number, int(depth) if depth.isdigit() else 0) if number != "0" else None
        if listed is None:
            return ""
        return "  " * min(listed[1], 4) + self._parts.numbering.mark(*listed)

    def _table(self, table: Any, breaks: Iterator[bool], *, in_contents: bool) -> None:
        """A table's rows; what a table only lays out is read as if it stood in none."""
        rows = [_cells(row) for row in _rows(table)]
        texts = [[self._cell(cell) for cell in cells] for cells in rows]
        widest = max(map(len, texts), default=0)
        if widest < 2 or any(len(text) > _CELL for row in texts for text in row):
            for cells in rows:
                for cell in cells:
                    self._read(cell, breaks, in_contents=in_contents)
            return
        shown = "\n".join(" | ".join(row).strip() for row in texts if any(row))
        if shown:
            self._add(Block("contents" if in_contents else "table", shown))

    def _cell(self, cell: Any) -> str:
        if value(cell, "tcPr", "vMerge") != "restart" and (
            child(cell, "tcPr", "vMerge") is not None
        ):
            return ""  # goes on from the row above
        texts = []
        for paragraph in paragraphs_of(cell):
            said = said_in(paragraph, self._note_numbers)
            self._waiting += said.notes
            texts += [said.text.replace(NEW_PAGE, " "), *(f"${text}$" for text in said.formulas)]
        return _plain(" ".join(texts))

    def _place_notes(self) -> None:
        waiting, self._waiting = list(dict.fromkeys(self._waiting)), []
        for key in waiting:
            note = self._parts.notes.get(key)
            if note is None:
                continue
            said = [said_in(paragraph, self._note_numbers) for paragraph in paragraphs_of(note)]
            text = _plain(" ".join(part.text or " ".join(part.formulas) for part in said))
            if text:
                mark = set_off("sup", str(self._note_numbers[key]))
                self._add(Block("note", f"{mark} {text.replace(NEW_PAGE, ' ')}"))

    def _turn(self) -> None:
        self._place_notes()
        self.pages.append([])

    def _add(self, block: Block) -> None:
        self._n_blocks += 1
        if self._n_blocks > MOST_BLOCKS:
            raise BadInput(f"{self._name} has more than {MOST_BLOCKS:,} blocks.", hint="Split it.")
        self.pages[-1].append(block)


def paragraphs_of(element: Any) -> Iterator[Any]:
    """All paragraphs within, in order, those of tables too."""
    for part in element:
        if local(part) == "p":
            yield part
        elif local(part) in _WITHIN or local(part) in {"tbl", "tr", "tc"}:
            yield from paragraphs_of(part)


def _rows(table: Any) -> Iterator[Any]:
    for part in table:
        if local(part) == "tr":
            if child(part, "trPr", "del") is None:
                yield part
        elif local(part) in _WITHIN:
            yield from _rows(part)


def _cells(row: Any) -> list[Any]:
    found = []
    for part in row:
        if local(part) == "tc":
            found.append(part)
        elif local(part) in _WITHIN:
            found += _cells(part)
    return found


def _section_breaks(body: Any) -> Iterator[bool]:
    """Of each section but the last, in order, whether the next one begins on a new page."""
    sections = [
        part
        for part in body.iter()
        if local(part) == "sectPr" and local(part.getparent()) != "sectPrChange"
    ]
    kinds = [value(section, "type") for section in sections]
    return iter([kind not in {"continuous", "nextColumn"} for kind in kinds[1:]])


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _joined(blocks: list[Block]) -> list[Block]:
    """Items that follow each other as one list, and lines as one piece of code."""
    made: list[Block] = []
    for kind, same in groupby(blocks, key=lambda block: block.kind):
        if kind in {"list", "code", "contents"}:
            made.append(Block(kind, "\n".join(block.text for block in same)))
        else:
            made += same
    return made
