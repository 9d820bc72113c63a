"""How many of what there are: bars by field, under their disciplines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from proofstone.report.figures import vega
from proofstone.report.figures.labels import wrapped
from proofstone.report.figures.style import BLUE, INK, QUIET, Look
from proofstone.report.sections.section import Figure

__all__ = ["bars_chart"]

_WIDTH, _ROW, _LINE = 320, 18, 14


def bars_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """A bar a mark with its number behind it. With columns, marks of one column stand together
    under its name (a discipline) and its sum."""
    del models
    sums: dict[str, float] = {}
    for mark in figure.marks:
        sums[mark.column] = sums.get(mark.column, 0.0) + (
            0.0 if math.isnan(mark.value) else mark.value
        )
    grouped = len(sums) > 1 or "" not in sums
    bars: list[dict[str, Any]] = []
    down = 0
    for column, total in sums.items():
        if grouped:
            down += 6
            lines = wrapped(column)
            bars.append(_bar(lines, total, down, True, column))
            down += _ROW + _LINE * lines.count("\n")
        for mark in figure.marks:
            if mark.column == column:
                lines = wrapped(mark.row)
                bars.append(_bar(lines, mark.value, down, False, column))
                down += _ROW + _LINE * lines.count("\n")
    most = max((bar["value"] for bar in bars if bar["value"] and not bar["is_sum"]), default=1)
    base = vega.chart(bars).encode(y=vega.field("middle:Q").scale(None).axis(None))
    x = vega.field("value:Q", title=figure.value_axis or None).scale(domain=[0, most], nice=False)
    own = base.only("!datum.is_sum")
    sums_only = base.only("datum.is_sum")
    shown = own.mark("rule", strokeWidth=11, color=BLUE).encode(
        x=vega.field("zero:Q").axis(None), x2="value:Q", tooltip=["group:N", "name:N", "value:Q"]
    )
    numbers = own.mark("text", align="left", dx=5, fontSize=11, color=INK).encode(
        x=x.axis(None), text=vega.field("value:Q", format=",")
    )
    names = own.mark("text", align="right", fontSize=12, color=INK, lineBreak="\n").encode(
        x=vega.value(-10), text="name:N"
    )
    heads = sums_only.mark(
        "text", align="right", fontSize=12, fontWeight=600, color=INK, lineBreak="\n"
    ).encode(x=vega.value(-10), text="name:N")
    totals = sums_only.mark("text", align="left", fontSize=12, fontWeight=600, color=QUIET).encode(
        x=vega.value(0), text=vega.field("value:Q", format=",")
    )
    return vega.layer(shown, numbers, names, heads, totals).properties(
        width=_WIDTH, height=max(down, _ROW)
    )


def _bar(lines: str, value: float, down: int, is_sum: bool, group: str) -> dict[str, Any]:
    known = 0.0 if math.isnan(value) else value
    return {
        "name": lines,
        "zero": 0,
        "value": known,
        "middle": down + _ROW / 2,
        "is_sum": is_sum,
        "group": group,
    }
