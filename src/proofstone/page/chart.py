"""Figures by rows: leaderboard, strips by group, dumbbells, slopes, bars and cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.page import vega
from proofstone.page.planes import (
    Frame,
    frame_of,
    interval_row,
    key_layers,
    scaled,
)
from proofstone.page.section import Figure, Mark, tie_lanes
from proofstone.page.vega import (
    BLUE,
    INK,
    LOOKS,
    OTHER,
    QUIET,
    RAMP,
    WHITE_FROM,
    Look,
    looks_of,
    named,
    series_looks,
    text_width,
    wrapped,
)

_WIDTH = 420


_STEP, _LINE = 22, 14  # height of a row, and of each further line of its name


_MOST_LANES = 6


_VALUES = {"grid": True, "domain": False, "ticks": False, "tickCount": 7}


_LANE = 7


def dots_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a dot with interval per row, best first, with the value as text at the right.

    Bars at the left join tied rows. If there are too many bars, a second panel shows rank ranges
    (``x_low`` to ``x_high``).
    """
    rows = figure.rows()
    looks = series_looks(rows, models)
    step = row_heights(rows)
    frame = _row_frame(figure, _WIDTH, step * len(rows))
    lanes = tie_lanes([(span.first, span.last) for span in figure.spans])
    narrow = max(lanes, default=-1) < _MOST_LANES
    room = 8 + (_LANE * (max(lanes) + 1) if lanes and narrow else 0)
    layers = _dots(figure, frame, rows, looks, room)
    if narrow and lanes:
        layers.append(_ties(figure, lanes, step))
    plain = frame.chart(*layers)
    return plain if narrow else vega.hconcat(plain, _rank_range(figure, rows, frame), spacing=24)


def _dots(
    figure: Figure, frame: Frame, rows: Sequence[str], looks: Mapping[str, Look], room: float
) -> Any:
    data = [_row(figure, mark, looks[mark.row]) for mark in figure.marks]
    y = row_axis(rows, room)
    x = frame.across_axis("value:Q", figure.value_axis, **_VALUES)
    told = ["row:N", "text:N", *_ENDS, *(["n:Q"] if any(mark.n for mark in figure.marks) else [])]
    base = vega.chart(data).encode(y=y, tooltip=told)
    bars = base.rules(2, x=vega.field_of("low:Q"), x2="high:Q")
    words = base.words("left", 12).encode(x=vega.value(frame.width + 14))
    return [bars, base.points(62, x=x), words, *level_layers(figure, frame)]


_ENDS = ("value:Q", "low:Q", "high:Q")


def _row(figure: Figure, mark: Mark, look: Look, **more: Any) -> dict[str, Any]:
    ranks = {"best_rank": scaled(mark.x_low, "number"), "worst_rank": scaled(mark.x_high, "number")}
    row = wrapped(mark.row)
    return interval_row(figure, mark, look, row=row, text=mark.text, **ranks, **more)


def row_heights(rows: Sequence[str]) -> int:
    """Return the height of a row that fits all lines of the longest name."""
    return _STEP + _LINE * (most_lines(rows) - 1)


def most_lines(rows: Sequence[str]) -> int:
    """Return the largest number of lines of a row's name."""
    return max((wrapped(row).count("\n") + 1 for row in rows), default=1)


def row_axis(rows: Sequence[str], room: float = 8, title: str = "") -> vega.Field:
    """Return the vertical axis of names, long ones in several lines."""
    field = vega.field_of("row:N", title=title or None)
    return field.scale(domain=[wrapped(row) for row in rows]).unsorted().axis(
        ticks=False, domain=False, labelPadding=room, labelExpr="split(datum.label, '\\n')",
        labelLineHeight=_LINE, titleAnchor="start",
    )  # fmt: skip


def _row_frame(figure: Figure, width: int, height: int) -> Frame:
    plane = frame_of(figure, width, height)
    return Frame(width=width, height=height, across=plane.up, up=(0.0, 1.0))


