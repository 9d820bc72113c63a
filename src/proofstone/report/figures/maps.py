"""A map of texts: the same plane for each group, its own texts before all others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofstone.report.figures import vega
from proofstone.report.figures.frame import Frame, frame_of
from proofstone.report.figures.labels import named
from proofstone.report.figures.panels import in_panels
from proofstone.report.figures.style import BLUE, INK, Look
from proofstone.report.sections.section import Figure, Mark

__all__ = ["map_chart"]

_BEHIND = 400  # other texts in a panel, evenly taken
_WIDE, _HIGH = 190, 170


def map_chart(figure: Figure, _models: Mapping[str, Look]) -> vega.Part:
    """Panels by column, each with its own marks in front of a part of all; places have no scale."""
    step = max(1, len(figure.marks) // _BEHIND)
    behind = list(figure.marks)[::step]

    def layers(part: Figure, frame: Frame) -> Sequence[vega.Part]:
        return [
            _dots(_rows(behind), frame, "#b9b9b9", 10, told=False),
            _dots(_rows(part.marks), frame, BLUE, 22, told=True),
        ]

    return in_panels(figure, layers, frame_of(figure, _WIDE, _HIGH))


def _rows(marks: Sequence[Mark]) -> list[dict[str, Any]]:
    return list(_row(marks))


def _row(marks: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    for mark in marks:
        if not math.isnan(mark.value):
            yield {"x": mark.x, "y": mark.value, "group": named(mark.column), "text": mark.text}


def _dots(
    rows: Sequence[dict[str, Any]], frame: Frame, colour: str, size: int, *, told: bool
) -> vega.Part:
    edge: dict[str, Any] = {"stroke": INK, "strokeWidth": 0.3} if told else {}
    dots = vega.chart(rows).mark("circle", size=size, color=colour, opacity=0.8, **edge)
    dots = dots.encode(
        x=vega.field("x:Q").axis(None).scale(domain=list(frame.across), nice=False, zero=False),
        y=vega.field("y:Q").axis(None).scale(domain=list(frame.up), nice=False, zero=False),
    )
    if not told:
        return dots
    return dots.encode(tooltip=["group", "text"] if any(row["text"] for row in rows) else ["group"])
