"""How far two orders agree, and whether groups differ by more than chance."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.special import gammaincc

__all__ = ["Homogeneity", "homogeneity", "tau_b"]

Floats = NDArray[np.float64]


def tau_b(first: Floats, second: Floats) -> float:
    """Kendall's tau-b of two scores of the same m things, in [-1, 1]; ties count for neither.

    NaN where either gives all things the same score, or there are fewer than two (Kendall 1945).
    """
    a, b = np.triu_indices(len(first), 1)
    x, y = np.sign(first[a] - first[b]), np.sign(second[a] - second[b])
    scale = float(np.sqrt((x**2).sum() * (y**2).sum()))
    return float((x * y).sum()) / scale if scale else float("nan")


class Homogeneity(Struct, frozen=True, kw_only=True):
    """A test that groups have one mean: its statistic, degrees of freedom and p-value."""

    chi_square: float
    df: int
    p: float


def homogeneity(values: Floats, groups: NDArray[np.int32]) -> Homogeneity:
    """Whether the mean of ``values`` (n, no NaN) is the same in all ``groups`` (n codes).

    Pearson's chi-square for values of 0 and 1 (k groups by right or wrong); for shares the same
    with their own variance. Units count as independent. NaN with fewer than two groups, or where
    all values are alike.
    """
    codes, place = np.unique(groups, return_inverse=True)
    df = len(codes) - 1
    variance = float(values.var()) if len(values) else 0.0
    if df < 1 or variance == 0.0:
        return Homogeneity(chi_square=float("nan"), df=max(df, 0), p=float("nan"))
    sizes = np.bincount(place)
    means = np.bincount(place, weights=values) / sizes
    statistic = float((sizes * (means - values.mean()) ** 2).sum() / variance)
    return Homogeneity(chi_square=statistic, df=df, p=float(gammaincc(df / 2, statistic / 2)))
