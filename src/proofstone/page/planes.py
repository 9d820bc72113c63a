"""Figures with numbers on both axes: curves of series, and scatters with every point named."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from proofstone.page import vega
from proofstone.page.section import AxisUnit, Curve, Figure, Mark
from proofstone.page.vega import (
    BLUE,
    FEWEST_PANELS,
    INK,
    LOOKS,
    OTHER,
    QUIET,
    Box,
    Look,
    clipped,
    named,
    place_labels,
    series_looks,
    spread,
    text_width,
    wrapped,
)
from proofstone.wording.messages import say

# Small multiples: panels with the same axes, a few in a row.

_WIDE, _HIGH = 200, 150


_CELLS = 30  # maximum width of a panel title's line


def in_panels(
    figure: Figure,
    layers: Callable[[Figure, Frame], Sequence[vega.Part]],
    frame: Frame | None = None,
) -> vega.Part:
    """Return a panel per column of the marks, drawn by ``layers``; only outer axes have titles."""
    columns = figure.columns()
    plane = frame or frame_of(figure, _WIDE, _HIGH)
    in_row = 3 if len(columns) > 4 or len(columns) == 3 else 2
    titles = panel_titles(columns)
    charts = []
    for place, column in enumerate(columns):
        part = structs.replace(
            figure,
            marks=tuple(mark for mark in figure.marks if mark.column == column),
            curves=tuple(each for each in figure.curves if each.column in {column, ""}),
            x_axis=figure.x_axis if place + in_row >= len(columns) else "",
            value_axis=figure.value_axis if place % in_row == 0 else "",
        )
        chart = vega.layer(*layers(part, plane)).properties(
            width=plane.width, height=plane.height, title=panel_title(titles[place])
        )
        charts.append(chart)
    return vega.concat(*charts, columns=in_row, spacing=18)


def panel_title(lines: Sequence[str]) -> dict[str, Any]:
    """Return a panel's title, smaller than a figure's."""
    return {"text": list(lines), "fontSize": 12, "fontWeight": "normal", "offset": 6}


def panel_titles(columns: Sequence[str]) -> list[list[str]]:
    """Return the panels' titles with equal numbers of lines, so that panels align."""
    lines = [wrapped(column, _CELLS).split("\n") for column in columns]
    most = max((len(each) for each in lines), default=1)
    return [["\u00a0"] * (most - len(each)) + each for each in lines]


_PLANES_WIDE, _PLANES_HIGH = 460, 300


_CROWDED = (540, 380)


_MOST_NAMED = 24  # more points are numbered, with a list next to the plane


_GAP = 15


# Lines outside series: scale lines and boundaries.
_THIN: Mapping[str, Any] = {"color": "#bdbdbd", "strokeWidth": 0.9}


_EDGE: Mapping[str, Any] = {"color": QUIET, "strokeWidth": 1.4, "strokeDash": [6, 4]}


MOST_CROSSES = 6  # more points with intervals on both axes have ellipses instead of crosses


_ELLIPSE_STEPS = 32


