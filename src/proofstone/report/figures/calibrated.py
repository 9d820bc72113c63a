"""Reliability diagrams: stated confidence against the share right, a panel a model."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from proofstone.report.figures import vega
from proofstone.report.figures.frame import Frame, scaled
from proofstone.report.figures.panels import in_panels
from proofstone.report.figures.planes import plane_layers
from proofstone.report.figures.style import LOOKS, QUIET, Look
from proofstone.report.sections.section import Curve, Figure

__all__ = ["calibration_chart"]

_SIDE, _LARGE = 170, 320
_COUNTS = 0.18  # of a panel's height, for the tallest bar of counts


def calibration_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A panel a row: a dot a bin at its mean confidence ``x`` with the interval of its share right,
    bars of how many answers each bin has along the bottom, and the diagonal of honesty."""
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
        .encode(
            x=frame.x("x:Q", figure),
            y=vega.field("from:Q").scale(None),
            y2="to:Q",
            tooltip=["n:Q"],
        )
    )
