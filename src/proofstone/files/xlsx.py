"""Excel workbooks: rows by XlsxWriter (extra ``[xlsx]``), imported only here.

Every text is a text cell, and formula-like texts are escaped as in CSV (``neutralised``), so they
stay harmless when the sheet is saved as CSV or edited.
"""

from __future__ import annotations

import csv
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO, StringIO
from math import isfinite
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Tree

import orjson

from proofstone.errors import BadInput, BadUsage, Problem, StoreFailed, needed
from proofstone.files.csv import (
    checked_encoding,
    missing_file,
    neutralised,
    read_whole_file,
    restored,
    separator_of,
)
from proofstone.records.tables import Grid, Row, SheetTab, Workbook

_MOST_ROWS = 1_048_575  # without the header


_MOST_COLUMNS = 16_384


_MOST_CHARACTERS = 32_767  # in one cell


_EXACT = 10**15  # a cell holds a double, of which Excel keeps fifteen digits


_WIDEST = 60


_MADE = datetime(2000, 1, 1, tzinfo=UTC)  # equal rows give equal bytes


def write_xlsx(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows under ``columns`` as the one sheet of a workbook.

    Numbers, true and false keep their types. An integer with more than fifteen digits is a text,
    lists and objects are their JSON, and missing values and NaN are empty cells. Raises BadInput
    listing every text too long for a cell, and for more rows or columns than a sheet allows;
    OSError if the file cannot be written.
    """
    writer = xlsxwriter_module()
    cells = [[_cell(row.get(name)) for name in columns] for row in rows]
    _check(columns, cells)
    # Assembled in memory: XlsxWriter wraps a full disk in its own error, and its archive raises
    # again when discarded.
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
    """Return XlsxWriter. Raises ExtraMissing with the install command without it."""
    message = "Excel files need XlsxWriter, which is not installed"
    with needed(message, "pip install 'proofstone[xlsx]', or use CSV, Parquet or JSONL"):
        import xlsxwriter  # noqa: PLC0415 - in an extra
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
            f"expected at most {_MOST_ROWS:,} rows of {_MOST_COLUMNS:,} columns in a sheet, "
            f"got {len(cells):,} of {len(columns):,}",
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
            f"an Excel cell holds at most {_MOST_CHARACTERS:,} characters",
            problems,
            hint="write .parquet, .csv or .jsonl instead",
        )


def _width(name: str, values: Sequence[object]) -> int:
    lengths = [len(str(value)) for value in values if value is not None]
    return min(_WIDEST, max([len(name), *lengths]) + 2)


# Workbook cells whose shared text is missing.
#
# A cell holds the index of its text in a list shared by all sheets. python-calamine reads an
# invalid index as the first text of the list, so a damaged file would be misread silently.

_STRINGS = "sharedstrings.xml"


_BOOK = "xl/workbook.xml"


_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


_NUMBER = re.compile(r"\d{1,9}")


def cells_without_text(parts: zipfile.ZipFile) -> Iterator[Problem]:
    """Yield a problem for each cell (``Statements!G14``) with an invalid text index.

    Parts that are not XML are left to the workbook reader.
    """
    try:
        lists = [n for n in parts.namelist() if posixpath.basename(n).lower() == _STRINGS]
        n = sum(_local(each) == "si" for name in lists for each in _elements(parts, name))
        sheets = dict(_sheets(parts))
        for part, name in sheets.items():
            for cell, number in _numbers(parts, part):
                if _NUMBER.fullmatch(number) is None or int(number) >= n:
                    came = f"the number {number!r}" if number else "no number"
                    yield Problem(
                        f"{name}!{cell}",
                        f"its text is missing from the file: expected one of {n:,} texts, got "
                        f"{came}",
                    )
    except (Tree.ParseError, KeyError):
        return


def _sheets(parts: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    links = {
        element.get("Id"): element.get("Target", "")
        for element in _elements(parts, "xl/_rels/workbook.xml.rels")
        if _local(element) == "Relationship"
    }
    known = set(parts.namelist())
    for element in _elements(parts, _BOOK):
        if _local(element) == "sheet":
            target = posixpath.join("/xl", links.get(element.get(_RELATION), ""))
            part = posixpath.normpath(target).lstrip("/")
            if part in known:
                yield part, element.get("name", "")


def _numbers(parts: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str]]:
    """Yield each cell with a shared text and its index; a cell without a value is empty."""
    for element in _elements(parts, part):
        if _local(element) == "c":
            if element.get("t") == "s":
                value = element.find("{*}v")
                if value is not None:
                    yield element.get("r", "?"), (value.text or "").strip()
            element.clear()


def _elements(parts: zipfile.ZipFile, part: str) -> Iterator[Tree.Element]:
    with parts.open(part) as stream:
        # The caller limits the unpacked size, and expat limits entity expansion.
        for _event, element in Tree.iterparse(stream):  # noqa: S314
            yield element


def _local(element: Tree.Element) -> str:
    return element.tag.rpartition("}")[2]


# Workbooks that people fill in: written as .xlsx, read back from .xlsx, .ods and .csv.
#
# Written by XlsxWriter and read by python-calamine, both from the extra ``[xlsx]``. Formula-like
# texts are escaped everywhere (``formulas``), and input cells are text cells, so that typed values
# are never read as a formula, a number or a truth value.

WORKBOOK_SUFFIXES = (".xlsx", ".ods", ".csv")


_MOST_BYTES = 256 * 2**20  # total size of a workbook's parts, unpacked


_LINE, _TALLEST = 15.0, 400.0  # points; the maximum row height is 409


_ABOUT = 100


_GREY, _YELLOW, _HEAD = "#F2F2F2", "#FFF9DB", "#D9E2EC"


def write_workbook(path: Path, book: Workbook) -> None:
    """Write a workbook with locked cells protected, without a password.

    Raises BadInput listing every text too long for a cell, StoreFailed if the file cannot be
    written, ExtraMissing without XlsxWriter.
    """
    problems = [
        Problem(
            f"{tab.name}, row {number}",
            f"expected at most {_MOST_CHARACTERS:,} characters in a cell, got {len(text):,}",
        )
        for tab in book.tabs
        for number, row in enumerate(tab.rows, start=1)
        for text in row
        if len(neutralised(text)) > _MOST_CHARACTERS
    ]
    if problems:
        raise BadInput("shorten the text", problems)
    packed = BytesIO()
    with xlsxwriter_module().Workbook(packed, {"in_memory": True}) as made:
        made.set_properties({"created": _MADE})
        _Writing(made).write(book)
    try:
        path.write_bytes(packed.getbuffer())
    except OSError as cause:
        raise StoreFailed(f"cannot write {path}: {cause.strerror or cause}") from cause


class _Writing:
    def __init__(self, made: Any) -> None:
        cell = {"text_wrap": True, "valign": "top", "border": 1, "border_color": "#C8C8C8"}
        self._made = made
        self._title = made.add_format({"bold": True, "font_size": 14})
        self._line = made.add_format({"text_wrap": True, "valign": "top"})
        self._locked = made.add_format({**cell, "bg_color": _GREY})
        self._open = made.add_format(
            {**cell, "bg_color": _YELLOW, "locked": False, "num_format": "@"}
        )
        self._head = made.add_format({**cell, "bold": True, "bg_color": _HEAD})

    def write(self, book: Workbook) -> None:
        about = self._made.add_worksheet(book.about_name)
        about.set_column(0, 0, _ABOUT)
        about.hide_gridlines(2)
        about.fit_to_pages(1, 0)
        for number, line in enumerate(book.about):
            look = self._line if number else self._title
            about.set_row(number, _LINE * (_lines(line, _ABOUT) if number else 2))
            about.write_string(number, 0, neutralised(line), look)
        about.protect("", {"format_rows": True})
        for tab in book.tabs:
            self._tab(tab)

    def _tab(self, tab: SheetTab) -> None:
        sheet = self._made.add_worksheet(tab.name)
        last = max(len(tab.rows), 1)
        for place, column in enumerate(tab.columns):
            sheet.set_column(place, place, column.width, None, {"hidden": column.is_hidden})
            sheet.write_string(0, place, column.title, self._head)
        for number, row in enumerate(tab.rows, start=1):
            sheet.set_row(number, _height(row, tab))
        for place, column in enumerate(tab.columns):
            look = self._open if column.is_answer else self._locked
            for number, row in enumerate(tab.rows, start=1):
                if row[place]:
                    sheet.write_string(number, place, neutralised(row[place]), look)
                else:
                    sheet.write_blank(number, place, None, look)
            if column.choices:
                rule = {
                    "validate": "list", "source": list(column.choices),
                    "error_title": column.title[:32], "error_message": column.wrong[:255],
                }  # fmt: skip
                sheet.data_validation(1, place, last, place, rule)
        sheet.freeze_panes(1, 2)
        sheet.autofilter(0, 0, last, len(tab.columns) - 1)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.repeat_rows(0)
        sheet.protect(
            "",
            {"autofilter": True, "sort": True, "format_columns": True, "format_rows": True},
        )


def _height(row: Sequence[str], tab: SheetTab) -> float:
    """Return the height at which a row shows its texts in full; LibreOffice does not adjust it."""
    shown = [
        _lines(text, column.width)
        for text, column in zip(row, tab.columns, strict=True)
        if not column.is_hidden
    ]
    return min(_LINE * max(shown, default=1) + 3.0, _TALLEST)


def _lines(text: str, width: int) -> int:
    """Return the approximate number of lines of a text; a Chinese character is two letters wide."""
    room = max(width - 2, 1)
    return sum(
        max(1, -(-(len(line) + sum(sign > "\u2e7f" for sign in line)) // room))
        for line in text.split("\n")
    )


def read_grids(path: Path, encoding: str = "") -> list[Grid]:
    """Return the sheets of a workbook, or the one of a CSV file, as texts.

    Raises NotFound for a missing file, BadUsage for another suffix, BadInput for an invalid file or
    one that unpacks to more than 256 MiB.
    """
    suffix = path.suffix.lower()
    if suffix not in WORKBOOK_SUFFIXES:
        raise BadUsage(
            f"{path.name} is not a spreadsheet",
            hint=f"expected one of {', '.join(WORKBOOK_SUFFIXES)}",
        )
    if not path.is_file():
        raise missing_file(path)
    return [_separated(path, encoding)] if suffix == ".csv" else _workbook(path)


def sheet_rows(path: Path, problems: list[Problem]) -> Iterator[Row]:
    """Yield the rows of a workbook's first sheet, named by its first line.

    An empty cell is a missing value; a text below an empty or repeated name is a problem. Numbers
    and truth values keep their types. Raises as ``read_grids``, and NotFound.
    """
    if not path.is_file():
        raise missing_file(path)
    first = next(_workbooks_sheets(path), None)
    header, *rows = first[1] if first and first[1] else [[]]
    names = [_text(name).strip() for name in header]
    twice = {name for name in names if name and names.count(name) > 1}
    problems += [Problem("line 1", f'names "{name}" twice') for name in sorted(twice)]
    if problems:
        return
    for number, row in enumerate(rows, start=2):
        named = {name: _value(cell) for name, cell in zip(names, row, strict=False) if cell != ""}
        if "" in named:
            problems.append(Problem(f"line {number}", "has a value in a column without a name"))
        elif named:
            yield Row(f"line {number}", named)


def _value(cell: object) -> Any:
    """Return a cell's text, integer, number or truth value; a date in ISO 8601."""
    if isinstance(cell, str):
        return restored(cell)
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell if isinstance(cell, bool | int | float) else str(cell)


def _workbook(path: Path) -> list[Grid]:
    return [
        Grid(name=name, rows=[[_text(value) for value in row] for row in rows])
        for name, rows in _workbooks_sheets(path)
    ]


def _workbooks_sheets(path: Path) -> Iterator[tuple[str, list[list[Any]]]]:
    """Yield each sheet's name and cells. Raises BadInput."""
    calamine = _calamine()
    damaged = BadInput(
        f"cannot read {path.name} as a workbook",
        hint="open it in a spreadsheet program and save it again as .xlsx",
    )
    try:
        with zipfile.ZipFile(path) as parts:
            size = sum(part.file_size for part in parts.infolist())
            if size > _MOST_BYTES:
                raise BadInput(
                    f"{path.name} unpacks to {size:,} bytes, more than the limit for a sheet"
                )
            lost = list(cells_without_text(parts)) if path.suffix.lower() == ".xlsx" else []
        if lost:
            raise BadInput(damaged.message, lost, hint=damaged.hint)
        book = calamine.CalamineWorkbook.from_path(str(path))
        for name in book.sheet_names:
            yield name, book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except (zipfile.BadZipFile, calamine.CalamineError, OSError, ValueError) as cause:
        raise damaged from cause


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool):
        return str(value).lower()
    return restored(str(value))


