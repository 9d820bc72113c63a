"""UpSet figures: bars over combinations of sets, and a matrix of what each combination holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from proofstone.page import vega
from proofstone.page.section import Figure
from proofstone.page.vega import BLUE, INK, QUIET, Look, named, wrapped

# Lex, Gehlenborg, Strobelt, Vuillemot and Pfister (2014). Everything is in pixels: columns stand
# for combinations, not for numbers.
_STEP, _ROW, _LINE, _BARS, _GAP, _TOTALS = 26, 22, 14, 130, 16, 110


# In the palettes of screen and paper; members differ by size and a joining line, not by color alone
_ABSENT = "#b0b0b0"


def sets_chart(figure: Figure, models: Mapping[str, Look]) -> vega.Part:
    """Return a bar per column (a combination), and below it a dot for each row that belongs to it.

    Bars at the right are the rows' totals (``x``).
    """
    del models  # position names a model
    rows, columns = figure.rows(), figure.columns()
    step = _ROW + _LINE * max((wrapped(row).count("\n") for row in rows), default=0)
    middle = {row: _BARS + _GAP + step * (place + 0.5) for place, row in enumerate(rows)}
    left = {column: _STEP * (place + 0.5) for place, column in enumerate(columns)}
    width, height = _STEP * max(len(columns), 1), _BARS + _GAP + step * max(len(rows), 1)
    dots = [
        {
            "at": left[mark.column],
            "up": middle[mark.row],
            "row": named(mark.row),
            "is_member": bool(mark.text),
            "n": mark.n,
        }
        for mark in figure.marks
    ]
    layers = [
        *_bars(figure, left),
        *_joins(dots),
        _dots(dots, is_member=False),
        _dots(dots, is_member=True),
        *_rows(figure, middle, width),
    ]
    return vega.layer(*layers).properties(width=width + 14 + _TOTALS, height=height)


def _bars(figure: Figure, left: Mapping[str, float]) -> list[vega.Part]:
    sizes = {mark.column: 0.0 if math.isnan(mark.value) else mark.value for mark in figure.marks}
    most = max(sizes.values(), default=0.0) or 1.0
    bars = [
        {
            "at": left[column],
            "foot": _BARS,
            "top": round(_BARS - (_BARS - 18) * size / most, 2),
            "text": f"{size:,.0f}",
        }
        for column, size in sizes.items()
    ]
    base = vega.chart(bars).encode(x=vega.bare("at"))
    drawn = base.mark("rule", strokeWidth=15, color=BLUE)
    numbers = base.words("center", 11, baseline="bottom", dy=-3)
    title = vega.chart([{"text": figure.value_axis}]).words("right", 12, QUIET)
    return [
        drawn.encode(y=vega.bare("foot"), y2="top:Q", tooltip=["text:N"]),
        numbers.encode(y=vega.bare("top")),
        title.encode(x=vega.value(-10), y=vega.value(_BARS - 8)),
    ]


def _joins(dots: list[dict[str, Any]]) -> list[vega.Part]:
    """Return a line from the first to the last member of each combination."""
    ends: dict[float, list[float]] = {}
    for dot in dots:
        if dot["is_member"]:
            ends.setdefault(dot["at"], []).append(dot["up"])
    lines = [{"at": at, "from": min(ups), "to": max(ups)} for at, ups in ends.items()]
    if not lines:
        return []
    drawn = vega.chart(lines).mark("rule", strokeWidth=2.4, color=INK)
    return [drawn.encode(x=vega.bare("at"), y=vega.bare("from"), y2="to:Q")]


def _dots(dots: list[dict[str, Any]], *, is_member: bool) -> vega.Part:
    base = vega.chart([dot for dot in dots if dot["is_member"] is is_member])
    size, colour = (95, INK) if is_member else (26, _ABSENT)
    drawn = base.mark("point", filled=True, size=size, opacity=1, color=colour)
    return drawn.encode(x=vega.bare("at"), y=vega.bare("up"), tooltip=["row:N", "n:Q"])


def _rows(figure: Figure, middle: Mapping[str, float], width: float) -> list[vega.Part]:
    """Return the names at the left, and the totals at the right as bars with numbers."""
    totals = {mark.row: mark.x for mark in figure.marks}
    known = {row: 0.0 if math.isnan(total) else total for row, total in totals.items()}
    most = max(known.values(), default=0.0) or 1.0
    start = width + 14
    bars = [
        {
            "name": wrapped(row),
            "up": middle[row],
            "from": start,
            "to": round(start + (_TOTALS - 40) * total / most, 2),
            "text": f"{total:,.0f}",
        }
        for row, total in known.items()
    ]
    base = vega.chart(bars).encode(y=vega.bare("up"))
    names = base.words("right", 12, field="name:N", lineBreak="\n", baseline="middle")
    drawn = base.mark("rule", strokeWidth=11, color=QUIET)
    numbers = base.words("left", 11, baseline="middle", dx=5).encode(x=vega.bare("to"))
    title = vega.chart([{"text": figure.x_axis}]).words("left", 12, QUIET, baseline="bottom")
    return [
        names.encode(x=vega.value(-10)),
        drawn.encode(x=vega.bare("from"), x2="to:Q"),
        numbers,
        title.encode(x=vega.value(start), y=vega.value(_BARS + _GAP)),
    ]
