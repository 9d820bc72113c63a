"""Tabular files as columns: as strict as reading rows, and fast where nothing is wrong.

A sound file is read in blocks straight into columns. Whatever is not sound is read again by rows,
which names every problem with its line.
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

from proofstone.errors import BadInput, NotFound, Problem
from proofstone.files.csv import (
    LINE_LIMIT,
    UTF8_BOM,
    checked_encoding,
    foreign_encoding,
    open_bytes,
    restored,
    separator_of,
)
from proofstone.files.json import parse_object
from proofstone.files.parquet import first_line, load_pyarrow
from proofstone.files.tables import read_rows, table_suffix
from proofstone.records.scores import Coded, FileColumns, TextCodes

# Parquet files as columns of texts, without making rows of them.


def parquet_columns(path: Path) -> FileColumns:
    """The columns of a file as texts; its records are numbered from 1. Raises as ``parquet_rows``;
    columns of kinds that have no text (binary, dates) are ``unread``."""
    pa = load_pyarrow()
    if not path.exists():
        raise NotFound(f"There is no file {path}.", hint="Check the name and the folder.")
    try:
        table = pa.parquet.read_table(path)
    except (pa.ArrowException, OSError) as cause:
        raise BadInput(f"{path} is no readable Parquet file: {first_line(cause)}") from cause
    if not table.num_rows:
        raise BadInput(f"{path} holds no rows", [Problem("row 1", "the file holds no rows")])
    coded = {name: _coded(pa, table[name]) for name in table.column_names}
    return FileColumns(
        name=path.name,
        columns={name: column for name, column in coded.items() if column is not None},
        lines=np.arange(1, table.num_rows + 1, dtype=np.int64),
        unit="row",
        unread=tuple(name for name, column in coded.items() if column is None),
    )


def _coded(pa: Any, column: Any) -> Coded | None:
    """A column's values as texts by code, or None where a value has no text."""
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
    """A value as ``read_columns`` writes it, None where it has no text."""
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


# A column that holds more than this in texts is prompts or replies, and no key of anything.
_MOST_CHARACTERS = 100_000_000


class _NotSoundError(Exception):
    """The fast way met something to explain; the slow one says what."""


class _Column:
    """One column as it grows: codes, and the texts they stand for until those are too many."""

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
    """The columns of a CSV, TSV, JSON, JSONL or Parquet file, ``.gz`` too; values as texts. Text is
    UTF-8 where no other ``encoding`` is named.

    Numbers are written as JSON writes them, true and false as such, lists and objects as JSON.
    Raises what ``read_rows`` does: one BadInput with every problem of the file.
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
    """The header, its first name filled in where only that is empty: data frames that are written
    with their index look so."""
    unnamed = len(header) > 1 and not header[0].strip() and _INDEX not in header
    return [_INDEX, *header[1:]] if unnamed else header


def _text(stream: BinaryIO) -> io.TextIOWrapper:
    """The stream as UTF-8, or as UTF-16 where its byte-order mark says so; without the mark."""
    held = (
        stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("Any", stream))
    )
    is_utf16 = foreign_encoding(held.peek(4)[:4]) == "UTF-16"
    return io.TextIOWrapper(held, encoding="utf-16" if is_utf16 else "utf-8-sig", newline="")


def _blocks(reader: Any) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Blocks of records with the line that each begins on; empty lines are passed over."""
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
    """Objects, one a line. An array is read by rows, which holds it whole anyway."""
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
    """A value as the text that stands for it; the empty text for null."""
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
    """The same from ``read_rows``; raises its BadInput where the file has a problem."""
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
