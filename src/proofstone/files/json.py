"""JSON objects from lines (JSONL) or from one array, strictly."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from proofstone.errors import Problem
from proofstone.files.csv import Line, decode, read_lines
from proofstone.records.tables import Row

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


_TOO_DEEP = "is nested too deeply"


_scanner = json.JSONDecoder()


_KINDS = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


class _NotJsonError(ValueError):
    """Accepted by the lenient parser but not valid JSON."""


def line_rows(stream: BinaryIO, problems: list[Problem], *, limit: int) -> Iterator[Row]:
    """Yield one row per line; empty lines are skipped, any other line must be an object."""
    for line in read_lines(stream, problems, limit=limit):
        values = parse_object(line.data)
        if isinstance(values, dict):
            yield Row(f"line {line.number}", values)
        elif line.data.strip():
            text = decode(line)
            problems.append(
                text if isinstance(text, Problem) else Problem(f"line {line.number}", values)
            )


def parse_object(data: bytes) -> dict[str, Any] | str:
    """Return the object in ``data``, or the problem.

    In addition to invalid JSON, these are rejected: repeated names, NaN and infinities, lone
    surrogates, NUL.
    """
    try:
        values = orjson.loads(data)
    except orjson.JSONDecodeError as cause:
        return _diagnosis(data, cause)
    if type(values) is not dict:
        return _not_an_object(values)
    try:
        return _looser_than_meant(data, values) or values
    except RecursionError:
        return _TOO_DEEP


def _looser_than_meant(data: bytes, values: dict[str, Any]) -> str:
    """Return what a parser accepts but is rejected here: a repeated name or a NUL; "" otherwise."""
    has_escapes = b"\\" in data
    if not _names_differ(data, values, has_escapes=has_escapes):
        try:
            json.loads(data, object_pairs_hook=_without_repeats)
        except _NotJsonError as cause:
            return str(cause)
    if has_escapes and b"\\u0000" in data and _holds_nul(values):
        return "contains a NUL (written \\u0000)"
    return ""


def _names_differ(data: bytes, values: dict[str, Any], *, has_escapes: bool) -> bool:
    """Return True if it is certain, without parsing again, that no name is repeated.

    Every text and name is enclosed in two quotes, and a repeated name is missing from ``values``.
    So the quotes are twice the texts only if there is none. Escaped quotes are excluded from the
    count, which requires that their backslash is not itself escaped.
    """
    quotes = data.count(b'"')
    if has_escapes:
        if b"\\\\" in data:
            return False
        quotes -= data.count(b'\\"')
    return quotes == 2 * _count_texts(values)


def _count_texts(value: dict[str, Any] | list[Any]) -> int:
    count, parts = (len(value), value.values()) if isinstance(value, dict) else (0, value)
    for part in parts:
        if type(part) is str:
            count += 1
        elif type(part) is list or type(part) is dict:
            count += _count_texts(part)
    return count


def _not_an_object(value: object) -> str:
    kind = _KINDS.get(type(value), "null")
    hint = "; an array of objects belongs in a .json file" if kind == "a list" else ""
    return f"expected a JSON object, got {kind}{hint}"


def _without_repeats(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        repeated = next(name for place, name in enumerate(names) if name in names[:place])
        raise _NotJsonError(f'names "{repeated}" twice')


def _holds_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_holds_nul(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(_holds_nul(part) for part in value)


def _refuse_constant(name: str) -> None:
    raise _NotJsonError(f"contains {name}, which is not a JSON number")


def _diagnosis(data: bytes, cause: orjson.JSONDecodeError) -> str:
    """Return why a strict parser failed, as reported by the standard library's parser."""
    try:
        json.loads(data, parse_constant=_refuse_constant)
    except _NotJsonError as refused:
        return str(refused)
    except (ValueError, RecursionError):
        return f"is not valid JSON: {cause.msg} at column {cause.colno}"
    if _SURROGATE.search(data.decode("utf-8", "replace")):
        return "contains half of a surrogate pair (\\ud800 to \\udfff), which is not a character"
    return f"is not valid JSON: {cause.msg} at column {cause.colno}"