def level_layers(figure: Figure, frame: Frame, above: float = 5) -> list[vega.Part]:
    """Return thin dashed vertical lines with their texts above, next to each other or stacked."""
    known = [
        (level.text, value)
        for level in figure.levels
        if (value := scaled(level.value, figure.value_unit)) is not None
    ]
    layers = []
    for place, (text, value) in enumerate(known):
        at = frame.right_of(value)
        half = text_width(text, 11) / 2
        align = "left" if at < half else "right" if at > frame.width - half else "center"
        base = vega.chart([{"level": value, "text": text}]).encode(x="level:Q")
        words = base.words(align, 11, QUIET, baseline="bottom")
        layers.append(base.mark("rule", color=QUIET, strokeDash=[4, 3], strokeWidth=1.2))
        layers.append(words.encode(y=vega.value(-above - 14 * place)))
    return layers


def _ties(figure: Figure, lanes: Sequence[int], step: int) -> vega.Part:
    runs = [
        {
            "from": step * span.first + 4,
            "to": step * (span.last + 1) - 4,
            "at": -8 - _LANE * lane,
            "tied": f"ranks {span.first + 1} to {span.last + 1}",
        }
        for span, lane in zip(figure.spans, lanes, strict=True)
    ]
    return (
        vega.chart(runs)
        .mark("rule", strokeWidth=3, color=QUIET, strokeCap="round")
        .encode(x=vega.bare("at"), y=vega.bare("from"), y2="to:Q", tooltip=["tied:N"])
    )


def _rank_range(figure: Figure, rows: Sequence[str], frame: Frame) -> vega.Part:
    """Return lines from the best to the worst rank of the rank range."""
    data = [_row(figure, mark, OTHER) for mark in figure.marks]
    y = vega.field_of("row:N").scale(domain=[wrapped(row) for row in rows]).unsorted().axis(None)
    domain = [0.5, len(rows) + 0.5]
    x = vega.field_of("best_rank:Q", title=figure.x_axis or None).scale(domain=domain, nice=False)
    x = x.axis(tickCount=5, format="d", tickMinStep=1, domain=False, ticks=False)
    base = vega.chart(data).encode(y=y, x=x, x2="worst_rank:Q")
    bars = base.mark("rule", strokeWidth=4, color=QUIET, strokeCap="round")
    return bars.properties(width=160, height=frame.height)


