"""Vega-Lite specifications composed of small parts.

Altair's classes took one to five seconds per figure, mostly for copies by ``encode`` and ``layer``;
this takes milliseconds. ``Altair`` opens the result (``chart_of``), and tests validate every kind
of figure against its schema.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from proofstone.page.text import cell_width, fitting_end, printable

# Label placement without overlap: widths are estimated, positions tried in turn.

_EM_A_CELL = 0.58  # of sans-serif letters, on the wide side; a Chinese character has two cells


_BREAKS = " -_/:.,"


class Box(Struct, frozen=True):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Return True if the two share more than an edge."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class Placed(Struct, frozen=True):
    """A label's left end and vertical center; ``is_far``: it needs a leader line."""

    x: float
    y: float
    is_far: bool


def named(name: str) -> str:
    """Return a name for a figure, without characters that break or reorder its line."""
    return printable(" ".join(name.split())) or "\N{EM DASH}"


def text_width(text: str, size: float = 12) -> float:
    """Return an upper estimate of the width of a line of text in pixels."""
    return cell_width(text) * _EM_A_CELL * size


def wrapped(name: str, cells: int = 44) -> str:
    """Return a name in lines of at most ``cells`` terminal cells, broken at word ends."""
    lines, rest = [], named(name)
    while rest:
        head, rest = _fitting(rest, cells)
        lines.append(head)
    return "\n".join(lines)


