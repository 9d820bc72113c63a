"""Shares of which only the value and the number of items are known: intervals, and ranks.

Nothing is known item by item, so pairs cannot be paired: each share is taken to rest on items of
its own. Where all rest on the same items, scores of a pair mostly rise and fall together, and this
finds fewer differences than a paired comparison would; never more, but by chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from proofstone.engines.stats.intervals import is_rare, normal_quantile, share_interval
from proofstone.engines.stats.multiplicity import holm
from proofstone.engines.stats.ranks import Comparison, Ranking, rank_intervals
from proofstone.records.results import Estimate

__all__ = ["differ_significantly", "rank_shares", "share_estimate", "stated_estimate"]

Floats = NDArray[np.float64]

# What is counted: what intervals speak of, and what was taken of it.
_COUNTED: Mapping[str, tuple[str, str]] = {
    "items": ("questions like these", "each item asked once and independent of the others"),
    "entities": ("entities like these", "each entity once"),
}


def share_estimate(
    value: float, n: int, confidence: float, *, of: Literal["items", "entities"] = "items"
) -> Estimate:
    """Return a share of ``n`` independent items or entities with ``share_interval``; no interval
    where ``n`` is 0, not known."""
    estimand, how = _COUNTED[of]
    low, high, made_by = float("nan"), float("nan"), "none"
    if n and not np.isnan(value):
        share, size = np.array([value]), np.array([float(n)])
        low, high = (float(end[0]) for end in share_interval(share, size, confidence))
        made_by = f"{'Clopper-Pearson' if is_rare(share, size)[0] else 'Wilson'}, {how}"
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        estimand=estimand,
        made_by=made_by,
        resampled=of if n else "",
        effective_n=float(n),
    )


def stated_estimate(value: float, stderr: float, n: int, confidence: float) -> Estimate:
    """A score with the normal interval of its stated standard error, within [0, 1]; no interval
    where there is none. ``n`` is 0 where it is not known."""
    half = normal_quantile(confidence) * stderr
    is_known = not np.isnan(half)
    return Estimate(
        value=value,
        n=n,
        low=max(value - half, 0.0) if is_known else float("nan"),
        high=min(value + half, 1.0) if is_known else float("nan"),
        level=confidence,
        estimand=_COUNTED["items"][0],
        made_by="normal, by the standard error as stated" if is_known else "none",
        resampled="items" if is_known else "",
        effective_n=float(n),
    )


def rank_shares(
    shares: Floats,
    n: int | NDArray[np.int64],
    *,
    confidence: float,
    stderr: Floats | None = None,
) -> Ranking:
    """All pairs of m shares of ``n`` items each, one number for all or one each (m), by the normal
    test for two independent shares with their common variance, then Holm over all pairs; with
    ``stderr`` (m) by these standard errors instead. Where n is 0 nothing is resolved."""
    m = len(shares)
    first, second = np.triu_indices(m, 1)
    difference = shares[first] - shares[second]
    sizes = np.broadcast_to(np.asarray(n, dtype=np.float64), (m,))
    with np.errstate(invalid="ignore", divide="ignore"):
        if stderr is None:
            weight = sizes[first] + sizes[second]
            pooled = (shares[first] * sizes[first] + shares[second] * sizes[second]) / weight
            variance = pooled * (1 - pooled) * (1 / sizes[first] + 1 / sizes[second])
            own = shares * (1 - shares) / sizes
        else:
            own = stderr**2
            variance = own[first] + own[second]
        variance = np.where(np.isnan(variance), np.inf, variance)
        own = np.where(np.isnan(own), np.inf, own)
        z = np.where(difference == 0, 0.0, np.abs(difference) / np.sqrt(variance))
    p = 2.0 * special.ndtr(-z)
    adjusted = holm(p)
    resolved = adjusted < 1.0 - confidence
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


def differ_significantly(estimates: Sequence[Estimate]) -> NDArray[np.bool_]:
    """Which pairs of means on different items differ (m, m), after Holm's correction over all.

    Each standard error is half the width of the estimate's interval by the normal quantile, so
    that it holds whatever made the interval. Without an interval nothing differs.
    """
    m = len(estimates)
    first, second = np.triu_indices(m, 1)
    value = np.array([each.value for each in estimates])
    error = np.array(
        [(each.high - each.low) / 2 / normal_quantile(each.level) for each in estimates]
    )
    spread = np.sqrt(error[first] ** 2 + error[second] ** 2)
    gap = np.abs(value[first] - value[second])
    z = np.where(spread > 0, gap / np.where(spread > 0, spread, 1.0), 0.0)
    p = np.where(np.isnan(z), 1.0, 2.0 * special.ndtr(-np.nan_to_num(z)))
    level = min((each.level for each in estimates), default=0.95)
    differs = np.zeros((m, m), dtype=bool)
    differs[first, second] = holm(p) < 1.0 - level
    return differs | differs.T
