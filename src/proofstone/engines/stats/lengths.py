"""Are longer replies better, or only asked for by harder questions?

Over all replies, length and accuracy go together by difficulty: hard questions draw long replies
and wrong answers. Within one item its difficulty is the same for all replies, so only what is left
within items speaks of length (Encyclo-K's appendix E and ELAIPBench 4.4 compare over items).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.dependence import Dependence
from proofstone.engines.stats.intervals import t_quantile, t_two_sided_p

__all__ = ["LengthEffect", "Slope", "length_effect"]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]


class Slope(Struct, frozen=True, kw_only=True):
    """The change of a score where a reply is twice as long, with its interval and p-value.

    ``n`` replies of ``n_items`` items enter; errors are clustered by item (CR1), and by
    the keys that items share (sums over all pairs that share any), Student's t on groups - 1
    degrees. NaN with fewer than three items, or where lengths do not vary.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    n_items: int


class LengthEffect(Struct, frozen=True, kw_only=True):
    """``over_items``: by all replies, difficulty and all; ``within_items``: by replies to the same
    item only, with each respondent's own level taken out too. ``confounded``: the part of the first
    that the second does not bear out."""

    over_items: Slope
    within_items: Slope
    confounded: float


def length_effect(
    scores: Floats,
    tokens: Floats,
    item: Codes,
    respondent: Codes | None = None,
    *,
    keys: SharedKeys | None = None,
    confidence: float = 0.95,
) -> LengthEffect:
    """Both slopes of ``scores`` on log2 of ``tokens``, parallel arrays (replies).

    Replies without a score or of no known length (NaN, 0) are left out. An item of one reply says
    nothing within items.
    """
    kept = ~np.isnan(scores) & (np.nan_to_num(tokens) > 0)
    y, x = scores[kept].astype(np.float64), np.log2(tokens[kept])
    by_item = item[kept].astype(np.int64)
    by_whom = _codes(np.zeros_like(item[kept]) if respondent is None else respondent[kept])
    over = _slope(*_swept(x, y, [by_whom]), Dependence.of(len(x), by_item, keys), confidence)
    several = np.bincount(by_item, minlength=1)[by_item] > 1 if len(by_item) else kept[:0]
    x, y, by_item, by_whom = x[several], y[several], by_item[several], by_whom[several]
    swept = _swept(x, y, [_codes(by_item), _codes(by_whom)])
    within = _slope(*swept, Dependence.of(len(x), by_item, keys), confidence)
    return LengthEffect(over_items=over, within_items=within, confounded=over.value - within.value)


def _codes(values: Codes) -> NDArray[np.int64]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _swept(x: Floats, y: Floats, levels: list[NDArray[np.int64]]) -> tuple[Floats, Floats]:
    """Both without the means of each level, by turns until they are gone (Gauss and Seidel)."""
    for _ in range(200 if len(levels) > 1 else 1):
        before = x
        for codes in levels:
            x, y = _centred(x, codes), _centred(y, codes)
        if not len(x) or np.abs(x - before).max() < 1e-10:
            break
    return x, y


def _centred(values: Floats, codes: NDArray[np.int64]) -> Floats:
    if not len(values):
        return values
    sums, sizes = np.bincount(codes, weights=values), np.bincount(codes)
    return np.asarray(values - (sums / np.maximum(sizes, 1))[codes])


def _slope(x: Floats, y: Floats, dependence: Dependence, confidence: float) -> Slope:
    n, n_items = len(x), len(np.unique(dependence.unit))
    squares = float((x**2).sum())
    # Items that share nothing are a group each (CR1); else Kish's effective number, not more.
    is_shared = len(dependence.keys.unit) > 0
    groups = min(float(n_items), dependence.groups) if is_shared else float(n_items)
    if n_items < 3 or groups < 2.0 or squares < 1e-12:
        nan = float("nan")
        return Slope(value=nan, low=nan, high=nan, p=nan, n=n, n_items=n_items)
    value = float((x * y).sum()) / squares
    parts = (x * (y - value * x) / squares)[:, None]
    error = float(dependence.moments(parts, groups=groups).variances()[0]) ** 0.5
    half = t_quantile(groups - 1.0, confidence) * error
    p = 1.0 if value == 0.0 else 0.0
    if error > 0:
        p = float(t_two_sided_p(np.array([value / error]), groups - 1.0)[0])
    return Slope(value=value, low=value - half, high=value + half, p=p, n=n, n_items=n_items)
