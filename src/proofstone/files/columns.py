"""Read tabular files as columns: as strict as reading rows, and fast for valid files.

A valid file is read in blocks directly into columns. Any other file is read again by rows, which
reports every problem with its line.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from proofstone.errors import BadInput, Problem
from proofstone.files.csv import (
    LINE_LIMIT,
    UTF8_BOM,
    checked_encoding,
    foreign_encoding,
    missing_file,
    open_bytes,
    restored,
    separator_of,
)
from proofstone.files.json import parse_object
from proofstone.files.parquet import first_line, load_pyarrow
from proofstone.files.tables import read_rows, table_suffix
from proofstone.records.scores import Coded, FileColumns, TextCodes

# Parquet files as columns of texts, without creating rows.


def parquet_columns(path: Path) -> FileColumns:
    """Return the columns of a file as texts; records are numbered from 1.

    Raises as ``parquet_rows``; columns of types without a text form (binary, dates) are ``unread``.
    """
    pa = load_pyarrow()
    if not path.exists():
        raise missing_file(path)
    try:
        table = pa.parquet.read_table(path)
    except (pa.ArrowException, OSError) as cause:
        raise BadInput(f"cannot read {path} as a Parquet file: {first_line(cause)}") from cause
    if not table.num_rows:
        raise BadInput(f"{path} has no rows", [Problem("row 1", "the file has no rows")])
    coded = {name: _coded(pa, table[name]) for name in table.column_names}
    return FileColumns(
        name=path.name,
        columns={name: column for name, column in coded.items() if column is not None},
        lines=np.arange(1, table.num_rows + 1, dtype=np.int64),
        unit="row",
        unread=tuple(name for name, column in coded.items() if column is None),
    )


def _coded(pa: Any, column: Any) -> Coded | None:
    """Return a column's values as texts by code, or None if a value has no text form."""
    whole = column.combine_chunks()
    if not pa.types.is_dictionary(whole.type):
        if pa.types.is_nested(whole.type):
            texts = [None if value is None else _parquet_text(value) for value in whole.to_pylist()]
            whole = pa.array(texts, type=pa.string())
        whole = whole.dictionary_encode()
    names = [_parquet_text(value) for value in whole.dictionary.to_pylist()]
    if not all(isinstance(name, str) for name in names):
        return None
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    empty = [code for code, name in enumerate(names) if not name]
    codes[np.isin(codes, empty)] = -1
    return Coded(codes, tuple(str(name) for name in names))


def _parquet_text(value: object) -> str | None:
    """Return a value as ``read_columns`` writes it, None if it has no text form."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return "" if math.isnan(value) else str(value)
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return None


Places = NDArray[np.int64]


_BLOCK = 20_000


_INDEX = "(first column)"


# A column with more text than this holds prompts or responses, not keys.
_MOST_CHARACTERS = 100_000_000


class _NotSoundError(Exception):
    """The fast reader met a problem that the slow one must report."""


class _Column:
    """A growing column: codes, and their texts until there are too many."""

    def __init__(self, missing: int) -> None:
        self.texts: TextCodes | None = TextCodes()
        self._blocks = [np.full(missing, -1, dtype=np.int32)]

    def extend(self, texts: Iterable[str], count: int) -> None:
        if self.texts is None:
            return
        codes = np.fromiter(map(self.texts.__getitem__, texts), dtype=np.int32, count=count)
        self._blocks.append(codes)
        if self.texts.characters > _MOST_CHARACTERS:
            self.texts, self._blocks = None, []

    def coded(self) -> Coded:
        texts = () if self.texts is None else self.texts.names()
        return Coded(np.concatenate(self._blocks), tuple(restored(text) for text in texts))


def read_columns(path: Path | str, *, encoding: str = "") -> FileColumns:
    """Return the columns of a CSV, TSV, JSON, JSONL or Parquet file, also ``.gz``; values as texts.

    Text is UTF-8 unless another ``encoding`` is given. Numbers, true, false, lists and objects are
    written as JSON. Raises as ``read_rows``: one BadInput with every problem of the file.
    """
    path = Path(path)
    suffix = table_suffix(path)
    if suffix == ".parquet":
        return parquet_columns(path)
    encoding = checked_encoding(encoding) if encoding else ""
    if suffix == ".xlsx":
        return _by_rows(path, encoding)
    try:
        if suffix in {".csv", ".tsv"}:
            return _separated(path, "," if suffix == ".csv" else "\t", encoding)
        return _objects(path, encoding)
    except (_NotSoundError, UnicodeDecodeError, csv.Error, EOFError, OSError):
        return _by_rows(path, encoding)


def _separated(path: Path, separator: str, encoding: str) -> FileColumns:
    csv.field_size_limit(max(csv.field_size_limit(), LINE_LIMIT))
    with open_bytes(path, encoding) as stream, _text(stream) as lines:
        first = next(lines, "")
        reader = csv.reader(
            chain([first], lines), delimiter=separator_of(first, separator), strict=True
        )
        names = _named(next(reader, []))
        if not all(name.strip() for name in names) or len(set(names)) < len(names) or not names:
            raise _NotSoundError
        columns = [_Column(0) for _ in names]
        starts: list[Places] = []
        for places, block in _blocks(reader):
            if set(map(len, block)) != {len(names)}:
                raise _NotSoundError
            starts.append(np.array(places, dtype=np.int64))
            for column, cells in zip(columns, zip(*block, strict=True), strict=True):
                column.extend(cells, len(block))
    return _whole(path, [restored(name) for name in names], columns, starts)


def _named(header: list[str]) -> list[str]:
    """Return the header, with a name for the first column if only that is empty.

    Data frames written with their index have such a header.
    """
    unnamed = len(header) > 1 and not header[0].strip() and _INDEX not in header
    return [_INDEX, *header[1:]] if unnamed else header


def _text(stream: BinaryIO) -> io.TextIOWrapper:
    """Return the stream as UTF-8, or as UTF-16 if it has that byte-order mark; without the mark."""
    held = (
        stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("Any", stream))
    )
    is_utf16 = foreign_encoding(held.peek(4)[:4]) == "UTF-16"
    return io.TextIOWrapper(held, encoding="utf-16" if is_utf16 else "utf-8-sig", newline="")


def _blocks(reader: Any) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield blocks of records with the line each begins on; empty lines are skipped."""
    ended = reader.line_num
    while True:
        places, block = [], []
        for cells in islice(reader, _BLOCK):
            if cells:
                places.append(ended + 1)
                block.append(cells)
            ended = reader.line_num
        if not block:
            return
        yield places, block


