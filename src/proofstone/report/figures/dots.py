"""Dots with intervals on rows: the leaderboard with its ties, and groups of items in strips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.report.figures import vega
from proofstone.report.figures.frame import Frame, frame_of, scaled
from proofstone.report.figures.keys import key_layers
from proofstone.report.figures.labels import named, text_width, wrapped
from proofstone.report.figures.style import INK, LOOKS, OTHER, QUIET, Look, series_looks
from proofstone.report.sections.section import Figure, Mark

__all__ = ["dots_chart", "level_layers", "row_axis", "row_heights", "strips_chart"]

_WIDTH = 420
_STEP, _LINE = 22, 14  # a row's height, and what each further line of its name adds
_MOST_LANES = 6
_LANE = 7


def dots_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A dot and its interval a row, best first, with the value in words at the right. Bars at the
    left join rows that are tied; where these are too many, a second panel shows the ranks left open
    (``x_low`` to ``x_high``)."""
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    looks = series_looks(rows, models)
    step = row_heights(rows)
    frame = _row_frame(figure, _WIDTH, step * len(rows))
    lanes = lanes_of(figure)
    narrow = max(lanes, default=-1) < _MOST_LANES
    room = 8 + (_LANE * (max(lanes) + 1) if lanes and narrow else 0)
    layers = _dots(figure, frame, rows, looks, room)
    if narrow and lanes:
        layers.append(_ties(figure, lanes, step))
    plain = vega.layer(*layers).properties(width=frame.width, height=frame.height)
    return plain if narrow else vega.hconcat(plain, _open_ranks(figure, rows, frame), spacing=24)


def _dots(
    figure: Figure,
    frame: Frame,
    rows: Sequence[str],
    looks: Mapping[str, Look],
    room: float,
) -> Any:
    data = [_row(figure, mark, looks[mark.row]) for mark in figure.marks]
    y = row_axis(rows, room)
    x = _value_axis(frame, figure)
    base = vega.chart(data).encode(y=y, tooltip=_told(figure))
    colour = vega.field("colour:N").scale(None)
    bars = base.mark("rule", strokeWidth=2).encode(x=vega.field("low:Q"), x2="high:Q", color=colour)
    points = base.mark(
        "point", filled=True, size=62, opacity=1, stroke=INK, strokeWidth=0.6
    ).encode(x=x, fill=vega.field("colour:N").scale(None), shape=vega.field("shape:N").scale(None))
    words = base.mark("text", align="left", fontSize=12, color=INK).encode(
        x=vega.value(frame.width + 14), text="text:N"
    )
    return [bars, points, words, *level_layers(figure, frame)]


def _row(figure: Figure, mark: Mark, look: Look) -> dict[str, Any]:
    unit = figure.value_unit
    return {
        "row": wrapped(mark.row),
        "value": scaled(mark.value, unit),
        "low": scaled(mark.low, unit),
        "high": scaled(mark.high, unit),
        "n": mark.n,
        "text": mark.text,
        "best_rank": scaled(mark.x_low, "number"),
        "worst_rank": scaled(mark.x_high, "number"),
        "colour": look.colour,
        "shape": look.shape,
    }


def _told(figure: Figure) -> list[str]:
    asked = ["row:N", "text:N", "value:Q", "low:Q", "high:Q"]
    return [*asked, "n:Q"] if any(mark.n for mark in figure.marks) else asked


def row_heights(rows: Sequence[str]) -> int:
    """The height of a row that holds the names in all of their lines."""
    lines = max((wrapped(row).count("\n") + 1 for row in rows), default=1)
    return _STEP + _LINE * (lines - 1)


def row_axis(rows: Sequence[str], room: float = 8, title: str = "") -> vega.Field:
    """The vertical axis of names, a long one in several lines."""
    field = vega.field("row:N", title=title or None)
    return field.scale(domain=[wrapped(row) for row in rows]).unsorted().axis(
        ticks=False, domain=False, labelPadding=room, labelExpr="split(datum.label, '\\n')",
        labelLineHeight=_LINE, titleAnchor="start",
    )  # fmt: skip


def _row_frame(figure: Figure, width: int, height: int) -> Frame:
    """A frame whose horizontal axis is that of the values."""
    plane = frame_of(figure, width, height)
    return Frame(width=width, height=height, across=plane.up, up=(0.0, 1.0))


def _value_axis(frame: Frame, figure: Figure) -> vega.Field:
    return (
        vega.field("value:Q", title=figure.value_axis or None)
        .scale(domain=list(frame.across), nice=False, zero=False)
        .axis(grid=True, domain=False, ticks=False, tickCount=7)
    )


