"""Parquet files as columns of texts, without making rows of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from proofstone.errors import BadInput, NotFound, Problem
from proofstone.files.parquet import first_line, load_pyarrow
from proofstone.records.scores import Coded, FileColumns


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
            texts = [None if value is None else _text(value) for value in whole.to_pylist()]
            whole = pa.array(texts, type=pa.string())
        whole = whole.dictionary_encode()
    names = [_text(value) for value in whole.dictionary.to_pylist()]
    if not all(isinstance(name, str) for name in names):
        return None
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    empty = [code for code, name in enumerate(names) if not name]
    codes[np.isin(codes, empty)] = -1
    return Coded(codes, tuple(str(name) for name in names))


def _text(value: object) -> str | None:
    """A value as ``read_columns`` writes it, None where it has no text."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return "" if math.isnan(value) else str(value)
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return None
