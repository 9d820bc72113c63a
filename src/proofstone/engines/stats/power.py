"""What a test of this size can tell apart, and what size would tell a given pair apart.

The two-sided paired test at level 1 - confidence finds a true difference d with the given power
where d is at least (t_alpha + t_power) standard errors of the difference (Lehr; Cohen 1988, 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

from proofstone.engines.stats.spread import Spread

__all__ = [
    "Assumed",
    "Resolution",
    "Separation",
    "resolution_after",
    "resolution_before",
    "separations",
    "units_for",
]

Floats = NDArray[np.float64]

# Below this many independent groups no t-test is worth planning with.
_FEWEST_GROUPS = 3.0


class Resolution(Struct, frozen=True, kw_only=True):
    """The smallest true ``difference`` between two respondents that this test finds with ``power``.

    ``standard_error`` is that of a paired difference, ``groups`` the independent units behind it.
    NaN where there are too few to tell.
    """

    difference: float
    standard_error: float
    n_units: int
    groups: float
    confidence: float
    power: float


class Separation(Struct, frozen=True, kw_only=True):
    """How many units would tell ``first`` from ``second``, if they truly differ as they seem to.

    ``needed`` is a count of units like these (infinite for a difference of 0), ``times`` the same
    as a multiple of those at hand. Before any correction for many pairs.
    """

    first: int
    second: int
    difference: float
    standard_error: float
    needed: float
    times: float


class Assumed(Struct, frozen=True, kw_only=True):
    """What is taken for true of two respondents before anything was asked.

    ``accuracy`` of both. ``repeatability``: the share of the variance of one right-or-wrong answer
    that lies between items, the rest being between samples of the same item; 1 where a model
    always answers alike. ``correlation`` of the two respondents' chances over items.
    ``design_effect``: how many times shared facts multiply the variance.
    """

    accuracy: float = 0.5
    repeatability: float = 0.7
    correlation: float = 0.5
    design_effect: float = 1.0

    def unit_variance(self, samples: int) -> float:
        """The variance of one unit's difference between two means of ``samples`` answers."""
        own = self.accuracy * (1.0 - self.accuracy)
        items = self.repeatability * (1.0 - self.correlation)
        chance = (1.0 - self.repeatability) / samples
        return 2.0 * own * (items + chance) * self.design_effect


def resolution_before(
    n_units: int,
    assumed: Assumed,
    *,
    samples: int = 1,
    confidence: float = 0.95,
    power: float = 0.8,
) -> Resolution:
    """What ``n_units`` items of ``samples`` answers each would resolve, under the assumptions."""
    groups = n_units / assumed.design_effect
    error = float(np.sqrt(assumed.unit_variance(samples) / n_units)) if n_units else float("nan")
    return _resolution(error, n_units, groups, confidence, power)


def units_for(
    difference: float,
    assumed: Assumed,
    *,
    samples: int = 1,
    confidence: float = 0.95,
    power: float = 0.8,
) -> float:
    """How many items resolve ``difference``, under the assumptions; infinite for 0."""
    if difference == 0.0:
        return float("inf")
    variance = assumed.unit_variance(samples) / assumed.design_effect
    needed = _groups_needed(np.array([variance / difference**2]), confidence, power)
    return float(needed[0]) * assumed.design_effect


def resolution_after(spread: Spread, *, confidence: float = 0.95, power: float = 0.8) -> Resolution:
    """What the scores behind ``spread`` can resolve, for the median of all pairs of respondents."""
    first, second = np.triu_indices(len(spread.means), 1)
    variances = spread.difference_variances()[first, second]
    error = float(np.sqrt(np.median(variances))) if len(variances) else float("nan")
    return _resolution(error, spread.n_units, spread.groups, confidence, power)


def separations(
    spread: Spread,
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
) -> tuple[Separation, ...]:
    """How many units each of ``pairs`` needs; by default neighbours in the order of the means."""
    if pairs is None:
        order = np.argsort(-spread.means, kind="stable").tolist()
        pairs = list(pairwise(order))
    variances = spread.difference_variances()
    return tuple(
        _separation(spread, first, second, float(variances[first, second]), confidence, power)
        for first, second in pairs
    )


def _separation(
    spread: Spread, first: int, second: int, variance: float, confidence: float, power: float
) -> Separation:
    difference = float(spread.means[first] - spread.means[second])
    groups, times = spread.groups, float("inf")
    if groups < 2.0:
        times = float("nan")
    elif difference != 0.0:
        ratio = np.array([variance * groups / difference**2])
        times = float(_groups_needed(ratio, confidence, power)[0]) / groups
    return Separation(
        first=first,
        second=second,
        difference=difference,
        standard_error=float(np.sqrt(variance)),
        needed=times * spread.n_units,
        times=times,
    )


def _resolution(
    error: float, n_units: int, groups: float, confidence: float, power: float
) -> Resolution:
    enough = groups >= 2.0
    difference = _multiple(np.array([groups - 1.0]), confidence, power)[0] * error
    return Resolution(
        difference=float(difference) if enough else float("nan"),
        standard_error=error,
        n_units=n_units,
        groups=groups,
        confidence=confidence,
        power=power,
    )


def _groups_needed(variance_by_square: Floats, confidence: float, power: float) -> Floats:
    """The number of independent groups at which each difference is found, by fixed point:
    ``groups = multiple(groups - 1)**2 * variance / difference**2``, three at least."""
    infinite = np.full_like(variance_by_square, np.inf)
    groups = _multiple(infinite, confidence, power) ** 2 * variance_by_square
    for _ in range(30):
        degrees = np.maximum(groups, _FEWEST_GROUPS) - 1.0
        step = _multiple(degrees, confidence, power) ** 2 * variance_by_square
        groups = np.sqrt(groups * step)  # damped: the step falls as the groups grow
    return np.maximum(groups, _FEWEST_GROUPS)


def _multiple(degrees: Floats, confidence: float, power: float) -> Floats:
    """How many standard errors a difference must be, on ``degrees`` of freedom (or infinite)."""
    endless = special.ndtri(0.5 + confidence / 2) + special.ndtri(power)
    safe = np.where(np.isfinite(degrees) & (degrees > 0), degrees, 1.0)
    by_t = special.stdtrit(safe, 0.5 + confidence / 2) + special.stdtrit(safe, power)
    return np.asarray(np.where(np.isinf(degrees), endless, by_t))
