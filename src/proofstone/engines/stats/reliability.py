"""How much of the differences between respondents would be there again with other items.

Reliability is the share of the variance of the observed means that is not noise of the items. By
variance components it is Hoyt's (1941), for independent items the same as Cronbach's alpha (1951);
by halves it is the correlation of two halves of the items, stepped up (Spearman 1910, Brown 1910).
Of right-or-wrong items alpha is Kuder and Richardson's formula 20 (1937).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand
from proofstone.engines.stats.resampling import generator
from proofstone.engines.stats.spread import measure_spread
from proofstone.engines.stats.weights import equal_weights

__all__ = ["Reliability", "measure_reliability", "split_half"]

Floats = NDArray[np.float64]

_PURPOSE = 8


class Reliability(Struct, frozen=True, kw_only=True):
    """``value = 1 - noise**2 / sd**2``, at most 1, below 0 where noise is more than all there
    is; NaN with fewer than two units or respondents, or where all means are alike.

    ``low`` and ``high`` are its interval at ``level`` over other respondents and units: (1 - truth)
    / (1 - value) has an F distribution on m - 1 and (m - 1) (G - 1) degrees (Feldt 1965), with G
    effective groups of units.

    ``sd`` is that of the observed means over m respondents (by m - 1), ``noise`` the standard error
    of one of them, freed of what all share on an item.
    """

    value: float
    sd: float
    noise: float
    n_units: int
    n_respondents: int
    low: float = float("nan")
    high: float = float("nan")
    level: float = 0.95


def measure_reliability(
    values: Floats, keys: SharedKeys, *, estimand: Estimand = "knowledge", confidence: float = 0.95
) -> Reliability:
    """The reliability of the means of ``values`` (U units, m respondents), on the units that all
    have; with shared facts the noise is clustered."""
    units = np.flatnonzero(~np.isnan(values).any(axis=1))
    n, m = len(units), values.shape[1]
    sd, noise, groups = float("nan"), float("nan"), 0.0
    if n and m > 1:
        spread = measure_spread(values[units], equal_weights(n), keys.among(units), estimand)
        first, second = np.triu_indices(m, 1)
        sd = float(spread.means.std(ddof=1))
        groups = spread.groups
        if groups >= 2.0:
            noise = float(np.sqrt(spread.difference_variances()[first, second].mean() / 2.0))
    value = 1.0 - noise**2 / sd**2 if sd > 1e-12 else float("nan")
    low, high = _feldt(value, groups, m, confidence)
    return Reliability(
        value=value,
        sd=sd,
        noise=noise,
        n_units=n,
        n_respondents=m,
        low=low,
        high=high,
        level=confidence,
    )


def _feldt(value: float, groups: float, m: int, confidence: float) -> tuple[float, float]:
    """The interval of a reliability of m respondents on ``groups`` effective groups of units."""
    if np.isnan(value) or groups < 2.0:
        return float("nan"), float("nan")
    between, within = m - 1.0, (m - 1.0) * (groups - 1.0)
    tail = (1.0 - confidence) / 2.0
    ends = (1.0 - (1.0 - value) * special.fdtri(between, within, q) for q in (1.0 - tail, tail))
    return float(next(ends)), float(next(ends))


def split_half(values: Floats, *, n_splits: int = 500, seed: int = 0) -> float:
    """The mean over random halves of the items of 2 r / (1 + r), r being Pearson's correlation of
    the respondents' means on the two; items that all have. NaN where r is never defined."""
    kept = values[~np.isnan(values).any(axis=1)]
    n, m = kept.shape
    if n < 2 or m < 2:
        return float("nan")
    rng = generator(seed, _PURPOSE)
    places = rng.random((n_splits, n)).argsort(axis=1)
    in_first = (places < n // 2).astype(np.float64)
    one = in_first @ kept / (n // 2)
    other = (1.0 - in_first) @ kept / (n - n // 2)
    one, other = (half - half.mean(axis=1, keepdims=True) for half in (one, other))
    scale = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    varies = scale > 1e-15
    r = (one * other).sum(axis=1)[varies] / scale[varies]
    stepped = 2.0 * r[r > -1.0] / (1.0 + r[r > -1.0])
    return float(stepped.mean()) if len(stepped) else float("nan")
