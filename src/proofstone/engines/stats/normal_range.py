"""The range of k independent standard normal draws: what to expect, and how often it is passed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["expected_range", "range_p"]

_GRID = np.linspace(-12.0, 12.0, 4_801)
_NODES = 48


@lru_cache(maxsize=256)
def expected_range(k: int) -> float:
    """The mean range of ``k`` draws: 1.128 of two, 3.078 of ten (Tippett 1925, table 10).

    The integral of 1 - Phi(x)^k - (1 - Phi(x))^k over x; 0 for fewer than two.
    """
    if k < 2:
        return 0.0
    below = special.ndtr(_GRID)
    return float(np.trapezoid(1.0 - below**k - (1.0 - below) ** k, _GRID))


def range_p(width: float, k: int, degrees: float = np.inf) -> float:
    """How often ``k`` >= 2 draws have a range of at least ``width`` standard deviations, where that
    deviation is estimated on ``degrees`` of freedom: Tukey's studentized range.

    The distribution on infinite degrees is averaged over the deviation's own, chi over the root of
    its degrees, at the nodes of Gauss and Legendre in its probability.
    """
    if np.isinf(degrees):
        return float(_known_range_p(np.array([width]), k)[0])
    share, weights = _nodes()
    deviation = np.sqrt(special.chdtri(degrees, 1.0 - share) / degrees)
    return float(np.clip(_known_range_p(width * deviation, k) @ weights, 0.0, 1.0))


@lru_cache(maxsize=1)
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities and their weights, denser towards both ends, where the deviation is extreme."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    weights = weights * np.cos(nodes * np.pi / 2.0)
    return (1.0 + np.sin(nodes * np.pi / 2.0)) / 2.0, weights / weights.sum()


def _known_range_p(width: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The same for each of several widths, where the standard deviation is known."""
    # The trapezoid rule is exact to rounding on a grid of steps of 0.1 for integrands like these.
    grid = _GRID[::20]
    inside = special.ndtr(grid + width[:, None]) - special.ndtr(grid)
    density = np.exp(-(grid**2) / 2.0) / np.sqrt(2.0 * np.pi)
    below = np.trapezoid(k * density * inside ** (k - 1), grid, axis=1)
    return np.asarray(np.clip(1.0 - below, 0.0, 1.0))
