"""Does a respondent favour a position among the options?

Questions with more options are harder to guess and have later positions, so positions are compared
within questions of one number of options and the tests are added up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.special import gammaincc

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.dependence import Dependence
from proofstone.engines.stats.quadratic_forms import quadratic_p

__all__ = ["PositionBias", "PositionShare", "PositionTest", "position_bias"]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
Bools = NDArray[np.bool_]


class PositionShare(Struct, frozen=True, kw_only=True):
    """A position (from 0): on how many of ``asked`` replies it was there, how often it was chosen
    and how often it was right, and the mean score where it was right (NaN where it never was)."""

    position: int
    asked: int
    chosen: int
    right: int
    expected: float
    accuracy: float


class PositionTest(Struct, frozen=True, kw_only=True):
    """A test over positions: Pearson's (or a score test's) chi-square and its degrees. ``p`` takes
    replies of one item, and of items that share keys, as dependent: the statistic is referred to
    what it is by their covariance (Rao and Scott 1984, second order); ``design`` is how many times
    larger that makes it by chance, 1 where no two depend."""

    chi_square: float
    df: int
    p: float
    design: float


class PositionBias(Struct, frozen=True, kw_only=True):
    """Positions of the right and of the chosen option, and three tests.

    ``accuracy``: one accuracy wherever the right option stands. ``choice``: every position chosen
    alike often, against uniform; it also rejects where the key is not uniform and the respondent is
    right. ``error``: wrong choices spread evenly over the wrong positions, which a key cannot
    cause. ``unread`` replies chose no position. ``groups``: the effective number of independent
    groups of replies.
    """

    positions: tuple[PositionShare, ...]
    accuracy: PositionTest
    choice: PositionTest
    error: PositionTest
    unread: int
    groups: float


def position_bias(
    scores: Floats,
    gold: Codes,
    chosen: Codes,
    n_options: Codes,
    *,
    unit: Codes | None = None,
    keys: SharedKeys | None = None,
) -> PositionBias:
    """The bias of one respondent's replies: parallel arrays (replies) of score, position of the
    right option and of the chosen one (from 0, negative where none), and number of options.

    ``unit`` (replies) says which replies are to one item, by its place in ``keys``; without it each
    is to its own. Replies without a score or without a right position are left out.
    """
    kept = ~np.isnan(scores) & (gold >= 0) & (gold < n_options)
    y, g, c, k = scores[kept], gold[kept], chosen[kept], n_options[kept]
    dependence = Dependence.of(len(y), None if unit is None else unit[kept], keys)
    valid = (c >= 0) & (c < k)
    most = int(k.max(initial=0))
    return PositionBias(
        positions=tuple(_share(p, y, g, np.where(valid, c, -1), k) for p in range(most)),
        accuracy=_tested([_one_accuracy(y, g, k, int(n)) for n in np.unique(k)], dependence),
        choice=_tested([_even(c, k, valid, int(n)) for n in np.unique(k)], dependence),
        error=_tested([_errors_even(g, c, k, valid & (c != g), most)], dependence),
        unread=int((~valid).sum()),
        groups=dependence.groups,
    )


def _share(p: int, y: Floats, g: Codes, c: Codes, k: Codes) -> PositionShare:
    there, right = k > p, g == p
    return PositionShare(
        position=p,
        asked=int(there.sum()),
        chosen=int((c == p).sum()),
        right=int(right.sum()),
        expected=float((1.0 / k[there & (c >= 0)]).sum()),
        accuracy=float(y[right].mean()) if right.any() else float("nan"),
    )


# A test's parts (replies, q): what each reply adds to each excess over what is expected, and the
# covariance (q, q) of these excesses were replies independent.
_Excess = tuple[Floats, Floats]


def _one_accuracy(y: Floats, g: Codes, k: Codes, n: int) -> _Excess:
    """Scores above the mean of questions of n options, by position of the right one."""
    chosen = k == n
    size = int(chosen.sum())
    mean = float(y[chosen].mean())
    at = (g[:, None] == np.arange(n)) & chosen[:, None]
    share = at.sum(axis=0) / size
    parts = np.where(chosen[:, None], (at - share) * (y - mean)[:, None], 0.0)
    variance = float(((y[chosen] - mean) ** 2).mean())
    return parts, variance * size * (np.diag(share) - np.outer(share, share))


def _even(c: Codes, k: Codes, valid: Bools, n: int) -> _Excess:
    """Choices above one in n, of questions of n options."""
    chosen = valid & (k == n)
    parts = ((c[:, None] == np.arange(n)) - 1.0 / n) * chosen[:, None]
    return parts, chosen.sum() * (np.eye(n) / n - 1.0 / n**2)


def _errors_even(g: Codes, c: Codes, k: Codes, wrong: Bools, most: int) -> _Excess:
    """Wrong choices above an even spread over the positions that are wrong, each reply's own."""
    position = np.arange(most)
    open_to = (position < k[:, None]) & (position != g[:, None]) & wrong[:, None]
    chance = open_to / np.maximum(k - 1.0, 1.0)[:, None]
    parts = ((c[:, None] == position) & wrong[:, None]) - chance
    return parts, np.diag(chance.sum(axis=0)) - chance.T @ chance


def _tested(excesses: Sequence[_Excess], dependence: Dependence) -> PositionTest:
    """The chi-squares of several excesses together: each over its covariance were replies
    independent, along the directions that have any; p by how they really go together."""
    whitened = []
    for parts, covariance in excesses:
        values, vectors = np.linalg.eigh(covariance)
        # All counts together are as many as replies, so one direction at least has no variance.
        free = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-9)
        whitened.append(parts @ (vectors[:, free] / np.sqrt(values[free])))
    parts = np.hstack(whitened) if whitened else np.zeros((0, 0))
    df = parts.shape[1]
    if not df:
        nan = float("nan")
        return PositionTest(chi_square=nan, df=0, p=nan, design=nan)
    statistic = float((parts.sum(axis=0) ** 2).sum())
    p, design = float(gammaincc(df / 2, statistic / 2)), 1.0
    if dependence.is_shared:
        v = dependence.moments(parts).covariance
        design = float(np.trace(v)) / df
        if design > 1.0:
            p = quadratic_p(statistic, float(np.trace(v)), float((v**2).sum()), dependence.groups)
    return PositionTest(chi_square=statistic, df=df, p=p, design=max(design, 1.0))
