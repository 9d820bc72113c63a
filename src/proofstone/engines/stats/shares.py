"""Shares of which only the value and the number of items are known: intervals, and ranks.

Nothing is known item by item, so pairs cannot be paired: each share is taken to rest on items of
its own. Where all rest on the same items, scores of a pair mostly rise and fall together, and this
finds fewer differences than a paired comparison would; never more, but by chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from proofstone.engines.stats.intervals import normal_quantile, wilson
from proofstone.engines.stats.multiplicity import holm
from proofstone.engines.stats.ranks import Comparison, Ranking, rank_intervals
from proofstone.records.results import Estimate

__all__ = ["rank_shares", "share_estimate"]

Floats = NDArray[np.float64]

_ESTIMAND = "questions like these"


def share_estimate(value: float, n: int, confidence: float) -> Estimate:
    """A share of ``n`` items with Wilson's interval; no interval where ``n`` is 0, not known."""
    low, high = float("nan"), float("nan")
    if n and not np.isnan(value):
        bounds = wilson(np.array([value]), np.array([float(n)]), normal_quantile(confidence))
        low, high = (float(bound[0]) for bound in bounds)
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        estimand=_ESTIMAND,
        made_by="Wilson, each item asked once and independent of the others" if n else "none",
        resampled="items" if n else "",
        effective_n=float(n),
    )


def rank_shares(shares: Floats, n: int, *, confidence: float) -> Ranking:
    """All pairs of m shares of ``n`` items each, by the normal test for two independent shares with
    their common variance, then Holm over all pairs. With n = 0 nothing is resolved."""
    m = len(shares)
    first, second = np.triu_indices(m, 1)
    difference = shares[first] - shares[second]
    pooled = (shares[first] + shares[second]) / 2
    variance = 2 * pooled * (1 - pooled) / n if n else np.full(len(first), np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(difference == 0, 0.0, np.abs(difference) / np.sqrt(variance))
    p = 2.0 * special.ndtr(-z)
    adjusted = holm(p)
    resolved = adjusted < 1.0 - confidence
    own = shares * (1 - shares) / n if n else np.full(m, np.inf)
    half = normal_quantile(confidence) * np.sqrt(own[first] + own[second])
    better = np.zeros((m, m), dtype=bool)
    better[first, second] = resolved & (difference > 0)
    better[second, first] = resolved & (difference < 0)
    comparisons = tuple(
        Comparison(
            first=int(first[pair]),
            second=int(second[pair]),
            difference=float(difference[pair]),
            low=float(max(difference[pair] - half[pair], -1.0)),
            high=float(min(difference[pair] + half[pair], 1.0)),
            p=float(p[pair]),
            p_holm=float(adjusted[pair]),
            resolved=bool(resolved[pair]),
        )
        for pair in range(len(first))
    )
    return Ranking(comparisons, rank_intervals(better), better)
