"""Which models stand elsewhere on a second benchmark, by more than the items' noise.

A rank moves when a neighbour does, so moves are tested on scores: by how much a model's mean on the
second benchmark misses the line that most models follow from the first. The line is Passing and
Bablok's (1983): the median of the slopes of all pairs, so that one model that falls does not make
the others seem to rise, and of the same slope whichever benchmark comes first, for both are noisy.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

from proofstone.engines.stats.drawn_means import DrawnMeans
from proofstone.engines.stats.intervals import normal_quantile
from proofstone.engines.stats.multiplicity import holm
from proofstone.engines.stats.rank_agreement import percentiles
from proofstone.engines.stats.standings_by_draw import ranks_of
from proofstone.records.results import Estimate

__all__ = ["RankMove", "rank_moves"]

Floats = NDArray[np.float64]

# With fewer models the line goes where each of them wants it.
_FEWEST = 5


class RankMove(Struct, frozen=True, kw_only=True):
    """``model`` (its place) has ``rank_first`` and ``rank_second`` among the models of both;
    ``move`` is the first less the second, above 0 where it climbs, within ``low`` and ``high`` over
    other items.

    ``shift`` is by how much its mean on the second lies above what the first lets expect;
    ``p_holm`` is corrected for all models, and ``moved`` says whether it is below 1 - confidence.
    NaN with fewer than five models, or where most are alike on one of the two.
    """

    model: int
    rank_first: int
    rank_second: int
    move: int
    low: float
    high: float
    shift: Estimate
    p: float
    p_holm: float
    moved: bool


def rank_moves(
    first: DrawnMeans, second: DrawnMeans, *, confidence: float = 0.95
) -> tuple[RankMove, ...]:
    """One move a model that has a mean on both benchmarks, in their order."""
    kept = np.flatnonzero(~np.isnan(first.means) & ~np.isnan(second.means))
    number = min(first.drawn.shape[1], second.drawn.shape[1])
    if not len(kept) or not number:
        return ()
    means = [each.means[kept, None] for each in (first, second)]
    drawn = [each.drawn[kept, :number] for each in (first, second)]
    ranks = [ranks_of(each)[:, 0] for each in means]
    moved = ranks_of(drawn[0]) - ranks_of(drawn[1])
    spreads = [_spread(each[:, 0]) for each in means]
    scale = spreads[1] / spreads[0] if min(spreads) > 0.0 else 0.0
    shift = _misses(means[0], means[1], scale)
    over = _misses(drawn[0], drawn[1], scale)
    errors = _deviations(over)
    p = _p(shift[:, 0], errors)
    known = ~np.isnan(p)
    adjusted = np.full(len(p), np.nan)
    adjusted[known] = holm(p[known])
    found = []
    for place, model in enumerate(kept.tolist()):
        low, high = percentiles(moved[place].astype(np.float64), confidence)
        move = int(ranks[0][place] - ranks[1][place])
        found.append(
            RankMove(
                model=model,
                rank_first=int(ranks[0][place]),
                rank_second=int(ranks[1][place]),
                move=move,
                low=min(low, move),
                high=max(high, move),
                shift=_shift(float(shift[place, 0]), errors[place], first, second, confidence),
                p=float(p[place]),
                p_holm=float(adjusted[place]),
                moved=bool(adjusted[place] < 1.0 - confidence),
            )
        )
    return tuple(found)


def _misses(x: Floats, y: Floats, scale: float) -> Floats:
    """How far y lies above the line through the models (m, draws); NaN where there is none. Slopes
    are compared with ``scale``, the y that one x is worth."""
    m = len(x)
    if m < _FEWEST or not scale > 0.0:
        return np.full_like(y, np.nan)
    first, second = np.triu_indices(m, 1)
    dx, dy = (x[first] - x[second]) * scale, y[first] - y[second]
    vertical = np.where(dy == 0.0, np.nan, np.copysign(np.inf, dy))
    slopes = np.where(dx == 0.0, vertical, dy / np.where(dx == 0.0, 1.0, dx))
    slopes[slopes == -1.0] = np.nan
    slope = scale * _shifted_median(np.sort(slopes, axis=0))
    above = y - np.where(np.isfinite(slope), slope, np.nan) * x
    return above - np.median(above, axis=0)


def _shifted_median(slopes: Floats) -> Floats:
    """The median of each sorted column (pairs, draws; NaN last), as many places further as there
    are slopes below -1: the same line from either side."""
    number = (~np.isnan(slopes)).sum(axis=0)
    shift = (slopes < -1.0).sum(axis=0)
    last = np.maximum(number - 1, 0)
    low = np.minimum((number - 1) // 2 + shift, last)
    high = np.minimum(number // 2 + shift, last)
    ends = (np.take_along_axis(slopes, place[None, :], axis=0)[0] for place in (low, high))
    low_slope, high_slope = ends
    either = np.isinf(low_slope) | np.isinf(high_slope) | (number == 0)
    return np.where(either, np.nan, (low_slope + high_slope) / 2.0)


def _spread(means: Floats) -> float:
    """The median distance of two models; 0 where most are alike."""
    first, second = np.triu_indices(len(means), 1)
    return float(np.median(np.abs(means[first] - means[second]))) if len(first) else 0.0


def _deviations(drawn: Floats) -> Floats:
    """The standard deviation over the draws that have a value (m); NaN where most have none."""
    known = ~np.isnan(drawn)
    number = known.sum(axis=1)
    mean = np.nansum(drawn, axis=1) / np.maximum(number, 1)
    square = np.nansum((drawn - mean[:, None]) ** 2, axis=1) / np.maximum(number - 1, 1)
    return np.where(2 * number > drawn.shape[1], np.sqrt(square), np.nan)


def _p(shift: Floats, errors: Floats) -> Floats:
    varies = errors > 1e-12
    z = np.abs(shift) / np.where(varies, errors, 1.0)
    without = np.where(np.abs(shift) > 1e-9, 0.0, 1.0)
    p = np.where(varies, 2.0 * special.ndtr(-z), without)
    return np.where(np.isnan(shift) | np.isnan(errors), np.nan, p)


def _shift(
    value: float, error: float, first: DrawnMeans, second: DrawnMeans, confidence: float
) -> Estimate:
    half = normal_quantile(confidence) * error
    return Estimate(
        value=value,
        n=min(first.n_units, second.n_units),
        low=value - half,
        high=value + half,
        level=confidence,
        estimand="these models, on items like these",
        made_by=f"normal, error by {first.made_by}",
        resampled=first.resampled,
        effective_n=float(min(first.n_units, second.n_units)),
    )
