"""A ratio of two means over the same units, with the interval of a mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand
from proofstone.engines.stats.means import mean_estimates
from proofstone.engines.stats.weights import equal_weights
from proofstone.records.results import Estimate

__all__ = ["ratio_estimate"]

Floats = NDArray[np.float64]


def ratio_estimate(
    tops: Floats, bottoms: Floats, keys: SharedKeys, *, estimand: Estimand, confidence: float = 0.95
) -> Estimate:
    """``sum(tops) / sum(bottoms)`` over n units, 0 <= tops <= bottoms, each bottom above 0.

    A unit's part in the error is its residual ``(top - ratio * bottom) / mean(bottoms)`` (Cochran
    1977, 6.4): around the ratio these are values whose mean it is, and their spread is that of any
    mean. Where all bottoms are alike it is the mean of ``tops / bottoms``. No unit gives NaN,
    flagged.
    """
    mean = bottoms.mean() if len(bottoms) else 1.0
    ratio = float(tops.sum() / bottoms.sum()) if len(bottoms) else float("nan")
    if len(bottoms) and np.ptp(bottoms) == 0:
        values = tops / bottoms
    else:
        values = ratio + (tops - ratio * bottoms) / mean
    (estimate,) = mean_estimates(
        values[:, None],
        equal_weights(len(values)),
        keys,
        estimand=estimand,
        confidence=confidence,
    )
    return estimate
