"""Equilibria of the effort game between two reviewers with private costs of effort.

A reviewer of cost k works with high effort if B * gain(rate of the other) >= k, so each best
response is a threshold, and the rates of an equilibrium solve r_a = G(B gain(r_b)) and
r_b = G(B gain(r_a)). Jin et al. 2026 bound a symmetric solution from below (theorem 1); here all
are found, also those in which the reviewers differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from msgspec import Struct
from scipy import optimize

from proofstone.mechanism.distributions import Distribution
from proofstone.mechanism.tournament import Chances

# Rates on which the responses are scanned for crossings.
_SCAN = 4_001
_SAME = 1e-7


class Equilibrium(Struct, frozen=True, kw_only=True):
    """Rates of high effort of both reviewers, in [0, 1].

    ``is_stable``: best responses return to it after a small deviation of both. Costs that are the
    same for all reviewers have equilibria in which reviewers mix; these are marked ``is_mixed``.
    """

    first: float
    second: float
    is_stable: bool
    is_mixed: bool = False

    @property
    def is_symmetric(self) -> bool:
        """Whether both reviewers work with high effort at the same rate."""
        return abs(self.first - self.second) <= _SAME


def response(chances: Chances, bonus: float, cost: Distribution, rate: float) -> float:
    """Return the best response: the rate of high effort against the other's ``rate``."""
    return float(cost.cdf(np.array([bonus * chances.gain_at(rate)]))[0])


def all_equilibria(chances: Chances, bonus: float, cost: Distribution) -> tuple[Equilibrium, ...]:
    """Return all equilibria with rates in ascending order; a pair and its mirror image count once.

    Crossings that touch without crossing, closer than 1/4,000 of a rate, may be missed.
    """
    if cost.shape == "constant":
        return _with_one_cost(chances, bonus, cost.parameters["value"])
    rates = np.linspace(0.0, 1.0, _SCAN)

    def best(at: np.ndarray) -> np.ndarray:
        return cost.cdf(bonus * (at * chances.gain_high + (1.0 - at) * chances.gain_low))

    def twice(rate: float) -> float:
        return float(best(best(np.array([rate])))[0]) - rate

    values = best(best(rates)) - rates
    found: list[Equilibrium] = []
    for rate in _roots(twice, rates, values):
        other = float(best(np.array([rate]))[0])
        pair = (min(rate, other), max(rate, other))
        if any(abs(pair[0] - e.first) + abs(pair[1] - e.second) <= 4 * _SAME for e in found):
            continue
        slope = _slope(best, pair[0]) * _slope(best, pair[1])
        found.append(Equilibrium(first=pair[0], second=pair[1], is_stable=abs(slope) < 1.0))
    return tuple(sorted(found, key=lambda each: (each.first, each.second)))


def _roots(
    function: Callable[[float], float], rates: np.ndarray, values: np.ndarray
) -> list[float]:
    """Roots on a grid: values of zero, and a root in each interval whose ends differ in sign."""
    roots = [float(rates[place]) for place in np.flatnonzero(np.abs(values) <= 1e-14)]
    signs = np.sign(np.where(np.abs(values) <= 1e-14, 0.0, values))
    roots += [
        float(optimize.brentq(function, rates[place], rates[place + 1], xtol=1e-13))
        for place in np.flatnonzero(signs[:-1] * signs[1:] < 0)
    ]
    merged: list[float] = []
    for root in sorted(roots):
        if not merged or root - merged[-1] > _SAME:
            merged.append(root)
    return merged


def _slope(best: Callable[[np.ndarray], np.ndarray], rate: float) -> float:
    step = 1e-6
    low, high = max(0.0, rate - step), min(1.0, rate + step)
    ends = best(np.array([low, high]))
    return float((ends[1] - ends[0]) / (high - low))


def _with_one_cost(chances: Chances, bonus: float, cost: float) -> tuple[Equilibrium, ...]:
    """Equilibria of the 2 x 2 game in which both costs are known and the same."""
    against_low, against_high = (
        0.0 if abs(bonus * gain - cost) <= 1e-12 * max(cost, 1.0) else bonus * gain - cost
        for gain in (chances.gain_low, chances.gain_high)
    )
    found = []
    if against_low <= 0:
        found.append(Equilibrium(first=0.0, second=0.0, is_stable=against_low < 0))
    if against_high <= 0 <= against_low:
        found.append(Equilibrium(first=0.0, second=1.0, is_stable=against_high < 0 < against_low))
    if against_high >= 0:
        found.append(Equilibrium(first=1.0, second=1.0, is_stable=against_high > 0))
    if against_low * against_high < 0:
        rate = against_low / (against_low - against_high)
        mixed = Equilibrium(first=rate, second=rate, is_stable=False, is_mixed=True)
        found.append(mixed)
    return tuple(sorted(found, key=lambda each: (each.first, each.second)))


def lowest_rate(chances: Chances, bonus: float, cost: Distribution) -> float:
    """Return the lowest rate of high effort of a symmetric equilibrium, in [0, 1]."""
    return min(each.first for each in all_equilibria(chances, bonus, cost) if each.is_symmetric)


Reason = Literal["dominant", "never", "depends"]


def is_dominant(chances: Chances, bonus: float, cost: float) -> Reason:
    """Return whether high effort at this cost is best against every effort, against none, or
    depends on the other's effort.
    """
    gains = (bonus * chances.gain_low, bonus * chances.gain_high)
    if min(gains) > cost:
        return "dominant"
    return "never" if max(gains) < cost else "depends"
