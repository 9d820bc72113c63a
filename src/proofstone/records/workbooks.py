"""Sheets of a workbook as data: what is shown, what may be filled in, and what came back."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

__all__ = ["Grid", "SheetColumn", "SheetTab", "Workbook", "cell_name"]


class SheetColumn(Struct, frozen=True, kw_only=True):
    """A column: ``is_answer`` where people write, all others are locked. ``choices`` are what a
    cell may hold; ``width`` is in characters."""

    title: str
    width: int = 20
    is_hidden: bool = False
    is_answer: bool = False
    choices: tuple[str, ...] = ()
    wrong: str = ""
    """What is said of an entry that is none of the choices."""


class SheetTab(Struct, frozen=True, kw_only=True):
    """A sheet with a header and rows of texts, one a column."""

    name: str
    columns: tuple[SheetColumn, ...]
    rows: Sequence[Sequence[str]]


class Workbook(Struct, frozen=True, kw_only=True):
    """A first sheet that says what to do (its lines, the first one being a title), and the others
    behind it."""

    about_name: str
    about: tuple[str, ...]
    tabs: tuple[SheetTab, ...]


class Grid(Struct, frozen=True, kw_only=True):
    """A sheet as it was read: ``rows[0][0]`` is cell A1. ``name`` is empty where a file has none
    (CSV)."""

    name: str
    rows: Sequence[Sequence[str]]


def cell_name(grid: str, row: int, column: int) -> str:
    """``Sheet!C14`` for row 13 and column 2 (both from 0); quoted where the name needs it."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    cell = f"{letters}{row + 1}"
    if not grid:
        return cell
    name = grid if grid.isalnum() else "'" + grid.replace("'", "''") + "'"
    return f"{name}!{cell}"
