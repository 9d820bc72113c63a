"""A measure of chosen respondents on chosen units: its estimates, and values whose mean it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import Estimand, equal_weights, mean_estimates, ratio_estimates
from proofstone.records.results import Estimate
from proofstone.report.sheet import Sheet

__all__ = ["linear_values", "measure_estimates"]


def measure_estimates(
    sheet: Sheet,
    units: NDArray[np.int64],
    respondents: Sequence[int],
    *,
    estimand: Estimand,
    confidence: float,
) -> tuple[Estimate, ...]:
    """The measure of each respondent over those of ``units`` that count for it: a mean, or, of a
    measure with weights, a ratio of two."""
    block = sheet.block(units, respondents)
    if not np.isnan(block).any():
        return _together(sheet, units, respondents, estimand, confidence)
    return tuple(
        _together(sheet, units[~np.isnan(block[:, at])], [respondent], estimand, confidence)[0]
        for at, respondent in enumerate(respondents)
    )


def linear_values(
    sheet: Sheet, units: NDArray[np.int64], respondents: Sequence[int]
) -> NDArray[np.float64]:
    """Values (units, respondents) whose means are the measure, and whose spread is that of its
    error: what differences between respondents are reckoned from.

    Of a measure with weights they are the ratio plus each unit's residual over the mean weight
    (Cochran 1977, 6.4); a unit that does not count for it has the ratio itself. NaN in all of a
    respondent for whom nothing counts. Without weights they are the values as they are.
    """
    if not sheet.weights:
        return sheet.block(units, respondents)
    places = np.ix_(units, np.asarray(respondents, dtype=np.int64))
    tops, bottoms = (np.nan_to_num(part[places]) for part in sheet.ratio_parts)
    total = bottoms.sum(axis=0)
    known = np.where(total > 0, total, np.nan)
    ratio = tops.sum(axis=0) / known
    return np.asarray(ratio + (tops - ratio * bottoms) / (known / max(len(units), 1)))


def _together(
    sheet: Sheet,
    units: NDArray[np.int64],
    respondents: Sequence[int],
    estimand: Estimand,
    confidence: float,
) -> tuple[Estimate, ...]:
    """The same of respondents for whom all of ``units`` count."""
    keys = sheet.keys.among(units)
    if sheet.weights:
        places = np.ix_(units, np.asarray(respondents, dtype=np.int64))
        tops, bottoms = (part[places] for part in sheet.ratio_parts)
        return ratio_estimates(tops, bottoms, keys, estimand=estimand, confidence=confidence)
    return mean_estimates(
        sheet.block(units, respondents),
        equal_weights(len(units)),
        keys,
        estimand=estimand,
        confidence=confidence,
    )
