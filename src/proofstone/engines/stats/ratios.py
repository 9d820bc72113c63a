"""A ratio of two means over the same units, with the interval of a mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand
from proofstone.engines.stats.means import mean_estimates
from proofstone.engines.stats.weights import equal_weights
from proofstone.records.results import Estimate

__all__ = ["ratio_estimate", "ratio_estimates", "ratio_values"]

Floats = NDArray[np.float64]


def ratio_values(tops: Floats, bottoms: Floats) -> Floats:
    """Values (n, m) whose mean over n units is ``sum(tops) / sum(bottoms)``, and whose spread is
    that of this ratio; ``tops`` where there is no unit. See ``ratio_estimates``."""
    if not len(bottoms):
        return tops
    ratio = tops.sum(axis=0) / bottoms.sum(axis=0)
    around = ratio + (tops - ratio * bottoms) / bottoms.mean(axis=0)
    return np.where(np.ptp(bottoms, axis=0) == 0, tops / bottoms, around)


def ratio_estimate(
    tops: Floats, bottoms: Floats, keys: SharedKeys, *, estimand: Estimand, confidence: float = 0.95
) -> Estimate:
    """``ratio_estimates`` of one column (n)."""
    (estimate,) = ratio_estimates(
        tops[:, None], bottoms[:, None], keys, estimand=estimand, confidence=confidence
    )
    return estimate


def ratio_estimates(
    tops: Floats, bottoms: Floats, keys: SharedKeys, *, estimand: Estimand, confidence: float = 0.95
) -> tuple[Estimate, ...]:
    """``sum(tops) / sum(bottoms)`` over n units of each column (n, m), 0 <= tops <= bottoms, each
    bottom above 0.

    A unit's part in the error is its residual ``(top - ratio * bottom) / mean(bottoms)`` (Cochran
    1977, 6.4): around the ratio these are values whose mean it is, and their spread is that of any
    mean. Where all bottoms are alike it is the mean of ``tops / bottoms``. No unit gives NaN,
    flagged.
    """
    values = ratio_values(tops, bottoms)
    return mean_estimates(
        values, equal_weights(len(values)), keys, estimand=estimand, confidence=confidence
    )
