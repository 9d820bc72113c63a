"""What asking again buys, as curves over the number of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.records.results import Estimate
from proofstone.report.sections.section import Figure, Level, Mark
from proofstone.wording import say

__all__ = ["samples_figure"]

_MOST_PANELS = 12


def samples_figure(
    labels: Sequence[str],
    curves: Mapping[str, Mapping[int, Sequence[Estimate]]],
    *,
    level: float,
    chance: Sequence[Level] = (),
    table: int = 0,
) -> Figure:
    """A panel a model, in it a curve a rule (its name -> N -> an estimate a model); with one rule
    alone, a curve a model."""
    shown = labels[:_MOST_PANELS]
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(labels))
    alone = len(curves) == 1
    marks = tuple(
        Mark(
            row=label if alone else rule,
            column="" if alone else label,
            value=found[place].value,
            low=found[place].low,
            high=found[place].high,
            n=found[place].n,
            x=float(size),
        )
        for place, label in enumerate(shown)
        for rule, by_size in curves.items()
        for size, found in by_size.items()
    )
    return Figure(
        name="best-of",
        kind="curves",
        title=say("Scores by number of samples"),
        subtitle=say("{level:g}% intervals by items", level=100 * level)
        + (cut if len(shown) < len(labels) else ""),
        marks=marks,
        levels=tuple(chance),
        value_axis=say("points"),
        x_axis=say("samples"),
        x_unit="number",
        is_log=True,
        table=table,
    )