def strips_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a row per group of items with a tick per model, and the chance level.

    The first three models have separate marks with intervals.
    """
    rows = figure.rows()
    series = figure.columns()
    own = series[:3]
    looks = series_looks(series, models)
    if any(looks[name] == OTHER for name in own):
        looks = dict(zip(own, LOOKS, strict=False))
    step = max(row_heights(rows), 13 * len(own) + 8)
    frame = _row_frame(figure, _WIDTH, step * len(rows))
    data = [
        _row(
            figure, mark, looks.get(mark.column, OTHER), model=named(mark.column),
            line=own.index(mark.column) if mark.column in own else None,
        )
        for mark in figure.marks
    ]  # fmt: skip
    told = ["row:N", "model:N", *_ENDS, "n:Q"]
    base = vega.chart(data).encode(y=row_axis(rows), tooltip=told)
    # Each of the first three on a separate line, so that their intervals do not overlap.
    offset = vega.field_of("line:Q").scale(domain=[-0.5, max(len(own), 1) - 0.5])
    x = frame.across_axis("value:Q", figure.value_axis, **_VALUES)
    others = (
        base.only("datum.line === null")
        .mark("tick", color=OTHER.colour, thickness=1, size=step - 10, opacity=0.7)
        .encode(x=x)
    )
    first = base.only("datum.line !== null").encode(yOffset=offset)
    bars = first.rules(1.6, x=vega.field_of("low:Q"), x2="high:Q")
    sizes = {row: max(mark.n for mark in figure.marks if mark.row == row) for row in rows}
    words = vega.chart(
        [{"row": wrapped(row), "text": f"n {n:,}" if n else ""} for row, n in sizes.items()]
    ).words("left", 11, QUIET)
    return frame.chart(
        others,
        bars,
        first.points(48, x=x),
        words.encode(y=row_axis(rows), x=vega.value(frame.width + 10)),
        *level_layers(figure, frame),
        *key_layers({name: looks[name] for name in own}, above=8 + 14 * len(figure.levels)),
    )


# Paired rows: dumbbells of a factor, and ranks on two benchmarks.

_BETWEEN = 190


_PAIRED_ROWS_STEP = 17


def dumbbells_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a row per model with a mark of different shape for each level (column), joined by a
    line.

    Intervals are stacked, the first level on top.
    """
    del models  # shapes distinguish levels
    rows = figure.rows()
    levels = figure.columns()
    looks = looks_of(levels)
    step = max(row_heights(rows), 9 * len(levels) + 8)
    frame = _row_frame(figure, _WIDTH, step * len(rows))
    data = [
        interval_row(
            figure, mark, looks[mark.column], row=wrapped(mark.row), level=named(mark.column),
            line=levels.index(mark.column),
        )
        for mark in figure.marks
    ]  # fmt: skip
    told = ["row:N", "level:N", *_ENDS, "n:Q"]
    x = frame.across_axis("value:Q", figure.value_axis, domain=False, ticks=False, tickCount=7)
    offset = vega.field_of("line:Q").scale(domain=[-0.5, max(len(levels), 1) - 0.5])
    base = vega.chart(data).encode(y=row_axis(rows), tooltip=told, yOffset=offset)
    joined = base.mark("line", color="#9a9a9a", strokeWidth=1.2)
    return frame.chart(
        joined.encode(x=x, detail="row:N", order="line:Q"),
        base.rules(1.6, x=vega.field_of("low:Q"), x2="high:Q"),
        base.points(58, x=x),
        *level_layers(figure, frame),
        *key_layers(looks, above=8 + 14 * len(figure.levels)),
    )


