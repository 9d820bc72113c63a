"""Accuracy by the number of options (Encyclo-K 5.2, Figure 4 right)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proofstone.engines.stats import Estimand
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.studies.changes import Change, paired_change
from proofstone.report.studies.parts import Part, complete_everywhere, left_out
from proofstone.report.studies.study import Point, Study, point_of

__all__ = ["study_options"]


def study_options(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Each respondent at each number of options, and the paired change from fewest to most: forms
    of one sweep hold the same questions in the same order. Raises BadUsage without such forms."""
    counted = _of_one_sweep(parts)
    numbers = [number for number, _part in counted]
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


def _of_one_sweep(parts: Sequence[Part]) -> list[tuple[int, Part]]:
    """The forms that differ by their number of options alone, fewest first, with that number."""
    sweeps: dict[bytes, list[tuple[int, Part]]] = {}
    for part in parts:
        number = _n_options(part)
        if number is not None:
            others = {name: value for name, value in part.recipe.items() if name != "options"}
            key = canonical_json([part.kind, part.seed, others])
            sweeps.setdefault(key, []).append((number, part))
    found = [sweep for sweep in sweeps.values() if len({number for number, _part in sweep}) > 1]
    if len(found) != 1 or len({number for number, _part in found[0]}) < len(found[0]):
        raise BadUsage(
            "a study of options takes forms that differ by their number of options alone, one "
            f"number of options each; here are {len(found)} such groups",
            hint="proofstone build form BANK --sweep options=4..10, then name those forms",
        )
    return sorted(found[0], key=lambda pair: pair[0])


def _n_options(part: Part) -> int | None:
    """The number of options of all of a form's questions; None where they differ."""
    numbers = set(np.unique(part.table.n_options).tolist())
    return int(numbers.pop()) if len(numbers) == 1 else None


def _change(first: Part, last: Part, label: str, estimand: Estimand, confidence: float) -> Change:
    if len(first.table.items) != len(last.table.items):
        raise BadUsage(
            f"{first.name} and {last.name} do not hold the same questions",
            hint="compare forms of one --sweep",
        )
    columns = [part.sheet.values[:, part.complete[label]] for part in (first, last)]
    keys = first.sheet.keys
    return paired_change(np.stack(columns, axis=1), keys, estimand=estimand, confidence=confidence)


def _finding(numbers: Sequence[int], changes: Sequence[Change]) -> str:
    falls = sum(change.is_drop for change in changes)
    middle = float(np.median([change.value for change in changes]))
    return (
        f"From {numbers[0]} to {numbers[-1]} options accuracy changes by {100 * middle:+z.1f} "
        f"points in the median; it falls resolvably for {falls} of {len(changes)} models."
    )
