"""The numbers of a figure as a table."""

from __future__ import annotations

import math

from proofstone.report.figures.labels import named
from proofstone.report.sections.section import (
    AxisUnit,
    Cell,
    Column,
    Figure,
    Mark,
    Table,
    Unit,
)
from proofstone.wording import say

__all__ = ["numbers_table"]

_UNITS: dict[AxisUnit, Unit] = {"points": "points", "number": "", "usd": ""}


def numbers_table(figure: Figure) -> Table:
    """A row a mark: who and where, the place across, the value with its interval, n; columns that
    would be empty are left out."""
    columns = [column for column in _columns(figure) if _is_used(column, figure)]
    return Table(
        title=say("The numbers of this figure"),
        columns=tuple(columns),
        rows=tuple(tuple(_cell(column.key, mark) for column in columns) for mark in figure.marks),
    )


def _columns(figure: Figure) -> tuple[Column, ...]:
    unit, x_unit = _UNITS[figure.value_unit], _UNITS[figure.x_unit]
    digits = 0 if all(_is_whole(mark.value) for mark in figure.marks) else 3
    x_digits = 0 if all(_is_whole(mark.x) for mark in figure.marks) else 3
    across = figure.x_axis or "x"
    return (
        Column(key="row", name=figure.row_axis or say("series")),
        Column(key="column", name=figure.column_axis or say("part")),
        Column(key="x", name=across, unit=x_unit, digits=x_digits),
        Column(key="value", name=figure.value_axis or say("value"), unit=unit, digits=digits),
        Column(key="low", name=say("from"), unit=unit, digits=digits),
        Column(key="high", name=say("to"), unit=unit, digits=digits),
        Column(key="n", name="n"),
        Column(key="text", name=say("in words")),
    )


def _is_whole(value: float) -> bool:
    return math.isnan(value) or value == int(value)


def _is_used(column: Column, figure: Figure) -> bool:
    cells = [_cell(column.key, mark) for mark in figure.marks]
    if column.key in {"row", "value"}:
        return True
    return any(cell not in {None, "", 0} for cell in cells)


def _cell(key: str, mark: Mark) -> Cell:
    if key in {"row", "column", "text"}:
        text: str = getattr(mark, key)
        return named(text) if text else ""
    value: float = getattr(mark, key)
    return None if math.isnan(value) else value