def curves_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return marks joined along ``x`` by series, with intervals; panels by column.

    Seven or more series in one column get a panel each; fewer are named at their ends.
    """
    series = figure.rows()
    columns = figure.columns()
    looks = series_looks(series, models)
    if len(columns) > 1:
        panels = in_panels(
            figure, lambda part, frame: plane_layers(part, frame, looks, joined=True)
        )
        return vega.vconcat(key_chart(looks), panels, spacing=14) if len(series) > 1 else panels
    if len(series) >= FEWEST_PANELS:
        plain = dict.fromkeys(series, LONE)
        return in_panels(
            _by_series(figure), lambda part, frame: plane_layers(part, frame, plain, joined=True)
        )
    frame = frame_of(figure, _PLANES_WIDE, _PLANES_HIGH)
    layers = [*plane_layers(figure, frame, looks, joined=True), *_ends(figure, frame, looks)]
    return frame.chart(*layers)


LONE = structs.replace(OTHER, colour="#0072B2")


def _by_series(figure: Figure) -> Figure:
    return structs.replace(
        figure,
        marks=tuple(structs.replace(mark, column=mark.row) for mark in figure.marks),
        curves=tuple(
            each if each.is_reference else structs.replace(each, column=each.row)
            for each in figure.curves
        ),
    )


def points_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return marks with intervals on both axes.

    With curves, each series is named at the end of its curve. Otherwise each mark is named, or
    numbered if there are many.
    """
    series = figure.rows()
    looks = series_looks(series, models)
    has_fits = any(not each.is_reference for each in figure.curves)
    if has_fits and len(series) >= FEWEST_PANELS:
        plain = dict.fromkeys(series, LONE)
        return in_panels(_by_series(figure), lambda part, frame: plane_layers(part, frame, plain))
    shown = [mark for mark in figure.marks if _is_shown(mark, figure)]
    many = not has_fits and len(shown) > _MOST_NAMED
    rows = math.ceil(len(shown) / 2)
    wide, high = _CROWDED if _has_ellipses(figure) else (_PLANES_WIDE, _PLANES_HIGH)
    frame = frame_of(figure, wide, max(high, 15 * rows) if many else high)
    layers = plane_layers(figure, frame, looks)
    if has_fits:
        layers += _ends(figure, frame, looks)
    else:
        names = [named(mark.text or mark.row) for mark in shown]
        texts = [str(place) for place in range(1, len(shown) + 1)] if many else names
        layers += _names(figure, frame, shown, texts)
        layers += numbered_key(names, frame) if many else []
    return frame.chart(*layers)


def interval_row(
    figure: Figure, mark: Mark, look: Look | None = None, **more: Any
) -> dict[str, Any]:
    """Return a mark as a row of data: value, interval, n, look, and ``more``."""
    unit = figure.value_unit
    own = {end: scaled(getattr(mark, end), unit) for end in ("value", "low", "high")}
    looks = {} if look is None else {"colour": look.colour, "shape": look.shape}
    return {**own, "n": mark.n, **looks, **more}


def plane_layers(
    figure: Figure, frame: Frame, looks: Mapping[str, Look], *, joined: bool = False
) -> list[vega.Part]:
    """Return references, levels, curves, intervals and marks, in this order from the back."""
    marks = [_mark(figure, mark, looks) for mark in figure.marks]
    base = vega.chart(marks).encode(x=frame.x("x:Q", figure), tooltip=_told(figure))
    y = frame.y("value:Q", figure.value_axis)
    layers = [*_references(figure, frame), *across_levels(figure, frame)]
    layers += _curves(figure, frame, looks)
    if joined:
        dash = vega.field_of("dash:N").scale(None)
        line = base.mark("line", strokeWidth=1.8, opacity=0.9)
        layers.append(line.encode(y=y, color=vega.COLOUR, detail="series:N", strokeDash=dash))
    if ellipses := _ellipses(figure, frame, looks):
        return [*layers, ellipses, base.points(46, y=y)]
    bars = base.mark("rule", strokeWidth=1.4, opacity=0.8).encode(color=vega.COLOUR)
    return [
        *layers,
        bars.encode(y=frame.y("low:Q", figure.value_axis), y2="high:Q"),
        bars.encode(x=frame.x("x_low:Q", figure), x2="x_high:Q", y=y),
        base.points(46, y=y),
    ]


def _has_ellipses(figure: Figure) -> bool:
    """Return True if many marks have intervals on both axes, whose crosses would overlap."""
    crossed = [
        mark
        for mark in figure.marks
        if math.isfinite(mark.x_high - mark.x_low) and math.isfinite(mark.high - mark.low)
    ]
    return len(crossed) > MOST_CROSSES


def _ellipses(figure: Figure, frame: Frame, looks: Mapping[str, Look]) -> vega.Part | None:
    """Return a light ellipse for each mark, or None for few marks.

    Its axes end at the ends of both intervals, so quarters differ for asymmetric intervals. It is
    not a joint confidence region.
    """
    if not _has_ellipses(figure):
        return None
    rows = []
    for place, mark in enumerate(figure.marks):
        boxes = list(_bars(figure, frame, mark))
        if len(boxes) < 2 or not _is_shown(mark, figure):
            continue
        upright, level = boxes
        x, y = _pixels(figure, frame, mark)
        wide = x - level.left
        for step in range(_ELLIPSE_STEPS + 1):
            across, up = (f(2 * math.pi * step / _ELLIPSE_STEPS) for f in (math.cos, math.sin))
            rows.append(
                {
                    "mark": place,
                    "step": step,
                    "at": round(x + across * (level.right - x if across > 0 else wide), 2),
                    "up": round(y - up * (y - upright.top if up > 0 else upright.bottom - y), 2),
                    "colour": looks.get(mark.row, OTHER).colour,
                }
            )
    drawn = vega.chart(rows).mark("line", filled=True, fillOpacity=0.06, strokeOpacity=0.3,
                                  strokeWidth=0.8)  # fmt: skip
    return drawn.encode(
        x=vega.pixels("at"), y=vega.pixels("up"), order="step:Q", detail="mark:N",
        fill=vega.COLOUR, stroke=vega.COLOUR,
    )  # fmt: skip


