"""Rows that are compared with themselves: dumbbells of a factor, and ranks on two benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.report.figures import vega
from proofstone.report.figures.dots import level_layers, row_axis, row_heights
from proofstone.report.figures.frame import Frame, frame_of, scaled
from proofstone.report.figures.keys import key_layers
from proofstone.report.figures.labels import named, wrapped
from proofstone.report.figures.style import INK, QUIET, Look, looks_of, series_looks
from proofstone.report.sections.section import Figure, Mark

__all__ = ["dumbbells_chart", "slopes_chart"]

_WIDTH = 420
_BETWEEN = 190
_STEP = 17


def dumbbells_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A row a model: a mark of its own shape for each level of the factor (column), joined by a
    line; intervals one under the other, the first level on top."""
    del models  # shapes are the levels'
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    levels = list(dict.fromkeys(mark.column for mark in figure.marks))
    looks = looks_of(levels)
    step = max(row_heights(rows), 9 * len(levels) + 8)
    plane = frame_of(figure, _WIDTH, step * len(rows))
    frame = Frame(width=plane.width, height=plane.height, across=plane.up, up=(0.0, 1.0))
    data = [_level(figure, mark, looks[mark.column], levels) for mark in figure.marks]
    base = vega.chart(data).encode(
        y=row_axis(rows), tooltip=["row:N", "level:N", "value:Q", "low:Q", "high:Q", "n:Q"]
    )
    x = (
        vega.field("value:Q", title=figure.value_axis or None)
        .scale(domain=list(frame.across), nice=False, zero=False)
        .axis(domain=False, ticks=False, tickCount=7)
    )
    offset = vega.field("line:Q").scale(domain=[-0.5, max(len(levels), 1) - 0.5])
    colour = vega.field("colour:N").scale(None)
    joined = base.mark("line", color="#9a9a9a", strokeWidth=1.2).encode(
        x=x, detail="row:N", order="line:Q", yOffset=offset
    )
    bars = base.mark("rule", strokeWidth=1.6).encode(
        x=vega.field("low:Q"), x2="high:Q", color=colour, yOffset=offset
    )
    points = base.mark(
        "point", filled=True, size=58, opacity=1, stroke=INK, strokeWidth=0.6
    ).encode(
        x=x,
        yOffset=offset,
        fill=vega.field("colour:N").scale(None),
        shape=vega.field("shape:N").scale(None),
    )
    layers = [joined, bars, points, *level_layers(figure, frame)]
    layers += key_layers(looks, above=8 + 14 * len(figure.levels))
    return vega.layer(*layers).properties(width=frame.width, height=frame.height)


def _level(figure: Figure, mark: Mark, look: Look, levels: Sequence[str]) -> dict[str, Any]:
    return {
        "row": wrapped(mark.row),
        "level": named(mark.column),
        "line": levels.index(mark.column),
        "value": scaled(mark.value, figure.value_unit),
        "low": scaled(mark.low, figure.value_unit),
        "high": scaled(mark.high, figure.value_unit),
        "n": mark.n,
        "colour": look.colour,
        "shape": look.shape,
    }


def slopes_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A line a row from its rank (``value``) in the first column to that in the second, best on
    top, with rank and name at both ends. Rows with a ``text`` ("moved") are drawn strong, others
    thin; equal ranks stand one below the other."""
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    columns = list(dict.fromkeys(mark.column for mark in figure.marks))[:2]
    looks = series_looks(rows, models)
    moved = {mark.row for mark in figure.marks if mark.text}
    rank = {(mark.row, mark.column): mark.value for mark in figure.marks}
    whole = [row for row in rows if all(rank.get((row, column), 0) >= 1 for column in columns)]
    places = [_places(whole, rank, columns, side) for side in range(len(columns))]
    height = _STEP * max(len(whole), 1)
    ends = [
        {
            "row": named(row),
            "column": named(column),
            "rank": rank[row, column],
            "place": places[side][row],
            "at": side * _BETWEEN,
            "text": _end_text(row, rank[row, column], side),
            "beside": -8 if side == 0 else _BETWEEN + 8,
            "is_moved": row in moved,
            "colour": looks[row].colour if row in moved else QUIET,
        }
        for row in whole
        for side, column in enumerate(columns)
    ]
    base = vega.chart(ends).encode(
        y=vega.field("place:Q").scale(domain=[0.5, len(whole) + 0.5], reverse=True).axis(None)
    )
    x = vega.field("at:Q").scale(None).axis(None)
    beside = vega.field("beside:Q").scale(None).axis(None)
    width = vega.condition("datum.is_moved", vega.value(2.4), vega.value(1))
    ink = vega.condition("datum.is_moved", vega.value(INK), vega.value(QUIET))
    texts = [
        base.only(f"datum.at {'==' if side == 0 else '>'} 0")
        .mark("text", align="right" if side == 0 else "left", fontSize=12)
        .encode(x=beside, text="text:N", color=ink)
        for side in range(len(columns))
    ]
    lines = base.mark("line").encode(
        x=x, detail="row:N", color=vega.field("colour:N").scale(None), strokeWidth=width
    )
    points = base.mark("point", filled=True, size=26, opacity=1).encode(
        x=x, color=vega.field("colour:N").scale(None), tooltip=["row:N", "column:N", "rank:Q"]
    )
    heads = _heads(columns)
    return vega.layer(lines, points, *texts, heads).properties(width=_BETWEEN, height=height)


def _places(
    rows: Sequence[str],
    rank: Mapping[tuple[str, str], float],
    columns: Sequence[str],
    side: int,
) -> dict[str, int]:
    """A line of its own for each row, by rank; equal ones by their rank on the other side."""
    own, other = columns[side], columns[1 - side] if len(columns) > 1 else columns[side]
    order = sorted(rows, key=lambda row: (rank[row, own], rank[row, other]))
    return {row: place for place, row in enumerate(order, start=1)}


def _end_text(row: str, rank: float, side: int) -> str:
    shown = f"{rank:g}"
    return f"{named(row)}  {shown}" if side == 0 else f"{shown}  {named(row)}"


def _heads(columns: Sequence[str]) -> vega.Part:
    heads = [
        {"at": -8 if side == 0 else _BETWEEN + 8, "text": wrapped(column, 40).split("\n"),
         "side": side}
        for side, column in enumerate(columns)
    ]  # fmt: skip
    layers = [
        vega.chart([head])
        .mark("text",
            align="right" if head["side"] == 0 else "left", baseline="bottom", lineBreak="\n",
            fontSize=12, fontWeight=600, color=INK,
        )
        .encode(x=vega.field("at:Q").scale(None).axis(None), y=vega.value(-4), text="text:N")
        for head in heads
    ]  # fmt: skip
    return vega.layer(*layers)
