"""The sample that is checked for its truth: drawn by seed, in proportion to each stratum."""

from __future__ import annotations

import math
from collections.abc import Sequence

from proofstone.draws import Draws
from proofstone.errors import BadUsage

__all__ = ["draw_by_stratum", "size_for"]

_PURPOSE = "truth sample"
_Z = 1.959963984540054  # the normal quantile of 95%


def draw_by_stratum(strata: Sequence[str], size: int, seed: int) -> list[int]:
    """The places, ascending, of ``size`` things drawn so that each stratum has its share.

    Shares are rounded by largest remainders, equal ones in an order drawn by seed. Raises BadUsage
    for more than there are.
    """
    if not 0 < size <= len(strata):
        raise BadUsage(
            f"a sample of {size:,} cannot be drawn of {len(strata):,}",
            hint=f"take 1 to {len(strata):,}",
        )
    members: dict[str, list[int]] = {}
    for place, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(place)
    draws = Draws(seed, 0, _PURPOSE)
    quotas = _quotas({name: len(places) for name, places in members.items()}, size, draws)
    chosen = [
        place
        for number, name in enumerate(sorted(members))
        for place in Draws(seed, number + 1, _PURPOSE).sample(members[name], quotas[name])
    ]
    return sorted(chosen)


def _quotas(counts: dict[str, int], size: int, draws: Draws) -> dict[str, int]:
    """How many of each stratum: whole numbers that sum to ``size``."""
    total = sum(counts.values())
    exact = {name: size * n / total for name, n in counts.items()}
    quotas = {name: math.floor(share) for name, share in exact.items()}
    order = draws.shuffled(sorted(counts))
    order.sort(key=lambda name: quotas[name] - exact[name])
    for name in order[: size - sum(quotas.values())]:
        quotas[name] += 1
    return quotas


def size_for(half_width: float, population: int, expected: float = 0.05) -> int:
    """How many of ``population`` must be checked so that a rate of ``expected`` is known to within
    ``half_width`` at 95%: normal approximation, with the correction for a finite population
    (Cochran 1977, 4.4)."""
    if not 0.0 < half_width < 1.0 or not 0.0 < expected < 1.0:
        raise BadUsage("a half width and an expected rate lie between 0 and 1, as 0.02")
    endless = _Z**2 * expected * (1.0 - expected) / half_width**2
    return min(population, math.ceil(endless / (1.0 + (endless - 1.0) / population)))
