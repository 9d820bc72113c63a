"""How every figure looks: black on white, in colours that print and all readers tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

__all__ = [
    "BLUE",
    "CONFIG",
    "FEWEST_PANELS",
    "FONTS",
    "INK",
    "LOOKS",
    "OTHER",
    "QUIET",
    "RAMP",
    "WHITE_FROM",
    "Look",
    "looks_of",
    "series_looks",
]

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
}
