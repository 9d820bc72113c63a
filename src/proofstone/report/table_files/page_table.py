"""A table of a page as it is written to files: its name, its rows, what to know of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.report.sections.section import Table

__all__ = ["PageTable", "estimates_in"]


class PageTable(Struct, frozen=True, kw_only=True):
    """``name`` is that of its files, of small letters, digits and hyphens. ``notes`` stand beneath
    it: how it was computed, what the marks mean."""

    name: str
    table: Table
    notes: tuple[str, ...] = ()


def estimates_in(table: Table) -> Iterator[Estimate]:
    """The estimates of a table that have a value, row by row."""
    for row in table.rows:
        for cell in row:
            if isinstance(cell, Estimate) and cell.value == cell.value:
                yield cell
