"""Accuracy by the position of the right option, and how often each position is chosen (Table 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import Estimand, equal_weights, homogeneity, mean_estimates
from proofstone.errors import BadUsage
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.studies.parts import Part, complete_everywhere, left_out
from proofstone.report.studies.study import Point, Study, point_of

__all__ = ["study_positions"]


def study_positions(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """One row a respondent and position: its accuracy where the right option stands there, and how
    often it chose that position against how often that was right. Chi-square tests whether one
    accuracy holds at all positions. Raises BadUsage where items have no options."""
    (part,) = parts
    golds = part.table.golds
    if not any(golds):
        raise BadUsage("these items have no options, so none stands at a position")
    labels = complete_everywhere(parts)
    rows: list[tuple[str, ...]] = []
    marks: list[Point] = []
    tests: list[tuple[str, float]] = []
    for label in labels:
        units, values = part.block([label])
        gold = part.table.gold[units]
        test = homogeneity(values[:, 0], gold)
        tests.append((label, test.p))
        chosen = _chosen_shares(part, label)
        for code in np.unique(gold).tolist():
            at = np.flatnonzero(gold == code)
            (estimate,) = mean_estimates(
                values[at],
                equal_weights(len(at)),
                part.sheet.keys.among(units[at]),
                estimand=estimand,
                confidence=confidence,
            )
            right = len(at) / len(units)
            shares = (points(chosen.get(golds[code], 0.0)), points(right))
            rows.append((label, golds[code], f"{len(at)}", shown_estimate(estimate), *shares))
            marks.append(point_of(label, golds[code], estimate))
        rows.append(
            (label, "all", f"{len(units)}", f"chi-square {test.chi_square:.1f}, df {test.df}",
             f"p {_shown_p(test.p)}", "")
        )  # fmt: skip
    return Study(
        name="position",
        title="Accuracy by position of the right option",
        finding=_finding(tests),
        columns=("model", "position", "n", "accuracy", "chosen %", "right %"),
        rows=tuple(rows),
        x_axis="position of the right option",
        y_axis="accuracy",
        points=tuple(marks),
        notes=(
            "The test takes questions as independent. Later positions exist only in questions "
            "with more options, which are harder to guess: compare within one number of options "
            "before calling a difference a bias.",
            *left_out(parts, labels),
        ),
    )


def _chosen_shares(part: Part, label: str) -> dict[str, float]:
    """The share of the respondent's replies that chose each answer."""
    answers: NDArray[np.int32] = part.table.answer[part.table.respondent == part.complete[label]]
    counts = np.bincount(answers, minlength=len(part.table.answers))
    return {
        name: count / len(answers)
        for name, count in zip(part.table.answers, counts.tolist(), strict=True)
    }


def _shown_p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _finding(tests: Sequence[tuple[str, float]]) -> str:
    rejected = [label for label, p in tests if p < 0.05 / len(tests)]
    if not rejected:
        return f"Equal accuracy at all positions is not rejected for any of {len(tests)} models."
    return (
        f"Equal accuracy at all positions is rejected for {len(rejected)} of {len(tests)} models "
        f"(p below 0.05 after Bonferroni): {', '.join(rejected)}."
    )
