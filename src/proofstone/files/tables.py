"""Rows of files in any supported format, and conversion advice for other formats.

The advice is a command with the Debian or Ubuntu package that provides it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from msgspec import toml

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.csv import (
    LINE_LIMIT,
    UTF8_BOM,
    checked_encoding,
    likely_readings,
    open_bytes,
    read_lines,
    read_whole_file,
    separated_rows,
)
from proofstone.files.json import array_rows, group_rows, line_rows, may_be_grouped
from proofstone.files.parquet import parquet_rows
from proofstone.files.xlsx import sheet_rows
from proofstone.records.tables import Row

_TABLES = (".csv", ".tsv", ".xlsx", ".parquet", ".json")


_SHEETS = (".xls", ".ods")


_READS_TABLES = "import tables with: proofstone build statements FILE"


_TEXTS = "supported: PDF, HTML, EPUB, DOCX, LaTeX, MediaWiki, ZIM, images, text, Markdown and JSONL"


@cache
def _conversions() -> Mapping[str, str]:
    """Return the conversion command by unsupported suffix."""
    found = files("proofstone.files") / "conversions.toml"
    commands = toml.decode(found.read_bytes(), type=dict[str, list[str]])
    return {suffix: command for command, suffixes in commands.items() for suffix in suffixes}


def document_advice(suffixes: Iterable[str]) -> list[str]:
    """Return how to convert files with these suffixes to documents, one line per way.

    Suffixes without a known conversion are omitted.
    """
    ways: dict[str, list[str]] = {}
    for suffix in suffixes:
        way = _conversions().get(suffix, "")
        if suffix in (*_TABLES, *_SHEETS):
            way = f"{_READS_TABLES}, after {way}" if way else _READS_TABLES
        if way:
            ways.setdefault(way, []).append(suffix)
    return [f"{', '.join(named)}: {way}" for way, named in ways.items()]


def formats_hint(suffixes: Iterable[str]) -> str:
    """Return the advice for these suffixes, followed by the supported formats."""
    return "; ".join([*document_advice(suffixes), _TEXTS])


def table_advice(suffix: str) -> str:
    """Return how to convert a table of another format to a workbook; "" if unknown."""
    return _conversions()[suffix] if suffix in _SHEETS else ""


# Tabular files as rows: valid ones are yielded, and every problem is recorded with its place.

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".xlsx")


_UNPACKED = (".parquet", ".xlsx")


T = TypeVar("T")


TellUnread = Callable[[Sequence[str]], None]


def table_suffix(path: Path, *, unpacked: tuple[str, ...] = _UNPACKED) -> str:
    """Return the suffix of the format, without ``.gz``; BadUsage if it is unsupported.

    ``unpacked`` are the formats that ``.gz`` may not follow, including those beyond ``SUFFIXES``.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    is_packed = suffixes[-1:] == [".gz"]
    suffix = "".join(suffixes[-2:-1] if is_packed else suffixes[-1:])
    known = dict.fromkeys((*SUFFIXES, *unpacked))
    if suffix not in known or (is_packed and suffix in unpacked):
        way = table_advice(suffix)
        raise BadUsage(
            f'{path.name}: unsupported table format "{"".join(suffixes)}"',
            hint=(f"convert it: {way}; or " if way else "")
            + f"use one of {', '.join(known)}; .gz may follow any except {' and '.join(unpacked)}",
        )
    return suffix


class RowReader:
    """The rows of one file. Each iteration reads it again; ``problems`` is complete at the end.

    A row with a problem is not yielded, and reading continues after it if the format allows. No
    line longer than ``line_limit`` bytes is held in memory. Text is UTF-8 unless another
    ``encoding`` is given. Raises NotFound for a missing file, BadUsage for an unsupported suffix or
    a missing extra, BadInput for a file that cannot be opened.
    """

    def __init__(
        self, path: Path | str, *, line_limit: int = LINE_LIMIT, encoding: str = ""
    ) -> None:
        self.path = Path(path)
        self._encoding = checked_encoding(encoding) if encoding else ""
        self.problems: list[Problem] = []
        self._limit = line_limit
        self._suffix = table_suffix(self.path)

    def __iter__(self) -> Iterator[Row]:
        self.problems.clear()
        is_empty = True
        for row in self._rows():
            is_empty = False
            yield row
        if is_empty and not self.problems:
            self.problems.append(Problem("line 1", "the file has no rows"))

    def _rows(self) -> Iterator[Row]:
        if self._suffix in _UNPACKED:
            read = parquet_rows if self._suffix == ".parquet" else sheet_rows
            return read(self.path, self.problems)
        if self._suffix == ".json":
            return self._json_rows()
        separator = {".csv": ",", ".tsv": "\t"}.get(self._suffix)
        return self._streamed(
            line_rows if separator is None else partial(separated_rows, separator=separator)
        )

    def _streamed(self, read: Callable[..., Iterator[Row]]) -> Iterator[Row]:
        with open_bytes(self.path, self._encoding) as stream:
            yield from read(stream, self.problems, limit=self._limit)

    def _json_rows(self) -> Iterator[Row]:
        """Yield an array of objects, grouped arrays, or one object per line.

        Many tools write the last form under this suffix.
        """
        with open_bytes(self.path, self._encoding) as stream:
            head = stream.read(4096).removeprefix(UTF8_BOM).lstrip()
        if not head.startswith(b"[") and not may_be_grouped(head):
            return self._streamed(line_rows)
        whole = read_whole_file(self.path, encoding=self._encoding).removeprefix(UTF8_BOM)
        if head.startswith(b"["):
            return array_rows(whole, self.problems)
        grouped = group_rows(whole, self.problems)
        return self._streamed(line_rows) if grouped is None else iter(grouped)