def _separated(path: Path, encoding: str) -> Grid:
    """Return the rows of a CSV file, numbered as a spreadsheet shows them."""
    named = checked_encoding(encoding) if encoding else "utf-8-sig"
    try:
        text = read_whole_file(path).decode(named)
    except UnicodeDecodeError as cause:
        raise BadInput(
            f"{path.name} is not {named.removesuffix('-sig').upper()} text",
            hint="save it as .xlsx or as CSV in UTF-8, or set its encoding: --encoding gb18030",
        ) from cause
    first = text.partition("\n")[0]
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator_of(first, ","))
    try:
        return Grid(name="", rows=[[restored(cell) for cell in row] for row in rows])
    except csv.Error as cause:
        where = f"line {rows.line_num}"
        raise BadInput(
            f"{path.name} is not valid CSV", [Problem(where, _csv_error(cause))]
        ) from cause


def _csv_error(cause: csv.Error) -> str:
    if "field larger" in str(cause):
        most = csv.field_size_limit()
        return f"a cell that ends here has more than {most:,} characters; is a quote left open?"
    return str(cause)


def _calamine() -> Any:
    message = "workbooks need python-calamine, which is not installed"
    with needed(message, "pip install 'proofstone[xlsx]', or save the sheet as CSV in UTF-8"):
        import python_calamine  # noqa: PLC0415 - in an extra
    return python_calamine
