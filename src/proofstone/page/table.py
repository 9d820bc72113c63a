"""A table as flat rows: numbers as they were computed, an estimate spread over several columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real

from msgspec import Struct

from proofstone.page.section import Cell, Table
from proofstone.records.runs import Estimate
from proofstone.stats.ranks import RankInterval

# A table of a page as it is written to files: its name, its rows, what to know of it.


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


Flat = str | int | float | None


_ESTIMATE = ("value", "low", "high", "n", "estimand", "confidence")


def flat_rows(table: Table) -> tuple[list[str], list[Mapping[str, Flat]]]:
    """The names of the columns and the rows by these names.

    A column of estimates has six: ``KEY_value``, ``_low``, ``_high``, ``_n``, ``_estimand`` and
    ``_confidence``; one of ranks two: ``KEY_low``, ``KEY_high``. Shares are in [0, 1], and what is
    undefined is None. Two columns of one key are told apart by a number.
    """
    names: list[str] = []
    columns: list[list[Flat]] = []
    taken: set[str] = set()
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        key = _unlike(column.key, cells, taken)
        for name, flat in _spread(key, cells):
            taken.add(name)
            names.append(name)
            columns.append(flat)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return names, list(rows)


def _unlike(key: str, cells: Sequence[Cell], taken: set[str]) -> str:
    """``key``, with a number behind it where its columns' names are taken."""
    number, free = 1, key
    while taken.intersection(name for name, _ in _spread(free, cells)):
        number += 1
        free = f"{key}_{number}"
    return free


def _spread(key: str, cells: Sequence[Cell]) -> Iterator[tuple[str, list[Flat]]]:
    if any(isinstance(cell, Estimate) for cell in cells):
        for place, part in enumerate(_ESTIMATE):
            yield f"{key}_{part}", [_parts(cell)[place] for cell in cells]
    elif any(isinstance(cell, RankInterval) for cell in cells):
        for part in ("low", "high"):
            ends = [
                getattr(cell, part) if isinstance(cell, RankInterval) else None for cell in cells
            ]
            yield f"{key}_{part}", ends
    else:
        yield key, [_flat(cell) for cell in cells]


def _parts(cell: Cell) -> tuple[Flat, ...]:
    """An estimate's six; a lone number has a value alone."""
    if not isinstance(cell, Estimate):
        return (_flat(cell), None, None, None, None, None)
    ends = (_known(cell.value), _known(cell.low), _known(cell.high))
    return (*ends, int(cell.n), cell.estimand or None, _known(cell.level))


def _flat(cell: Cell) -> Flat:
    if cell is None or isinstance(cell, str):
        return cell or None
    if isinstance(cell, Integral):  # NumPy's too
        return int(cell)
    return _known(float(cell)) if isinstance(cell, Real) else str(cell)


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
