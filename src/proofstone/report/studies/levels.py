"""What averaging by questions, fields or disciplines changes (Encyclo-K 5.1, Table 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proofstone.engines.stats import (
    Estimand,
    equal_weights,
    group_weights,
    tau_b,
)
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.ruler import SAMPLE_WISE
from proofstone.report.studies.parts import Part, complete_everywhere, left_out
from proofstone.report.studies.study import Study, point_of

__all__ = ["study_levels"]


def study_levels(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Each respondent's mean over questions and over each level of strata with equal weight, and
    Kendall's tau-b of each level's order with the one by questions."""
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    names = part.table.stratum_names
    levels = [SAMPLE_WISE, *(name for name in names if len(names[name]) > 1)]
    by_level = {
        level: part.means(
            labels,
            units,
            values,
            equal_weights(len(units))
            if level == SAMPLE_WISE
            else group_weights(part.table.strata[level][units]),
            estimand,
            confidence,
        )
        for level in levels
    }
    order = sorted(range(len(labels)), key=lambda i: -by_level[SAMPLE_WISE][i].value)
    sizes = [
        f"{level} ({len(units) if level == SAMPLE_WISE else len(names[level])})" for level in levels
    ]
    taus = {level: _tau(by_level, level) for level in levels[1:]}
    return Study(
        name="levels",
        title="Accuracy by level of averaging",
        finding=_finding(taus, by_level, len(labels)),
        columns=("model", *sizes),
        rows=(
            *((labels[i], *(shown_estimate(by_level[level][i]) for level in levels))
              for i in order),
            ("tau-b with sample", "", *(f"{tau:z.2f}" for tau in taus.values())),
        ),
        x_axis="level",
        y_axis="accuracy",
        points=tuple(
            point_of(labels[i], level, by_level[level][i]) for i in order for level in levels
        ),
        notes=left_out(parts, labels),
    )  # fmt: skip


def _tau(by_level: dict[str, tuple], level: str) -> float:  # type: ignore[type-arg]
    first, second = by_level[SAMPLE_WISE], by_level[level]
    return tau_b(np.array([e.value for e in first]), np.array([e.value for e in second]))


def _finding(taus: dict[str, float], by_level: dict[str, tuple], n_models: int) -> str:  # type: ignore[type-arg]
    if not taus:
        return "The items have no strata, so there is one level of averaging."
    moves = [
        max(abs(a.value - b.value) for a, b in zip(by_level[SAMPLE_WISE], found, strict=True))
        for level, found in by_level.items()
        if level != SAMPLE_WISE
    ]
    moved = f"Averaging by strata moves accuracy by up to {points(max(moves))} points"
    if n_models < 2 or np.isnan(list(taus.values())).any():
        return f"{moved}."
    lowest = min(taus, key=lambda level: taus[level])
    return (
        f"{moved}; the order agrees with the one by questions at tau-b {taus[lowest]:z.2f} or more "
        f"(least by {lowest})."
    )
