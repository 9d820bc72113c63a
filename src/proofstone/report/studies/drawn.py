"""A study's figures: its own, or one made of its points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from proofstone.report.sections.section import AxisUnit, Figure, FigureKind, Mark
from proofstone.report.studies.study import Point, Study
from proofstone.wording import say

__all__ = ["study_figures"]

_MOST_ROWS = 40


def study_figures(study: Study) -> tuple[Figure, ...]:
    """The figures of a study, else one of its points: lines over numbers; over names a row each,
    with a mark for each series. None of a study without points."""
    if study.figures or not study.points:
        return study.figures
    return (_over_names(study) if any(isinstance(p.x, str) for p in study.points)
            else _over_numbers(study),)  # fmt: skip


def _over_numbers(study: Study) -> Figure:
    marks = (
        _mark(point, row=point.series, x=float(point.x))
        for point in sorted(study.points, key=lambda each: float(each.x))
    )
    return _figure(study, "curves", marks, x_axis=study.x_axis)


def _over_names(study: Study) -> Figure:
    names = list(dict.fromkeys(str(point.x) for point in study.points))
    shown = set(names[:_MOST_ROWS])
    cut = say("the first {n} of {all}", n=len(shown), all=len(names))
    points = [point for point in study.points if str(point.x) in shown]
    has_levels = len(points) > len(shown)
    marks = (
        _mark(point, row=str(point.x), column=point.series if has_levels else "")
        for point in points
    )
    kind: FigureKind = "dumbbells" if has_levels else "dots"
    more = cut if len(shown) < len(names) else ""
    return _figure(study, kind, marks, row_axis=study.x_axis, more=more)


def _figure(
    study: Study,
    kind: FigureKind,
    marks: Iterator[Mark],
    *,
    row_axis: str = "",
    x_axis: str = "",
    more: str = "",
) -> Figure:
    told = [say("with 95% intervals")] if _has_intervals(study.points) else []
    unit = _unit(study.points)
    axis = f"{study.y_axis}, points" if unit == "points" else study.y_axis
    return Figure(
        name=study.name,
        kind=kind,
        title=study.title,
        subtitle="; ".join(filter(None, [study.y_axis, *told, more])),
        marks=tuple(marks),
        row_axis=row_axis,
        value_axis=axis,
        value_unit=unit,
        x_axis=x_axis,
        x_unit="number",
    )


def _mark(point: Point, *, row: str, column: str = "", x: float = float("nan")) -> Mark:
    return Mark(
        row=row, column=column, value=point.y, low=point.low, high=point.high, n=point.n, x=x
    )


def _has_intervals(points: Sequence[Point]) -> bool:
    return not all(math.isnan(point.low) for point in points)


def _unit(points: Sequence[Point]) -> AxisUnit:
    """Shares and their differences are written out of 100, ranks as they are."""
    return "points" if all(abs(point.y) <= 1.0 for point in points) else "number"
