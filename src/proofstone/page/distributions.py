"""Shapes of distributions on rows: ridge lines of subject scores, and violins by level."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.page import vega
from proofstone.page.chart import level_layers
from proofstone.page.frame import Frame, scaled
from proofstone.page.planes import panel_title, panel_titles
from proofstone.page.section import Curve, Figure, Mark
from proofstone.page.vega import (
    BLUE,
    INK,
    QUIET,
    RAMP,
    WHITE_FROM,
    Look,
    named,
    series_looks,
    text_width,
    wrapped,
)

# UpSet: which sets go together, and how many members each combination has.

_ACROSS, _DOWN, _BARS, _SIZES = 26, 22, 110, 90


def sets_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A row a set and a column a combination of sets: a dark dot where the set is in it (value 1),
    joined; bars above count the members of just this combination (n), bars at the left those of
    each set."""
    del models
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    columns = list(dict.fromkeys(mark.column for mark in figure.marks))
    dots = [
        {
            "at": _ACROSS * (columns.index(mark.column) + 0.5),
            "up": _DOWN * (rows.index(mark.row) + 0.5),
            "is_in": mark.value == 1,
            "set": named(mark.row),
            "members": mark.text,
            "n": mark.n,
        }
        for mark in figure.marks
    ]
    plane = vega.chart(dots).encode(x=vega.bare("at"), y=vega.bare("up"))
    ink = vega.condition("datum.is_in", vega.value(INK), vega.value("#dcdcdc"))
    layers = [
        plane.only("datum.is_in")
        .mark("line", color=INK, strokeWidth=1.6)
        .encode(detail="at:Q", order="up:Q"),
        plane.mark("point", filled=True, size=80, opacity=1).encode(
            color=ink, tooltip=["set:N", "members:N", "n:Q"]
        ),
        *_above(figure, columns),
        *_left(figure, rows),
    ]
    width, height = _ACROSS * max(len(columns), 1), _DOWN * max(len(rows), 1)
    return vega.layer(*layers).properties(width=width, height=height)


def _above(figure: Figure, columns: list[str]) -> list[vega.Part]:
    sizes = {mark.column: mark.n for mark in figure.marks}
    texts = {mark.column: mark.text for mark in figure.marks}
    most = max(sizes.values(), default=1) or 1
    bars = [
        {
            "at": _ACROSS * (place + 0.5),
            "feet": -8,
            "up": -8 - _BARS * sizes[column] / most,
            "n": sizes[column],
            "members": texts[column],
        }
        for place, column in enumerate(columns)
    ]
    base = vega.chart(bars).encode(x=vega.bare("at"))
    up = vega.bare("up")
    return [
        base.mark("rule", strokeWidth=14, color=BLUE).encode(
            y=up, y2="feet:Q", tooltip=["n:Q", "members:N"]
        ),
        base.mark("text", baseline="bottom", dy=-3, fontSize=11, color=INK).encode(
            y=up, text="n:Q"
        ),
    ]


def _left(figure: Figure, rows: list[str]) -> list[vega.Part]:
    """Names beside their rows, and left of them how many members each set has."""
    sizes = {
        row: sum(mark.n for mark in figure.marks if mark.row == row and mark.value == 1)
        for row in rows
    }
    most = max(sizes.values(), default=1) or 1
    long = max(
        (text_width(line, 12) for row in rows for line in wrapped(row, 60).split("\n")), default=0
    )
    found = [
        {
            "name": wrapped(row, 60),
            "up": _DOWN * (place + 0.5),
            "feet": -long - 22,
            "to": -long - 22 - _SIZES * sizes[row] / most,
            "n": sizes[row],
        }
        for place, row in enumerate(rows)
    ]
    base = vega.chart(found).encode(y=vega.bare("up"))
    to = vega.bare("to")
    return [
        base.mark("text", align="right", fontSize=12, color=INK, lineBreak="\n").encode(
            x=vega.value(-10), text="name:N"
        ),
        base.mark("rule", strokeWidth=11, color=QUIET).encode(x=to, x2="feet:Q"),
        base.mark("text", align="right", dx=-4, fontSize=11, color=INK).encode(x=to, text="n:Q"),
    ]


# Figures of rows by columns: heat maps, the matrix of pairs, and the distribution of ranks.

_CELL_HEIGHT = 21


_WIDE, _NARROW, _MANY = 46, 34, 14