def slopes_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a line per row from its rank (``value``) in the first column to that in the second.

    The best rank is on top; rank and name are at both ends. Rows with a ``text`` ("moved") are
    emphasized. Equal ranks are placed below each other.
    """
    rows = figure.rows()
    columns = figure.columns()[:2]
    looks = series_looks(rows, models)
    moved = {mark.row for mark in figure.marks if mark.text}
    rank = {(mark.row, mark.column): mark.value for mark in figure.marks}
    whole = [row for row in rows if all(rank.get((row, column), 0) >= 1 for column in columns)]
    places = [_places(whole, rank, columns, side) for side in range(len(columns))]
    height = _PAIRED_ROWS_STEP * max(len(whole), 1)
    ends = [
        {
            "row": named(row),
            "column": named(column),
            "rank": rank[row, column],
            "place": places[side][row],
            "at": side * _BETWEEN,
            "text": "  ".join((named(row), f"{rank[row, column]:g}")[:: 1 if side == 0 else -1]),
            "beside": -8 if side == 0 else _BETWEEN + 8,
            "is_moved": row in moved,
            "colour": looks[row].colour if row in moved else QUIET,
        }
        for row in whole
        for side, column in enumerate(columns)
    ]
    base = vega.chart(ends).encode(
        y=vega.field_of("place:Q").scale(domain=[0.5, len(whole) + 0.5], reverse=True).axis(None)
    )
    x = vega.bare("at")
    width = vega.condition("datum.is_moved", vega.value(2.4), vega.value(1))
    ink = vega.condition("datum.is_moved", vega.value(INK), vega.value(QUIET))
    texts = [
        base.only(f"datum.at {'==' if side == 0 else '>'} 0")
        .mark("text", align="right" if side == 0 else "left", fontSize=12)
        .encode(x=vega.bare("beside"), text="text:N", color=ink)
        for side in range(len(columns))
    ]
    lines = base.mark("line").encode(x=x, detail="row:N", color=vega.COLOUR, strokeWidth=width)
    points = base.mark("point", filled=True, size=26, opacity=1).encode(
        x=x, color=vega.COLOUR, tooltip=["row:N", "column:N", "rank:Q"]
    )
    both = vega.layer(lines, points, *texts, _heads(columns))
    return both.properties(width=_BETWEEN, height=height)


def _places(
    rows: Sequence[str], rank: Mapping[tuple[str, str], float], columns: Sequence[str], side: int
) -> dict[str, int]:
    """Return a separate line for each row by rank; equal ones by rank on the other side."""
    own, other = columns[side], columns[1 - side] if len(columns) > 1 else columns[side]
    order = sorted(rows, key=lambda row: (rank[row, own], rank[row, other]))
    return {row: place for place, row in enumerate(order, start=1)}


def _heads(columns: Sequence[str]) -> vega.Part:
    heads = [
        {"at": -8 if side == 0 else _BETWEEN + 8, "text": wrapped(column, 40).split("\n"),
         "side": side}
        for side, column in enumerate(columns)
    ]  # fmt: skip
    style: Mapping[str, Any] = {"baseline": "bottom", "lineBreak": "\n", "fontWeight": 600}
    layers = [
        vega.chart([head]).words("left" if head["side"] else "right", 12, **style)
        for head in heads
    ]  # fmt: skip
    return vega.layer(*(each.encode(x=vega.bare("at"), y=vega.value(-4)) for each in layers))


# Counts: bars by field, grouped by discipline.

_BARS_WIDTH, _ROW, _BARS_LINE = 320, 18, 14


def bars_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a bar per mark followed by its number.

    With columns, marks are grouped under the name of their column (a discipline) and its sum.
    """
    del models
    sums = dict.fromkeys(figure.columns(), 0.0)
    for mark in figure.marks:
        sums[mark.column] += 0.0 if math.isnan(mark.value) else mark.value
    grouped = len(sums) > 1 or "" not in sums
    bars: list[dict[str, Any]] = []
    down = 0
    for column, total in sums.items():
        members = [(mark.row, mark.value) for mark in figure.marks if mark.column == column]
        down += 6 if grouped else 0
        for place, (name, value) in enumerate([*([(column, total)] if grouped else []), *members]):
            lines = wrapped(name)
            bars.append(
                {
                    "name": lines,
                    "zero": 0,
                    "value": 0.0 if math.isnan(value) else value,
                    "middle": down + _ROW / 2,
                    "is_sum": grouped and not place,
                    "group": column,
                }
            )
            down += _ROW + _BARS_LINE * lines.count("\n")
    most = max((bar["value"] for bar in bars if bar["value"] and not bar["is_sum"]), default=1)
    base = vega.chart(bars).encode(y=vega.bare("middle"))
    x = vega.field_of("value:Q", title=figure.value_axis or None).scale(
        domain=[0, most], nice=False
    )
    own, sums_only = base.only("!datum.is_sum"), base.only("datum.is_sum")
    shown = own.mark("rule", strokeWidth=11, color=BLUE).encode(
        x=vega.field_of("zero:Q").axis(None), x2="value:Q", tooltip=["group:N", "name:N", "value:Q"]
    )
    number = vega.field_of("value:Q", format=",")
    numbers = own.words("left", 11, dx=5).encode(x=x.axis(None), text=number)
    totals = sums_only.words("left", 12, QUIET, fontWeight=600)
    totals = totals.encode(x=vega.value(0), text=number)
    names, heads = beside(own), beside(sums_only, fontWeight=600)
    whole = vega.layer(shown, numbers, names, heads, totals)
    return whole.properties(width=_BARS_WIDTH, height=max(down, _ROW))


