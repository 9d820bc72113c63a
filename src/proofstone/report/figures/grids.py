"""Figures of rows by columns: heat maps, the matrix of pairs, and the distribution of ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from proofstone.report.figures import vega
from proofstone.report.figures.frame import scaled
from proofstone.report.figures.labels import text_width, wrapped
from proofstone.report.figures.style import RAMP, WHITE_FROM, Look
from proofstone.report.sections.section import Figure, Mark

__all__ = ["heat_chart", "matrix_chart", "ranks_chart"]

_CELL_HEIGHT = 21
_WIDE, _NARROW, _MANY = 46, 34, 14


def heat_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A cell for each mark, darker for more, its number in it."""
    del models  # the colour is the number's
    values = [100 * mark.value for mark in figure.marks if not math.isnan(mark.value)]
    top = max(values, default=0.0) or 1.0
    return _grid(figure, domain=[min([0.0, *values]), top])


def matrix_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A cell for each pair that is told apart, darker for more; others stay empty."""
    del models
    top = (
        max(
            (100 * abs(mark.value) for mark in figure.marks if not math.isnan(mark.value)),
            default=0.0,
        )
        or 1.0
    )
    return _grid(figure, domain=[0, top], only_with_text=True)


def ranks_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """How often each row had each rank: darker for more often, in percent."""
    del models
    return _grid(figure, domain=[0, 100])


def _grid(
    figure: Figure,
    *,
    domain: list[float],
    only_with_text: bool = False,
) -> vega.Part:
    rows = [wrapped(name) for name in dict.fromkeys(mark.row for mark in figure.marks)]
    columns = [wrapped(name, 90) for name in dict.fromkeys(m.column for m in figure.marks)]
    width = _WIDE if len(columns) <= _MANY else _NARROW
    base = vega.chart([_cell(figure, mark) for mark in figure.marks]).encode(
        x=_columns(figure, columns, width),
        y=vega.field("row:N", title=None).scale(domain=rows).unsorted().axis(**_rows()),
        tooltip=["row:N", "column:N", "value:Q", "low:Q", "high:Q", "n:Q"],
    )

    shade = (
        vega.field("value:Q")
        .scale(range=list(RAMP), domain=domain, interpolate="lab")
        .without_legend()
    )
    if only_with_text:
        shade = vega.condition("datum.text !== ''", shade, vega.value("white"))
    low, high = domain
    white_from = low + WHITE_FROM * (high - low)
    ink = vega.condition(
        f"datum.value > {white_from:g} && datum.text !== ''",
        vega.value("white"),
        vega.value("black"),
    )
    cells = base.mark("rect", stroke="#e8e8e8", strokeWidth=1).encode(color=shade)
    texts = base.mark("text", fontSize=11).encode(text="text:N", color=ink)
    lines = max((row.count("\n") + 1 for row in rows), default=1)
    height = _CELL_HEIGHT if lines == 1 else 14 * lines + 4
    return vega.layer(cells, texts).properties(width={"step": width}, height={"step": height})


def _rows() -> dict[str, Any]:
    return {
        "ticks": False,
        "domain": False,
        "labelExpr": "split(datum.label, '\\n')",
        "labelLineHeight": 14,
    }


def _columns(figure: Figure, names: list[str], width: int) -> vega.Field:
    """Names above the columns: level where they fit, else slanted."""
    is_short = all(text_width(name) < width - 4 for name in names)
    title = figure.column_axis or None
    return vega.field("column:N", title=title).scale(domain=names).unsorted().axis(
        orient="top", labelAngle=0 if is_short else -40,
        labelAlign="center" if is_short else "left", ticks=False, domain=False,
        labelExpr="split(datum.label, '\\n')",
    )  # fmt: skip


def _cell(figure: Figure, mark: Mark) -> dict[str, Any]:
    return {
        "row": wrapped(mark.row),
        "column": wrapped(mark.column, 90),
        "value": scaled(mark.value, "points"),
        "low": scaled(mark.low, figure.value_unit),
        "high": scaled(mark.high, figure.value_unit),
        "n": mark.n,
        "text": mark.text,
    }