def _mark(figure: Figure, mark: Mark, looks: Mapping[str, Look]) -> dict[str, Any]:
    look, on_axis = looks.get(mark.row, OTHER), _is_shown(mark, figure)
    places = {
        end: scaled(getattr(mark, end), figure.x_unit) if on_axis else None
        for end in ("x", "x_low", "x_high")
    }
    return interval_row(
        figure, mark, look, **places,
        series=named(mark.row),
        panel=named(mark.column) if mark.column else "",
        text=named(mark.text) if mark.text else "",
        dash=list(look.dash),
    )  # fmt: skip


def _is_shown(mark: Mark, figure: Figure) -> bool:
    """Return True if a mark has a position: on a logarithmic axis, values must be positive."""
    if math.isnan(mark.x) or math.isnan(mark.value):
        return False
    return mark.x > 0 or not figure.is_log


def _told(figure: Figure) -> list[str]:
    asked = ["series:N", "x:Q", "value:Q", "low:Q", "high:Q"]
    if any(mark.text for mark in figure.marks):
        asked.insert(1, "text:N")
    return [*asked, "n:Q"] if any(mark.n for mark in figure.marks) else asked


def _curves(figure: Figure, frame: Frame, looks: Mapping[str, Look]) -> Iterator[vega.Part]:
    for each in figure.curves:
        if each.is_reference:
            continue
        look = looks.get(each.row, OTHER)
        dash = [] if look.dash == (1, 0) else list(look.dash)
        line = _line_of(figure, frame, _scaled_points(figure, each))
        yield line.mark("line", color=look.colour, strokeDash=dash, strokeWidth=1.8, opacity=0.9)


def _references(figure: Figure, frame: Frame) -> Iterator[vega.Part]:
    """Yield gray reference lines, each with its text at its right end within the plane."""
    for each in figure.curves:
        if not each.is_reference:
            continue
        for run in clipped(_scaled_points(figure, each), frame.across, frame.up):
            line = _line_of(figure, frame, run)
            yield line.mark("line", clip=True, **(_EDGE if each.is_firm else _THIN))
        end = _end_within(figure, frame, each)
        if each.text and end[0] >= text_width(each.text, 10):
            at = vega.chart([{"at": end[0], "up": end[1], "text": each.text}])
            at = at.words("right", 10, QUIET, baseline="bottom", dx=-2)
            yield at.encode(x=vega.pixels("at"), y=vega.pixels("up"))


def _scaled_points(figure: Figure, curve: Curve) -> list[tuple[float, float]]:
    """Return the known points of a curve in axis units."""
    points = [
        (scaled(x, figure.x_unit), scaled(value, figure.value_unit))
        for x, value in zip(curve.x, curve.values, strict=True)
    ]
    return [(x, value) for x, value in points if x is not None and value is not None]


def _line_of(figure: Figure, frame: Frame, points: Sequence[tuple[float, float]]) -> vega.Part:
    return vega.chart([{"x": x, "value": value} for x, value in points]).encode(
        x=frame.x("x:Q", figure), y=frame.y("value:Q", figure.value_axis)
    )


def _end_within(figure: Figure, frame: Frame, curve: Curve) -> tuple[float, float]:
    """Return the rightmost point of a line within the plane, in pixels."""
    points = [(frame.right_of(x), frame.below(y)) for x, y in _scaled_points(figure, curve)]
    inside = [(x, y) for x, y in points if 0 <= x <= frame.width and 0 <= y <= frame.height]
    return max(inside, default=(float("-inf"), 0.0))


