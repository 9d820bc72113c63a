"""A figure's data as SVG text."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from typing import Any

from proofstone.report.figures.grids import heat_chart, matrix_chart, ranks_chart
from proofstone.report.figures.style import styled
from proofstone.report.sections.section import Figure, FigureKind

__all__ = ["can_draw", "draw"]

_CHARTS: Mapping[FigureKind, Callable[[Any, Figure, Any], Any]] = {
    "heat": heat_chart,
    "matrix": matrix_chart,
    "ranks": ranks_chart,
}


# Within an HTML page they mean nothing, and would be the only addresses on it.
_NAMESPACES = ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def can_draw() -> bool:
    """Whether the extra is installed."""
    return all(importlib.util.find_spec(name) for name in ("altair", "vl_convert"))


def draw(figure: Figure) -> str:
    """The figure as one SVG element for an HTML page, its texts escaped; the same for the same.

    The empty text without the extra: the tables hold the same numbers."""
    if not can_draw():
        return ""
    import altair  # noqa: PLC0415
    import vl_convert  # noqa: PLC0415

    marks = [
        {
            "row": mark.row,
            "column": mark.column,
            "value": None if math.isnan(mark.value) else 100 * mark.value,
            "text": mark.text,
            "place": place,
        }
        for place, mark in enumerate(figure.marks)
    ]
    chart = _CHARTS[figure.kind](altair, figure, _data(altair, marks))
    svg: str = vl_convert.vegalite_to_svg(styled(chart).to_dict(validate=False))
    return svg.replace(_NAMESPACES, "", 1)


def _data(altair: Any, marks: list[dict[str, Any]]) -> Any:
    return altair.Data(values=marks)