def array_rows(data: bytes, problems: list[Problem]) -> Iterator[Row]:
    """Yield the objects of one JSON array, each placed at the line where it begins.

    The caller reads data that does not begin with ``[`` as JSONL. A broken element stops reading,
    since the start of the next one is unknown.
    """
    decoded = [decode(line) for line in _split(data)]
    bad = [part for part in decoded if isinstance(part, Problem)]
    if bad:
        problems.extend(bad)
        return
    text = "".join(part for part in decoded if isinstance(part, str))
    scan = _ArrayScan(text)
    for number, element in scan:
        values = parse_object(element.encode("utf-8"))
        if isinstance(values, dict):
            yield Row(f"line {number}", values)
        else:
            problems.append(Problem(f"line {number}", values))
    if scan.broken:
        problems.append(Problem(f"line {scan.line}", scan.broken))


def _split(data: bytes) -> Iterator[Line]:
    start = 0
    for number, part in enumerate(io.BytesIO(data), start=1):
        yield Line(number, start, part)
        start += len(part)


class _ArrayScan:
    """Scan the elements of an array as texts with lines; ``broken`` is the reason for an early
    end.
    """

    _space = re.compile(r"\s*")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.line = 1
        self.broken = ""

    def _move(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _next_sign(self) -> str:
        """Skip white space and return the next character, or "" at the end."""
        space = self._space.match(self._text, self._at)
        self._move(space.end() if space else self._at)
        return self._text[self._at : self._at + 1]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        self._next_sign()
        self._move(self._at + 1)
        if self._next_sign() == "]":
            self._finish()
            return
        while True:
            self._next_sign()
            try:
                _, end = _scanner.raw_decode(self._text, self._at)
            except json.JSONDecodeError as cause:
                self._move(cause.pos)
                self.broken = f"is not valid JSON: {cause.msg} at column {cause.colno}"
                return
            except RecursionError:
                self.broken = _TOO_DEEP
                return
            yield self.line, self._text[self._at : end]
            self._move(end)
            sign = self._next_sign()
            if sign != ",":
                if sign == "]":
                    self._finish()
                else:
                    self.broken = "expected a comma or the end of the array here"
                return
            self._move(self._at + 1)

    def _finish(self) -> None:
        self._move(self._at + 1)
        if self._next_sign():
            self.broken = "unexpected data after the array"


# Grouped rows: one JSON object whose values are arrays of objects, by group name.

GROUP = "group"


_OPENING = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*+"\s*:\s*\[\s*[{\]]')


_SPACE = re.compile(r"[\s,:\[]*")


def may_be_grouped(head: bytes) -> bool:
    """Return True if a file with this beginning may hold groups: an array of objects comes
    first.
    """
    return _OPENING.match(head) is not None


def group_rows(data: bytes, problems: list[Problem]) -> list[Row] | None:
    """Return the objects of all groups, each placed at the line where it begins.

    The group's name is added as ``group`` if missing. None if the file is not such an object.
    """
    try:
        values = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not _is_grouped(values):
        return None
    return list(_rows(data.decode("utf-8"), problems))


def _is_grouped(values: Any) -> bool:
    return isinstance(values, dict) and all(
        isinstance(group, list) and all(isinstance(row, dict) for row in group)
        for group in values.values()
    )


def _rows(text: str, problems: list[Problem]) -> Iterator[Row]:
    """Yield the rows of a text that is known to be valid and of this shape."""
    at, line, group = _after(text, text.index("{") + 1), 1, ""
    line += text.count("\n", 0, at)
    seen: set[str] = set()
    while at < len(text) and text[at] != "}":
        if text[at] == "]":
            end = at + 1
        else:
            value, end = _scanner.raw_decode(text, at)
            if isinstance(value, str):
                group = value
                if group in seen:
                    problems.append(Problem(f"line {line}", f'names "{group}" twice'))
                seen.add(group)
            else:
                yield from _row(text[at:end], line, group, problems)
        following = _after(text, end)
        line += text.count("\n", at, following)
        at = following


def _row(text: str, line: int, group: str, problems: list[Problem]) -> Iterator[Row]:
    values = parse_object(text.encode("utf-8"))
    if isinstance(values, dict):
        yield Row(f"line {line}", {GROUP: group, **values})
    else:
        problems.append(Problem(f"line {line}", values))


def _after(text: str, at: int) -> int:
    """Return the position of the next character that is neither white space nor a separator."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
