"""The range of k independent standard normal draws: what to expect, and how often it is passed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

__all__ = ["expected_range", "range_p"]

_GRID = np.linspace(-12.0, 12.0, 4_801)


@lru_cache(maxsize=256)
def expected_range(k: int) -> float:
    """The mean range of ``k`` draws: 1.128 of two, 3.078 of ten (Tippett 1925, table 10).

    The integral of 1 - Phi(x)^k - (1 - Phi(x))^k over x; 0 for fewer than two.
    """
    if k < 2:
        return 0.0
    below = special.ndtr(_GRID)
    return float(np.trapezoid(1.0 - below**k - (1.0 - below) ** k, _GRID))


def range_p(width: float, k: int) -> float:
    """How often ``k`` >= 2 draws have a range of at least ``width``: Tukey's studentized range on
    infinite degrees."""
    inside = special.ndtr(_GRID + width) - special.ndtr(_GRID)
    density = np.exp(-(_GRID**2) / 2.0) / np.sqrt(2.0 * np.pi)
    below = float(np.trapezoid(k * density * inside ** (k - 1), _GRID))
    return float(np.clip(1.0 - below, 0.0, 1.0))
