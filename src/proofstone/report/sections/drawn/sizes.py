"""Scores against the number of parameters, with a fit a family."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from proofstone.engines.stats import Bend, SizeSlope
from proofstone.report.sections.section import Curve, Figure, Level, Mark
from proofstone.wording import counted, say

__all__ = ["SizedFamily", "sizes_figure"]

_STEPS = 24


class SizedFamily(Struct, frozen=True, kw_only=True):
    """A family's models: their labels, billions of parameters, scores and half intervals (NaN where
    not known), the line through them, and the curve where it levels off."""

    name: str
    labels: tuple[str, ...]
    sizes: tuple[float, ...]
    scores: tuple[float, ...]
    halves: tuple[float, ...]
    slope: SizeSlope
    bend: Bend


def sizes_figure(
    families: Sequence[SizedFamily], *, level: float, chance: Sequence[Level] = (), table: int = 0
) -> Figure:
    """A point a model and a line a family, over parameters by their logarithm."""
    n = sum(len(family.labels) for family in families)
    return Figure(
        name="scaling",
        kind="points",
        title=say("Scores by number of parameters"),
        subtitle=say(
            "{models} of {families}; {level:g}% intervals over items; lines: least squares on the "
            "logarithm",
            models=counted(n, "model"),
            families=counted(len(families), "family", "families"),
            level=100 * level,
        ),
        marks=tuple(mark for family in families for mark in _marks(family)),
        curves=tuple(_line(family) for family in families),
        levels=tuple(chance),
        value_axis=say("points"),
        x_axis=say("parameters, billions"),
        x_unit="number",
        is_log=True,
        table=table,
    )


def _marks(family: SizedFamily) -> Sequence[Mark]:
    rows = zip(family.labels, family.sizes, family.scores, family.halves, strict=True)
    return [
        Mark(row=family.name, text=label, x=size, value=score, low=score - half, high=score + half)
        for label, size, score, half in rows
    ]


def _line(family: SizedFamily) -> Curve:
    """The straight line, between the smallest and the largest model."""
    low, high = math.log10(min(family.sizes)), math.log10(max(family.sizes))
    places = [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]
    slope = family.slope
    return Curve(
        row=family.name,
        x=tuple(10**place for place in places),
        values=tuple(slope.at_one + slope.models.value * place for place in places),
    )
