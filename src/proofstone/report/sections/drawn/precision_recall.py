"""Precision against recall, with the lines on which F is the same."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.report.sections.section import Curve, Figure, Mark
from proofstone.wording import counted, say, word

__all__ = ["Scored", "precision_recall_figure"]

_STEPS = 60


class Scored(Struct, frozen=True, kw_only=True):
    """What one model found: its precision and its recall."""

    label: str
    precision: Estimate
    recall: Estimate


def precision_recall_figure(
    scored: Sequence[Scored], *, beta: float = 1.0, levels: Sequence[float] = (0.2, 0.4, 0.6, 0.8)
) -> Figure:
    """A point a model with both intervals, and a line for each of ``levels`` of F.

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
        curves=tuple(_equal(level, beta, name) for level in levels),
        row_axis=word("model"),
        value_axis=say("precision"),
        x_axis=say("recall"),
    )


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
