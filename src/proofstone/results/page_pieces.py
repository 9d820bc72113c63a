"""Rows of a page in pieces that are read on demand, from the page or a folder next to it.

A page opened from disk cannot fetch. Each piece in the folder is therefore a script that passes its
rows. Every text is made visible before it is written, so scripts only show it as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from proofstone import __version__
from proofstone.session.written_files import HELD, check_folder, files_into, take_away

# Maximum characters of all pieces in a page. More are written to files next to it.
MOST_IN_PAGE = 1_500_000


class Piece(Struct, frozen=True):
    """Rows under the name of their file, as JSON without any ``<``."""

    name: str
    json: str


class FileBeside(NamedTuple):
    """A file for the folder next to a page: its name, its text and a description."""

    name: str
    text: str
    about: str


class PiecedRows:
    """Collect rows of one kind and return them in pieces of ``most`` rows.

    ``names`` are the names of the pieces so far.
    """

    def __init__(self, kind: str, most: int) -> None:
        self._kind, self._most = kind, most
        self._rows: list[Any] = []
        self.names: list[str] = []

    def add(self, row: list[Any]) -> Iterator[Piece]:
        """Add a row; yield a piece when it is full."""
        self._rows.append(row)
        if len(self._rows) == self._most:
            yield from self.rest()

    def rest(self) -> Iterator[Piece]:
        """Yield the last, partial piece, if any."""
        if self._rows:
            self.names.append(f"{self._kind}-{len(self.names) + 1}")
            text, self._rows = safe_json(self._rows), []
            yield Piece(self.names[-1], text)


def safe_json(value: Any) -> str:
    """Encode a value as JSON in which no HTML tag can begin."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")


def folder_beside(page: Path) -> Path:
    """Return the folder of the files of a page: ``report.html`` has ``report_files``."""
    return page.with_name(f"{page.stem}_files")


def write_beside(
    page: Path,
    stamp: str,
    pieces: Iterator[Piece],
    files: Iterable[FileBeside] = (),
    *,
    most_in_page: int = MOST_IN_PAGE,
) -> tuple[Piece, ...]:
    """Return the pieces for the page; write the others and ``files`` next to it.

    The page holds all pieces or none. ``stamp`` names the page that a piece belongs to. All files
    are written or none. With nothing to write, files of an earlier page are removed. Raises as
    ``files_into`` does: files of other origin are never replaced.
    """
    folder = folder_beside(page)
    first: list[Piece] = []  # all of them, or just more than the page may hold
    left = most_in_page
    for piece in pieces:
        first.append(piece)
        left -= len(piece.json)
        if left < 0:
            break
    others = iter(files)
    head = next(others, None)
    if left >= 0 and head is None:
        take_away(folder, HELD)
        return tuple(first)
    check_folder(folder, [], HELD)
    with files_into(folder, f"proofstone {__version__}", HELD) as (stage, about):
        for piece in chain(first, pieces) if left < 0 else ():
            name = f"{piece.name}.js"
            with (stage / name).open("w", encoding="utf-8", newline="\n") as file:
                file.write(f'proofstoneHeld("{stamp}","{piece.name}",')
                file.write(piece.json)
                file.write(");\n")
            about[name] = f"rows of the page {page.name}"
        for each in chain([head] if head else [], others):
            (stage / each.name).write_text(each.text, encoding="utf-8", newline="\n")
            about[each.name] = each.about
    return () if left < 0 else tuple(first)
