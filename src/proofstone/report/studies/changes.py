"""Paired changes between two columns of values on the same items."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats import Estimand, SharedKeys, compare_pair, measure_contrasts
from proofstone.report.numbers import MISSING
from proofstone.report.studies.parts import Part

__all__ = ["Change", "change_between", "pair_change", "paired_change"]


class Change(Struct, frozen=True):
    """A paired difference of means with its interval, in shares."""

    value: float
    low: float
    high: float

    @property
    def is_rise(self) -> bool:
        """Whether the whole interval lies above nothing."""
        return self.low > 0.0

    @property
    def is_drop(self) -> bool:
        """Whether the whole interval lies below nothing."""
        return self.high < 0.0

    @property
    def shown(self) -> str:
        """``+3.1 [+0.4, +5.8]``, in points; a dash where nothing could be compared."""
        if math.isnan(self.value):
            return MISSING
        return f"{100 * self.value:+z.1f} [{100 * self.low:+z.1f}, {100 * self.high:+z.1f}]"


def paired_change(
    values: NDArray[np.float64], keys: SharedKeys, *, estimand: Estimand, confidence: float
) -> Change:
    """The second column of ``values`` (n units, 2; NaN where one is missing) less the first.
    ``keys`` are those of all n units."""
    found = measure_contrasts(values[:, :1], values[:, 1:], keys, estimand, paired=True)
    (change,) = found.estimates(confidence=confidence)
    return Change(change.value, change.low, change.high)


def pair_change(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    keys: SharedKeys,
    *,
    estimand: Estimand,
    confidence: float,
) -> Change:
    """The second column (units) less the first, both of all units, as ``compare`` has it: where no
    unit differs, with what so many equal ones leave open. NaN where a column is unknown."""
    if np.isnan(first).any() or np.isnan(second).any():
        return Change(math.nan, math.nan, math.nan)
    found = compare_pair(first, second, keys, estimand=estimand, confidence=confidence).estimate
    return Change(found.value, found.low, found.high)


def change_between(
    part: Part, before: str, after: str, *, estimand: Estimand, confidence: float
) -> Change:
    """The change from one respondent of a part to another on the items of both."""
    places = [part.complete[before], part.complete[after]]
    values = part.sheet.values[:, places]
    return paired_change(values, part.sheet.keys, estimand=estimand, confidence=confidence)
