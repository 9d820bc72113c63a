"""A measure's table of what each outcome counts as, applied to scores; then one mean a unit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.records.results import OUTCOMES, Outcome, Worth

__all__ = ["counted_values", "outcome_code", "unit_means"]

Floats = NDArray[np.float64]
Counts = Mapping[Outcome, Worth]


def outcome_code(outcome: Outcome) -> int:
    """The code by which a score table's ``outcome`` column names it."""
    return OUTCOMES.index(outcome)


def counted_values(counts: Counts, outcome: NDArray[np.int8], value: Floats) -> Floats:
    """What each of N scores counts as; NaN where it is in neither numerator nor denominator.

    An outcome that the table does not name is left out, and ``failed`` always. Raises BadUsage for
    a table that counts ``failed``; BadInput naming rows whose value should count and is missing.
    """
    if "failed" in counts:
        raise BadUsage(
            "a measure says what 'failed' counts as, but a failed call is no score",
            hint="remove 'failed' from the measure's counts; it is reported apart",
        )
    counted = np.full(len(outcome), np.nan)
    for name, worth in counts.items():
        rows = outcome == outcome_code(name)
        if worth in ("value", "rest"):
            _check_present(name, rows, value)
            counted[rows] = value[rows] if worth == "value" else 1.0 - value[rows]
        elif worth is not None:
            counted[rows] = worth
    return counted


def unit_means(
    unit: NDArray[np.integer],
    respondent: NDArray[np.integer],
    counted: Floats,
    *,
    n_units: int,
    n_respondents: int,
) -> Floats:
    """The mean over samples, (units, respondents); NaN where nothing counts.

    ``unit``, ``respondent`` and ``counted`` are parallel (N); NaN in ``counted`` is left out.
    """
    kept = ~np.isnan(counted)
    cell = unit[kept].astype(np.int64) * n_respondents + respondent[kept]
    size = n_units * n_respondents
    sums = np.bincount(cell, weights=counted[kept], minlength=size)
    number = np.bincount(cell, minlength=size)
    means = np.where(number > 0, sums / np.maximum(number, 1), np.nan)
    return means.reshape(n_units, n_respondents)


def _check_present(name: str, rows: NDArray[np.bool_], value: Floats) -> None:
    absent = np.flatnonzero(rows & np.isnan(value))
    if len(absent):
        raise BadInput(
            f"{len(absent)} scores with the outcome {name!r} have no value, and it should count",
            [Problem(f"score {row}", "expected a number, found none") for row in absent.tolist()],
            hint="score the run again; an answered reply always has a value",
        )
