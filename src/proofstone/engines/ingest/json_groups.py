"""Rows in groups: one JSON object whose values are arrays of objects, by the name of each group."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from proofstone.engines.ingest.json_rows import parse_object
from proofstone.errors import Problem
from proofstone.ports import Row

__all__ = ["GROUP", "group_rows", "may_be_grouped"]

GROUP = "group"
_OPENING = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*+"\s*:\s*\[\s*[{\]]')
_SPACE = re.compile(r"[\s,:\[]*")
_scanner = json.JSONDecoder()


def may_be_grouped(head: bytes) -> bool:
    """Whether a file that begins so may hold groups: the first name is that of an array of objects,
    or of an empty one."""
    return _OPENING.match(head) is not None


def group_rows(data: bytes, problems: list[Problem]) -> list[Row] | None:
    """The objects of all groups, each placed at the line where it begins, with the name of its
    group as ``group`` where it says none. None where the file is no such object."""
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
    """The rows of a text that is known to be valid and of this shape."""
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
    """The next sign that is neither white space nor one between values."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
