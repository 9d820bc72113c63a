"""Sheets as people send them back: read, filled in, and written by another program."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import xlsxwriter

from proofstone.files.xlsx import read_grids
from proofstone.records.tables import Grid

__all__ = ["column_of", "fill", "rows_of", "save_csv", "save_xlsx"]

Rows = list[list[str]]
# What is written into a row, by the head of its column, given its number and its cells.
Fill = Callable[[int, Mapping[str, str]], Mapping[str, str]]


def rows_of(path: Path, tab: int = 1) -> Rows:
    """The cells of a sheet, the head first."""
    return [list(row) for row in read_grids(path)[tab].rows]


def column_of(rows: Rows, head: str) -> int:
    return rows[0].index(head)


def fill(path: Path, answers: Fill, *, to: Path | None = None, tab: int = 1) -> Path:
    """Fills in a sheet's rows and saves the file as another program would."""
    grids = read_grids(path)
    rows = [list(row) for row in grids[tab].rows]
    heads = rows[0]
    for number, row in enumerate(rows[1:]):
        for head, text in answers(number, dict(zip(heads, row, strict=True))).items():
            row[heads.index(head)] = text
    tabs = [grid if n != tab else Grid(name=grid.name, rows=rows) for n, grid in enumerate(grids)]
    return save_xlsx(to or path, tabs)


def save_xlsx(path: Path, grids: list[Grid]) -> Path:
    """A workbook of plain texts, unprotected."""
    with xlsxwriter.Workbook(path) as book:
        for grid in grids:
            sheet = book.add_worksheet(grid.name)
            for number, row in enumerate(grid.rows):
                for place, text in enumerate(row):
                    sheet.write_string(number, place, text)
    return path


def save_csv(path: Path, rows: Rows, *, encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows(rows)
    return path
