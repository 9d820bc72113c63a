"""Tabulations as aligned text: heads of groups above, numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.page.text import aligned, cell_width, printable
from proofstone.records.tables import Cell, Column, Tabulation

_DASH = "\u2013"


_GAP = "  "


def tabulation_text(table: Tabulation) -> str:
    """The title, the table, and its notes below."""
    cells = [[column.name for column in table.columns]]
    cells += [
        [_shown(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    left = [
        place
        for place in range(len(table.columns))
        if any(isinstance(row[place], str) for row in table.rows)
    ]
    lines = aligned(cells, left=left, gap=_GAP)
    widths = [max(cell_width(row[place]) for row in cells) for place in range(len(cells[0]))]
    groups = [_group_line(table.columns, widths)] if any(c.group for c in table.columns) else []
    notes = ["", *table.notes] if table.notes else []
    return "\n".join([table.title, "", *groups, *lines, *notes])


def _shown(cell: Cell, column: Column) -> str:
    if cell is None:
        return _DASH
    if isinstance(cell, str):
        return printable(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:z,.{column.digits}f}"


def _group_line(columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Each group's name at the left end of its columns; a name gives way to the next group."""
    line = ""
    start = 0
    for place, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if column.group and (place == 0 or columns[place - 1].group != column.group):
            line = line.ljust(start)[:start] + column.group
        start += width + len(_GAP)
    return line.rstrip()
