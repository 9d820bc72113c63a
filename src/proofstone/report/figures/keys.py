"""What colours, shapes and numbers of a figure stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.report.figures import vega
from proofstone.report.figures.frame import Frame
from proofstone.report.figures.labels import named, text_width
from proofstone.report.figures.style import INK, Look

__all__ = ["key_chart", "key_layers", "key_lines", "numbered_key"]

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
    base = vega.chart(keys).encode(y=vega.field("up:Q").scale(None).axis(None))
    return [
        base.mark("point", filled=True, size=62, opacity=1, stroke=INK, strokeWidth=0.6).encode(
            x=vega.field("at:Q").scale(None).axis(None),
            fill=vega.field("colour:N").scale(None),
            shape=vega.field("shape:N").scale(None),
        ),
        base.mark("text", align="left", fontSize=12, color=INK).encode(
            x=vega.field("beside:Q").scale(None).axis(None), text="name:N"
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
    base = vega.chart(keys).encode(
        x=vega.field("at:Q").scale(None), y=vega.field("up:Q").scale(None)
    )
    return [
        base.mark("text", align="right", fontSize=11, color=INK, dx=-5).encode(text="number:N"),
        base.mark("text", align="left", fontSize=11, color=INK).encode(text="name:N"),
    ]