def read_rows(
    path: Path | str, *, line_limit: int = LINE_LIMIT, encoding: str = ""
) -> Iterator[Row]:
    """Yield the rows of a file; at the end, BadInput lists every problem."""
    reader = RowReader(path, line_limit=line_limit, encoding=encoding)
    yield from reader
    if reader.problems:
        raise refused(reader.path, reader.problems)


def read_checked(
    path: Path | str,
    read: Callable[[Iterable[Row]], T],
    *,
    line_limit: int = LINE_LIMIT,
    tell_unread: TellUnread | None = None,
    encoding: str = "",
) -> T:
    """Return what ``read`` (a method's ``read_facts``) makes of a file's rows.

    ``tell_unread`` receives unused columns. Raises one BadInput with the problems of the file and
    those found by ``read``, by line.
    """
    reader = RowReader(path, line_limit=line_limit, encoding=encoding)
    try:
        made = read_watched(reader, read, tell_unread) if tell_unread else read(reader)
    except BadInput as cause:
        if not cause.problems:
            raise
        raise refused(reader.path, [*reader.problems, *cause.problems]) from None
    if reader.problems:
        raise refused(reader.path, reader.problems)
    return made


def refused(path: Path, problems: Sequence[Problem]) -> BadInput:
    """Return the error of a file with its problems, in line order."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
    return BadInput(
        f"{path} has {count}; nothing was imported",
        sorted(problems, key=_line),
        hint=_hint(path, problems),
    )


def _hint(path: Path, problems: Sequence[Problem]) -> str:
    """Return how to fix it; for text that is not UTF-8, its first such line in other encodings."""
    foreign = [problem for problem in problems if problem.what.startswith("is not UTF-8")]
    if not foreign:
        return "fix the lines above and run the same command again"
    number = _line(foreign[0])
    with open_bytes(path) as stream:
        line = next((each for each in read_lines(stream, []) if each.number == number), None)
    read = [] if line is None else list(likely_readings(line.data))
    if not read:
        return "save the file as UTF-8 and run the same command again"
    shown = [f"    {name:<13} {text}" for name, text in read]
    first = f"save the file as UTF-8, or set --encoding if the command has it; line {number} reads:"
    return "\n".join([first, *shown])


def _line(problem: Problem) -> int:
    number = re.search(r"\d+", problem.where)
    return int(number[0]) if number else 0


# Unused columns, as the values of a misspelled one would be ignored silently.


class _Watched(dict[str, Any]):
    """Values that record in ``looked_for`` which names were read."""

    __slots__ = ("_looked_for",)

    def __init__(self, values: dict[str, Any], looked_for: set[str]) -> None:
        super().__init__(values)
        self._looked_for = looked_for

    def get(self, name: str, default: Any = None) -> Any:
        self._looked_for.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self._looked_for.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._looked_for.add(str(name))
        return super().__contains__(name)


def read_watched(
    rows: Iterable[Row],
    read: Callable[[Iterable[Row]], T],
    tell: Callable[[Sequence[str]], None],
) -> T:
    """Return what ``read`` makes of ``rows``.

    ``tell`` receives the unused columns, each with a similar known name if any (``disipline
    (discipline?)``).
    """
    made, unread, looked_for = read_noting(rows, read)
    if unread:
        tell(with_near(unread, looked_for))
    return made


def read_noting(
    rows: Iterable[Row], read: Callable[[Iterable[Row]], T]
) -> tuple[T, list[str], set[str]]:
    """Return what ``read`` makes of ``rows``, the unused columns in file order, and missing
    columns.
    """
    looked_for: set[str] = set()
    there: dict[str, None] = {}

    def watched() -> Iterator[Row]:
        for row in rows:
            if row.values.keys() <= looked_for:  # recording costs time
                yield row
                continue
            there.update(dict.fromkeys(row.values))
            yield Row(row.place, _Watched(row.values, looked_for))

    made = read(watched())
    unread = [name for name in there if name not in looked_for]
    return made, unread, looked_for - there.keys()


def with_near(names: Sequence[str], known: set[str]) -> list[str]:
    """Return names, each with the similar one of ``known`` if any."""
    plain = (name.strip().lower().replace(" ", "_") for name in names)
    near = (get_close_matches(each, sorted(known), n=1, cutoff=0.8) for each in plain)
    return [
        f"{name} ({meant[0]}?)" if meant else name for name, meant in zip(names, near, strict=True)
    ]
