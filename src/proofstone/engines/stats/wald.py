"""Whether several quantities are all nothing, or all the same: one test of them together.

Wald's chi-square ``e' V^-1 e``, referred to Hotelling's distribution, because V is estimated from
G groups: ``F = (G - q) / (q (G - 1)) * chi-square`` on q and G - q degrees (Hotelling 1931; for
the same effect in all of several paired conditions, Morrison 1976, section 4.6). For one quantity
it is the square of the t-test. For independent units and normal values it is exact.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

__all__ = ["WaldTest", "wald"]

Floats = NDArray[np.float64]

# A direction with less than this share of the largest variance has none of its own.
_NO_DIRECTION = 1e-9


class WaldTest(Struct, frozen=True, kw_only=True):
    """``chi_square`` on ``df`` degrees, ``p`` from F on ``df`` and ``df_groups`` degrees.

    NaN where there is nothing to test (``df`` 0), or as many quantities as groups: then it cannot
    be told.
    """

    chi_square: float
    df: int
    df_groups: float
    p: float


def wald(values: Floats, covariance: Floats, floor: Floats, groups: float) -> WaldTest:
    """The test that all ``values`` (q) are 0.

    ``covariance`` (q, q) is floored, in every direction, at ``floor``: their covariance were units
    independent. Where shared facts seem to make means surer than that, it is noise. Directions
    without variance are left out; where a value lies along one, it is the same in every group, and
    p is that of a sign test.
    """
    whitener, left_over = _whitener(floor, values)
    rank = whitener.shape[1]
    if left_over > 0.0:
        return _without_spread(rank, groups)
    if not rank:
        nan = float("nan")
        return WaldTest(chi_square=nan, df=0, df_groups=nan, p=nan)
    own, axes = np.linalg.eigh(whitener.T @ covariance @ whitener)
    along = axes.T @ (whitener.T @ values)
    statistic = float((along**2 / np.maximum(own, 1.0)).sum())
    df_groups = groups - rank
    if not df_groups > 0.0:
        nan = float("nan")
        return WaldTest(chi_square=statistic, df=rank, df_groups=max(df_groups, 0.0), p=nan)
    f = df_groups / (rank * (groups - 1.0)) * statistic
    p = float(special.fdtrc(rank, df_groups, f))
    return WaldTest(chi_square=statistic, df=rank, df_groups=df_groups, p=p)


def _whitener(floor: Floats, values: Floats) -> tuple[Floats, float]:
    """Directions (q, rank) scaled to unit variance, and how far ``values`` lie outside of them."""
    own, axes = np.linalg.eigh((floor + floor.T) / 2.0)
    kept = own > max(_NO_DIRECTION * float(own.max(initial=0.0)), 1e-20)
    outside = axes[:, ~kept].T @ values
    far = float(np.abs(outside).max(initial=0.0))
    return axes[:, kept] / np.sqrt(own[kept]), far if far > 1e-9 else 0.0


def _without_spread(rank: int, groups: float) -> WaldTest:
    return WaldTest(
        chi_square=float("inf"),
        df=max(rank, 1),
        df_groups=max(groups - rank, 0.0),
        p=min(1.0, 2.0 * 0.5**groups),
    )
