"""Shapes of distributions on rows: ridge lines of subject scores, and violins by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.report.figures import vega
from proofstone.report.figures.dots import level_layers
from proofstone.report.figures.frame import Frame, scaled
from proofstone.report.figures.labels import named, wrapped
from proofstone.report.figures.panels import panel_title, panel_titles
from proofstone.report.figures.style import INK, Look, series_looks
from proofstone.report.sections.section import Curve, Figure

__all__ = ["ridges_chart", "violins_chart"]

_WIDTH, _PANEL = 420, 230
_RIDGE, _OVERLAP = 30, 1.9  # a row's pixels, and how many of them the highest ridge takes
_VIOLIN = 30


def ridges_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A density a row, one before the other, each with the mean of its mark as a line."""
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    looks = series_looks(rows, models)
    frame = _frame(figure, _WIDTH, _step(rows, _RIDGE) * max(len(rows), 1))
    top = max((max(each.values, default=0.0) for each in figure.curves), default=1.0) or 1.0
    layers: list[vega.Part] = []
    middles: list[vega.Part] = []
    for place, row in enumerate(rows):
        feet = _step(rows, _RIDGE) * (place + 1) - 4
        for each in figure.curves:
            if each.row == row:
                scale = _OVERLAP * _RIDGE / top
                layers += _ridge(figure, frame, each, feet, scale, looks[row].colour)
        middles += _middle(figure, frame, row, feet, 7)
    names = _names(rows, _step(rows, _RIDGE), 0.8)
    layers += [*middles, names, *level_layers(figure, frame, above=_OVERLAP * _RIDGE - _RIDGE + 8)]
    return vega.layer(*layers).properties(width=frame.width, height=frame.height)


def violins_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A panel a column (a level), in it a violin a row, with the median of its mark as a line."""
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    columns = list(dict.fromkeys(mark.column for mark in figure.marks))
    looks = series_looks(rows, models)
    step = _step(rows, _VIOLIN)
    width = _WIDTH if len(columns) == 1 else _PANEL
    frame = _frame(figure, width, step * max(len(rows), 1))
    titles = panel_titles(columns)
    panels = []
    for side, column in enumerate(columns):
        layers = [_ground(figure, frame)]
        top = max(
            (max(x.values, default=0) for x in figure.curves if x.column == column), default=1
        )
        for place, row in enumerate(rows):
            middle = step * (place + 0.5)
            for each in figure.curves:
                if each.row == row and each.column == column:
                    half = 0.46 * _VIOLIN / (top or 1)
                    layers.append(_violin(figure, frame, each, middle, half, looks[row].colour))
            layers += _middle(figure, frame, row, middle + 7, 14, column)
        if side == 0:
            layers.append(_names(rows, step, 0.5))
        layers += level_layers(figure, frame)
        title = panel_title(titles[side])
        panel = vega.layer(*layers).properties(width=width, height=frame.height)
        panels.append(panel if columns == [""] else panel.properties(title=title))
    return panels[0] if len(panels) == 1 else vega.hconcat(*panels, spacing=24)


def _step(rows: Sequence[str], least: int) -> int:
    lines = max((wrapped(row).count("\n") + 1 for row in rows), default=1)
    return max(least, 14 * lines + 4)


def _frame(figure: Figure, width: int, height: int) -> Frame:
    """From 0 to 100, or as far as the densities go."""
    places = [
        x
        for each in figure.curves
        for value in each.x
        if (x := scaled(value, figure.x_unit)) is not None
    ]
    low, high = min(places, default=0.0), max(places, default=100.0)
    if low == high:
        low, high = low - 1, high + 1
    return Frame(width=width, height=height, across=(low, high), up=(0.0, 1.0))


def _axis(frame: Frame, figure: Figure) -> vega.Field:
    return (
        vega.field("x:Q", title=figure.x_axis or None)
        .scale(domain=list(frame.across), nice=False, zero=False)
        .axis(domain=False, ticks=False, tickCount=6)
    )


def _ground(figure: Figure, frame: Frame) -> vega.Part:
    """The axis alone, for a panel of which nothing is known."""
    base = vega.chart([{"x": frame.across[0]}]).encode(x=_axis(frame, figure))
    return base.mark("point", opacity=0)


def _ridge(
    figure: Figure, frame: Frame, curve: Curve, feet: float, scale: float, colour: str
) -> list[vega.Part]:
    points = [
        {"x": scaled(x, figure.x_unit), "up": round(feet - scale * value, 2), "feet": feet}
        for x, value in zip(curve.x, curve.values, strict=True)
    ]
    base = vega.chart(points).encode(
        x=_axis(frame, figure), y=vega.field("up:Q").scale(None).axis(None)
    )
    # White beneath, so that a ridge covers the one behind it and still lets its colour stay light.
    return [
        base.mark("area", color="white", opacity=0.75).encode(y2="feet:Q"),
        base.mark("area", color=colour, opacity=0.35).encode(y2="feet:Q"),
        base.mark("line", color=INK, strokeWidth=1.1),
    ]


def _violin(
    figure: Figure, frame: Frame, curve: Curve, middle: float, half: float, colour: str
) -> vega.Part:
    points = [
        {
            "x": scaled(x, figure.x_unit),
            "up": round(middle - half * value, 2),
            "down": round(middle + half * value, 2),
        }
        for x, value in zip(curve.x, curve.values, strict=True)
    ]
    return (
        vega.chart(points)
        .mark("area", color=colour, opacity=0.45, line={"color": INK, "strokeWidth": 0.8})
        .encode(
            x=_axis(frame, figure),
            y=vega.field("up:Q").scale(None).axis(None),
            y2="down:Q",
        )
    )


def _middle(
    figure: Figure, frame: Frame, row: str, feet: float, high: float, column: str = ""
) -> list[vega.Part]:
    """The middle of a row's scores as a short upright line."""
    found = [
        {
            "x": scaled(mark.value, figure.value_unit),
            "feet": feet,
            "up": feet - high,
            "row": named(mark.row),
            "text": mark.text,
            "n": mark.n,
        }
        for mark in figure.marks
        if mark.row == row and mark.column == column and scaled(mark.value, "number") is not None
    ]
    if not found:
        return []
    return [
        vega.chart(found)
        .mark("rule", strokeWidth=2.2, color=INK)
        .encode(
            x=_axis(frame, figure),
            y=vega.field("feet:Q").scale(None).axis(None),
            y2="up:Q",
            tooltip=["row:N", "x:Q", "n:Q"],
        )
    ]


def _names(rows: Sequence[str], step: float, where: float) -> vega.Part:
    names = [{"name": wrapped(row), "up": step * (place + where)} for place, row in enumerate(rows)]
    return (
        vega.chart(names)
        .mark("text", align="right", baseline="middle", fontSize=12, color=INK, lineBreak="\n")
        .encode(x=vega.value(-10), y=vega.field("up:Q").scale(None).axis(None), text="name:N")
    )
