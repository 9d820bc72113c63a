"""Intervals for shares and means, from a variance, an effective size and degrees of freedom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["normal_quantile", "t_quantile", "t_two_sided_p", "wilson"]

Floats = NDArray[np.float64]


def normal_quantile(confidence: float) -> float:
    """The two-sided normal quantile: 1.96 at 0.95."""
    return float(special.ndtri(0.5 + confidence / 2))


def t_quantile(degrees: float, confidence: float) -> float:
    """The two-sided quantile of Student's t on ``degrees`` > 0, not necessarily whole."""
    return float(special.stdtrit(degrees, 0.5 + confidence / 2))


def t_two_sided_p(t: Floats, degrees: float | Floats) -> Floats:
    """The probability of a t at least this far from 0, on ``degrees`` > 0."""
    return np.asarray(2.0 * special.stdtr(degrees, -np.abs(t)))


def wilson(share: Floats, size: Floats, quantile: float) -> tuple[Floats, Floats]:
    """Wilson's score interval for shares in [0, 1] at (effective) sizes > 0, within [0, 1].

    Wilson (1927). With an effective size and a t quantile it is the interval that Dean and Pagano
    (2015) found to keep its level in clustered surveys.
    """
    q2 = quantile**2
    centre = (share + q2 / (2 * size)) / (1 + q2 / size)
    half = np.sqrt(share * (1 - share) / size + q2 / (4 * size**2)) * quantile / (1 + q2 / size)
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)
