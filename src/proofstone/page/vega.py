"""Vega-Lite specifications, put together from small parts.

Through Altair's classes the same figures took one to five seconds each, most of it copies that
``encode`` and ``layer`` make of all they hold; this takes milliseconds. ``Altair`` opens what comes
out (``chart_of``), and its schema judges every kind of figure in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from proofstone.page.text import cell_width, fitting_end, printable

# Where labels stand so that none covers another: measured by estimate, placed by trying.

_EM_A_CELL = 0.58  # of sans-serif letters, on the wide side; a Chinese character has two cells


_BREAKS = " -_/:.,"


class Box(Struct, frozen=True):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class Placed(Struct, frozen=True):
    """A label's left end and middle height; ``is_far``: a line has to lead to its point."""

    x: float
    y: float
    is_far: bool


def named(name: str) -> str:
    """A name as a figure shows it: no character that would break or reorder its line."""
    return printable(" ".join(name.split())) or "\N{EM DASH}"


def text_width(text: str, size: float = 12) -> float:
    """Pixels that a line of text takes, rather more than less."""
    return cell_width(text) * _EM_A_CELL * size


def wrapped(name: str, cells: int = 44) -> str:
    """A name in lines of at most ``cells`` terminal cells, broken where words end."""
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
    """Places at least ``gap`` apart, in the order of those ``wanted`` and near them; they leave the
    ``ends`` only where there are too many."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    # Blocks of labels that touch, each centred on what its labels want.
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
    """The first place of a block that is centred on what its members want, within the ends."""
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
    """A place for each text near its point, on no point and no other text; farther away, and in the
    end beyond the plane's lower edge, where it is crowded."""
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
    """Boxes round a point, near ones first; those off the plane only past its right edge."""
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
    # Nothing near is free: a column of its own, right of the plane.
    left = width + 12
    for step in range(10_000):
        middle = half + step * 2 * half
        yield Box(left, middle - half, left + long, middle + half), Placed(left, middle, True)


Spec = Mapping[str, Any]


_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"


class Field:
    """What a channel shows: a field of the rows with its scale and axis, or a constant."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def scale(self, *nothing: None, **how: Any) -> Field:
        """With a scale; ``scale(None)``: the values are pixels, colours or shapes themselves."""
        return Field({**self.spec, "scale": None if nothing else how})

    def axis(self, *nothing: None, **how: Any) -> Field:
        """With an axis, or with none."""
        return Field({**self.spec, "axis": None if nothing else how})

    def unsorted(self) -> Field:
        """In the order of the domain, and not of the alphabet."""
        return Field({**self.spec, "sort": None})

    def legend(self, **how: Any) -> Field:
        """Return the field with a legend."""
        return Field({**self.spec, "legend": how})


def field_of(name: str, **more: Any) -> Field:
    """A field by its name and kind: ``accuracy:Q`` (a number), ``model:N`` (a name)."""
    name, _, kind = name.partition(":")
    return Field({"field": name, **({"type": _TYPES[kind]} if kind else {}), **more})


def pixels(name: str) -> Field:
    """A field that holds places in pixels."""
    return field_of(f"{name}:Q").scale(None)


def bare(name: str) -> Field:
    """The same, with no axis."""
    return pixels(name).axis(None)


def value(constant: Any) -> Field:
    """The same for all rows: a place in pixels, a colour."""
    return Field({"value": constant})


def condition(test: str, then: Field, otherwise: Field) -> Field:
    """One of two, by an expression of the row (``datum``)."""
    return Field({"condition": {"test": test, **then.spec}, **otherwise.spec})


# What a row says of its own look.
COLOUR, SHAPE = field_of("colour:N").scale(None), field_of("shape:N").scale(None)


class Part:
    """A chart, or several; nothing changes one, each method gives another."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def encode(self, **channels: Field | str | Sequence[str]) -> Part:
        """With what each channel shows, in addition to those that are there."""
        known = self.spec.get("encoding", {})
        added = {name: _channel(name, shown) for name, shown in channels.items()}
        return Part({**self.spec, "encoding": {**known, **added}})

    def mark(self, kind: str, **how: Any) -> Part:
        """Drawn as points, rules, lines, areas, rectangles, ticks or text."""
        return Part({**self.spec, "mark": {"type": kind, **how}})

    def points(self, size: int, **channels: Field | str | Sequence[str]) -> Part:
        """Drawn as filled marks, each in its row's colour and shape."""
        drawn = self.mark("point", filled=True, size=size, opacity=1, stroke=INK, strokeWidth=0.6)
        return drawn.encode(**channels, fill=COLOUR, shape=SHAPE)

    def rules(self, width: float, **channels: Field | str | Sequence[str]) -> Part:
        """Drawn as lines in the row's colour."""
        return self.mark("rule", strokeWidth=width).encode(**channels, color=COLOUR)

    def words(
        self, align: str, size: int, colour: str = "", *, field: str = "text:N", **how: Any
    ) -> Part:
        """Drawn as a text of each row."""
        drawn = self.mark("text", align=align, fontSize=size, color=colour or INK, **how)
        return drawn.encode(text=field)

    def only(self, test: str) -> Part:
        """Of the rows of which an expression is true."""
        return Part({**self.spec, "transform": [{"filter": test}]})

    def properties(self, **properties: Any) -> Part:
        """With a size, a title, a description."""
        return Part({**self.spec, **properties})


