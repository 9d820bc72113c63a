"""Figures of rows by columns: heat maps, the matrix of pairs, and the distribution of ranks."""

from __future__ import annotations

import math
from typing import Any

from proofstone.report.figures.style import INK, RAMP
from proofstone.report.sections.section import Figure

__all__ = ["heat_chart", "matrix_chart", "ranks_chart"]

_CELL_HEIGHT = 21
_WIDE, _NARROW, _MANY = 46, 34, 14


def heat_chart(alt: Any, figure: Figure, data: Any) -> Any:
    """A cell for each mark, darker for more, its number in it."""
    values = [100 * mark.value for mark in figure.marks if not math.isnan(mark.value)]
    top = max(values, default=1.0)
    return _grid(alt, figure, data, domain=[min([0.0, *values]), top], dark_from=0.45 * top)


def matrix_chart(alt: Any, figure: Figure, data: Any) -> Any:
    """A cell for each pair that is told apart, darker for more; others stay empty."""
    top = max((100 * abs(mark.value) for mark in figure.marks), default=1.0)
    return _grid(alt, figure, data, domain=[0, top], dark_from=0.45 * top, only_with_text=True)


def ranks_chart(alt: Any, figure: Figure, data: Any) -> Any:
    """How often each row had each rank: darker for more often, in percent."""
    return _grid(alt, figure, data, domain=[0, 100], dark_from=45)


def _grid(
    alt: Any,
    figure: Figure,
    data: Any,
    *,
    domain: list[float],
    dark_from: float,
    only_with_text: bool = False,
) -> Any:
    n_columns = len({mark.column for mark in figure.marks})
    width = _WIDE if n_columns <= _MANY else _NARROW
    x = alt.X("column:N", sort=None, title=figure.column_axis or None).axis(
        orient="top", labelAngle=-40, labelAlign="left", ticks=False, domain=False
    )
    y = alt.Y("row:N", sort=None, title=None).axis(ticks=False, domain=False)
    base = alt.Chart(data).encode(x=x, y=y)
    scale = alt.Scale(range=list(RAMP), domain=domain, interpolate="lab")
    shade = alt.Color("value:Q").scale(scale).legend(None)
    if only_with_text:
        shade = alt.condition("datum.text !== ''", shade, alt.value("white"))
    ink = alt.condition(
        f"datum.value > {dark_from:g} && datum.text !== ''", alt.value("white"), alt.value(INK)
    )
    cells = base.mark_rect(stroke="#e8e8e8", strokeWidth=1).encode(color=shade)
    texts = base.mark_text(fontSize=11).encode(text="text:N", color=ink)
    return (cells + texts).properties(width=alt.Step(width), height=alt.Step(_CELL_HEIGHT))
