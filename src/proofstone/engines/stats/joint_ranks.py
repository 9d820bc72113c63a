"""Ranks that hold together, by the largest of all paired statistics: tighter than Holm.

Pairs share respondents, and respondents share items, so their statistics move together; Holm
(`rank_all`) allows for any dependence, and pays. Here the statistic of every pair is drawn jointly
from the estimated covariance of the means (a multivariate t on the groups' degrees of freedom: the
Gaussian form of the multiplier bootstrap), and step-down p-values come from the largest of those
not yet passed (Westfall and Young 1993; Romano and Wolf 2005). Confidence sets for all ranks from
such a set of differences: Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91
(2024), sections 3.2 and 3.3. For independent means of equal variance it is Tukey's range test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from proofstone.engines.stats.intervals import NO_SPREAD_BELOW, t_two_sided_p
from proofstone.engines.stats.ranks import RankInterval, rank_all, rank_intervals
from proofstone.engines.stats.resampling import generator
from proofstone.engines.stats.spread import Spread

__all__ = ["JointRanking", "rank_jointly"]

Floats = NDArray[np.float64]

_PURPOSE = 2
# Statistics held at once: pairs times draws of one block, in single precision.
_MOST_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class JointRanking:
    """Pairs of m respondents corrected together, and the rank interval of each.

    ``p`` (m, m) is symmetric, with ones on its diagonal; ``better[a, b]``: a beats b. ``made_by``
    is "max-t" or, where a pair differs without spread, "Holm": a normal law says nothing there.
    """

    p: Floats
    better: NDArray[np.bool_]
    intervals: tuple[RankInterval, ...]
    made_by: str
    n_draws: int
    seed: int


def rank_jointly(
    spread: Spread, *, confidence: float = 0.95, n_draws: int = 10_000, seed: int = 0
) -> JointRanking:
    """The simultaneous ranks of all respondents of ``spread``, at ``confidence`` for all together.

    With fewer than two effective groups nothing is resolved, of a respondent or of all. A p-value
    is at least 1 / (n_draws + 1).
    """
    m = len(spread.means)
    first, second = np.triu_indices(m, 1)
    difference = spread.means[first] - spread.means[second]
    variance = spread.difference_variances()[first, second]
    alike = variance < NO_SPREAD_BELOW
    own = spread.own_groups
    if (own is None and spread.groups < 2.0) or (alike & (difference != 0.0)).any():
        return _by_holm(spread, confidence, seed)
    known = ~alike
    degrees = np.full(len(first), spread.groups - 1.0)
    if own is not None:
        degrees = np.minimum(own[first], own[second]) - 1.0
        known &= degrees >= 1.0
    adjusted = np.ones(len(first))
    if known.any():
        statistic = np.abs(difference[known]) / np.sqrt(variance[known])
        common = spread.groups - 1.0
        if own is not None:
            statistic, common = _as_normal(statistic, degrees[known]), np.inf
        pairs = (first[known], second[known])
        rng = generator(seed, _PURPOSE)
        adjusted[known] = _stepped_down(statistic, pairs, spread.covariance(), common, n_draws, rng)
    p = np.ones((m, m))
    p[first, second] = p[second, first] = adjusted
    better = (p < 1.0 - confidence) & (spread.means[:, None] > spread.means[None, :])
    return JointRanking(p, better, rank_intervals(better), "max-t", n_draws, seed)


def _by_holm(spread: Spread, confidence: float, seed: int) -> JointRanking:
    ranking = rank_all(spread, confidence=confidence)
    p = np.ones((len(spread.means), len(spread.means)))
    for pair in ranking.comparisons:
        p[pair.first, pair.second] = p[pair.second, pair.first] = pair.p_holm
    return JointRanking(p, ranking.better, ranking.intervals, "Holm", 0, seed)


def _stepped_down(
    statistic: Floats,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    covariance: Floats,
    degrees: float,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """The p-value of each pair: how often the largest drawn statistic among it and all smaller
    ones reaches its own; never below that of a larger one."""
    order = np.argsort(statistic, kind="stable")
    first, second = pairs[0][order], pairs[1][order]
    root = _root(covariance)
    scale = np.sqrt(((root[first] - root[second]) ** 2).sum(axis=1))
    scale = np.where(scale > 0.0, scale, 1.0)
    ascending = statistic[order].astype(np.float32)
    reached = np.zeros(len(order), dtype=np.int64)
    block = max(1, _MOST_AT_ONCE // len(order))
    for start in range(0, n_draws, block):
        number = min(block, n_draws - start)
        drawn = _drawn(root, degrees, number, rng)
        tied = np.abs((drawn[first] - drawn[second]) / scale[:, None]).astype(np.float32)
        largest = np.maximum.accumulate(tied, axis=0)
        reached += (largest >= ascending[:, None]).sum(axis=1)
    p = (reached + 1.0) / (n_draws + 1.0)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[::-1])[::-1]
    return adjusted


def _as_normal(statistic: Floats, degrees: Floats) -> Floats:
    """The normal deviates that are as unlikely as t statistics on their own degrees."""
    return np.asarray(-special.ndtri(t_two_sided_p(statistic, degrees) / 2.0))


def _root(covariance: Floats) -> Floats:
    """A square root of the nearest covariance without negative parts (m, m)."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _drawn(root: Floats, degrees: float, number: int, rng: np.random.Generator) -> Floats:
    """Means under equal skill (m, number), each draw over one draw of their common scale; infinite
    degrees leave that as it is."""
    normal = np.asarray(root @ rng.standard_normal((root.shape[1], number)))
    if np.isinf(degrees):
        return normal
    return np.asarray(normal / np.sqrt(rng.chisquare(degrees, number) / degrees))
