"""The area under the ROC curve within strata, and its interval where sources are what was drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Area", "area_within", "widened"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Area:
    """How often a text of the second kind scores above one of the first, equal scores half, with
    the ends of its interval; NaN where there is no pair, ends NaN with fewer than two sources.
    ``pairs`` is how many were compared, ``sources`` how many sources they come from;
    ``by_chance`` the spread (SD) of such areas where nothing tells, NaN where it was not found."""

    value: float
    low: float
    high: float
    pairs: int
    sources: int
    by_chance: float = float("nan")


def widened(area: Area, by_chance: float, *, confidence: float = 0.95) -> Area:
    """The area with an interval that is no narrower than ``by_chance`` makes it: the spread of such
    areas where nothing tells and all else is the same. Texts that were scored by models of shared
    training texts depend on each other, which the variance by source does not know."""
    if not area.sources > 1 or not np.isfinite(by_chance):
        return area
    reach = float(special.stdtrit(area.sources - 1, 0.5 + confidence / 2)) * by_chance
    return replace(
        area,
        low=max(0.0, min(area.low, area.value - reach)),
        high=min(1.0, max(area.high, area.value + reach)),
        by_chance=by_chance,
    )


def area_within(
    scores: Floats, is_second: Bools, stratum: Ints, source: Ints, *, confidence: float = 0.95
) -> Area:
    """The share of concordant pairs among all pairs of one stratum (texts each).

    Only scores of one model are compared with each other: a stratum is a fold. The variance sums
    the structural components over sources (Obuchowski 1997, Biometrics 53, equation 4, for one
    test), each source's total taken as one draw; the interval is by t with sources less one.
    """
    parts = np.zeros(len(scores))
    pairs = 0
    won = 0.0
    for place in np.unique(stratum):
        inside = np.flatnonzero(stratum == place)
        second, first = inside[is_second[inside]], inside[~is_second[inside]]
        if not len(second) or not len(first):
            continue
        above = _above(scores[second], scores[first])
        below = len(second) - _above(scores[first], scores[second])
        won += above.sum()
        pairs += len(second) * len(first)
        parts[second] += above
        parts[first] += below
    if not pairs:
        return Area(float("nan"), float("nan"), float("nan"), 0, len(np.unique(source)))
    value = won / pairs
    return _with_interval(value, parts, is_second, stratum, source, pairs, confidence)


def _above(ones: Floats, others: Floats) -> Floats:
    """For each of ``ones`` how many of ``others`` lie below it, equal ones half."""
    ordered = np.sort(others)
    low = np.searchsorted(ordered, ones, side="left")
    high = np.searchsorted(ordered, ones, side="right")
    return np.asarray((low + high) / 2.0)


def _with_interval(
    value: float,
    parts: Floats,
    is_second: Bools,
    stratum: Ints,
    source: Ints,
    pairs: int,
    confidence: float,
) -> Area:
    """Each text's surplus over what ``value`` would give it, summed by source."""
    expected = np.zeros(len(parts))
    for place in np.unique(stratum):
        inside = stratum == place
        n_second = (is_second & inside).sum()
        n_first = inside.sum() - n_second
        expected[inside & is_second] = value * n_first
        expected[inside & ~is_second] = value * n_second
    keys, number = np.unique(source, return_inverse=True)
    surplus = np.bincount(number, weights=parts - expected, minlength=len(keys)) / pairs
    n = len(keys)
    if n < 2:
        return Area(value, float("nan"), float("nan"), pairs, n)
    error = float(np.sqrt(n / (n - 1) * (surplus**2).sum()))
    reach = float(special.stdtrit(n - 1, 0.5 + confidence / 2)) * error
    return Area(value, max(0.0, value - reach), min(1.0, value + reach), pairs, n)
