"""On which line of a TOML text each key stands, which the standard reader does not tell.

Headers and keys are found by their place at the start of a line outside of strings and brackets;
what they mean is read by the standard reader itself, so quoting and dots follow its rules.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["KeyPath", "key_lines", "line_of"]

KeyPath = tuple[str, ...]

# What may hide a bracket, a quote or the end of a value; in the order in which they are tried.
_PIECES = re.compile(
    r'"""(?:\\.|(?!""").)*"""+'  # strings of several lines
    r"|'''(?:(?!''').)*'''+"
    r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}]|\n|[^\"'#\[\]{}\n]+|.",
    re.DOTALL,
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, of each table and key of a valid TOML text; of keys within inline tables,
    the line on which the outer key stands. The first place counts for what stands several times."""
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, statement in _statements(text.replace("\r\n", "\n")):
        stripped = statement.strip()
        if stripped.startswith("["):
            table = _path(stripped)
            lines.setdefault(table, number)
        elif stripped and not stripped.startswith("#"):
            for path in _paths(tomllib.loads(stripped)):
                lines.setdefault(table + path, number)
    return lines


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """The line of a key, or of the nearest table around it that has one."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each header or key with its whole value, and the line on which it begins."""
    depth, line, first, parts = 0, 1, 1, list[str]()
    for piece in _PIECES.findall(text):
        if piece == "\n" and depth == 0:
            yield first, "".join(parts)
            parts, first = [], line + 1
        else:
            parts.append(piece)
        depth += (piece in ("[", "{")) - (piece in ("]", "}"))
        line += piece.count("\n")
    yield first, "".join(parts)


def _path(header: str) -> KeyPath:
    """``[models."a/b".card]`` as its keys; an array of tables likewise."""
    path: list[str] = []
    document: Any = tomllib.loads(header)
    while isinstance(document, dict) and document:
        key, document = next(iter(document.items()))
        path.append(key)
        document = document[0] if isinstance(document, list) else document
    return tuple(path)


def _paths(document: Any) -> Iterator[KeyPath]:
    """Every key within a document, outer ones first."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield (key,)
            yield from ((key, *path) for path in _paths(value))
