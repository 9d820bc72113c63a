"""The scores that stand in a table: of which record, of whom, and how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.tables.layout import Layout
from proofstone.engines.tables.score_texts import read_scores
from proofstone.errors import BadInput, Problem
from proofstone.records import Coded, FileColumns

__all__ = ["ScoresIn", "place", "refused", "scores_in"]


@dataclass(frozen=True, slots=True)
class ScoresIn:
    """The S scores of a table: ``record`` (S) says in which of its N records each stands, ``model``
    (S) whose it is, ``value`` (S) in [0, 1] what it is worth. Missing ones are not among them,
    except those whose outcome is told in words: their value is NaN."""

    table: FileColumns
    layout: Layout
    record: NDArray[np.int64]
    model: Coded
    value: NDArray[np.float64]


def scores_in(table: FileColumns, layout: Layout) -> ScoresIn:
    """The scores of a wide or long table.

    Raises one BadInput with all cells that are no score, and all records without an item or model.
    """
    problems = _nameless(table, layout.item)
    if layout.kind == "long":
        problems += _nameless(table, layout.model)
        found = _long(table, layout, problems)
    else:
        found = _wide(table, layout, problems)
    if problems:
        raise refused(table, problems)
    if not len(found.value):
        raise BadInput(f"{table.name} holds no score", hint=f"as read: {layout.told()}")
    return found


def _wide(table: FileColumns, layout: Layout, problems: list[Problem]) -> ScoresIn:
    n = len(table)
    values = np.empty((n, len(layout.models)))
    for place_of, name in enumerate(layout.models):
        values[:, place_of] = _column(table, layout, name, problems)
    record, model = np.nonzero(~np.isnan(values))
    names = tuple(layout.models)
    return ScoresIn(
        table, layout, record, Coded(model.astype(np.int32), names), values[record, model]
    )


def _long(table: FileColumns, layout: Layout, problems: list[Problem]) -> ScoresIn:
    value = _column(table, layout, layout.score, problems)
    is_there = ~np.isnan(value)
    if layout.outcome:
        is_there |= table.columns[layout.outcome].codes >= 0
    record = np.flatnonzero(is_there)
    model = table.columns[layout.model]
    return ScoresIn(table, layout, record, Coded(model.codes[record], model.names), value[record])


def _column(
    table: FileColumns, layout: Layout, name: str, problems: list[Problem]
) -> NDArray[np.float64]:
    reading = read_scores(table.columns[name], percent=bool(layout.percent))
    if reading.wrong:
        codes = table.columns[name].codes
        for record in np.flatnonzero(np.isin(codes, list(reading.wrong))).tolist():
            what = reading.wrong[int(codes[record])]
            problems.append(Problem(f"{place(table, record)}, column {name}", what))
    return reading.values


def _nameless(table: FileColumns, column: str) -> list[Problem]:
    empty = np.flatnonzero(table.columns[column].codes < 0).tolist()
    return [Problem(f"{place(table, record)}, column {column}", "is empty") for record in empty]


def place(table: FileColumns, record: int) -> str:
    """Where a record stands: ``line 12``."""
    return f"{table.unit} {table.lines[record]}"


def refused(table: FileColumns, problems: list[Problem]) -> BadInput:
    """The refusal of a table for its problems, in the order of its lines."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
    ordered = sorted(problems, key=lambda problem: int(problem.where.split(",")[0].split()[1]))
    return BadInput(
        f"{table.name} has {count}; nothing of it was taken.",
        ordered,
        hint="correct the file, or say what its columns are (--models, --score, --percent; see "
        "--help), and run the same again",
    )
