"""Parquet files as rows, by pyarrow (extra ``[parquet]``), imported only here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from proofstone.errors import BadInput, Problem, needed
from proofstone.files.csv import missing_file
from proofstone.records.tables import Row

_BATCH = 4096


def load_pyarrow() -> Any:
    """Return pyarrow, which has no types. Raises ExtraMissing if it is not installed."""
    message = "Parquet files need pyarrow, which is not installed"
    with needed(message, "pip install 'proofstone[parquet]', or use JSONL or CSV"):
        import pyarrow as pa  # noqa: PLC0415 - in an extra
        import pyarrow.parquet  # noqa: PLC0415 - in an extra
    return pa


def parquet_rows(path: Path, problems: list[Problem]) -> Iterator[Row]:
    """Yield one row per record, placed by its number from 1; a null is a missing value."""
    pa = load_pyarrow()
    if not path.exists():
        raise missing_file(path)
    number = 0
    try:
        with pa.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for values in batch.to_pylist():
                    number += 1
                    if row := _row(number, values, problems):
                        yield row
    except (pa.ArrowException, OSError) as cause:
        raise BadInput(f"cannot read {path} as a Parquet file: {first_line(cause)}") from cause


def first_line(cause: Exception) -> str:
    """Return the first line of a library's error."""
    return str(cause).partition("\n")[0]


def _row(number: int, values: Mapping[str, Any], problems: list[Problem]) -> Row | None:
    wrong = {name: what for name, value in values.items() if (what := _unusable(value))}
    place = f"row {number}"
    problems += [Problem(f"{place}, field {name}", what) for name, what in wrong.items()]
    if wrong:
        return None
    return Row(place, {name: value for name, value in values.items() if value is not None})


def _unusable(value: object) -> str:
    """Return why a value is not plain JSON, or ""."""
    if isinstance(value, str):
        return "contains a NUL" if "\0" in value else ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"contains {value}, which is not a JSON number"
    if value is None or isinstance(value, bool | int):
        return ""
    if isinstance(value, list):
        return next((what for part in value if (what := _unusable(part))), "")
    if isinstance(value, dict):
        return next((what for part in value.values() if (what := _unusable(part))), "")
    return f"expected text, a number, true or false, or a list, got {type(value).__name__}"


def write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows under ``columns``; a missing value is a null, an object is its JSON text.

    Raises BadInput if a column has values of different types.
    """
    pa = load_pyarrow()
    arrays = [_column(pa, name, [_cell(row.get(name)) for row in rows]) for name in columns]
    pa.parquet.write_table(pa.Table.from_arrays(arrays, names=list(columns)), path)


def _cell(value: object) -> object:
    return orjson.dumps(value).decode() if isinstance(value, dict) else value


def _column(pa: Any, name: str, values: list[object]) -> Any:
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError) as cause:
        raise BadInput(
            f'column "{name}" has values of different types, which Parquet does not support: '
            f"{first_line(cause)}",
            hint="write JSONL instead",
        ) from cause