def across_levels(figure: Figure, frame: Frame) -> Iterator[vega.Part]:
    """Yield thin dashed horizontal lines, with separated texts at the right."""
    for text, value, height in _levels(figure, frame):
        base = vega.chart([{"level": value, "text": text, "up": height}])
        yield base.mark("rule", color=QUIET, strokeDash=[4, 3], strokeWidth=1.2).encode(
            y=frame.y("level:Q", figure.value_axis)
        )
        words = base.words("right", 11, QUIET, dx=-2)
        yield words.encode(x=vega.value(frame.width), y=vega.pixels("up"))


def _levels(figure: Figure, frame: Frame) -> list[tuple[str, float, float]]:
    """Return each level's text and value, and the height of its text in pixels."""
    known = [
        (level.text, value)
        for level in figure.levels
        if (value := scaled(level.value, figure.value_unit)) is not None
    ]
    heights = spread([frame.below(value) - 7 for _, value in known], 13, (4, frame.height - 6))
    return [(text, value, at) for (text, value), at in zip(known, heights, strict=True)]


def _ends(figure: Figure, frame: Frame, looks: Mapping[str, Look]) -> list[vega.Part]:
    """Return the name of each series next to its right end, without overlap, with leader lines."""
    ends = [(name, end) for name in looks if (end := _end(figure, frame, name)) is not None]
    heights = spread([end[1] for _, end in ends], _GAP, (4, frame.height - 4))
    rows = [
        {
            "series": named(name),
            "at": end[0] + 5,
            "from": end[1],
            "to": frame.width + 16,
            "up": height,
            "colour": looks[name].colour,
            "shape": looks[name].shape,
        }
        for (name, end), height in zip(ends, heights, strict=True)
    ]
    base = vega.chart(rows)
    names = base.words("left", 12, field="series:N")
    return [
        base.mark("rule", color="#b0b0b0", strokeWidth=0.8).encode(
            x=vega.pixels("at"), x2="to:Q", y=vega.pixels("from"), y2="up:Q"
        ),
        names.encode(x=vega.value(frame.width + 20), y=vega.pixels("up")),
    ]


def _end(figure: Figure, frame: Frame, name: str) -> tuple[float, float] | None:
    """Return the right end of a series in pixels: of its curve, otherwise of its marks."""
    points = [
        (a, b)
        for each in figure.curves
        if each.row == name and not each.is_reference
        for a, b in zip(each.x, each.values, strict=True)
    ] or [(mark.x, mark.value) for mark in figure.marks if mark.row == name]
    known = [
        (place, value)
        for a, b in points
        if (place := scaled(a, figure.x_unit)) is not None
        and (value := scaled(b, figure.value_unit)) is not None
        and (place > 0 or not figure.is_log)
    ]
    if not known:
        return None
    place, value = max(known, key=lambda point: point[0])
    return frame.right_of(place), frame.below(value)


def _names(
    figure: Figure, frame: Frame, marks: Sequence[Mark], texts: Sequence[str]
) -> list[vega.Part]:
    """Return each mark's text near it without overlap; a leader line marks distant ones."""
    points = [_pixels(figure, frame, mark) for mark in marks]
    # Names may lie on light ellipses, not on crosses.
    bars = () if _has_ellipses(figure) else marks
    taken = [box for mark in bars for box in _bars(figure, frame, mark)]
    for text, _, up in _levels(figure, frame):
        taken.append(Box(frame.width - text_width(text, 11), up - 7, frame.width, up + 7))
    # Names may extend beyond the plane at the right; numbers have a list there.
    long = max((text_width(text, 11) for text in texts), default=0.0)
    room = frame.width + 8 + long
    found = place_labels(points, texts, width=room, height=frame.height, taken=taken)
    rows = [
        {
            "text": text,
            "at": label.x,
            "up": label.y,
            "from_x": x,
            "from_y": y,
            "to_x": label.x if label.x > x else label.x + text_width(text, 11),
            "is_far": label.is_far,
        }
        for text, label, (x, y) in zip(texts, found, points, strict=True)
    ]
    base = vega.chart(rows)
    leads = base.only("datum.is_far").mark("rule", color="#808080", strokeWidth=0.8)
    return [
        leads.encode(x=vega.pixels("from_x"), x2="to_x:Q", y=vega.pixels("from_y"), y2="up:Q"),
        base.words("left", 11).encode(x=vega.pixels("at"), y=vega.pixels("up")),
    ]


