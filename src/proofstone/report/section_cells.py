"""How the cells of a section's tables look on a page, and by what they sort."""

from __future__ import annotations

import math
import re

from msgspec import Struct

from proofstone.engines.stats import FLAGS, RankInterval
from proofstone.records.results import Estimate
from proofstone.report.numbers import MISSING, points, shown_estimate, shown_rank, shown_share
from proofstone.report.sections.section import Cell, Column, Table
from proofstone.wording import listed, noted, say, word

__all__ = ["CellShown", "number_columns", "shown_cell", "told_estimate", "told_making"]


class CellShown(Struct, frozen=True, kw_only=True):
    """A cell's text; ``key`` is what a script sorts by, empty for what is missing, which stands
    last; ``told`` is what is said when it is asked. ``is_number``: it stands to the right."""

    text: str
    key: str = ""
    told: str = ""
    is_number: bool = True


def shown_cell(cell: Cell, column: Column) -> CellShown:
    """A cell under its column."""
    if cell is None:
        return CellShown(text=MISSING, told=say("there is no such value"))
    if isinstance(cell, str):
        return CellShown(text=cell, key=cell, is_number=False)
    if isinstance(cell, Estimate):
        return _estimate(cell, column)
    if isinstance(cell, RankInterval):
        return CellShown(text=shown_rank(cell), key=_key(cell.low + cell.high / 1000))
    text = f"{cell:,}" if isinstance(cell, int) else _number(cell, column)
    return CellShown(text=text, key=_key(float(cell)))


def number_columns(table: Table) -> list[bool]:
    """Of each column, whether its head stands to the right, above numbers: not above words, nor in
    the first column, which names the row."""
    words = {place for row in table.rows for place, cell in enumerate(row) if isinstance(cell, str)}
    return [place > 0 and place not in words for place in range(len(table.columns))]


def told_estimate(estimate: Estimate) -> str:
    """What an estimate is, as a reader asks of a number."""
    if not estimate.n:
        return say("; ").join([say("n is not known"), *_flags(estimate)])
    of = estimate.resampled if estimate.resampled in ("models", "entities") else "items"
    parts = [
        say(
            "n = {n:,}, worth {effective_n:,.0f} independent {of}",
            n=estimate.n,
            effective_n=estimate.effective_n,
            of=word(of),
        ),
        say(
            "{level:g}% interval for {estimand}",
            level=100 * estimate.level,
            estimand=word(estimate.estimand),
        ),
        told_making(estimate.made_by),
        say("drawn: {what}", what=word(estimate.resampled)),
    ]
    return say("; ").join([*parts, *_flags(estimate)])


# Parts of how an interval was made, as estimates state it; {n} is a number.
_PARTS = (
    noted("{n} draws"),
    noted("seed {n}"),
    noted("t on {n} degrees"),
    noted("clustered t on {n} degrees"),
    noted("Wilson-type t interval on {n} degrees"),
)


def told_making(made_by: str) -> str:
    """How an interval was made: each part between commas in words, with its number."""
    return listed([_method_part(part) for part in made_by.split(", ")])


def _method_part(part: str) -> str:
    number = re.search(r"\d+(?:\.\d+)?", part)
    message = part.replace(number[0], "{n}", 1) if number else part
    return say(message, n=number[0]) if number and message in _PARTS else word(part)


def _flags(estimate: Estimate) -> list[str]:
    return [word(FLAGS[flag]) for flag in FLAGS if flag in estimate.flags]


def _estimate(estimate: Estimate, column: Column) -> CellShown:
    told = told_estimate(estimate)
    if column.unit == "points" or math.isnan(estimate.value):
        text = shown_estimate(estimate)
        if math.isnan(estimate.low) and not math.isnan(estimate.value):
            text = points(estimate.value)
    else:
        ends = ", ".join(_number(end, column) for end in (estimate.low, estimate.high))
        text = f"{_number(estimate.value, column)} [{ends}]"
    return CellShown(text=text, key=_key(estimate.value), told=told)


def _number(value: float, column: Column) -> str:
    if math.isnan(value):
        return MISSING
    if column.unit == "points":
        return points(value)
    if column.unit == "share":
        return shown_share(value)
    if column.unit == "probability":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    return f"{value:z,.{column.digits}f}"


def _key(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"
