"""Does a respondent favour a position among the options?

Questions with more options are harder to guess and have later positions, so positions are compared
within questions of one number of options and the tests are added up.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.special import gammaincc

from proofstone.engines.stats.concordance import Homogeneity, homogeneity

__all__ = ["PositionBias", "PositionShare", "position_bias"]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]


class PositionShare(Struct, frozen=True, kw_only=True):
    """A position (from 0): on how many of ``asked`` replies it was there, how often it was chosen
    and how often it was right, and the mean score where it was right (NaN where it never was)."""

    position: int
    asked: int
    chosen: int
    right: int
    expected: float
    accuracy: float


class PositionBias(Struct, frozen=True, kw_only=True):
    """Positions of the right and of the chosen option, and three tests; replies are independent.

    ``accuracy``: one accuracy wherever the right option stands. ``choice``: every position chosen
    alike often, against uniform; it also rejects where the key is not uniform and the respondent is
    right. ``error``: wrong choices spread evenly over the wrong positions, which a key cannot
    cause. ``unread`` replies chose no position.
    """

    positions: tuple[PositionShare, ...]
    accuracy: Homogeneity
    choice: Homogeneity
    error: Homogeneity
    unread: int


def position_bias(scores: Floats, gold: Codes, chosen: Codes, n_options: Codes) -> PositionBias:
    """The bias of one respondent's replies: parallel arrays (replies) of score, position of the
    right option and of the chosen one (from 0, negative where none), and number of options.

    Replies without a score or without a right position are left out.
    """
    kept = ~np.isnan(scores) & (gold >= 0) & (gold < n_options)
    y, g, c, k = scores[kept], gold[kept], chosen[kept], n_options[kept]
    valid = (c >= 0) & (c < k)
    wrong = valid & (c != g)
    most = int(k.max(initial=0))
    accuracy = [homogeneity(y[k == n], g[k == n].astype(np.int32)) for n in np.unique(k)]
    return PositionBias(
        positions=tuple(_share(p, y, g, np.where(valid, c, -1), k) for p in range(most)),
        accuracy=_together([(test.chi_square, test.df) for test in accuracy]),
        choice=_together([_even(c[valid & (k == n)], int(n)) for n in np.unique(k)]),
        error=_errors_even(g[wrong], c[wrong], k[wrong], most),
        unread=int((~valid).sum()),
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


def _even(chosen: Codes, n: int) -> tuple[float, int]:
    """Pearson's chi-square of choices against n equally likely positions, and its degrees."""
    if not len(chosen) or n < 2:
        return float("nan"), 0
    expected = len(chosen) / n
    counts = np.bincount(chosen, minlength=n)
    return float(((counts - expected) ** 2 / expected).sum()), n - 1


def _errors_even(g: Codes, c: Codes, k: Codes, most: int) -> Homogeneity:
    """Wrong choices against an even spread over the positions that are wrong, each reply's own: by
    the covariance of the counts (a score test)."""
    if not len(c):
        return _together([])
    position = np.arange(most)
    open_to = (position < k[:, None]) & (position != g[:, None])
    chance = open_to / (k - 1.0)[:, None]
    excess = np.bincount(c, minlength=most) - chance.sum(axis=0)
    covariance = np.diag(chance.sum(axis=0)) - chance.T @ chance
    values, vectors = np.linalg.eigh(covariance)
    # All counts together are as many as replies, so one direction at least has no variance.
    free = values > 1e-9 * max(float(values.max()), 1e-9)
    along = (excess @ vectors)[free]
    return _together([(float((along**2 / values[free]).sum()), int(free.sum()))])


def _together(tests: list[tuple[float, int]]) -> Homogeneity:
    """Independent chi-squares added up; NaN where none is left."""
    known = [(statistic, df) for statistic, df in tests if df > 0 and not np.isnan(statistic)]
    statistic, df = sum(s for s, _ in known), sum(d for _, d in known)
    if not df:
        return Homogeneity(chi_square=float("nan"), df=0, p=float("nan"))
    return Homogeneity(chi_square=statistic, df=df, p=float(gammaincc(df / 2, statistic / 2)))
