"""The text of a paragraph: its runs without what was deleted, hidden, or is a field's code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from proofstone.engines.ingest.docx.formulas import as_tex
from proofstone.engines.ingest.docx.names import attribute, child, is_on, local, value
from proofstone.engines.ingest.raised import set_off

__all__ = ["NEW_PAGE", "Said", "said_in"]

NEW_PAGE = "\f"
_GONE = {
    "del", "moveFrom", "pPr", "rPr", "instrText", "delText", "delInstrText", "Fallback", "rt",
    "commentReference", "annotationRef", "sdtPr", "sdtEndPr",
}  # fmt: skip
_SIGNS = {"tab": "\t", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


@dataclass
class Said:
    """A paragraph's text, with ``NEW_PAGE`` where a page begins in it.

    ``formulas`` are those that stand by themselves, where ``text`` holds nothing else. ``notes``
    are the notes that it calls by (kind, id), ``figures`` the words kept for each image, ``boxes``
    the paragraphs of text boxes.
    """

    text: str = ""
    formulas: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)


def said_in(paragraph: Any, note_number: dict[tuple[str, str], int]) -> Said:
    """What a paragraph says; notes are called by the numbers that ``note_number`` holds, and get
    the next one where they have none."""
    reader = _Reader(note_number)
    reader.inside(paragraph)
    said = reader.said
    said.text = "".join(reader.pieces)
    if said.formulas and said.text.strip():  # a formula within a sentence after all
        said.formulas = []
    elif said.formulas:
        said.text = ""
    return said


class _Reader:
    def __init__(self, note_number: dict[tuple[str, str], int]) -> None:
        self.said = Said()
        self.pieces: list[str] = []
        self._numbers = note_number
        self._fields: list[bool] = []  # of each open field, whether its code is over

    def inside(self, element: Any) -> None:
        """Takes in all parts of an element."""
        for part in element:
            name = local(part)
            if name == "r":
                self._run(part)
            elif name == "oMathPara":
                self._display(part)
            elif name == "oMath":
                self._say(f"${as_tex(part)}$")
            elif name and name not in _GONE:
                self.inside(part)

    def _display(self, formulas: Any) -> None:
        found = [text for part in formulas if local(part) == "oMath" and (text := as_tex(part))]
        if "".join(self.pieces).strip():
            self._say(" ".join(f"${text}$" for text in found))
        else:
            self.said.formulas += found

    def _say(self, text: str) -> None:
        if all(self._fields):
            if self.said.formulas and text.strip():
                self.pieces += [f"${formula}$ " for formula in self.said.formulas]
                self.said.formulas = []
            self.pieces.append(text)

    def _run(self, run: Any) -> None:
        looks = child(run, "rPr")
        if looks is not None and is_on(looks, "vanish"):
            return
        raised = "" if looks is None else value(looks, "vertAlign")
        for part in run:
            name = local(part)
            if name == "t":
                text = part.text or ""
                place = {"superscript": "sup", "subscript": "sub"}.get(raised)
                self._say(set_off(place, text) if place else text)
            elif name in {"drawing", "pict", "object", "AlternateContent"}:
                self._drawn(part)
            elif name not in _GONE:
                self._sign(name, part)

    def _sign(self, name: str, part: Any) -> None:
        if name == "br":
            self._say(NEW_PAGE if attribute(part, "type") == "page" else "\n")
        elif name in _SIGNS:
            self._say(_SIGNS[name])
        elif name == "fldChar":
            self._field(attribute(part, "fldCharType"))
        elif name in _NOTES:
            self._note(_NOTES[name], attribute(part, "id"))
        elif name == "sym":
            self._say(_symbol(attribute(part, "char")))
        elif name == "ruby":
            for base in part:
                if local(base) == "rubyBase":
                    self.inside(base)

    def _field(self, edge: str) -> None:
        if edge == "begin":
            self._fields.append(False)
        elif edge == "separate" and self._fields:
            self._fields[-1] = True
        elif edge == "end" and self._fields:
            self._fields.pop()

    def _note(self, kind: str, name: str) -> None:
        number = self._numbers.setdefault((kind, name), len(self._numbers) + 1)
        self.said.notes.append((kind, name))
        self._say(set_off("sup", str(number)))

    def _drawn(self, drawing: Any) -> None:
        """Images with what is said of them, and the paragraphs of text boxes."""
        described = ""
        for part in _walk(drawing):
            name = local(part)
            if name == "docPr":
                described = attribute(part, "descr") or attribute(part, "title")
            elif name in {"blip", "imagedata", "chart"}:
                self.said.figures.append(" ".join(described.split())[:500])
            elif name == "txbxContent":
                self.said.boxes.append(part)


def _walk(element: Any) -> Iterator[Any]:
    """The parts of a drawing, without what stands in its place elsewhere, or in its text boxes."""
    for part in element:
        yield part
        if local(part) not in {"Fallback", "txbxContent"}:
            yield from _walk(part)


def _symbol(code: str) -> str:
    """A character by its number; one of a font's own characters is left out."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    is_character = 0x20 <= number < 0xD800 or 0xF900 <= number < 0xFFFE
    return chr(number) if is_character else ""