def _fitting(text: str, cells: int) -> tuple[str, str]:
    end = max(fitting_end(text, cells), 1)
    if end == len(text):
        return text, ""
    breaks = [place + 1 for place in range(end // 2, end) if text[place] in _BREAKS]
    end = breaks[-1] if breaks else end
    return text[:end].rstrip(), text[end:].lstrip()


def spread(wanted: Sequence[float], gap: float, ends: tuple[float, float]) -> list[float]:
    """Return positions at least ``gap`` apart, in the order of ``wanted`` and near them.

    They exceed the ``ends`` only if there are too many.
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    # Blocks of adjacent labels, each centered on the wanted positions.
    blocks: list[tuple[float, list[int]]] = []
    for place in order:
        members = [place]
        start = _start(wanted, members, gap, ends)
        while blocks and blocks[-1][0] + gap * len(blocks[-1][1]) > start:
            members = blocks.pop()[1] + members
            start = _start(wanted, members, gap, ends)
        blocks.append((start, members))
    found = [0.0] * len(wanted)
    for start, members in blocks:
        for step, place in enumerate(members):
            found[place] = start + gap * step
    return found


def _start(
    wanted: Sequence[float], members: Sequence[int], gap: float, ends: tuple[float, float]
) -> float:
    """Return the first position of a block centered on its wanted positions, within the ends."""
    centre = sum(wanted[place] - gap * step for step, place in enumerate(members)) / len(members)
    return max(ends[0], min(centre, ends[1] - gap * (len(members) - 1)))


def place_labels(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    *,
    width: float,
    height: float,
    size: float = 11,
    taken: Sequence[Box] = (),
) -> list[Placed]:
    """Return a place for each text near its point, without overlap with points and texts.

    In crowded regions, places are farther away or below the plane.
    """
    boxes = [*taken, *(Box(x - 5, y - 5, x + 5, y + 5) for x, y in points)]
    found: list[Placed] = []
    for (x, y), text in zip(points, texts, strict=True):
        long = text_width(text, size)
        box, placed = next(
            (box, placed)
            for box, placed in _tries(x, y, long, size, width, height)
            if not any(box.meets(other) for other in boxes)
        )
        boxes.append(box)
        found.append(placed)
    return found


def _tries(
    x: float, y: float, long: float, size: float, width: float, height: float
) -> Iterator[tuple[Box, Placed]]:
    """Yield boxes around a point, near ones first; boxes may exceed the right edge only."""
    half = size * 0.62
    for ring in range(60):
        away = 8 + ring * half
        turns = 16 if ring else 8
        for turn in range(turns):
            angle = 2 * math.pi * turn / turns
            middle = y + away * math.sin(angle)
            side = math.cos(angle)
            left = x + away * side - (long if side < -0.1 else 0 if side > 0.1 else long / 2)
            box = Box(left, middle - half, left + long, middle + half)
            if box.left >= 0 and box.top >= -4 and box.bottom <= height and box.right <= width:
                yield box, Placed(left, middle, ring > 1)
    # No free place nearby: a separate column right of the plane.
    left = width + 12
    for step in range(10_000):
        middle = half + step * 2 * half
        yield Box(left, middle - half, left + long, middle + half), Placed(left, middle, True)


Spec = Mapping[str, Any]


_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"


class Field:
    """Contents of a channel: a field of the rows with scale and axis, or a constant."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def scale(self, *nothing: None, **how: Any) -> Field:
        """Return the field with a scale; ``scale(None)``: values are pixels, colors or shapes."""
        return Field({**self.spec, "scale": None if nothing else how})

    def axis(self, *nothing: None, **how: Any) -> Field:
        """Return the field with an axis, or with none."""
        return Field({**self.spec, "axis": None if nothing else how})

    def unsorted(self) -> Field:
        """Return the field in the order of the domain instead of alphabetical order."""
        return Field({**self.spec, "sort": None})

    def legend(self, **how: Any) -> Field:
        """Return the field with a legend."""
        return Field({**self.spec, "legend": how})


def field_of(name: str, **more: Any) -> Field:
    """Return a field by name and kind: ``accuracy:Q`` (a number), ``model:N`` (a name)."""
    name, _, kind = name.partition(":")
    return Field({"field": name, **({"type": _TYPES[kind]} if kind else {}), **more})


def pixels(name: str) -> Field:
    """Return a field with positions in pixels."""
    return field_of(f"{name}:Q").scale(None)


def bare(name: str) -> Field:
    """Return a field with positions in pixels and no axis."""
    return pixels(name).axis(None)


def value(constant: Any) -> Field:
    """Return a constant for all rows, such as a position in pixels or a color."""
    return Field({"value": constant})


def condition(test: str, then: Field, otherwise: Field) -> Field:
    """Return one of two fields, by an expression of the row (``datum``)."""
    return Field({"condition": {"test": test, **then.spec}, **otherwise.spec})


# Look stored in a row.
COLOUR, SHAPE = field_of("colour:N").scale(None), field_of("shape:N").scale(None)


class Part:
    """A chart or several; immutable, each method returns another part."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def encode(self, **channels: Field | str | Sequence[str]) -> Part:
        """Return the part with additional channels."""
        known = self.spec.get("encoding", {})
        added = {name: _channel(name, shown) for name, shown in channels.items()}
        return Part({**self.spec, "encoding": {**known, **added}})

    def mark(self, kind: str, **how: Any) -> Part:
        """Return the part drawn as points, rules, lines, areas, rectangles, ticks or text."""
        return Part({**self.spec, "mark": {"type": kind, **how}})

    def points(self, size: int, **channels: Field | str | Sequence[str]) -> Part:
        """Return the part drawn as filled marks in each row's color and shape."""
        drawn = self.mark("point", filled=True, size=size, opacity=1, stroke=INK, strokeWidth=0.6)
        return drawn.encode(**channels, fill=COLOUR, shape=SHAPE)

    def rules(self, width: float, **channels: Field | str | Sequence[str]) -> Part:
        """Return the part drawn as lines in each row's color."""
        return self.mark("rule", strokeWidth=width).encode(**channels, color=COLOUR)

    def words(
        self, align: str, size: int, colour: str = "", *, field: str = "text:N", **how: Any
    ) -> Part:
        """Return the part drawn as a text per row."""
        drawn = self.mark("text", align=align, fontSize=size, color=colour or INK, **how)
        return drawn.encode(text=field)

    def only(self, test: str) -> Part:
        """Return the part with the rows for which an expression is true."""
        return Part({**self.spec, "transform": [{"filter": test}]})

    def properties(self, **properties: Any) -> Part:
        """Return the part with a size, a title or a description."""
        return Part({**self.spec, **properties})


def chart(rows: Sequence[Spec]) -> Part:
    """Return a chart of these rows without marks."""
    return Part({"data": {"values": rows}})


def layer(*parts: Part) -> Part:
    """Return parts on top of each other, the first at the back."""
    return Part({"layer": [part.spec for part in parts]})


def concat(*parts: Part, columns: int, spacing: int) -> Part:
    """Return parts in a grid with ``columns`` per row."""
    return Part({"concat": [p.spec for p in parts], "columns": columns, "spacing": spacing})


def hconcat(*parts: Part, spacing: int) -> Part:
    """Return parts from left to right."""
    return Part({"hconcat": [part.spec for part in parts], "spacing": spacing})


def vconcat(*parts: Part, spacing: int) -> Part:
    """Return parts from top to bottom."""
    return Part({"vconcat": [part.spec for part in parts], "spacing": spacing})


def specification(part: Part, config: Spec) -> dict[str, Any]:
    """Return the whole as Vega-Lite; rows are stored once, by name, in ``datasets``."""
    datasets: dict[str, Sequence[Spec]] = {}
    spec = _named(part.spec, datasets)
    return {"$schema": SCHEMA, **spec, "config": dict(config), "datasets": datasets}


def _channel(name: str, shown: Field | str | Sequence[str]) -> Any:
    if isinstance(shown, Field):
        return shown.spec
    if isinstance(shown, str):
        # The other end of an interval has the kind of the first.
        return field_of(shown.partition(":")[0] if name in {"x2", "y2"} else shown).spec
    return [field_of(each).spec for each in shown]


def _named(spec: Spec, datasets: dict[str, Sequence[Spec]]) -> dict[str, Any]:
    found = dict(spec)
    if "data" in found:
        found["data"] = {"name": _name(found["data"]["values"], datasets)}
    for several in ("layer", "concat", "hconcat", "vconcat"):
        if several in found:
            found[several] = [_named(each, datasets) for each in found[several]]
    return found


def _name(rows: Sequence[Spec], datasets: dict[str, Sequence[Spec]]) -> str:
    for name, known in datasets.items():
        if known is rows or known == rows:
            return name
    name = f"rows-{len(datasets) + 1}"
    datasets[name] = rows
    return name


# Style of all figures: black on white, in printable and color-blind safe colors.

INK, QUIET, RULE = "#1a1a1a", "#555555", "#d8d8d8"


# One hue from near-white to dark, which keeps its order in black and white.
RAMP = ("#f4f8fb", "#c6dbec", "#84b4d6", "#3e86ba", "#0b4f86", "#06305a")


# From this share of the ramp on, numbers are white, below it black. At its relative luminance of
# 0.18, both have a contrast of 4.5.
WHITE_FROM = 0.64


# Fonts of the reader's machine: system fonts, then Chinese ones, then any.
FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Arial, 'Liberation Sans', 'Noto Sans CJK SC', "
    "'PingFang SC', 'Microsoft YaHei', sans-serif"
)


# From this number of series on, a figure shows small multiples instead of overlaid lines.
FEWEST_PANELS = 7


class Look(Struct, frozen=True):
    """A color, with a shape and a dash pattern that distinguish series without color."""

    colour: str
    shape: str
    dash: tuple[int, ...]


# Okabe and Ito (2008), ordered so that neighbors also differ in lightness. Their yellow is too
# light for lines on white; their sky blue has the gray level of orange.
LOOKS = (
    Look("#0072B2", "circle", (1, 0)),
    Look("#D55E00", "square", (6, 3)),
    Look("#000000", "triangle-up", (2, 2)),
    Look("#CC79A7", "diamond", (9, 3, 2, 3)),
    Look("#009E73", "triangle-down", (4, 2)),
    Look("#E69F00", "cross", (12, 4)),
)


OTHER = Look("#767676", "circle", (1, 0))


BLUE = LOOKS[0].colour


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """Return the look of each name: the first six are distinct, all others are gray."""
    return {
        name: LOOKS[place] if place < len(LOOKS) else OTHER
        for place, name in enumerate(dict.fromkeys(names))
    }


def series_looks(series: Sequence[str], models: Mapping[str, Look]) -> dict[str, Look]:
    """Return the looks of a figure's series.

    Series that are models look as in ``models``, so that a model looks the same on a whole page.
    Otherwise looks follow the order of series.
    """
    if any(name in models for name in series):
        return {name: models.get(name, OTHER) for name in series}
    return looks_of(series)


# Fonts and grays of all charts.
CONFIG: Mapping[str, Any] = {
    "aria": False,  # the figure has a text alternative; a thousand single marks are not informative
    "background": "white",
    "font": FONTS,
    "padding": 6,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "font": FONTS,
        "fontSize": 14,
        "fontWeight": 600,
        "color": INK,
        "subtitleFont": FONTS,
        "subtitleFontSize": 12,
        "subtitleColor": QUIET,
        "offset": 10,
        "limit": 0,
    },
    "axis": {
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 0,
        "titleColor": QUIET,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleLimit": 0,
        "gridColor": RULE,
        "domainColor": QUIET,
        "tickColor": QUIET,
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": 11,
        "titleColor": QUIET,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titleLimit": 0,
    },
}


