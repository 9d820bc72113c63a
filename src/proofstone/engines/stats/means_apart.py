"""How far several means lie apart: the largest less the least, and their standard deviation."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.resampling import generator

__all__ = ["Apart", "SpreadApart", "spread_apart"]

Floats = NDArray[np.float64]

_PURPOSE = 31
_DRAWS = 4_000


class Apart(Struct, frozen=True):
    """A measure of spread with its interval; all NaN of fewer than two means."""

    value: float
    low: float
    high: float


class SpreadApart(Struct, frozen=True, kw_only=True):
    """The range and the standard deviation (over n - 1) of means under two conditions, and what the
    second has beyond the first; each pair and difference from the same draws."""

    range_before: Apart
    range_after: Apart
    range_change: Apart
    deviation_before: Apart
    deviation_after: Apart
    deviation_change: Apart


def spread_apart(
    means: Floats,
    covariance: Floats,
    *,
    degrees: float,
    confidence: float = 0.95,
    seed: int = 0,
) -> SpreadApart:
    """How far the first half of ``means`` (2 m) lie apart, and the second half, of the same m
    respondents. ``covariance`` (2 m, 2 m) is that of the means, on ``degrees`` of freedom.

    The means are drawn again from a normal law with that covariance (Student's where the degrees
    are few), and the interval is the basic one: the draws of a spread lie above the spread that
    they are drawn around, as chance alone drives means apart, so their quantiles are reflected at
    what was measured. Bounded by 0 below, but for changes. Fewer than two effective groups
    (``degrees`` NaN or below 1) leave the interval open.
    """
    m = len(means) // 2
    if m < 2:
        nothing = Apart(float("nan"), float("nan"), float("nan"))
        return SpreadApart(**dict.fromkeys(SpreadApart.__struct_fields__, nothing))
    drawn = _drawn(means, covariance, degrees, seed)
    halves = [slice(0, m), slice(m, 2 * m)]
    found = {}
    for name, spread in (("range", _range), ("deviation", _deviation)):
        own = [float(spread(means[None, half])[0]) for half in halves]
        others = [spread(drawn[:, half]) for half in halves]
        known = degrees >= 1.0
        for when, value, draws in zip(("before", "after"), own, others, strict=True):
            found[f"{name}_{when}"] = _basic(value, draws, confidence, known=known, least=0.0)
        found[f"{name}_change"] = _basic(
            own[1] - own[0], others[1] - others[0], confidence, known=known, least=-np.inf
        )
    return SpreadApart(**found)


def _drawn(means: Floats, covariance: Floats, degrees: float, seed: int) -> Floats:
    """Means drawn again (draws, 2 m). A sum over overlapping pairs may have a direction of less
    than no variance, which is noise: none is drawn along it."""
    values, vectors = np.linalg.eigh(covariance)
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = generator(seed, _PURPOSE)
    noise = rng.standard_normal((_DRAWS, len(means))) @ factor.T
    if degrees >= 1.0:
        noise *= np.sqrt(degrees / rng.chisquare(degrees, size=(_DRAWS, 1)))
    return np.asarray(means + noise)


def _range(rows: Floats) -> Floats:
    return np.asarray(np.ptp(rows, axis=1))


def _deviation(rows: Floats) -> Floats:
    return np.asarray(rows.std(axis=1, ddof=1))


def _basic(value: float, draws: Floats, confidence: float, *, known: bool, least: float) -> Apart:
    if not known:
        return Apart(value, least, float("inf"))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail])
    return Apart(value, max(least, 2 * value - float(high)), max(least, 2 * value - float(low)))
