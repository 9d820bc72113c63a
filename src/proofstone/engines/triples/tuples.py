"""Triples in round brackets, one or more on a line: ``(Ada Lovelace, birthPlace, London)``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.engines.triples.found import Fault, UnreadWhy

__all__ = ["Fields", "TupleLine", "fields_after", "read_tuples"]

_BRACKET = re.compile(r"[()]")
_GAP = re.compile(r"[\s,;.\[\]]*")
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`", "«": "»", "「": "」"}
_QUOTED = re.compile(r"""\s*(?:"([^"]*)"|'((?:[^']|'(?=\w))*)')\s*(?:,|\Z)""")
_COMMA = re.compile(r"\s*[,，،]\s*")


class Fields(Struct, frozen=True, gc=False):
    """Three texts without the quotes around them."""

    texts: tuple[str, str, str]
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, texts: Sequence[str]) -> Fields | None:
        """Three texts as fields; None where there are not three, or one is empty."""
        plain = tuple(_unquoted(text.strip()) for text in texts)
        if len(plain) != 3 or not all(plain):
            return None
        return cls(plain)


class TupleLine(Struct, frozen=True):
    """What stands on a line: (start, end, fields), and what could not be read: (start, end, why).
    Both are empty where the line is none of tuples."""

    read: tuple[tuple[int, int, Fields], ...] = ()
    unread: tuple[tuple[int, int, UnreadWhy], ...] = ()


def read_tuples(line: str, names: Sequence[str], *, is_open: bool) -> TupleLine:
    """The tuples of a line that holds nothing else; ``is_open`` where it may have been cut off."""
    read: list[tuple[int, int, Fields]] = []
    unread: list[tuple[int, int, UnreadWhy]] = []
    for start, end in _tuples_of(line):
        is_ended = end is not None
        inner = line[start + 1 : end - 1] if end is not None else line[start + 1 :]
        fields = _fields_of(inner, names) if is_ended else None
        if fields is not None:
            read.append((start, end or len(line), fields))
        elif read or _is_meant(inner, names) or (is_open and not is_ended):
            why: UnreadWhy = "fields not told apart" if is_ended else "cut off"
            unread.append((start, end or len(line), why))
    return TupleLine(tuple(read), tuple(unread))


def fields_after(line: str, names: Sequence[str], between: str) -> tuple[str, str, str] | None:
    """The three fields of a line that opens with one of ``names``, its predicate one word or
    several without such a separator; else None."""
    for name in names:
        rest = _after_name(line, name)
        if rest is None or not rest.startswith(between):
            continue
        predicate, found, said = rest[len(between) :].partition(between)
        if found and said.strip() and _is_predicate(predicate):
            return line[: len(name)], predicate, said
    return None


def _tuples_of(line: str) -> Iterator[tuple[int, int | None]]:
    """The outermost brackets of a line, where nothing but commas stands between them; the last one
    may not be closed. None where there is other text: then brackets are a part of it."""
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


def _fields_of(inner: str, names: Sequence[str]) -> Fields | None:
    for name in names:
        rest = _after_name(inner, name)
        comma = None if rest is None else _COMMA.match(rest)
        if rest is not None and comma is not None:
            predicate, said = _first_field(rest[comma.end() :])
            if not _is_predicate(predicate):
                return None
            return Fields.of((inner[: len(name)], predicate, said))
    quoted = _all_quoted(inner)
    if quoted is not None:
        return Fields.of(quoted)
    parts = _apart(inner)
    fields = Fields.of(parts)
    return fields if fields is not None and _is_predicate(fields.texts[1]) else None


def _is_meant(inner: str, names: Sequence[str]) -> bool:
    """Whether brackets that are no triple were meant as one, and are not just a remark."""
    return any(_after_name(inner, name) is not None for name in names)


def _after_name(text: str, name: str) -> str | None:
    if text[: len(name)].casefold() != name.casefold():
        return None
    return text[len(name) :]


def _first_field(text: str) -> tuple[str, str]:
    found = _COMMA.search(text)
    return (text, "") if found is None else (text[: found.start()], text[found.end() :])


def _is_predicate(text: str) -> bool:
    """Whether a text can name a relation: it has a letter, and no bracket that is not closed."""
    return any(sign.isalpha() for sign in text) and text.count("(") == text.count(")")


def _all_quoted(inner: str) -> list[str] | None:
    """The fields where each stands in quotes, else None."""
    fields, at = [], 0
    while at < len(inner):
        found = _QUOTED.match(inner, at)
        if found is None:
            return None
        fields.append(found[1] if found[1] is not None else found[2])
        at = found.end()
    return fields


def _apart(inner: str) -> list[str]:
    """The parts between commas that stand in no bracket and no quotes of their own."""
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
