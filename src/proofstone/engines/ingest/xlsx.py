"""Rows as an Excel workbook, by XlsxWriter, which is the extra ``[xlsx]`` and imported only here.

Every text is a text cell, and one that would be a formula if it were typed is marked as in CSV
(``formulas.neutralised``), so that it stays harmless when the sheet is saved as CSV or edited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

import orjson

from proofstone.engines.ingest.formulas import neutralised
from proofstone.errors import BadInput, ExtraMissing, Problem

__all__ = ["write_xlsx", "xlsxwriter_module"]

_MOST_ROWS = 1_048_575  # below the header
_MOST_COLUMNS = 16_384
_MOST_CHARACTERS = 32_767  # of one cell
_EXACT = 10**15  # a cell holds a double, of which Excel keeps fifteen digits
_WIDEST = 60
_MADE = datetime(2000, 1, 1, tzinfo=UTC)  # the same rows give the same bytes


def write_xlsx(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes rows under ``columns`` as the one sheet of a workbook.

    Numbers, true and false stay what they are; a whole number of more than fifteen digits is a
    text, lists and objects are their JSON, and what is missing or no number (NaN) is an empty cell.
    Raises BadInput naming every text that is too long for a cell, and more rows or columns than a
    sheet takes, and OSError where the file cannot be written.
    """
    writer = xlsxwriter_module()
    cells = [[_cell(row.get(name)) for name in columns] for row in rows]
    _check(columns, cells)
    # Put together in memory: XlsxWriter wraps a full disk in an error of its own, and its archive
    # complains once more when it is thrown away.
    packed = BytesIO()
    _write(writer, packed, columns, cells)
    path.write_bytes(packed.getbuffer())


def _write(
    writer: Any, file: BytesIO, columns: Sequence[str], cells: Sequence[Sequence[Any]]
) -> None:
    with writer.Workbook(file, {"constant_memory": True}) as book:
        book.set_properties({"created": _MADE})
        sheet = book.add_worksheet()
        bold = book.add_format({"bold": True})
        for place, name in enumerate(columns):
            sheet.set_column(place, place, _width(name, [row[place] for row in cells[:200]]))
            sheet.write_string(0, place, neutralised(name), bold)
        sheet.freeze_panes(1, 0)
        for number, row in enumerate(cells, start=1):
            for place, value in enumerate(row):
                if isinstance(value, bool):
                    sheet.write_boolean(number, place, value)
                elif isinstance(value, str):
                    sheet.write_string(number, place, value)
                elif value is not None:
                    sheet.write_number(number, place, value)


def xlsxwriter_module() -> Any:
    """XlsxWriter. Raises ExtraMissing, saying what to install, without it."""
    try:
        import xlsxwriter  # noqa: PLC0415
    except ImportError as cause:
        raise ExtraMissing(
            "Excel files need XlsxWriter, which is not installed.",
            hint="pip install 'proofstone[xlsx]', or use CSV, Parquet or JSONL.",
        ) from cause
    return xlsxwriter


def _cell(value: object) -> str | float | bool | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return neutralised(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    return neutralised(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode())


def _check(columns: Sequence[str], cells: Sequence[Sequence[object]]) -> None:
    if len(cells) > _MOST_ROWS or len(columns) > _MOST_COLUMNS:
        raise BadInput(
            f"{len(cells):,} rows of {len(columns):,} columns are more than a sheet takes "
            f"({_MOST_ROWS:,} of {_MOST_COLUMNS:,})",
            hint="write .parquet, .csv or .jsonl instead",
        )
    problems = [
        Problem(f"row {number}, column {name}", f"has {len(value):,} characters")
        for number, row in enumerate(cells, start=1)
        for name, value in zip(columns, row, strict=True)
        if isinstance(value, str) and len(value) > _MOST_CHARACTERS
    ]
    if problems:
        raise BadInput(
            f"a cell of an Excel file holds {_MOST_CHARACTERS:,} characters",
            problems,
            hint="write .parquet, .csv or .jsonl instead",
        )


def _width(name: str, values: Sequence[object]) -> int:
    lengths = [len(str(value)) for value in values if value is not None]
    return min(_WIDEST, max([len(name), *lengths]) + 2)
