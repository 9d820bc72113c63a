"""Small multiples: the same plane again and again, with the same axes, a few in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from proofstone.report.figures import vega
from proofstone.report.figures.frame import Frame, frame_of
from proofstone.report.figures.labels import wrapped
from proofstone.report.sections.section import Figure

__all__ = ["in_panels", "panel_title", "panel_titles"]

_WIDE, _HIGH = 200, 150
_CELLS = 30  # of a panel's title in a line


def in_panels(
    figure: Figure,
    layers: Callable[[Figure, Frame], Sequence[vega.Part]],
    frame: Frame | None = None,
) -> vega.Part:
    """A panel for each column of the marks, drawn by ``layers`` from its part of the figure; axes
    have titles at the left and at the bottom alone."""
    columns = list(dict.fromkeys(mark.column for mark in figure.marks))
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
            width=plane.width,
            height=plane.height,
            title=panel_title(titles[place]),
        )
        charts.append(chart)
    return vega.concat(*charts, columns=in_row, spacing=18)


def panel_title(lines: Sequence[str]) -> dict[str, Any]:
    """A panel's title, smaller than a figure's."""
    return {"text": list(lines), "fontSize": 12, "fontWeight": "normal", "offset": 6}


def panel_titles(columns: Sequence[str]) -> list[list[str]]:
    """The panels' titles in lines, of as many lines each, so that panels of a row align."""
    lines = [wrapped(column, _CELLS).split("\n") for column in columns]
    most = max((len(each) for each in lines), default=1)
    return [["\u00a0"] * (most - len(each)) + each for each in lines]