def chart(rows: Sequence[Spec]) -> Part:
    """A chart of these rows, not drawn as anything yet."""
    return Part({"data": {"values": rows}})


def layer(*parts: Part) -> Part:
    """Parts over each other, the first at the back."""
    return Part({"layer": [part.spec for part in parts]})


def concat(*parts: Part, columns: int, spacing: int) -> Part:
    """Parts beside each other, ``columns`` in a row."""
    return Part({"concat": [p.spec for p in parts], "columns": columns, "spacing": spacing})


def hconcat(*parts: Part, spacing: int) -> Part:
    """Parts from left to right."""
    return Part({"hconcat": [part.spec for part in parts], "spacing": spacing})


def vconcat(*parts: Part, spacing: int) -> Part:
    """Parts from top to bottom."""
    return Part({"vconcat": [part.spec for part in parts], "spacing": spacing})


def specification(part: Part, config: Spec) -> dict[str, Any]:
    """The whole as Vega-Lite; the rows stand once, by name, in ``datasets``."""
    datasets: dict[str, Sequence[Spec]] = {}
    spec = _named(part.spec, datasets)
    return {"$schema": SCHEMA, **spec, "config": dict(config), "datasets": datasets}


def _channel(name: str, shown: Field | str | Sequence[str]) -> Any:
    if isinstance(shown, Field):
        return shown.spec
    if isinstance(shown, str):
        # The other end of an interval is of the kind of the first.
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


# How every figure looks: black on white, in colours that print and all readers tell apart.

INK, QUIET, RULE = "#1a1a1a", "#555555", "#d8d8d8"


# One hue from near-white to dark: it stays in order in black and white.
RAMP = ("#f4f8fb", "#c6dbec", "#84b4d6", "#3e86ba", "#0b4f86", "#06305a")


# From this share of the ramp on, numbers on it are white, before it black: there its relative
# luminance passes 0.18, where both have a contrast of 4.5.
WHITE_FROM = 0.64


# What is on the reader's machine: system fonts, then those that hold Chinese, then any.
FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Arial, 'Liberation Sans', 'Noto Sans CJK SC', "
    "'PingFang SC', 'Microsoft YaHei', sans-serif"
)


# From here on a figure shows small multiples instead of lines over each other.
FEWEST_PANELS = 7


class Look(Struct, frozen=True):
    """A colour, and what tells it apart without colour: the shape of its marks, its dashes."""

    colour: str
    shape: str
    dash: tuple[int, ...]


# Okabe and Ito (2008) in an order in which neighbours differ in lightness too. Their yellow is too
# light for lines on white; their sky blue cannot be told from orange in grey.
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
    """The look of each name: the first six have one of their own, all others are grey."""
    return {
        name: LOOKS[place] if place < len(LOOKS) else OTHER
        for place, name in enumerate(dict.fromkeys(names))
    }


def series_looks(series: Sequence[str], models: Mapping[str, Look]) -> dict[str, Look]:
    """The looks of a figure's series: those of ``models`` on its page where they are models of it,
    so that a model looks the same everywhere; else by their own order."""
    if any(name in models for name in series):
        return {name: models.get(name, OTHER) for name in series}
    return looks_of(series)


# The page's font and greys, for every chart.
CONFIG: Mapping[str, Any] = {
    "aria": False,  # the whole is told in words beside it; a thousand marks one by one tell nothing
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


# Lines cut at the edges of a plane: what lies outside would still take room on a page.

Point = tuple[float, float]


Ends = tuple[float, float]


def clipped(points: Sequence[Point], across: Ends, up: Ends) -> list[list[Point]]:
    """The parts of a line through ``points`` that lie within both ends, each as a line of its own;
    cut where it crosses an edge (Liang and Barsky 1984)."""
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
