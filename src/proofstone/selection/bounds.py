"""Upper bounds on the value of any selection, proven for the numbers as they are.

For any prices lambda(u) >= 0, F(S) <= sum of lambda(u) + sum over q in S of the sum over u of
max(0, mu(u) c(q, u) - lambda(u)), since a reference is worth at most its price and what the item
that covers it is worth above. So the prices and the k largest of these sums bound every choice of
k items. With lambda the coverage by any set S it is the data-dependent bound of greedy (Leskovec
et al. 2007, section 3.2); with the dual prices of the linear program it is that program's optimum
(Cornuejols, Fisher and Nemhauser 1977). Limits make the optimum smaller, so the bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from proofstone.selection.choose import program
from proofstone.selection.limits import sized
from proofstone.selection.objective import Coverage, Floats

PROGRAM_PAIRS = 1_000_000  # above which there is no linear program
PROGRAM_SECONDS = 60.0
ROUNDING = 1e-12  # added in proportion, more than the sums of float64 can lose


@dataclass(frozen=True, slots=True)
class Bound:
    """No choice of k items has a larger value. ``by`` is "greedy" or "linear program"."""

    value: float
    by: str


def priced(coverage: Coverage, k: int, prices: Floats) -> float:
    """Return the bound of these prices, rounded up."""
    gains = coverage.gains(prices)
    k = min(k, len(gains))
    top = np.sort(gains)[len(gains) - k :]
    return (math.fsum(prices) + math.fsum(top)) * (1 + ROUNDING)


def greedy_bound(coverage: Coverage, k: int, rows: Sequence[int]) -> float:
    """Return the smallest bound over the beginnings of ``rows``: 0, 1, 2, 4, ... and all items."""
    lengths = sorted({0, len(rows), *(1 << power for power in range(len(rows).bit_length()))})
    found = math.fsum(coverage.weights) * (1 + ROUNDING)
    covered, done = np.zeros(len(coverage.references)), 0
    for length in lengths:
        for row in rows[done:length]:
            coverage.cover(covered, row)
        done = length
        found = min(found, priced(coverage, k, covered))
    return found


def upper_bound(
    coverage: Coverage, k: int, rows: Sequence[int], seconds: float = PROGRAM_SECONDS
) -> Bound:
    """Return the best bound: also the linear program up to ``PROGRAM_PAIRS`` pairs.

    A program that has not ended after ``seconds`` gives no bound; greedy's is then kept. The
    solver's prices are only used as prices, so its tolerances cannot make the bound too small.
    """
    found = Bound(greedy_bound(coverage, k, rows), "greedy")
    if not 0 < coverage.pairs <= PROGRAM_PAIRS or k >= len(coverage.items) or seconds <= 0:
        return found
    prices = _dual_prices(coverage, k, seconds)
    if prices is None:
        return found
    proven = priced(coverage, k, prices)
    return Bound(proven, "linear program") if proven < found.value else found


def _dual_prices(coverage: Coverage, k: int, seconds: float) -> Floats | None:
    n, m = len(coverage.items), len(coverage.references)
    made = program(coverage, [sized(n, k)])
    scale = float(made.worth.max())
    found = optimize.linprog(
        -made.worth / scale,
        A_ub=made.within, b_ub=np.r_[np.ones(m), np.zeros(made.n_pairs)],
        A_eq=made.limits, b_eq=[k],
        bounds=np.r_[np.tile([0, 1], (n, 1)), np.tile([0, np.inf], (made.n_pairs, 1))],
        method="highs", options={"time_limit": seconds},
    )  # fmt: skip
    if found.status != 0:
        return None
    prices: Floats = np.maximum(-found.ineqlin.marginals[:m], 0) * scale
    return prices
