"""A figure in words, for who cannot see it: what it shows, of how many, from where to where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from proofstone.report.figures.labels import named
from proofstone.report.sections.section import AxisUnit, Figure, FigureKind, Mark
from proofstone.wording import counted, noted, say, word

__all__ = ["described", "shown_value"]

_FORMS: Mapping[FigureKind, str] = {
    "dots": noted("Dots with intervals"),
    "strips": noted("Dots with intervals by group"),
    "heat": noted("Heat map"),
    "matrix": noted("Matrix of pairs"),
    "ranks": noted("Shares of ranks"),
    "curves": noted("Curves"),
    "points": noted("Scatter"),
    "calibration": noted("Reliability diagram"),
    "dumbbells": noted("Dumbbells"),
    "slopes": noted("Lines between two ranks"),
    "bars": noted("Bars"),
    "ridges": noted("Ridge lines"),
    "violins": noted("Violins"),
    "sets": noted("Sets and their intersections"),
    "map": noted("Map"),
}


def described(figure: Figure) -> str:
    """One or two sentences: the form, title and subtitle, how many rows, the lowest and the highest
    value with their names, the levels drawn."""
    form = say("{form}: {title}", form=word(_FORMS[figure.kind]), title=figure.title)
    said = [form, figure.subtitle, *_range(figure)]
    said += [
        say("line at {level}", level=level.text)
        for level in figure.levels
        if not math.isnan(level.value)
    ]
    return say("{parts}.", parts="; ".join(part for part in said if part))


def _range(figure: Figure) -> Sequence[str]:
    known = [mark for mark in figure.marks if not math.isnan(mark.value)]
    if not known:
        return (say("no value is known"),)
    rows = counted(len({mark.row for mark in figure.marks}), "row")
    if figure.kind in {"sets", "map"}:
        return (rows,)
    low, high = min(known, key=_value), max(known, key=_value)
    ends = {"low": _at(low, figure), "high": _at(high, figure)}
    if low.value == high.value:
        return (rows, say("all {value}", value=ends["low"]))
    return (rows, say("from {low} to {high}", **ends))


def _value(mark: Mark) -> float:
    return mark.value


def _at(mark: Mark, figure: Figure) -> str:
    where = ", ".join(named(part) for part in (mark.row, mark.column) if part)
    value = shown_value(mark.value, figure.value_unit)
    return f"{value} ({where})" if where else value


def shown_value(value: float, unit: AxisUnit) -> str:
    """A value as a table shows it."""
    if math.isnan(value):
        return "\N{EM DASH}"
    if unit == "points":
        return f"{100 * value:z.1f}"
    if unit == "usd":
        return f"{value:.3g} USD"
    return f"{value:z,.0f}" if value == int(value) and math.isfinite(value) else f"{value:.4g}"
