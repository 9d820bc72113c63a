"""Parse triples written as lines instead of JSON: in brackets, tables, with arrows, numbered.

A line may hold several: ``(Ada Lovelace, birthPlace, London)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.methods.bequ.records import Fault, FoundTriple, Unread, UnreadWhy

_BRACKET = re.compile(r"[()]")


_GAP = re.compile(r"[\s,;.\[\]]*")


_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`", "«": "»", "「": "」"}


_QUOTED = re.compile(r"""\s*(?:"([^"]*)"|'((?:[^']|'(?=\w))*)')\s*(?:,|\Z)""")


_COMMA = re.compile(r"\s*[,，،]\s*")


Texts = tuple[str, str, str]  # without the quotes around them


def told_apart(texts: Sequence[str]) -> Texts | None:
    """Return three texts without their quotes; None if there are not three, or one is empty."""
    plain = [_unquoted(text.strip()) for text in texts]
    return (plain[0], plain[1], plain[2]) if len(plain) == 3 and all(plain) else None


def read_tuples(
    line: str, names: Sequence[str], *, is_open: bool
) -> Iterator[tuple[int, int, Texts | UnreadWhy]]:
    """Return the tuples of a line that holds nothing else, each with its start and end, or a fault.

    Other lines give none. ``is_open``: the line may be truncated.
    """
    has_read = False
    for start, end in _tuples_of(line):
        inner = line[start + 1 :] if end is None else line[start + 1 : end - 1]
        texts = None if end is None else _fields_of(inner, names)
        if texts is not None:
            has_read = True
            yield start, end or len(line), texts
        elif has_read or _is_meant(inner, names) or (is_open and end is None):
            yield start, end or len(line), "truncated" if end is None else "ambiguous fields"


def fields_after(line: str, names: Sequence[str], between: str) -> Texts | None:
    """Return the three fields of a line that starts with one of ``names``, otherwise None.

    The predicate is one word, or several without such a separator.
    """
    for name in names:
        rest = _after_name(line, name)
        if rest is None or not rest.startswith(between):
            continue
        predicate, found, said = rest[len(between) :].partition(between)
        if found and said.strip() and _is_predicate(predicate):
            return line[: len(name)], predicate, said
    return None


def _tuples_of(line: str) -> Iterator[tuple[int, int | None]]:
    """Return the outermost brackets of a line with only commas between them.

    The last one may be unclosed. None if there is other text: brackets are then part of it.
    """
    found: list[tuple[int, int | None]] = []
    at = _gap_end(line, 0)
    while at < len(line):
        if line[at] != "(":
            return
        end = _closing(line, at)
        found.append((at, end))
        at = len(line) if end is None else _gap_end(line, end)
    yield from found


def _gap_end(line: str, at: int) -> int:
    found = _GAP.match(line, at)
    return at if found is None else found.end()


def _closing(line: str, at: int) -> int | None:
    depth = 0
    for bracket in _BRACKET.finditer(line, at):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.end()
    return None


# ---------------------------------------------------------------- fields within brackets


def _fields_of(inner: str, names: Sequence[str]) -> Texts | None:
    for name in names:
        rest = _after_name(inner, name)
        comma = None if rest is None else _COMMA.match(rest)
        if rest is not None and comma is not None:
            predicate, said = _first_field(rest[comma.end() :])
            whole = (inner[: len(name)], predicate, said)
            return told_apart(whole) if _is_predicate(predicate) else None
    quoted = _all_quoted(inner)
    if quoted is not None:
        return told_apart(quoted)
    texts = told_apart(_apart(inner))
    return texts if texts is not None and _is_predicate(texts[1]) else None


def _is_meant(inner: str, names: Sequence[str]) -> bool:
    """Return True if malformed brackets were meant as a triple and are not a remark."""
    return any(_after_name(inner, name) is not None for name in names)


def _after_name(text: str, name: str) -> str | None:
    if text[: len(name)].casefold() != name.casefold():
        return None
    return text[len(name) :]


def _first_field(text: str) -> tuple[str, str]:
    found = _COMMA.search(text)
    return (text, "") if found is None else (text[: found.start()], text[found.end() :])


def _is_predicate(text: str) -> bool:
    """Return True if a text can be a relation's name: a letter, and no unclosed bracket."""
    return any(sign.isalpha() for sign in text) and text.count("(") == text.count(")")