def heat_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A cell for each mark, darker for more, its number in it."""
    del models  # the colour is the number's
    values = [100 * mark.value for mark in figure.marks if not math.isnan(mark.value)]
    top = max(values, default=0.0) or 1.0
    return _grid(figure, domain=[min([0.0, *values]), top])


def matrix_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A cell for each pair that is told apart, darker for more; others stay empty."""
    del models
    top = (
        max(
            (100 * abs(mark.value) for mark in figure.marks if not math.isnan(mark.value)),
            default=0.0,
        )
        or 1.0
    )
    return _grid(figure, domain=[0, top], only_with_text=True)


def ranks_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """How often each row had each rank: darker for more often, in percent."""
    del models
    return _grid(figure, domain=[0, 100])


def _grid(figure: Figure, *, domain: list[float], only_with_text: bool = False) -> vega.Part:
    rows = [wrapped(name) for name in dict.fromkeys(mark.row for mark in figure.marks)]
    columns = [wrapped(name, 90) for name in dict.fromkeys(m.column for m in figure.marks)]
    width = _WIDE if len(columns) <= _MANY else _NARROW
    base = vega.chart([_cell(figure, mark) for mark in figure.marks]).encode(
        x=_columns(figure, columns, width),
        y=vega.field_of("row:N", title=None).scale(domain=rows).unsorted().axis(**_rows()),
        tooltip=["row:N", "column:N", "value:Q", "low:Q", "high:Q", "n:Q"],
    )

    shade = (
        vega.field_of("value:Q")
        .scale(range=list(RAMP), domain=domain, interpolate="lab")
        .without_legend()
    )
    if only_with_text:
        shade = vega.condition("datum.text !== ''", shade, vega.value("white"))
    low, high = domain
    white_from = low + WHITE_FROM * (high - low)
    ink = vega.condition(
        f"datum.value > {white_from:g} && datum.text !== ''",
        vega.value("white"),
        vega.value("black"),
    )
    cells = base.mark("rect", stroke="#e8e8e8", strokeWidth=1).encode(color=shade)
    texts = base.mark("text", fontSize=11).encode(text="text:N", color=ink)
    lines = max((row.count("\n") + 1 for row in rows), default=1)
    height = _CELL_HEIGHT if lines == 1 else 14 * lines + 4
    return vega.layer(cells, texts).properties(width={"step": width}, height={"step": height})


def _rows() -> dict[str, Any]:
    return {
        "ticks": False,
        "domain": False,
        "labelExpr": "split(datum.label, '\\n')",
        "labelLineHeight": 14,
    }


def _columns(figure: Figure, names: list[str], width: int) -> vega.Field:
    """Names above the columns: level where they fit, else slanted."""
    is_short = all(text_width(name) < width - 4 for name in names)
    title = figure.column_axis or None
    return vega.field_of("column:N", title=title).scale(domain=names).unsorted().axis(
        orient="top", labelAngle=0 if is_short else -40,
        labelAlign="center" if is_short else "left", ticks=False, domain=False,
        labelExpr="split(datum.label, '\\n')",
    )  # fmt: skip


def _cell(figure: Figure, mark: Mark) -> dict[str, Any]:
    return {
        "row": wrapped(mark.row),
        "column": wrapped(mark.column, 90),
        "value": scaled(mark.value, "points"),
        "low": scaled(mark.low, figure.value_unit),
        "high": scaled(mark.high, figure.value_unit),
        "n": mark.n,
        "text": mark.text,
    }


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
        vega.field_of("x:Q", title=figure.x_axis or None)
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
    base = vega.chart(points).encode(x=_axis(frame, figure), y=vega.bare("up"))
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
        .encode(x=_axis(frame, figure), y=vega.bare("up"), y2="down:Q")
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
            x=_axis(frame, figure), y=vega.bare("feet"), y2="up:Q", tooltip=["row:N", "x:Q", "n:Q"]
        )
    ]


def _names(rows: Sequence[str], step: float, where: float) -> vega.Part:
    names = [{"name": wrapped(row), "up": step * (place + where)} for place, row in enumerate(rows)]
    return (
        vega.chart(names)
        .mark("text", align="right", baseline="middle", fontSize=12, color=INK, lineBreak="\n")
        .encode(x=vega.value(-10), y=vega.bare("up"), text="name:N")
    )
