"""Accuracy by the number of options (Encyclo-K 5.2, Figure 4 right)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proofstone.engines.stats import Estimand, equal_weights, measure_spread, rank_all
from proofstone.errors import BadUsage
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.studies.parts import Part, complete_everywhere, left_out
from proofstone.report.studies.study import Point, Study, point_of

__all__ = ["study_options"]


def study_options(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Each respondent at each number of options, and the paired change from fewest to most: forms
    of one sweep hold the same questions in the same order. Raises BadUsage without such forms."""
    counted = sorted(
        ((number, part) for part in parts if (number := _n_options(part))), key=lambda pair: pair[0]
    )
    numbers = [number for number, _part in counted]
    if len(numbers) < 2 or len(set(numbers)) < len(numbers):
        raise BadUsage(
            "a study of options takes forms whose questions have one number of options each, "
            "every form another",
            hint="proofstone build form BANK --sweep options=4..10, then name those forms",
        )
    parts = [part for _number, part in counted]
    labels = complete_everywhere(parts)
    by_part = [p.estimates(labels, estimand=estimand, confidence=confidence) for p in parts]
    labels = sorted(labels, key=lambda label: -by_part[0][label].value)
    changes = {label: _change(parts[0], parts[-1], label, estimand, confidence) for label in labels}
    chance = [1.0 / number for number in numbers]
    rows = [
        (label, *(shown_estimate(found[label]) for found in by_part), changes[label].shown)
        for label in labels
    ]
    return Study(
        name="options",
        title="Accuracy by number of options",
        finding=_finding(numbers, list(changes.values())),
        columns=("model", *(f"{n} options" for n in numbers), "change"),
        rows=(*rows, ("chance", *(points(share) for share in chance), "")),
        x_axis="options",
        y_axis="accuracy",
        points=(
            *(
                point_of(label, float(number), found[label])
                for label in labels
                for number, found in zip(numbers, by_part, strict=True)
            ),
            *(
                Point(series="chance", x=float(number), y=share, n=0)
                for number, share in zip(numbers, chance, strict=True)
            ),
        ),
        notes=(
            f"change: from {numbers[0]} to {numbers[-1]} options on the same questions, paired.",
            *left_out(parts, labels),
        ),
    )


class _Change:
    """A paired change with its interval, in shares."""

    def __init__(self, value: float, low: float, high: float) -> None:
        self.value, self.low, self.high = value, low, high

    @property
    def is_drop(self) -> bool:
        return self.high < 0.0

    @property
    def shown(self) -> str:
        return f"{100 * self.value:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


def _n_options(part: Part) -> int | None:
    """The number of options of all of a form's questions; None where they differ."""
    numbers = set(np.unique(part.table.n_options).tolist())
    return int(numbers.pop()) if len(numbers) == 1 else None


def _change(first: Part, last: Part, label: str, estimand: Estimand, confidence: float) -> _Change:
    if len(first.table.items) != len(last.table.items):
        raise BadUsage(
            f"{first.name} and {last.name} do not hold the same questions",
            hint="compare forms of one --sweep",
        )
    columns = [part.sheet.values[:, part.complete[label]] for part in (last, first)]
    values = np.stack(columns, axis=1)
    units = np.flatnonzero(~np.isnan(values).any(axis=1))
    spread = measure_spread(
        values[units], equal_weights(len(units)), first.sheet.keys.among(units), estimand
    )
    (pair,) = rank_all(spread, confidence=confidence).comparisons
    return _Change(pair.difference, pair.low, pair.high)


def _finding(numbers: Sequence[int], changes: Sequence[_Change]) -> str:
    falls = sum(change.is_drop for change in changes)
    middle = float(np.median([change.value for change in changes]))
    return (
        f"From {numbers[0]} to {numbers[-1]} options accuracy changes by {100 * middle:+.1f} "
        f"points in the median; it falls resolvably for {falls} of {len(changes)} models."
    )
