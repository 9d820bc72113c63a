"""What an incomplete respondent could still reach: the missing all wrong, to all right."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

__all__ = ["Bounds", "bound_incomplete"]


class Bounds(Struct, frozen=True, kw_only=True):
    """``low`` with all missing scores 0, ``high`` with all of them 1; no interval, a certainty.

    ``counted`` scores are there and ``missing`` are not. NaN where nothing was expected.
    """

    low: float
    high: float
    counted: int
    missing: int


def bound_incomplete(counted: NDArray[np.float64], missing: int) -> Bounds:
    """Bounds of the mean score in [0, 1]; NaN in ``counted`` is outside the denominator."""
    present = counted[~np.isnan(counted)]
    total = len(present) + missing
    got = float(present.sum())
    return Bounds(
        low=got / total if total else float("nan"),
        high=(got + missing) / total if total else float("nan"),
        counted=len(present),
        missing=missing,
    )
