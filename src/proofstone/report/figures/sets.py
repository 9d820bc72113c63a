"""UpSet: which sets go together, and how many members each combination has."""

from __future__ import annotations

from collections.abc import Mapping

from proofstone.report.figures import vega
from proofstone.report.figures.labels import named, text_width, wrapped
from proofstone.report.figures.style import BLUE, INK, QUIET, Look
from proofstone.report.sections.section import Figure

__all__ = ["sets_chart"]

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
    plane = vega.chart(dots).encode(
        x=vega.field("at:Q").scale(None).axis(None), y=vega.field("up:Q").scale(None).axis(None)
    )
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
    base = vega.chart(bars).encode(x=vega.field("at:Q").scale(None).axis(None))
    up = vega.field("up:Q").scale(None).axis(None)
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
    base = vega.chart(found).encode(y=vega.field("up:Q").scale(None).axis(None))
    to = vega.field("to:Q").scale(None).axis(None)
    return [
        base.mark("text", align="right", fontSize=12, color=INK, lineBreak="\n").encode(
            x=vega.value(-10), text="name:N"
        ),
        base.mark("rule", strokeWidth=11, color=QUIET).encode(x=to, x2="feet:Q"),
        base.mark("text", align="right", dx=-4, fontSize=11, color=INK).encode(x=to, text="n:Q"),
    ]
