"""A table as data: what a method counts, for whoever prints, pages or exports it."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

__all__ = ["Cell", "Column", "Tabulation"]

Cell: TypeAlias = str | int | float | None


class Column(Struct, frozen=True, kw_only=True):
    """One column: ``key`` names its values for programs, ``group`` and ``name`` head it for
    people. ``digits`` behind the point, for numbers that are not whole."""

    key: str
    name: str
    group: str = ""
    digits: int = 2


class Tabulation(Struct, frozen=True, kw_only=True):
    """Rows under columns, each row as long as the columns. None is a value that there is not (a
    largest of nothing), shown as a dash. ``notes`` say what was counted and how."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Cell]]:
        """Each row as values by the keys of the columns."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]
