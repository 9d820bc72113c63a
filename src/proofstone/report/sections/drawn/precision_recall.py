"""Precision against recall, with the lines on which F is the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.report.sections.section import Curve, Figure, Mark
from proofstone.wording import counted, say, word

__all__ = ["Scored", "precision_recall_figure"]

_STEPS = 60
_LEAST = 0.001  # a share of nothing has no line through it
_ROUND = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)  # distances between lines, widest first
_MOST_LINES = 5


class Scored(Struct, frozen=True, kw_only=True):
    """What one model found: its precision and its recall."""

    label: str
    precision: Estimate
    recall: Estimate


def precision_recall_figure(
    scored: Sequence[Scored], *, beta: float = 1.0, levels: Sequence[float] = ()
) -> Figure:
    """A point a model with both intervals, and a line for each of ``levels`` of F, by themselves
    round numbers that the intervals reach.

    ``F = (1 + b^2) P R / (b^2 P + R)``, b the weight of recall (van Rijsbergen 1979).
    """
    name = "F1" if beta == 1 else f"F{beta:g}"
    return Figure(
        name="precision-recall",
        kind="points",
        title=say("Precision against recall"),
        subtitle=say(
            "{models}; intervals on both axes; thin lines: equal {name}",
            models=counted(len(scored), "model"),
            name=name,
        ),
        marks=tuple(
            Mark(
                row=each.label,
                value=each.precision.value,
                low=each.precision.low,
                high=each.precision.high,
                x=each.recall.value,
                x_low=each.recall.low,
                x_high=each.recall.high,
                n=each.precision.n,
            )
            for each in scored
        ),
        curves=tuple(_equal(level, beta, name) for level in levels or _levels(scored, beta)),
        row_axis=word("model"),
        value_axis=say("precision"),
        x_axis=say("recall"),
    )


def _levels(scored: Sequence[Scored], beta: float) -> list[float]:
    """Two to five round numbers between the least and the most F that the intervals hold; fifths
    where there is nothing to see."""
    ends = [
        (min(max(precision, _LEAST), 1.0), min(max(recall, _LEAST), 1.0))
        for each in scored
        for precision, recall in (
            (each.precision.low, each.recall.low),
            (each.precision.high, each.recall.high),
        )
        if not math.isnan(precision + recall)
    ]
    if not ends:
        return [0.2, 0.4, 0.6, 0.8]
    square = beta * beta
    values = [(1 + square) * p * r / (square * p + r) for p, r in ends]
    low, high = min(values), max(values)
    for step in _ROUND:
        found = [n * step for n in range(1, math.ceil(1 / step)) if low <= n * step <= high]
        if len(found) > 1:
            return [round(each, 4) for each in found[:_MOST_LINES]]
    return [round((low + high) / 2, 3)]


def _equal(level: float, beta: float, name: str) -> Curve:
    """Where F is ``level``: from the least recall that reaches it to the whole."""
    square = beta * beta
    # At P = 1 recall is b^2 F / (1 + b^2 - F); below it no precision is enough.
    least = square * level / (1 + square - level)
    recall = [least + (1 - least) * step / _STEPS for step in range(_STEPS + 1)]
    precision = [level * r / ((1 + square) * r - square * level) for r in recall]
    return Curve(
        x=tuple(recall),
        values=tuple(min(p, 1.0) for p in precision),
        text=f"{name} = {level:g}",
        is_reference=True,
    )
