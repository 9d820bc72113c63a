"""Two respondents are swapped at random, unit by unit or cluster by cluster: the paired test that
assumes no distribution.

If both are alike, each unit's two values could as well stand the other way round, so the sign of
its difference is a coin (Fisher 1935, section 21). Units that share knowledge are swapped together.
That needs clusters that do not overlap; where facts are shared by overlapping sets of units, no set
can be swapped apart from the rest, and the clustered t-test (`rank_all`) is the one to use.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.resampling import generator

__all__ = ["SignFlip", "sign_flip", "sign_flip_p"]

Floats = NDArray[np.float64]

_PURPOSE = 3
# Up to this many clusters all patterns of signs are gone through: 2**14 of them.
_MOST_EXACT = 14
_MOST_AT_ONCE = 4_000_000


class SignFlip(Struct, frozen=True, kw_only=True):
    """``difference`` of two means on the same units, and the two-sided share of sign patterns
    whose difference is at least as far from 0.

    ``n_patterns`` patterns of ``n_flipped`` units or clusters: all where ``is_exact``, else drawn
    by ``seed`` (the observed one among them). Units missing for one of the two are left out.
    """

    difference: float
    p: float
    n_units: int
    n_flipped: int
    resampled: str
    n_patterns: int
    is_exact: bool
    seed: int


def sign_flip(
    first: Floats,
    second: Floats,
    clusters: NDArray[np.integer] | None = None,
    *,
    n_draws: int = 10_000,
    seed: int = 0,
) -> SignFlip:
    """The test of two columns (units, NaN where missing); ``clusters`` are codes (units)."""
    difference = (first - second)[:, None]
    kept = ~np.isnan(difference[:, 0])
    sums = _cluster_sums(difference[kept], None if clusters is None else clusters[kept])
    n = int(kept.sum())
    is_exact = len(sums) <= _MOST_EXACT
    return SignFlip(
        difference=float(sums.sum() / n) if n else float("nan"),
        p=float(_share_as_far(sums, n_draws, seed)[0]),
        n_units=n,
        n_flipped=len(sums),
        resampled="items" if clusters is None else "clusters",
        n_patterns=2 ** len(sums) if is_exact else n_draws,
        is_exact=is_exact,
        seed=seed,
    )


def sign_flip_p(
    values: Floats,
    clusters: NDArray[np.integer] | None = None,
    *,
    n_draws: int = 10_000,
    seed: int = 0,
) -> Floats:
    """The p-values of all pairs of columns (R, R), symmetric, ones on the diagonal.

    ``values`` (units, R); a unit missing for one of a pair is left out of that pair.
    """
    m = values.shape[1]
    first, second = np.triu_indices(m, 1)
    p = np.ones((m, m))
    if not np.isnan(values).any():
        found = _share_as_far(_cluster_sums(values, clusters), n_draws, seed, (first, second))
        p[first, second] = p[second, first] = found
        return p
    for a in range(m - 1):
        others = second[first == a]
        differences = np.nan_to_num(values[:, a : a + 1] - values[:, others])
        p[a, others] = p[others, a] = _share_as_far(
            _cluster_sums(differences, clusters), n_draws, seed
        )
    return p


def _cluster_sums(differences: Floats, clusters: NDArray[np.integer] | None) -> Floats:
    """The sum of each cluster's differences (clusters, C); without ``clusters`` each unit's."""
    if clusters is None:
        return differences
    codes, place = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(codes), differences.shape[1]))
    np.add.at(sums, place, differences)
    return sums


def _share_as_far(
    sums: Floats,
    n_draws: int,
    seed: int,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
) -> Floats:
    """The p-value of every column, or of the difference of every pair of columns: all patterns of
    few rows, else drawn ones and the seen one."""

    def statistic(signs: Floats) -> Floats:
        # The difference of two flipped sums is the flipped sum of differences.
        flipped = signs @ sums
        return np.abs(flipped if pairs is None else flipped[:, pairs[0]] - flipped[:, pairs[1]])

    # Equal sums in another order of summation count as equal.
    slack = 1e-9 * max(float(np.abs(sums).sum(axis=0).max(initial=0.0)), 1.0)
    bound = statistic(np.ones((1, len(sums))))[0] - slack
    if len(sums) <= _MOST_EXACT:
        return np.asarray((statistic(_all_signs(len(sums))) >= bound).mean(axis=0))
    rng, reached = generator(seed, _PURPOSE), np.zeros(len(bound), dtype=np.int64)
    block = max(1, _MOST_AT_ONCE // len(sums))
    left = n_draws - 1
    while left > 0:
        number = min(block, left)
        flips = rng.integers(0, 2, (number, len(sums)), dtype=np.int8)
        signs: Floats = flips.astype(np.float64) * 2.0 - 1.0
        reached += (statistic(signs) >= bound).sum(axis=0)
        left -= number
    return (reached + 1.0) / n_draws


def _all_signs(n: int) -> Floats:
    patterns = np.arange(2**n)[:, None] >> np.arange(n)
    return np.asarray(1.0 - 2.0 * (patterns & 1))
