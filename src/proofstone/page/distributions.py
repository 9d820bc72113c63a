"""Figures of distributions by rows: violins and ridge lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from proofstone.page import vega
from proofstone.page.chart import beside, level_layers, most_lines
from proofstone.page.planes import Frame, panel_title, panel_titles, scaled
from proofstone.page.section import Curve, Figure
from proofstone.page.vega import INK, Look, named, series_looks, wrapped

_WIDTH, _PANEL = 420, 230


_VIOLIN = 30


def violins_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a panel per column (level) with a violin per row; a line marks its median."""
    rows = figure.rows()
    columns = figure.columns()
    looks = series_looks(rows, models)
    step = _step(rows, _VIOLIN)
    width = _WIDTH if len(columns) == 1 else _PANEL
    frame = _frame(figure, width, step * max(len(rows), 1))
    titles = panel_titles(columns)
    panels = []
    for side, column in enumerate(columns):
        base = vega.chart([{"x": frame.across[0]}]).encode(x=_axis(frame, figure))
        layers = [base.mark("point", opacity=0)]
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


_RIDGE, _OVERLAP = 34, 1.5


def ridges_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return densities above lines, one per row; ticks are the marks, a longer one the median."""
    rows = figure.rows()
    looks = series_looks(rows, models)
    step = _step(rows, _RIDGE)
    frame = _frame(figure, _WIDTH, round(step * (len(rows) + _OVERLAP - 1)))
    top = max((max(curve.values, default=0.0) for curve in figure.curves), default=0.0) or 1.0
    layers = [_names(rows, step, _OVERLAP - 0.3)]
    for place, row in enumerate(rows):
        line = step * (place + _OVERLAP)
        for curve in figure.curves:
            if curve.row == row:
                high = 0.95 * _OVERLAP * step / top
                layers.append(_ridge(figure, frame, curve, line, high, looks[row].colour))
        layers += _ticks(figure, frame, row, line)
    return vega.layer(*layers).properties(width=_WIDTH, height=frame.height)


def _ridge(
    figure: Figure, frame: Frame, curve: Curve, line: float, high: float, colour: str
) -> vega.Part:
    points = [
        {"x": scaled(x, figure.x_unit), "up": round(line - high * value, 2), "down": line}
        for x, value in zip(curve.x, curve.values, strict=True)
    ]
    return (
        vega.chart(points)
        .mark("area", color=colour, opacity=0.45, line={"color": INK, "strokeWidth": 0.8})
        .encode(x=_axis(frame, figure), y=vega.bare("up"), y2="down:Q")
    )


def _ticks(figure: Figure, frame: Frame, row: str, line: float) -> Iterator[vega.Part]:
    values = sorted(mark.value for mark in figure.marks if mark.row == row)
    if not values:
        return
    for shown, high, width in ((values, 5.0, 0.8), ([median(values)], 14.0, 2.2)):
        found = [
            {"x": scaled(x, figure.value_unit), "feet": line, "up": line - high, "row": named(row)}
            for x in shown
        ]
        yield vega.chart(found).mark("rule", strokeWidth=width, color=INK).encode(
            x=_axis(frame, figure), y=vega.bare("feet"), y2="up:Q", tooltip=["row:N", "x:Q"]
        )  # fmt: skip


def _step(rows: Sequence[str], least: int) -> int:
    return max(least, 14 * most_lines(rows) + 4)


def _frame(figure: Figure, width: int, height: int) -> Frame:
    """Return a frame from 0 to 100, or to the ends of the densities."""
    scales = (scaled(value, figure.x_unit) for each in figure.curves for value in each.x)
    places = [x for x in scales if x is not None]
    low, high = min(places, default=0.0), max(places, default=100.0)
    if low == high:
        low, high = low - 1, high + 1
    return Frame(width=width, height=height, across=(low, high), up=(0.0, 1.0))


def _axis(frame: Frame, figure: Figure) -> vega.Field:
    return frame.across_axis("x:Q", figure.x_axis, domain=False, ticks=False, tickCount=6)


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
        .encode(x=_axis(frame, figure), y=vega.bare("up"), y2="down:Q")
    )


def _middle(
    figure: Figure, frame: Frame, row: str, feet: float, high: float, column: str = ""
) -> list[vega.Part]:
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
    line = vega.chart(found).mark("rule", strokeWidth=2.2, color=INK).encode(
        x=_axis(frame, figure), y=vega.bare("feet"), y2="up:Q", tooltip=["row:N", "x:Q", "n:Q"]
    )  # fmt: skip
    return [line] if found else []


def _names(rows: Sequence[str], step: float, where: float) -> vega.Part:
    names = [{"name": wrapped(row), "up": step * (place + where)} for place, row in enumerate(rows)]
    return beside(vega.chart(names), baseline="middle").encode(y=vega.bare("up"))
