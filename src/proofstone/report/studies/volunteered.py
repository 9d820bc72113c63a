"""BeQu's experiments as studies: the sections that pages show, as text and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from proofstone.engines.stats import Estimand
from proofstone.errors import BadUsage
from proofstone.report.section_cells import number_columns, shown_cell
from proofstone.report.sections.section import Figure, Section, Table
from proofstone.report.studies.study import Point, Study, StudyTable
from proofstone.report.triples.experiments import EXPERIMENTS, Experiment

__all__ = ["study_of_section", "study_volunteered"]


def study_volunteered(name: str) -> Callable[..., Study]:
    """The study of one experiment, of the one ``Experiment`` that its parts hold. It raises what
    the experiment refuses, and BadUsage for another estimand or confidence than the board's."""

    def study(parts: Sequence[Experiment], *, estimand: Estimand, confidence: float) -> Study:
        (found,) = parts
        if estimand != "knowledge":
            raise BadUsage(f"the study {name} speaks of other entities like these, of no bank")
        if confidence != found.board.confidence:
            raise BadUsage(f"these intervals are at {found.board.confidence}, not {confidence}")
        return study_of_section(EXPERIMENTS[name](found), found)

    return study


def study_of_section(section: Section, found: Experiment) -> Study:
    """A section as a study: its first table and figure, the others behind them."""
    first, *more = section.tables
    figure = section.figures[0] if section.figures else None
    return Study(
        name=section.name,
        title=section.title,
        finding=section.finding,
        columns=tuple(column.name for column in first.columns),
        rows=_rows(first),
        x_axis="" if figure is None else figure.row_axis,
        y_axis="" if figure is None else figure.value_axis,
        points=tuple(_points(figure)),
        notes=tuple(filter(None, (_verified_by(found), section.how, *section.notes))),
        more=tuple(
            StudyTable(
                title=table.title,
                columns=tuple(column.name for column in table.columns),
                rows=_rows(table),
                n_names=_n_names(table),
            )
            for table in more
        ),
        figures=section.figures,
    )


def _verified_by(found: Experiment) -> str:
    board = found.board
    return f"judged by {board.judges or 'nobody'} against {board.reference}; {board.sampling}"


def _rows(table: Table) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(
            shown_cell(cell, column).text for cell, column in zip(row, table.columns, strict=True)
        )
        for row in table.rows
    )


def _n_names(table: Table) -> int:
    """How many columns at the left hold words."""
    return sum(1 for _ in takewhile(lambda is_number: not is_number, number_columns(table)))


def _points(figure: Figure | None) -> Iterator[Point]:
    for mark in () if figure is None else figure.marks:
        yield Point(
            series=mark.column or mark.row, x=mark.row, y=mark.value, n=mark.n, low=mark.low,
            high=mark.high,
        )  # fmt: skip
