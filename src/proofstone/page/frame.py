"""A figure's plane: where a value lies in pixels, and axes with round ends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofstone.page import vega
from proofstone.page.section import AxisUnit, Figure, Mark
from proofstone.page.vega import INK, Look, named, text_width
from proofstone.wording.messages import say

Ends = tuple[float, float]


_MOST_TICKS = 8


def scaled(value: float, unit: AxisUnit) -> float | None:
    """A value as an axis counts it: points out of 100 of a share; None for what is not known."""
    if not math.isfinite(value):
        return None
    return round(100 * value, 6) if unit == "points" else value


@dataclass(frozen=True, slots=True)
class Frame:
    """A plane of ``width`` by ``height`` pixels over values from the left to the right end and from
    the lower to the upper; ``is_log``: across by their logarithm."""

    width: int
    height: int
    across: Ends
    up: Ends
    is_log: bool = False

    def right_of(self, x: float) -> float:
        """Pixels from the left end."""
        low, high = self.across
        if self.is_log:
            low, high, x = math.log(low), math.log(high), math.log(x)
        return self.width * (x - low) / (high - low)

    def below(self, value: float) -> float:
        """Pixels from the upper end."""
        low, high = self.up
        return self.height * (high - value) / (high - low)

    def x(self, field: str, figure: Figure) -> vega.Field:
        """The horizontal axis; that it is logarithmic is in its title."""
        title = figure.x_axis
        if figure.is_log and title:
            title = say("{axis} (logarithmic)", axis=title)
        if not self.is_log:
            n_ticks = min(_MOST_TICKS, self.width // 60)
            return (
                vega.field_of(field, title=title or None)
                .scale(domain=list(self.across), nice=False, zero=False)
                .axis(tickCount=n_ticks, grid=False)
            )
        ticks = log_ticks(self.across, max(2, self.width // 60))
        form = "~g" if ticks[0] < 1 else ",~r"
        return (
            vega.field_of(field, title=title or None)
            .scale(type="log", domain=list(self.across), nice=False)
            .axis(values=ticks, format=form, grid=False)
        )

    def y(self, field: str, title: str) -> vega.Field:
        """The vertical axis."""
        n_ticks = max(3, self.height // 50)
        return (
            vega.field_of(field, title=title or None)
            .scale(domain=list(self.up), nice=False, zero=False)
            .axis(tickCount=n_ticks, domain=False, ticks=False)
        )


def frame_of(
    figure: Figure, width: int, height: int, *, across: Ends | None = None, up: Ends | None = None
) -> Frame:
    """The plane that holds all marks, their intervals, curves of series and levels of a figure."""
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
            yield from _across(mark)
    for curve in figure.curves:
        if not curve.is_reference:
            yield from curve.x


def _across(mark: Mark) -> Ends | tuple[float]:
    return (mark.x,) if math.isnan(mark.x_low) else (mark.x_low, mark.x_high)


def round_ends(values: Iterable[float]) -> Ends:
    """The nearest round numbers around ``values``, apart also where all are equal; 0 to 1 for
    none."""
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
    """A little more than ``values``, which are above 0, on a logarithmic axis; at least a factor of
    two between both ends."""
    known = list(values)
    if not known:
        return 1.0, 10.0
    low, high = math.log(min(known)), math.log(max(known))
    room = max(0.06 * (high - low), (math.log(2) - (high - low)) / 2, 0.02)
    return math.exp(low - room), math.exp(high + room)


def log_ticks(ends: Ends, most: int) -> list[float]:
    """Round numbers of a logarithmic axis: 1, 2, 5 a decade, or 1, 3, or powers of ten, whichever
    are at most ``most`` and most of them; the ends' middle where none lies between."""
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


# What colours, shapes and numbers of a figure stand for.

_WIDE = 560


_LINE = 18


def key_lines(looks: Mapping[str, Look], width: float = _WIDE) -> list[list[tuple[str, Look]]]:
    """The series in lines, of as many as fit beside each other."""
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


def key_layers(looks: Mapping[str, Look], *, above: float, width: float = _WIDE) -> Any:
    """Each series' mark and name, in lines that end ``above`` pixels over a plane's upper edge."""
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
    return [
        base.points(62, x=vega.bare("at")),
        base.mark("text", align="left", fontSize=12, color=INK).encode(
            x=vega.bare("beside"), text="name:N"
        ),
    ]


def key_chart(looks: Mapping[str, Look]) -> vega.Part:
    """The key of a figure in panels, as a chart to stand above them."""
    height = _LINE * len(key_lines(looks))
    layers = key_layers(looks, above=-height)
    return vega.layer(*layers).properties(width=_WIDE, height=height)


def numbered_key(names: Sequence[str], frame: Frame) -> list[vega.Part]:
    """Names by their numbers, in two columns right of a plane."""
    half = math.ceil(len(names) / 2)
    long = max((text_width(f"{len(names)} {name}", 11) for name in names[:half]), default=0.0)
    keys = [
        {
            "at": frame.width + 80 + (place // half) * (long + 24),
            "up": 8 + 15 * (place % half),
            "number": str(place + 1),
            "name": name,
        }
        for place, name in enumerate(names)
    ]
    base = vega.chart(keys).encode(x=vega.pixels("at"), y=vega.pixels("up"))
    return [
        base.mark("text", align="right", fontSize=11, color=INK, dx=-5).encode(text="number:N"),
        base.mark("text", align="left", fontSize=11, color=INK).encode(text="name:N"),
    ]