# Lines clipped at the edges of a plane: points outside would enlarge the page.

Point = tuple[float, float]


Ends = tuple[float, float]


def clipped(points: Sequence[Point], across: Ends, up: Ends) -> list[list[Point]]:
    """Return the parts of a line through ``points`` that lie within both ends.

    Parts end where the line crosses an edge (Liang and Barsky 1984).
    """
    runs: list[list[Point]] = []
    for first, second in pairwise(points):
        part = _within(first, second, across, up)
        if part is None:
            continue
        if runs and runs[-1][-1] == part[0]:
            runs[-1].append(part[1])
        else:
            runs.append([*part])
    return runs


def _within(first: Point, second: Point, across: Ends, up: Ends) -> tuple[Point, Point] | None:
    start, end = 0.0, 1.0
    for at, to, (low, high) in zip(first, second, (across, up), strict=True):
        step = to - at
        if step == 0.0:
            if not low <= at <= high:
                return None
            continue
        enters, leaves = sorted(((low - at) / step, (high - at) / step))
        start, end = max(start, enters), min(end, leaves)
    if start >= end:
        return None
    return _along(first, second, start), _along(first, second, end)


def _along(first: Point, second: Point, share: float) -> Point:
    if share in (0.0, 1.0):
        return second if share else first
    return (first[0] + share * (second[0] - first[0]), first[1] + share * (second[1] - first[1]))
