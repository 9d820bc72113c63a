"""Triples that stand in lines and not in JSON: in brackets, in tables, between arrows, numbered.

Where the fields of a line are not set apart by what cannot stand within one, the subject that was
asked for tells where they begin, written out as it was asked: then the predicate goes to the next
comma, and all the rest is the object, which may hold more of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.engines.triples.found import Fault, FoundTriple, Unread, UnreadWhy
from proofstone.engines.triples.tuples import Fields, fields_after, read_tuples

__all__ = ["RowScan"]

_MARK = re.compile(r"(?:[-*•·]|\(?\d{1,5}[.)])\s+")
_FENCE = re.compile(r"`{3,}\w*|~{3,}\w*")
_RULE = re.compile(r"[\s|:=+-]*")
_ARROW = re.compile(r"\s*(?:->|→|=>|⟶)\s*")
_HEADS = {"subject", "predicate", "object"}
_BETWEEN = (", ", "; ", " - ", " – ", " — ", ": ")
_LEAST_ALIKE = 2  # lines that must be of one form before commas alone are believed


class _Line(Struct, frozen=True, gc=False):
    """A line without its number or bullet. ``is_open``: the end of the reply may have cut it."""

    text: str
    start: int
    end: int
    has_mark: bool
    is_open: bool


class RowScan:
    """The triples of a text's lines, with the lines that were meant as one and are none. ``names``
    are those of the subject that was asked for."""

    def __init__(self, text: str, names: Sequence[str], *, is_cut: bool) -> None:
        self._names = sorted(filter(None, names), key=len, reverse=True)
        self._has_head = False
        self.triples: list[FoundTriple] = []
        self.unread: list[Unread] = []
        lines = list(_lines(text, is_cut=is_cut))
        rest = [line for line in lines if not self._set_apart(line)]
        self._by_subject(rest)
        self.unread.sort(key=lambda part: part.start)
        self.triples.sort(key=lambda triple: triple.start)

    def _set_apart(self, line: _Line) -> bool:
        """Whether the line is of a form that sets its fields apart; then it is told."""
        if line.text[0] in "([":
            return self._tuples(line)
        if "|" in line.text or "\t" in line.text:
            return self._cells(line)
        parts = _ARROW.split(line.text)
        if len(parts) == 3 and all(parts):
            self._tell(line, parts, "table")
            return True
        return False

    def _tuples(self, line: _Line) -> bool:
        found = read_tuples(line.text, self._names, is_open=line.is_open)
        for at, end, fields in found.read:
            place = (line.start + at, line.start + end)
            self.triples.append(FoundTriple(*fields.texts, *place, (*fields.faults, "tuples")))
        for at, end, why in found.unread:
            self.unread.append(Unread(line.start + at, line.start + end, why))
        return bool(found.read or found.unread)

    def _cells(self, line: _Line) -> bool:
        sign = "|" if "|" in line.text else "\t"
        cells = [cell.strip() for cell in line.text.strip(sign).split(sign)]
        if _RULE.fullmatch(line.text):
            return True
        if set(map(str.casefold, cells)) >= _HEADS:
            self._has_head = True
            return True
        if len(cells) == 4 and cells[0].rstrip(".").isdecimal():
            cells = cells[1:]
        if len(cells) == 3 and all(cells):
            is_ended = line.text.endswith(sign)
            if line.is_open and not is_ended:
                self.unread.append(Unread(line.start, line.end, "cut off"))
            else:
                self._tell(line, cells, "table", is_ended=True)
            return True
        if self._has_head:
            why: UnreadWhy = "cut off" if line.is_open else "fields not told apart"
            self.unread.append(Unread(line.start, line.end, why))
        return self._has_head

    def _by_subject(self, lines: list[_Line]) -> None:
        """Lines that open with the subject and go on with a separator: believed only where every
        numbered line is of this form, since a sentence may open with a name and a comma too."""
        marked = [line for line in lines if line.has_mark]
        told = [(line, fields) for line in marked if (fields := self._after_subject(line))]
        if len(told) < max(_LEAST_ALIKE, len(marked) - any(line.is_open for line in marked)):
            return
        for line, fields in told:
            self._tell(line, fields, "lines")

    def _after_subject(self, line: _Line) -> tuple[str, ...] | None:
        for between in _BETWEEN:
            fields = fields_after(line.text, self._names, between)
            if fields is not None:
                return fields
        return None

    def _tell(
        self, line: _Line, texts: Sequence[str], fault: Fault, *, is_ended: bool = False
    ) -> None:
        if line.is_open and not is_ended:
            self.unread.append(Unread(line.start, line.end, "cut off"))
            return
        fields = Fields.of(texts)
        if fields is None:
            self.unread.append(Unread(line.start, line.end, "fields not told apart"))
            return
        faults = (*fields.faults, fault)
        self.triples.append(FoundTriple(*fields.texts, line.start, line.end, faults))


def _lines(text: str, *, is_cut: bool) -> Iterator[_Line]:
    """The lines that hold something, but no fences."""
    at = 0
    for raw in text.splitlines(keepends=True):
        start, at = at, at + len(raw)
        body = raw.strip().strip("`").strip()
        if not body or _FENCE.fullmatch(raw.strip()):
            continue
        first = start + raw.index(body)
        mark = _MARK.match(body)
        skipped = mark.end() if mark else 0
        if body[skipped:]:
            is_open = is_cut and at == len(text) and not raw.endswith(("\n", "\r"))
            yield _Line(
                body[skipped:], first + skipped, first + len(body), mark is not None, is_open
            )
