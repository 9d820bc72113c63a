"""What guessing gives, and where it lies from an interval."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from proofstone.records.results import Estimate

__all__ = ["Against", "chance_level", "interval_against"]

Against = Literal["above", "inside", "below", "unknown"]


def chance_level(n_options: NDArray[np.integer], weights: NDArray[np.float64]) -> float:
    """The expected score of a uniform guess: the weighted mean of 1 / options.

    ``weights`` sum to 1. NaN without units, or where any unit has no options to guess among.
    """
    if not len(n_options) or (n_options <= 0).any():
        return float("nan")
    return float(weights @ (1.0 / n_options))


def interval_against(chance: float, estimate: Estimate) -> Against:
    """Where the interval lies seen from chance; its ends belong to it."""
    if np.isnan(chance) or np.isnan(estimate.low):
        return "unknown"
    if estimate.low > chance:
        return "above"
    return "below" if estimate.high < chance else "inside"
