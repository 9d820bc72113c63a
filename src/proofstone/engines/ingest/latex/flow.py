"""Blocks as they come about: the open paragraph, the items of lists, the notes that wait."""

from __future__ import annotations

import re

from proofstone.engines.ingest.latex.signs import typeset
from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.raised import set_off
from proofstone.errors import BadInput
from proofstone.records import MarkKind

__all__ = ["MOST_BLOCKS", "Flow"]

MOST_BLOCKS = 200_000
_SPACE = re.compile(r"\s+")


class Flow:
    """Takes text and makes blocks of it. ``name`` is the document's."""

    def __init__(self, name: str) -> None:
        self.blocks: list[Block] = []
        self.kind: MarkKind = "text"  # of the paragraphs to come
        self.lists: list[list[str | int]] = []  # of each open list, its name and items so far
        self._name = name
        self._pieces: list[str] = []
        self._mark = ""
        self._notes: list[tuple[int, str]] = []
        self._n_notes = 0

    def say(self, text: str) -> None:
        """Adds text as it was typed."""
        self._pieces.append(typeset(text))

    def write(self, text: str) -> None:
        """Adds text as it is to stand."""
        self._pieces.append(text)

    @property
    def has_text(self) -> bool:
        """Whether a paragraph is open."""
        return any(not piece.isspace() for piece in self._pieces)

    def taken(self) -> str:
        """The text of the open paragraph, which is no block then."""
        text, self._pieces = _SPACE.sub(" ", "".join(self._pieces)).strip(), []
        return text

    def end(self) -> None:
        """Ends the open paragraph as a block."""
        text = self.taken()
        if not text:
            return
        if self.lists and self.kind == "text":
            mark, self._mark = self._mark or "  " * len(self.lists), ""
            self._item(f"{mark}{text}")
        else:
            self.add(Block(self.kind, text))

    def item(self, label: str | None) -> None:
        """Begins an item of the innermost list, with what is given for its mark."""
        self.end()
        depth = max(0, len(self.lists) - 1)
        if not self.lists:
            return
        self.lists[-1][1] = int(self.lists[-1][1]) + 1
        numbered = self.lists[-1][0] == "enumerate"
        mark = label or (f"{self.lists[-1][1]}." if numbered else "-")
        if label and self.lists[-1][0] == "description":
            mark = f"- {label}:"
        self._mark = "  " * min(depth, 4) + mark + " "

    def _item(self, text: str) -> None:
        if self.blocks and self.blocks[-1].kind == "list":
            self.blocks[-1] = Block("list", f"{self.blocks[-1].text}\n{text}")
        else:
            self.add(Block("list", text))

    def add(self, block: Block) -> None:
        """Adds a block behind the open paragraph, which ends."""
        if self.has_text:
            self.end()
        if len(self.blocks) >= MOST_BLOCKS:
            raise BadInput(f"{self._name} has more than {MOST_BLOCKS:,} blocks.", hint="Split it.")
        self.blocks.append(block)

    def heading(self, level: int, title: str) -> None:
        """Begins a section; the notes of the one before stand at its end."""
        self.end()
        self.place_notes()
        if title:
            self.add(Block("heading", title, level=level))

    def note(self, text: str) -> None:
        """Calls a note where the text is, and keeps it for the end of the section."""
        self._n_notes += 1
        while self._pieces and self._pieces[-1].isspace():
            self._pieces.pop()
        self.write(set_off("sup", str(self._n_notes)))
        self._notes.append((self._n_notes, text))

    def place_notes(self) -> None:
        """The notes that wait."""
        self.end()
        waiting, self._notes = self._notes, []
        for number, text in waiting:
            if text:
                self.add(Block("note", f"{set_off('sup', str(number))} {text}"))
