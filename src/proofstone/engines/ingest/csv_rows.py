"""Rows of comma- or tab-separated text (RFC 4180), every cell a text, a ragged row a problem."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from proofstone.engines.ingest.formulas import restored
from proofstone.engines.ingest.lines import decode, read_lines
from proofstone.errors import Problem
from proofstone.ports import Row

__all__ = ["separated_rows", "separator_of"]


class _TooLongError(Exception):
    """A record grew beyond the limit: most likely a quote that never closes."""


class _Feed:
    """Hands decoded lines to the csv reader and remembers where the record at hand began."""

    def __init__(self, stream: BinaryIO, problems: list[Problem], limit: int) -> None:
        self._lines = read_lines(stream, problems, limit=limit)
        self._problems = problems
        self.limit = limit
        self.first = 0
        self.held = 0
        self.is_spoilt = False

    def begin(self) -> None:
        self.first = self.held = 0
        self.is_spoilt = False

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.first = self.first or line.number
        self.held += len(line.data)
        if self.held > self.limit:
            raise _TooLongError
        text = decode(line)
        if isinstance(text, str):
            return text
        self._problems.append(text)
        self.is_spoilt = True
        # The quotes still tell where the record ends.
        return line.data.decode("utf-8", "replace").replace("\0", "")


def separated_rows(
    stream: BinaryIO, problems: list[Problem], *, limit: int, separator: str
) -> Iterator[Row]:
    """One row a record, placed at its first line, under the names of the header.

    An empty cell is a missing value; the apostrophe before what would be a formula is taken away
    (``formulas.restored``). A first column without a name, which data frames write for the numbers
    of their rows, is passed over.
    """
    # A process-wide limit of the csv module, 131,072 characters by default; only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), limit))
    feed = _Feed(stream, problems, limit)
    known = len(problems)
    first = next(feed, None)
    if first is None or len(problems) > known:
        return  # Nothing of the file can be read without its header, here and below.
    records = _records(first, feed, problems, separator_of(first, separator))
    header = next(records, None)
    if header is None or len(problems) > known or not _is_usable(*header, problems):
        return
    names = [restored(name) for name in header[1]]
    for number, cells in records:
        if len(cells) == len(names):
            named = zip(names, cells, strict=True)
            filled = {name: restored(cell) for name, cell in named if cell and name.strip()}
            yield Row(f"line {number}", filled)
        else:
            ragged = f"has {len(cells)} cells where the header names {len(names)}"
            problems.append(Problem(f"line {number}", ragged))


def separator_of(header: str, separator: str) -> str:
    """What separates the cells of a file: ``separator``, as its suffix says; or semicolons or tabs
    where a comma is expected and the header has those and no comma, as spreadsheets of many
    countries write it."""
    if separator == "," and "," not in header and '"' not in header:
        return next((sign for sign in ";\t" if sign in header), separator)
    return separator


def _records(
    first: str, feed: _Feed, problems: list[Problem], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """The records with the line each begins on; ``first`` is the line already taken."""
    reader = csv.reader(chain([first], feed), delimiter=separator, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as cause:
            problems.append(Problem(f"line {feed.first}", _csv_error(cause)))
        except _TooLongError:
            what = f"the record that begins here is longer than {feed.limit:,} bytes"
            problems.append(Problem(f"line {feed.first}", what + "; is a quote left open?"))
            return
        else:
            if cells and not feed.is_spoilt:
                yield feed.first, cells
        feed.begin()


def _csv_error(cause: csv.Error) -> str:
    if "unexpected end of data" in str(cause):
        return "a quote opens in this record and never closes, so nothing after it could be read"
    if "new-line" in str(cause):
        return "a carriage return stands inside a cell; end lines with LF or CRLF, or quote it"
    return f"is not valid CSV: {cause}"


def _is_usable(number: int, names: list[str], problems: list[Problem]) -> bool:
    unnamed = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if unnamed == [1] and len(names) > 1:
        unnamed = []
    repeated = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    problems += [Problem(f"line {number}", f"column {place} has no name") for place in unnamed]
    problems += [Problem(f"line {number}", f'names the column "{name}" twice') for name in repeated]
    return not unnamed and not repeated