def _pixels(figure: Figure, frame: Frame, mark: Mark) -> tuple[float, float]:
    x, value = scaled(mark.x, figure.x_unit), scaled(mark.value, figure.value_unit)
    return (
        frame.right_of(x if x is not None else frame.across[0]),
        frame.below(value if value is not None else frame.up[0]),
    )


def _bars(figure: Figure, frame: Frame, mark: Mark) -> Iterator[Box]:
    """Yield the boxes covered by a mark's intervals."""
    x, y = _pixels(figure, frame, mark)
    low, high = scaled(mark.low, figure.value_unit), scaled(mark.high, figure.value_unit)
    if low is not None and high is not None:
        yield Box(x - 1, frame.below(high), x + 1, frame.below(low))
    left, right = scaled(mark.x_low, figure.x_unit), scaled(mark.x_high, figure.x_unit)
    if left is not None and right is not None and (left > 0 or not figure.is_log):
        yield Box(frame.right_of(left), y - 1, frame.right_of(right), y + 1)


# Map of texts: one panel per group, with its texts in front of all others.

_BEHIND = 400  # other texts in a panel, evenly sampled


_MAPS_WIDE, _MAPS_HIGH = 190, 170


def map_chart(figure: Figure, _models: Mapping[str, Look]) -> vega.Part:
    """Return panels by column, each with its marks in front of a sample of all; axes have no
    scale."""
    step = max(1, len(figure.marks) // _BEHIND)
    behind = list(figure.marks)[::step]

    def layers(part: Figure, frame: Frame) -> Sequence[vega.Part]:
        return [
            _dots(behind, frame, "#b9b9b9", 10, told=False),
            _dots(part.marks, frame, BLUE, 22, told=True),
        ]

    return in_panels(figure, layers, frame_of(figure, _MAPS_WIDE, _MAPS_HIGH))


def _dots(marks: Sequence[Mark], frame: Frame, colour: str, size: int, *, told: bool) -> vega.Part:
    rows: list[dict[str, Any]] = [
        {"x": mark.x, "y": mark.value, "group": named(mark.column), "text": mark.text}
        for mark in marks
        if not math.isnan(mark.value)
    ]
    edge: dict[str, Any] = {"stroke": INK, "strokeWidth": 0.3} if told else {}
    dots = vega.chart(rows).mark("circle", size=size, color=colour, opacity=0.8, **edge)
    dots = dots.encode(
        x=vega.field_of("x:Q").axis(None).scale(domain=list(frame.across), nice=False, zero=False),
        y=vega.field_of("y:Q").axis(None).scale(domain=list(frame.up), nice=False, zero=False),
    )
    if not told:
        return dots
    return dots.encode(tooltip=["group", "text"] if any(row["text"] for row in rows) else ["group"])


# Reliability diagrams: share correct by stated confidence, one panel per model.

_SIDE, _LARGE = 170, 320


_COUNTS = 0.18  # of a panel's height, for the tallest bar of counts


def calibration_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a panel per row: a dot per bin at mean confidence ``x`` with the interval of its
    accuracy.

    Bars at the bottom show the number of answers per bin; the diagonal shows perfect calibration.
    """
    del models  # a panel has one model, named above it
    alone = len({mark.row for mark in figure.marks}) == 1
    side = _LARGE if alone else _SIDE
    apart = structs.replace(
        figure,
        marks=tuple(structs.replace(mark, column=mark.row) for mark in figure.marks),
        curves=(Curve(x=(0.0, 1.0), values=(0.0, 1.0), is_reference=True),),
    )
    frame = Frame(width=side, height=side, across=(0.0, 100.0), up=(0.0, 100.0))

    def layers(part: Figure, plane: Frame) -> list[vega.Part]:
        looks = {mark.row: LOOKS[0] for mark in part.marks}
        return [_counts(part, plane), *plane_layers(part, plane, looks)]

    return in_panels(apart, layers, frame)


def _counts(figure: Figure, frame: Frame) -> vega.Part:
    most = max((mark.n for mark in figure.marks), default=0) or 1
    bars = [
        {
            "x": scaled(mark.x, "points"),
            "from": frame.height,
            "to": round(frame.height * (1 - _COUNTS * mark.n / most), 2),
            "n": mark.n,
        }
        for mark in figure.marks
        if mark.n
    ]
    return (
        vega.chart(bars)
        .mark("rule", strokeWidth=7, color=QUIET, opacity=0.35)
        .encode(x=frame.x("x:Q", figure), y=vega.pixels("from"), y2="to:Q", tooltip=["n:Q"])
    )


# The plane of a figure: positions in pixels, and axes with round ends.


Ends = tuple[float, float]


_MOST_TICKS = 8


def scaled(value: float, unit: AxisUnit) -> float | None:
    """Return a value in axis units: points out of 100 for shares; None if unknown."""
    if not math.isfinite(value):
        return None
    return round(100 * value, 6) if unit == "points" else value


@dataclass(frozen=True, slots=True)
class Frame:
    """A plane of ``width`` by ``height`` pixels with value ranges ``across`` and ``up``.

    ``is_log``: the horizontal axis is logarithmic.
    """

    width: int
    height: int
    across: Ends
    up: Ends
    is_log: bool = False

    def right_of(self, x: float) -> float:
        """Return the distance from the left end in pixels."""
        low, high = self.across
        if self.is_log:
            low, high, x = math.log(low), math.log(high), math.log(x)
        return self.width * (x - low) / (high - low)

    def below(self, value: float) -> float:
        """Return the distance from the upper end in pixels."""
        low, high = self.up
        return self.height * (high - value) / (high - low)

    def x(self, field: str, figure: Figure) -> vega.Field:
        """Return the horizontal axis; its title states a logarithmic scale."""
        title = figure.x_axis
        if figure.is_log and title:
            title = say("{axis} (logarithmic)", axis=title)
        if not self.is_log:
            n_ticks = min(_MOST_TICKS, self.width // 60)
            return self.across_axis(field, title, tickCount=n_ticks, grid=False)
        ticks = log_ticks(self.across, max(2, self.width // 60))
        form = "~g" if ticks[0] < 1 else ",~r"
        return (
            vega.field_of(field, title=title or None)
            .scale(type="log", domain=list(self.across), nice=False)
            .axis(values=ticks, format=form, grid=False)
        )

    def across_axis(self, field: str, title: str, **axis: Any) -> vega.Field:
        """Return a horizontal axis of numbers between the frame's ends."""
        named = vega.field_of(field, title=title or None)
        return named.scale(domain=list(self.across), nice=False, zero=False).axis(**axis)

    def chart(self, *layers: vega.Part) -> vega.Part:
        """Return layers on top of each other in a chart of this size."""
        return vega.layer(*layers).properties(width=self.width, height=self.height)

    def y(self, field: str, title: str) -> vega.Field:
        """Return the vertical axis."""
        n_ticks = max(3, self.height // 50)
        return (
            vega.field_of(field, title=title or None)
            .scale(domain=list(self.up), nice=False, zero=False)
            .axis(tickCount=n_ticks, domain=False, ticks=False)
        )


def frame_of(
    figure: Figure, width: int, height: int, *, across: Ends | None = None, up: Ends | None = None
) -> Frame:
    """Return the plane that contains all marks, intervals, curves of series and levels."""
    unit, x_unit = figure.value_unit, figure.x_unit
    values = [scaled(value, unit) for value in _values(figure)]
    places = [scaled(x, x_unit) for x in _places(figure)]
    if figure.is_log:
        places = [x for x in places if x is not None and x > 0]
    ends = padded_ends if figure.is_log else round_ends
    return Frame(
        width=width,
        height=height,
        across=across or ends([x for x in places if x is not None]),
        up=up or round_ends([value for value in values if value is not None]),
        is_log=figure.is_log,
    )


def _values(figure: Figure) -> Iterator[float]:
    for mark in figure.marks:
        yield from (mark.value, mark.low, mark.high)
    for curve in figure.curves:
        if not curve.is_reference:
            yield from curve.values
    yield from (level.value for level in figure.levels)


def _places(figure: Figure) -> Iterator[float]:
    for mark in figure.marks:
        if not math.isnan(mark.value):
            yield from (mark.x,) if math.isnan(mark.x_low) else (mark.x_low, mark.x_high)
    for curve in figure.curves:
        if not curve.is_reference:
            yield from curve.x


def round_ends(values: Iterable[float]) -> Ends:
    """Return round numbers around ``values``, different even if all are equal; 0 to 1 for none."""
    known = list(values)
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    span = (high - low) or abs(high) / 5 or 1.0
    step = _round_step(span / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    return first * step, last * step


def _round_step(rough: float) -> float:
    unit = 10.0 ** math.floor(math.log10(rough))
    return next(unit * n for n in (1, 2, 2.5, 5, 10) if unit * n >= rough * (1 - 1e-9))


def padded_ends(values: Iterable[float]) -> Ends:
    """Return a range slightly wider than positive ``values`` for a logarithmic axis.

    The ends differ by at least a factor of two.
    """
    known = list(values)
    if not known:
        return 1.0, 10.0
    low, high = math.log(min(known)), math.log(max(known))
    room = max(0.06 * (high - low), (math.log(2) - (high - low)) / 2, 0.02)
    return math.exp(low - room), math.exp(high + room)


def log_ticks(ends: Ends, most: int) -> list[float]:
    """Return round numbers for a logarithmic axis, at most ``most``.

    They are 1, 2, 5 per decade, or 1, 3, or powers of ten, whichever gives the most. Without any in
    the range, the middle.
    """
    low, high = ends
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for digits in ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [
            float(f"{digit}e{power}")
            for power in powers
            for digit in digits
            if low <= float(f"{digit}e{power}") <= high
        ]
        if len(found) <= most:
            break
    else:
        found = found[:: math.ceil(len(found) / most)]
    return found or [float(f"{math.sqrt(low * high):.2g}")]


# Legend of colors, shapes and numbers.

_FRAME_WIDE = 560


_LINE = 18


def key_lines(
    looks: Mapping[str, Look], width: float = _FRAME_WIDE
) -> list[list[tuple[str, Look]]]:
    """Return the series in lines that fit the width."""
    lines: list[list[tuple[str, Look]]] = [[]]
    at = 0.0
    for name, look in looks.items():
        long = text_width(named(name), 12) + 34
        if at and at + long > width:
            lines.append([])
            at = 0.0
        lines[-1].append((name, look))
        at += long
    return lines


def key_layers(looks: Mapping[str, Look], *, above: float, width: float = _FRAME_WIDE) -> Any:
    """Return each series' mark and name, in lines that end ``above`` pixels over the plane."""
    lines = key_lines(looks, width)
    keys = []
    for line, members in enumerate(lines):
        at = 0.0
        for name, look in members:
            up = -above - _LINE * (len(lines) - 1 - line) - 8
            keys.append(
                {"at": at + 6, "beside": at + 16, "up": up, "name": named(name),
                 "colour": look.colour, "shape": look.shape}
            )  # fmt: skip
            at += text_width(named(name), 12) + 34
    base = vega.chart(keys).encode(y=vega.bare("up"))
    names = base.words("left", 12, field="name:N")
    return [base.points(62, x=vega.bare("at")), names.encode(x=vega.bare("beside"))]


def key_chart(looks: Mapping[str, Look]) -> vega.Part:
    """Return the legend of a figure in panels as a chart above them."""
    height = _LINE * len(key_lines(looks))
    layers = key_layers(looks, above=-height)
    return vega.layer(*layers).properties(width=_FRAME_WIDE, height=height)


def numbered_key(names: Sequence[str], frame: Frame) -> list[vega.Part]:
    """Return names by number, in two columns right of a plane."""
    half = math.ceil(len(names) / 2)
    long = max((text_width(f"{len(names)} {name}", 11) for name in names[:half]), default=0.0)
    keys = [
        {"at": frame.width + 80 + (place // half) * (long + 24), "up": 8 + 15 * (place % half),
         "number": str(place + 1), "name": name}
        for place, name in enumerate(names)
    ]  # fmt: skip
    base = vega.chart(keys).encode(x=vega.pixels("at"), y=vega.pixels("up"))
    numbers = base.words("right", 11, field="number:N", dx=-5)
    return [numbers, base.words("left", 11, field="name:N")]