def beside(base: vega.Part, **how: Any) -> vega.Part:
    """Return the names of rows left of the plane, long ones in several lines."""
    names = base.words("right", 12, field="name:N", lineBreak="\n", **how)
    return names.encode(x=vega.value(-10))


# Figures of rows by columns: heat maps, the matrix of pairs, and the distribution of ranks.

_CELL_HEIGHT = 21


_WIDE, _NARROW, _MANY = 46, 34, 14


def heat_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a cell per mark with its number, darker for larger values."""
    del models  # color shows the value
    values = [100 * mark.value for mark in figure.marks if not math.isnan(mark.value)]
    return _grid(figure, domain=_span(min([0.0, *values]), max(values, default=0.0)))


def matrix_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a cell per significant pair, darker for larger differences; others are empty."""
    del models
    values = [100 * abs(mark.value) for mark in figure.marks if not math.isnan(mark.value)]
    return _grid(figure, domain=_span(0.0, max(values, default=0.0)), only_with_text=True)


_LEAST_SPAN = 0.1  # of a legend in points, which are printed with one decimal


def _span(low: float, high: float) -> list[float]:
    """Return the ends of a legend: a point apart where they would be printed alike."""
    return [low, high if high - low >= _LEAST_SPAN else low + 1.0]


def ranks_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return the share of each rank by row in percent, darker for larger shares."""
    del models
    return _grid(figure, domain=[0, 100])


def _grid(figure: Figure, *, domain: list[float], only_with_text: bool = False) -> vega.Part:
    rows = [wrapped(name) for name in figure.rows()]
    columns = [wrapped(name, 90) for name in figure.columns()]
    width = _WIDE if len(columns) <= _MANY else _NARROW
    cells = [
        interval_row(
            figure, mark, row=wrapped(mark.row), column=wrapped(mark.column, 90), text=mark.text,
            value=scaled(mark.value, "points"),
        )
        for mark in figure.marks
    ]  # fmt: skip
    base = vega.chart(cells).encode(
        x=_columns(figure, columns, width),
        y=vega.field_of("row:N", title=None).scale(domain=rows).unsorted().axis(**_NAMES_OF_ROWS),
        tooltip=["row:N", "column:N", *_ENDS, "n:Q"],
    )
    shade = vega.field_of("value:Q").scale(range=list(RAMP), domain=domain, interpolate="lab")
    shade = shade.legend(
        orient="bottom",
        title=figure.value_axis or None,
        gradientLength=160,
        gradientThickness=8,
        tickCount=3,
    )
    if only_with_text:
        shade = vega.condition("datum.text !== ''", shade, vega.value("white"))
    low, high = domain
    white_from = low + WHITE_FROM * (high - low)
    dark = f"datum.value > {white_from:g} && datum.text !== ''"
    ink = vega.condition(dark, vega.value("white"), vega.value("black"))
    shades = base.mark("rect", stroke="#e8e8e8", strokeWidth=1).encode(color=shade)
    texts = base.mark("text", fontSize=11).encode(text="text:N", color=ink)
    lines = most_lines(figure.rows())
    height = _CELL_HEIGHT if lines == 1 else 14 * lines + 4
    return vega.layer(shades, texts).properties(width={"step": width}, height={"step": height})


_NAMES_OF_ROWS: Mapping[str, Any] = {
    "ticks": False,
    "domain": False,
    "labelExpr": "split(datum.label, '\\n')",
    "labelLineHeight": 14,
}


def _columns(figure: Figure, names: list[str], width: int) -> vega.Field:
    """Return names above the columns, slanted if they do not fit."""
    is_short = all(text_width(name) < width - 4 for name in names)
    title = figure.column_axis or None
    return vega.field_of("column:N", title=title).scale(domain=names).unsorted().axis(
        orient="top", labelAngle=0 if is_short else -40,
        labelAlign="center" if is_short else "left", ticks=False, domain=False,
        labelExpr="split(datum.label, '\\n')",
    )  # fmt: skip
