"""Does a stated confidence mean what it says?

Every figure here comes from sums over units, so that its bootstrap is a matrix product. Confidence
and score lie in [0, 1]; a unit without either is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.intervals import normal_quantile, wilson
from proofstone.engines.stats.resampling import (
    Strata,
    blocks_of_draws,
    bootstrap_counts,
    generator,
)
from proofstone.engines.stats.selective import auroc, risk_coverage

__all__ = ["Binning", "Calibration", "ConfidenceBin", "Interval", "calibrate"]

Floats = NDArray[np.float64]
Binning = Literal["equal width", "equal mass"]

_PURPOSE = 7


class Interval(Struct, frozen=True, kw_only=True):
    """A value and the percentiles of its bootstrap over units; NaN where undefined."""

    value: float
    low: float
    high: float


class ConfidenceBin(Struct, frozen=True, kw_only=True):
    """Units of a confidence in [``start``, ``end``]: how sure they were and how many were right,
    with Wilson's interval."""

    start: float
    end: float
    n: int
    confidence: float
    accuracy: float
    low: float
    high: float


class Calibration(Struct, frozen=True, kw_only=True):
    """One respondent's stated confidence against its scores on ``n`` units.

    ``over_confidence``: mean confidence less accuracy. ``ece``: the mean distance of both over
    bins, weighted by units (Naeini et al. 2015); it is never below 0, so ``ece_by_chance`` says
    what a perfectly calibrated respondent would show on these units. ``brier``: the mean squared
    difference (Brier 1950) = ``reliability - resolution + uncertainty + within_bins`` (Murphy 1973;
    the last is what binning leaves, Stephenson et al. 2008). ``auroc``: how often a right answer
    was the surer one, ties half. ``risk_area``: the mean risk over all coverages, surest first.
    """

    n: int
    left_out: int
    binning: Binning
    bins: tuple[ConfidenceBin, ...]
    over_confidence: Interval
    ece: Interval
    ece_by_chance: float
    brier: Interval
    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float
    auroc: Interval
    risk_area: Interval
    n_draws: int
    seed: int


def calibrate(
    confidence: Floats,
    scores: Floats,
    *,
    binning: Binning = "equal width",
    n_bins: int = 10,
    n_draws: int = 1_000,
    seed: int = 0,
    level: float = 0.95,
) -> Calibration:
    """The calibration of ``confidence`` against ``scores`` (units), NaN where there is none.

    Bins of equal width hold confidences in [i/b, (i+1)/b), the last 1 too; bins of equal mass hold
    equally many units, with equal confidences kept together, so there may be fewer. Intervals:
    percentiles over draws of units with replacement, the bins held.
    """
    kept = ~np.isnan(confidence) & ~np.isnan(scores)
    binned = _bin(confidence[kept], scores[kept], binning, n_bins)
    n = len(binned.confidence)
    rng = generator(seed, _PURPOSE)
    blocks = [_figures(binned, np.ones((1, n)))]
    for number in blocks_of_draws(n, n_draws) if n else ():
        counts = bootstrap_counts(Strata.of(None, n), number, rng)
        blocks.append(_figures(binned, counts.astype(np.float64)))
    over, ece, brier, area_above, risk = np.concatenate(blocks).T
    sizes, sure, right = binned.shares()
    overall = float(binned.scores.mean()) if n else float("nan")
    reliability = float(sizes @ (sure - right) ** 2)
    resolution = float(sizes @ (right - overall) ** 2)
    uncertainty = overall * (1.0 - overall)
    return Calibration(
        n=n,
        left_out=int((~kept).sum()),
        binning=binning,
        bins=_bins(binned, level),
        over_confidence=_interval(over, level),
        ece=_interval(ece, level),
        ece_by_chance=_ece_by_chance(binned, n_draws, rng),
        brier=_interval(brier, level),
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within_bins=float(brier[0]) - (reliability - resolution + uncertainty),
        auroc=_interval(area_above, level),
        risk_area=_interval(risk, level),
        n_draws=n_draws,
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class _Binned:
    """Units with their bins as columns of ``member`` (n, bins), and the ``edges`` (bins + 1)."""

    confidence: Floats
    scores: Floats
    member: Floats
    edges: Floats

    def shares(self) -> tuple[Floats, Floats, Floats]:
        """The share of units in each bin, their mean confidence and mean score."""
        sizes = self.member.sum(axis=0)
        held = np.maximum(sizes, 1.0)
        n = max(len(self.scores), 1)
        return sizes / n, self.confidence @ self.member / held, self.scores @ self.member / held


def _figures(binned: _Binned, weights: Floats) -> Floats:
    """Over-confidence, ECE, Brier, AUROC and risk area of each draw (draws, 5)."""
    c, y = binned.confidence, binned.scores
    total = weights.sum(axis=1)
    total = np.where(total > 0, total, np.nan)
    gaps = weights @ (binned.member * (c - y)[:, None])
    return np.column_stack(
        [
            weights @ (c - y) / total,
            np.abs(gaps).sum(axis=1) / total,
            weights @ (c - y) ** 2 / total,
            auroc(c, y, weights),
            risk_coverage(c, y, weights).area,
        ]
    )


def _bin(c: Floats, y: Floats, binning: Binning, n_bins: int) -> _Binned:
    if binning == "equal width" or not len(c):
        edges = np.linspace(0.0, 1.0, n_bins + 1)
    else:
        edges = np.unique(np.quantile(c, np.linspace(0.0, 1.0, n_bins + 1), method="lower"))
        edges = edges if len(edges) > 1 else np.array([edges[0], edges[0]])
    place = np.clip(np.searchsorted(edges, c, side="right") - 1, 0, len(edges) - 2)
    member = (place[:, None] == np.arange(len(edges) - 1)).astype(np.float64)
    return _Binned(c, y, member, edges)


def _bins(binned: _Binned, level: float) -> tuple[ConfidenceBin, ...]:
    shares, sure, right = binned.shares()
    sizes = binned.member.sum(axis=0)
    low, high = wilson(right, np.maximum(sizes, 1.0), normal_quantile(level))
    return tuple(
        ConfidenceBin(
            start=float(binned.edges[place]),
            end=float(binned.edges[place + 1]),
            n=int(sizes[place]),
            confidence=float(sure[place]),
            accuracy=float(right[place]),
            low=float(low[place]),
            high=float(high[place]),
        )
        for place in np.flatnonzero(shares > 0).tolist()
    )


def _ece_by_chance(binned: _Binned, n_draws: int, rng: np.random.Generator) -> float:
    """The mean ECE of answers that are right as often as was stated (Vaicenavicius et al. 2019)."""
    c = binned.confidence
    if not len(c):
        return float("nan")
    total = 0.0
    for number in blocks_of_draws(len(c), n_draws):
        right = (rng.random((number, len(c))) < c).astype(np.float64)
        total += float(np.abs((right - c) @ binned.member).sum())
    return total / n_draws / len(c)


def _interval(drawn: Floats, level: float) -> Interval:
    """The first entry is of the units themselves, the others of the draws."""
    rest = drawn[1:][~np.isnan(drawn[1:])]
    tail = (1.0 - level) / 2.0
    ends = np.quantile(rest, [tail, 1.0 - tail]).tolist() if len(rest) else [float("nan")] * 2
    return Interval(value=float(drawn[0]), low=ends[0], high=ends[1])