def _all_quoted(inner: str) -> list[str] | None:
    """Return the fields if all are quoted, otherwise None."""
    fields, at = [], 0
    while at < len(inner):
        found = _QUOTED.match(inner, at)
        if found is None:
            return None
        fields.append(found[1] if found[1] is not None else found[2])
        at = found.end()
    return fields


def _apart(inner: str) -> list[str]:
    """Split at commas outside of inner brackets and quotes."""
    parts, depth, start, quote = [], 0, 0, ""
    for at, sign in enumerate(inner):
        if quote:
            quote = "" if sign == quote else quote
        elif sign == '"':
            quote = sign
        elif sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign in ",，،" and depth == 0:
            parts.append(inner[start:at])
            start = at + 1
    return [*parts, inner[start:]]


def _unquoted(text: str) -> str:
    for first, last in _QUOTES.items():
        inner = text[1:-1]
        if len(text) > 1 and text[0] == first and text[-1] == last and first not in inner:
            return inner.strip()
    return text


# Triples in lines: in brackets, in tables, with arrows, numbered.
#
# If no unambiguous separator divides a line's fields, it must start with the subject as written in
# the prompt. The predicate then ends at the next comma, and the rest is the object, commas
# included.

_MARK = re.compile(r"(?:[-*•·]|\(?\d{1,5}[.)])\s+")


_FENCE = re.compile(r"`{3,}\w*|~{3,}\w*")


_RULE = re.compile(r"[\s|:=+-]*")


_ARROW = re.compile(r"\s*(?:->|→|=>|⟶)\s*")


_HEADS = {"subject", "predicate", "object"}


_BETWEEN = (", ", "; ", " - ", " – ", " — ", ": ")


_LEAST_ALIKE = 2  # minimum lines of one form before commas alone are accepted


class _Line(Struct, frozen=True, gc=False):
    """Hold a line without its number or bullet. ``is_open``: it may be truncated at the response's
    end.
    """

    text: str
    start: int
    end: int
    has_mark: bool
    is_open: bool


class RowScan:
    """Collect the triples of a text's lines, and unparsed lines meant as triples.

    ``names`` are those of the subject in the prompt.
    """

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
        """Parse a line with unambiguous separators. Returns True if it has them."""
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
        found = list(read_tuples(line.text, self._names, is_open=line.is_open))
        for at, end, said in found:
            place = (line.start + at, line.start + end)
            if isinstance(said, tuple):
                self.triples.append(FoundTriple(*said, *place, ("tuples",)))
            else:
                self.unread.append(Unread(*place, said))
        return bool(found)

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
                self.unread.append(Unread(line.start, line.end, "truncated"))
            else:
                self._tell(line, cells, "table", is_ended=True)
            return True
        if self._has_head:
            why: UnreadWhy = "truncated" if line.is_open else "ambiguous fields"
            self.unread.append(Unread(line.start, line.end, why))
        return self._has_head

    def _by_subject(self, lines: list[_Line]) -> None:
        """Parse lines that start with the subject and a separator.

        Accepted only if every numbered line has this form, since a sentence may also start with a
        name and a comma.
        """
        marked = [line for line in lines if line.has_mark]
        told = [(line, fields) for line in marked if (fields := self._after_subject(line))]
        if len(told) < max(_LEAST_ALIKE, len(marked) - any(line.is_open for line in marked)):
            return
        for line, fields in told:
            self._tell(line, fields, "lines")

    def _after_subject(self, line: _Line) -> Texts | None:
        each = (fields_after(line.text, self._names, between) for between in _BETWEEN)
        return next(filter(None, each), None)

    def _tell(
        self, line: _Line, texts: Sequence[str], fault: Fault, *, is_ended: bool = False
    ) -> None:
        if line.is_open and not is_ended:
            self.unread.append(Unread(line.start, line.end, "truncated"))
            return
        fields = told_apart(texts)
        if fields is None:
            self.unread.append(Unread(line.start, line.end, "ambiguous fields"))
        else:
            self.triples.append(FoundTriple(*fields, line.start, line.end, (fault,)))


def _lines(text: str, *, is_cut: bool) -> Iterator[_Line]:
    """Yield the non-empty lines, without code fences."""
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
