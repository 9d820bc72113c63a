"""The scores that stand in a table: of which record, of whom, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.tables.layout import Layout
from proofstone.engines.tables.letters import read_grades, read_letters
from proofstone.engines.tables.score_texts import read_scores
from proofstone.errors import BadInput
from proofstone.records import Coded, FileColumns

__all__ = ["BadCell", "ScoresIn", "no_scores", "scores_in"]


class BadCell(NamedTuple):
    """A cell that is not what its column is to hold."""

    record: int
    column: str
    what: str


@dataclass(frozen=True, slots=True)
class ScoresIn:
    """The S scores of a table: ``record`` (S) says in which of its N records each stands, ``model``
    (S) whose it is, ``value`` (S) in [0, 1] what it is worth. Missing ones are not among them,
    except those whose outcome is told in words: their value is NaN. ``wrong`` are cells that are no
    score, and empty ones of items and models: with any, ``assemble`` refuses the whole."""

    table: FileColumns
    layout: Layout
    record: NDArray[np.int64]
    model: Coded
    value: NDArray[np.float64]
    wrong: tuple[BadCell, ...] = ()


def scores_in(table: FileColumns, layout: Layout) -> ScoresIn:
    """The scores of a wide or long table; raises BadInput where it holds none, good or bad."""
    wrong = _nameless(table, layout.item)
    if layout.kind == "long":
        wrong += _nameless(table, layout.model)
        found = _long(table, layout, wrong)
    else:
        found = _wide(table, layout, wrong)
    if not wrong and not len(found.value):
        raise BadInput(f"{table.name} holds no score", hint=f"as read: {layout.told()}")
    named = (table.columns[layout.item].codes[found.record] >= 0) & (found.model.codes >= 0)
    model = Coded(found.model.codes[named], found.model.names)
    return ScoresIn(table, layout, found.record[named], model, found.value[named], tuple(wrong))


def no_scores(table: FileColumns, layout: Layout) -> ScoresIn:
    """A table of labels alone, in which there is none."""
    nobody = Coded(np.empty(0, dtype=np.int32), ())
    return ScoresIn(table, layout, np.empty(0, dtype=np.int64), nobody, np.empty(0))


def _wide(table: FileColumns, layout: Layout, wrong: list[BadCell]) -> ScoresIn:
    n = len(table)
    values = np.empty((n, len(layout.models)))
    for place_of, name in enumerate(layout.models):
        values[:, place_of] = _column(table, layout, name, wrong)
    record, model = np.nonzero(~np.isnan(values))
    names = tuple(layout.models)
    return ScoresIn(
        table, layout, record, Coded(model.astype(np.int32), names), values[record, model]
    )


def _long(table: FileColumns, layout: Layout, wrong: list[BadCell]) -> ScoresIn:
    value = _column(table, layout, layout.score, wrong)
    is_there = ~np.isnan(value)
    is_there[[cell.record for cell in wrong if cell.column == layout.score]] = True
    if layout.outcome:
        is_there |= table.columns[layout.outcome].codes >= 0
    record = np.flatnonzero(is_there)
    model = table.columns[layout.model]
    return ScoresIn(table, layout, record, Coded(model.codes[record], model.names), value[record])


def _column(
    table: FileColumns, layout: Layout, name: str, wrong: list[BadCell]
) -> NDArray[np.float64]:
    column = table.columns[name]
    if layout.graded == "gold":
        reading = read_letters(column, table.columns[layout.gold])
    elif layout.graded == "grades":
        reading = read_grades(column)
    else:
        reading = read_scores(column, percent=bool(layout.percent))
    if reading.wrong:
        codes = table.columns[name].codes
        records = np.flatnonzero(np.isin(codes, list(reading.wrong))).tolist()
        wrong += [BadCell(n, name, reading.wrong[int(codes[n])]) for n in records]
    return reading.values


def _nameless(table: FileColumns, column: str) -> list[BadCell]:
    empty = np.flatnonzero(table.columns[column].codes < 0).tolist()
    return [BadCell(record, column, "is empty") for record in empty]