def level_layers(figure: Figure, frame: Frame, above: float = 5) -> list[vega.Part]:
    """Thin dashed lines down the figure, their texts above it, one beside the other or stacked."""
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
        data = [{"level": value, "text": text}]
        base = vega.chart(data).encode(x="level:Q")
        layers.append(base.mark("rule", color=QUIET, strokeDash=[4, 3], strokeWidth=1.2))
        layers.append(
            base.mark("text", align=align, baseline="bottom", fontSize=11, color=QUIET).encode(
                y=vega.value(-above - 14 * place), text="text:N"
            )
        )
    return layers


def lanes_of(figure: Figure) -> list[int]:
    """A lane for each tied run, so that runs that overlap stand side by side."""
    free_from: list[int] = []
    chosen = []
    for span in figure.spans:
        lane = next((i for i, at in enumerate(free_from) if at <= span.first), len(free_from))
        free_from[lane : lane + 1] = [span.last + 1]
        chosen.append(lane)
    return chosen


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
        .encode(
            x=vega.field("at:Q").scale(None).axis(None),
            y=vega.field("from:Q").scale(None).axis(None),
            y2="to:Q",
            tooltip=["tied:N"],
        )
    )


def _open_ranks(figure: Figure, rows: Sequence[str], frame: Frame) -> vega.Part:
    """From the best to the worst rank that the data leave open."""
    data = [_row(figure, mark, OTHER) for mark in figure.marks]
    y = vega.field("row:N").scale(domain=[wrapped(row) for row in rows]).unsorted().axis(None)
    domain = [0.5, len(rows) + 0.5]
    x = vega.field("best_rank:Q", title=figure.x_axis or None).scale(domain=domain, nice=False)
    x = x.axis(tickCount=5, format="d", tickMinStep=1, domain=False, ticks=False)
    base = vega.chart(data).encode(y=y, x=x, x2="worst_rank:Q")
    bars = base.mark("rule", strokeWidth=4, color=QUIET, strokeCap="round")
    return bars.properties(width=160, height=frame.height)


def strips_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A row a group of items: a tick for each model, and the first three as marks of their own with
    their intervals; the level of guessing across all."""
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    series = list(dict.fromkeys(mark.column for mark in figure.marks))
    own = series[:3]
    looks = series_looks(series, models)
    if any(looks[name] == OTHER for name in own):
        looks = dict(zip(own, LOOKS, strict=False))
    step = max(row_heights(rows), 13 * len(own) + 8)
    frame = _row_frame(figure, _WIDTH, step * len(rows))
    data = [_strip_mark(figure, mark, looks, own) for mark in figure.marks]
    base = vega.chart(data).encode(
        y=row_axis(rows), tooltip=["row:N", "model:N", "value:Q", "low:Q", "high:Q", "n:Q"]
    )
    # Each of the first three on a line of its own, so that their intervals lie side by side.
    offset = vega.field("line:Q").scale(domain=[-0.5, max(len(own), 1) - 0.5])
    colour = vega.field("colour:N").scale(None)
    x = _value_axis(frame, figure)
    others = (
        base.only("datum.line === null")
        .mark("tick", color=OTHER.colour, thickness=1, size=step - 10, opacity=0.7)
        .encode(x=x)
    )
    first = base.only("datum.line !== null").encode(yOffset=offset)
    bars = first.mark("rule", strokeWidth=1.6).encode(x=x, x2="high:Q", color=colour)
    bars = bars.encode(x=vega.field("low:Q"))
    points = first.mark(
        "point", filled=True, size=48, opacity=1, stroke=INK, strokeWidth=0.6
    ).encode(x=x, fill=vega.field("colour:N").scale(None), shape=vega.field("shape:N").scale(None))
    words = (
        vega.chart([{"row": wrapped(row), "text": _size(figure, row)} for row in rows])
        .mark("text", align="left", color=QUIET, fontSize=11)
        .encode(y=row_axis(rows), x=vega.value(frame.width + 10), text="text:N")
    )
    layers = [others, bars, points, words, *level_layers(figure, frame)]
    shown = {name: looks[name] for name in own}
    layers += key_layers(shown, above=8 + 14 * len(figure.levels))
    return vega.layer(*layers).properties(width=frame.width, height=frame.height)


def _strip_mark(
    figure: Figure, mark: Mark, looks: Mapping[str, Look], own: Sequence[str]
) -> dict[str, Any]:
    row = _row(figure, mark, looks.get(mark.column, OTHER))
    line = own.index(mark.column) if mark.column in own else None
    return {**row, "model": named(mark.column), "line": line}


def _size(figure: Figure, row: str) -> str:
    n = max((mark.n for mark in figure.marks if mark.row == row), default=0)
    return f"n {n:,}" if n else ""