def _objects(path: Path, encoding: str) -> FileColumns:
    """Return objects, one per line. An array is read by rows, in memory in any case."""
    columns: dict[str, _Column] = {}
    starts: list[Places] = []
    done = 0
    with open_bytes(path, encoding) as stream:
        numbered = enumerate(stream, start=1)
        while block := list(islice(numbered, _BLOCK)):
            places, values = _parsed(block)
            for name in dict.fromkeys(name for row in values for name in row):
                column = columns.setdefault(name, _Column(done))
                column.extend((_spelt(row.get(name)) for row in values), len(values))
            for name in columns.keys() - {name for row in values for name in row}:
                columns[name].extend([""] * len(values), len(values))
            starts.append(np.array(places, dtype=np.int64))
            done += len(values)
    return _whole(path, list(columns), list(columns.values()), starts)


def _parsed(block: list[tuple[int, bytes]]) -> tuple[list[int], list[dict[str, Any]]]:
    places, values = [], []
    for number, data in block:
        line = data.removeprefix(UTF8_BOM) if number == 1 else data
        row = parse_object(line)
        if isinstance(row, dict):
            places.append(number)
            values.append(row)
        elif line.strip():
            raise _NotSoundError
    return places, values


def _spelt(value: object) -> str:
    """Return the text of a value; empty for null."""
    if type(value) is str:
        return value
    return "" if value is None else orjson.dumps(value).decode()


def _whole(
    path: Path, names: list[str], columns: list[_Column], starts: list[Places]
) -> FileColumns:
    if not starts:
        raise _NotSoundError
    read = {
        name: column.coded()
        for name, column in zip(names, columns, strict=True)
        if column.texts is not None
    }
    if any("\0" in text for column in read.values() for text in column.names):
        raise _NotSoundError
    unread = tuple(name for name in names if name not in read)
    return FileColumns(path.name, read, np.concatenate(starts), unread=unread)


def _by_rows(path: Path, encoding: str) -> FileColumns:
    """Return the same from ``read_rows``; raises its BadInput if the file has a problem."""
    names: dict[str, None] = {}
    rows = []
    for row in read_rows(path, encoding=encoding):
        names |= dict.fromkeys(row.values)
        rows.append(row)
    columns = []
    for name in names:
        column = _Column(0)
        column.extend((_spelt(row.values.get(name)) for row in rows), len(rows))
        columns.append(column)
    starts = np.array([int(row.place.split()[-1]) for row in rows], dtype=np.int64)
    return _whole(path, list(names), columns, [starts])
