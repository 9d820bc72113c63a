"""Ranks that say what the data cannot resolve: paired comparisons on the same items, then Holm.

The interval of a rank is [1 + those resolved better, m - those resolved worse]. Holm's step-down
(1979) over all pairs keeps the chance of any false "better" at 1 - confidence, so all rank
intervals hold together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.intervals import NO_SPREAD_BELOW, t_quantile, t_two_sided_p
from proofstone.engines.stats.multiplicity import holm
from proofstone.engines.stats.spread import Spread

__all__ = [
    "Comparison",
    "RankInterval",
    "Ranking",
    "best_group",
    "rank_all",
    "rank_intervals",
    "tied_runs",
    "tiers",
]

Floats = NDArray[np.float64]


class Comparison(Struct, frozen=True, kw_only=True):
    """``first`` minus ``second`` (columns of the values) on the same units.

    ``low`` and ``high`` bound this one difference, before any correction; ``p_holm`` is corrected
    for all pairs, and ``resolved`` says whether it is below 1 - confidence.
    """

    first: int
    second: int
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    resolved: bool


class RankInterval(Struct, frozen=True):
    """The ranks, counted from 1, that the data leave open."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """All pairs of m respondents, and the rank interval of each; ``better[a, b]``: a beats b."""

    comparisons: tuple[Comparison, ...]
    intervals: tuple[RankInterval, ...]
    better: NDArray[np.bool_]


def rank_all(spread: Spread, *, confidence: float = 0.95) -> Ranking:
    """Compares every pair by the clustered variance of its difference.

    With fewer than two effective groups nothing is resolved. m = 1 has no pair and rank 1.
    """
    m = len(spread.means)
    first, second = np.triu_indices(m, 1)
    difference = spread.means[first] - spread.means[second]
    variance = spread.difference_variances()[first, second]
    p = _two_sided(difference, variance, spread.groups)
    adjusted = holm(p)
    resolved = adjusted < 1.0 - confidence
    better = np.zeros((m, m), dtype=bool)
    better[first, second] = resolved & (difference > 0)
    better[second, first] = resolved & (difference < 0)
    half = _half_widths(variance, spread.groups, confidence)
    columns = zip(
        first.tolist(),
        second.tolist(),
        difference.tolist(),
        np.maximum(difference - half, -1.0).tolist(),
        np.minimum(difference + half, 1.0).tolist(),
        p.tolist(),
        adjusted.tolist(),
        resolved.tolist(),
        strict=True,
    )
    comparisons = tuple(
        Comparison(first=a, second=b, difference=d, low=low, high=high, p=p, p_holm=h, resolved=r)
        for a, b, d, low, high, p, h, r in columns
    )
    return Ranking(comparisons, rank_intervals(better), better)


def tied_runs(better: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """The longest runs [first, last] of neighbours in which no one beats another, two or more.

    ``better`` is in the order of the ranking. Runs may overlap: being tied is not transitive.
    """
    resolved = better | better.T
    runs: list[tuple[int, int]] = []
    end = 0
    for start in range(len(resolved)):
        # A run from here reaches at least as far as the one from the place before.
        end = max(end, start)
        while end + 1 < len(resolved) and not resolved[end + 1, start : end + 1].any():
            end += 1
        if end > start and not (runs and end <= runs[-1][1]):
            runs.append((start, end))
    return tuple(runs)


def tiers(better: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Runs [first, last] that together hold everyone: all of a tier beat all of the tiers below.

    ``better`` is in the order of the ranking. Two respondents of different tiers are told apart;
    within a tier each neighbour is tied to the others at least through a third.
    """
    m = len(better)
    clean = [cut for cut in range(1, m) if better[:cut, cut:].all()]
    ends = [0, *clean, m]
    return tuple((start, end - 1) for start, end in pairwise(ends) if end > start)


def best_group(better: NDArray[np.bool_]) -> tuple[int, ...]:
    """Those that nobody beats: with the confidence of the comparisons, the best is among them."""
    return tuple(np.flatnonzero(~better.any(axis=0)).tolist())


def _two_sided(difference: Floats, variance: Floats, groups: float) -> Floats:
    """The paired t-test; a sign test over the groups where a difference is the same everywhere."""
    if groups < 2.0:
        return np.ones_like(difference)
    alike = variance < NO_SPREAD_BELOW
    t = difference / np.sqrt(np.where(alike, 1.0, variance))
    by_sign = np.where(difference == 0.0, 1.0, min(1.0, 2.0 * 0.5**groups))
    return np.where(alike, by_sign, t_two_sided_p(t, groups - 1.0))


def _half_widths(variance: Floats, groups: float, confidence: float) -> Floats:
    if groups < 2.0:
        return np.full_like(variance, np.inf)
    return np.asarray(t_quantile(groups - 1.0, confidence) * np.sqrt(variance))


def rank_intervals(better: NDArray[np.bool_]) -> tuple[RankInterval, ...]:
    """[1 + those that beat one, m - those that it beats], for each of m."""
    beaten_by, beats = better.sum(axis=0), better.sum(axis=1)
    m = len(better)
    return tuple(
        RankInterval(1 + int(over), m - int(under))
        for over, under in zip(beaten_by, beats, strict=True)
    )
