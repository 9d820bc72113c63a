"""Bonuses that a stated goal needs, and what they cost (Jin et al. 2026, corollary 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.mechanism.distributions import Distribution
from proofstone.mechanism.equilibria import lowest_rate
from proofstone.mechanism.tournament import Chances, Tournament


class WhitelistState(Struct, frozen=True, kw_only=True):
    """One state of a whitelist: what high effort saves in the chance of losing it, and its value.

    ``saved`` is the smallest Delta q over the other's effort, in [0, 1]; ``value`` is the
    discounted value of staying, in the unit of the bonus, at least 0.
    """

    saved: float
    value: float


def least_saving(states: Sequence[WhitelistState]) -> float:
    """Return Lambda, what a whitelist takes off the cost of effort in each state at least.

    0 without states. Raises BadUsage for values out of range.
    """
    for place, state in enumerate(states, 1):
        if not (0.0 <= state.saved <= 1.0 and 0.0 <= state.value < math.inf):
            raise BadUsage(
                f"whitelist state {place}: saved must be in [0, 1] and value at least 0, not "
                f"{state.saved:g} and {state.value:g}"
            )
    return min((state.saved * state.value for state in states), default=0.0)


def dominant_bonus(chances: Chances, cost: float, saving: float = 0.0) -> float:
    """Return the bonus above which high effort is best against every effort (corollary 1 a).

    ``cost`` is that of effort, for all reviewers; ``saving`` is ``least_saving``. Infinite if the
    least gain is not above 0.
    """
    return _over(max(cost - saving, 0.0), chances.least_gain)


def rate_bonus(chances: Chances, cost: Distribution, rate: float, saving: float = 0.0) -> float:
    """Return a bonus that ensures this rate of high effort in each equilibrium (corollary 1 b).

    ``rate`` in [0, 1). Sufficient and conservative; ``least_rate_bonus`` is the smallest.
    """
    if not 0.0 <= rate < 1.0:
        raise BadUsage(f"the rate of high effort must be in [0, 1), not {rate:g}")
    needed = float(cost.quantile(np.array([rate]))[0]) if rate > 0 else 0.0
    return _over(max(needed - saving, 0.0), chances.least_gain)


def _over(amount: float, gain: float) -> float:
    if amount == 0.0:
        return 0.0
    return amount / gain if gain > 0 else math.inf


def least_rate_bonus(chances: Chances, cost: Distribution, rate: float) -> float:
    """Return the smallest bonus at which every symmetric equilibrium has at least this rate.

    It is found by bisection, to a relative 1e-6: with gains of at least 0 the lowest rate grows
    with the bonus. Infinite if the least gain is not above 0, or if no bonus below the sufficient
    one of ``rate_bonus`` reaches the rate.
    """
    high = rate_bonus(chances, cost, rate)
    if not 0.0 < high < math.inf:
        return high
    low = 0.0
    if lowest_rate(chances, low, cost) >= rate:
        return 0.0
    while high - low > 1e-6 * high:
        middle = (low + high) / 2.0
        if lowest_rate(chances, middle, cost) >= rate:
            high = middle
        else:
            low = middle
    return high


def mean_quality_bonus(
    game: Tournament, chances: Chances, cost: Distribution, gain: float, saving: float = 0.0
) -> float:
    """Return a bonus that ensures this gain in mean quality over flat payment (corollary 1 c).

    Raises BadUsage if effort does not raise the mean quality, or the gain is out of reach: it must
    be in [0, (1 - flat rate) times the difference of the means).
    """
    difference = game.high.mean() - game.low.mean()
    flat = flat_rate(cost)
    if not difference > 0:
        raise BadUsage(
            f"high effort does not raise the mean quality (difference {difference:g})",
            hint="corollary 1 c needs a difference above 0",
        )
    if not 0.0 <= gain < (1.0 - flat) * difference:
        raise BadUsage(
            f"a gain of {gain:g} in mean quality is out of reach",
            hint=f"expected at least 0 and less than {(1.0 - flat) * difference:g}",
        )
    return rate_bonus(chances, cost, flat + gain / difference, saving)


def flat_rate(cost: Distribution) -> float:
    """Return the rate of high effort under flat payment: G(0), reviewers whose effort is free."""
    return float(cost.cdf(np.zeros(1))[0])


def spent_per_item(chances: Chances, bonus: float, rate: float) -> float:
    """Return the expected bonus paid for an item at this rate of high effort, at most ``bonus``."""
    return bonus * chances.spent(rate)
