"""Does a stated confidence mean what it says?

Confidence and score lie in [0, 1]; an answer without either is left out. Answers of one item, and
of items that share keys, depend on each other; every interval here says so (`dependence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.confidence_bins import (
    Binned,
    Interval,
    chance_p,
    ece_range,
    gaps_by_chance,
    squares_range,
)
from proofstone.engines.stats.dependence import Dependence
from proofstone.engines.stats.intervals import share_interval, t_quantile, t_two_sided_p
from proofstone.engines.stats.resampling import generator
from proofstone.engines.stats.selective import area_parts, auroc, auroc_parts, risk_coverage

__all__ = ["Binning", "Calibration", "ConfidenceBin", "Interval", "RiskPoint", "calibrate"]

Floats = NDArray[np.float64]
Binning = Literal["equal width", "equal mass"]

_PURPOSE = 7
_MOST_POINTS = 25


class ConfidenceBin(Struct, frozen=True, kw_only=True):
    """Answers of a confidence in [``start``, ``end``]: how sure they were and how many were right,
    with Wilson's interval at the effective size."""

    start: float
    end: float
    n: int
    confidence: float
    accuracy: float
    low: float
    high: float


class RiskPoint(Struct, frozen=True, kw_only=True):
    """Answering only from ``confidence`` up: the share answered (``n`` answers) and the mean loss
    among them, with its interval."""

    confidence: float
    coverage: float
    n: int
    risk: float
    low: float
    high: float


class Calibration(Struct, frozen=True, kw_only=True):
    """One respondent's stated confidence against its scores on ``n`` answers.

    ``over_confidence``: mean confidence less accuracy; ``over_confidence_p`` of the t-test that it
    is 0. ``ece``: the mean distance of both over
    bins, weighted by answers (Naeini et al. 2015); it is never below 0, so ``ece_by_chance`` says
    what a perfectly calibrated respondent would show on these answers, and ``ece_p`` how often it
    would show as much. ``brier``: the mean squared difference (Brier 1950) = ``reliability -
    resolution + uncertainty + within_bins`` (Murphy 1973; the last is what binning leaves over,
    Stephenson et al. 2008). ``auroc``: how often a right answer was the surer one, ties half.
    ``risk_area``: the mean risk over all coverages, surest first; ``curve``: that risk at 25
    coverages at most. ``groups``: the effective number of independent groups of answers.
    """

    n: int
    left_out: int
    groups: float
    binning: Binning
    bins: tuple[ConfidenceBin, ...]
    over_confidence: Interval
    over_confidence_p: float
    ece: Interval
    ece_by_chance: float
    ece_p: float
    brier: Interval
    reliability: Interval
    resolution: Interval
    uncertainty: Interval
    within_bins: Interval
    auroc: Interval
    risk_area: Interval
    curve: tuple[RiskPoint, ...]
    n_draws: int
    seed: int


def calibrate(
    confidence: Floats,
    scores: Floats,
    *,
    unit: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    binning: Binning = "equal width",
    n_bins: int = 10,
    n_draws: int = 1_000,
    seed: int = 0,
    level: float = 0.95,
) -> Calibration:
    """The calibration of ``confidence`` against ``scores`` (answers), NaN where there is none.

    ``unit`` (answers) says which answers are of one item, by its place in ``keys``; without it each
    is of its own. Bins of equal width hold confidences in [i/b, (i+1)/b), the last 1 too; bins of
    equal mass hold equally many answers, with equal confidences kept together, so there may be
    fewer. Means and areas have t and Wilson intervals by the variance of their linear parts; sums
    over bins, which are too large by chance, invert a test (`confidence_bins`). Bins are held.
    """
    kept = ~np.isnan(confidence) & ~np.isnan(scores)
    units = None if unit is None else np.asarray(unit)[kept]
    c, y = confidence[kept].astype(np.float64), scores[kept].astype(np.float64)
    answers = _Answers(c, y, Dependence.of(len(c), units, keys), level)
    over_bins = _Found()
    if len(c):
        rng = generator(seed, _PURPOSE)
        over_bins = _found(_bin(c, y, binning, n_bins), answers, n_draws, rng)
    return Calibration(
        n=len(c),
        left_out=int((~kept).sum()),
        groups=answers.dependence.groups,
        binning=binning,
        bins=over_bins.bins,
        over_confidence=answers.difference(),
        over_confidence_p=answers.difference_p(),
        ece=over_bins.ece,
        ece_by_chance=over_bins.ece_by_chance,
        ece_p=over_bins.ece_p,
        brier=answers.mean((c - y) ** 2),
        reliability=over_bins.reliability,
        resolution=over_bins.resolution,
        uncertainty=answers.uncertainty(),
        within_bins=over_bins.within_bins,
        auroc=answers.auroc(),
        risk_area=answers.risk_area(),
        curve=_curve(answers),
        n_draws=n_draws,
        seed=seed,
    )


_NOTHING = Interval(value=float("nan"), low=float("nan"), high=float("nan"))


@dataclass(frozen=True, slots=True)
class _Found:
    """What is said over bins; of no answers, nothing."""

    bins: tuple[ConfidenceBin, ...] = ()
    ece: Interval = _NOTHING
    ece_by_chance: float = float("nan")
    ece_p: float = float("nan")
    reliability: Interval = _NOTHING
    resolution: Interval = _NOTHING
    within_bins: Interval = _NOTHING


@dataclass(frozen=True, slots=True)
class _Answers:
    """Confidences and scores of n answers, and which of them depend on each other."""

    confidence: Floats
    scores: Floats
    dependence: Dependence
    level: float

    def difference(self) -> Interval:
        """Mean confidence less mean score."""
        gap = self.confidence - self.scores
        if not len(gap):
            return _NOTHING
        value = float(gap.mean())
        return self.difference_of(value, (gap - value) / len(gap))

    def difference_p(self) -> float:
        """Two-sided p of no difference; 1 with fewer than two groups, or without answers."""
        gap, groups = self.confidence - self.scores, self.dependence.groups
        if not len(gap) or groups < 2.0:
            return 1.0
        value = float(gap.mean())
        error = self._variance((gap - value) / len(gap)) ** 0.5
        if error < 1e-10:
            return 1.0 if abs(value) < 1e-10 else min(1.0, 2.0 * 0.5**groups)
        return float(t_two_sided_p(np.array([value / error]), groups - 1.0)[0])

    def difference_of(self, value: float, parts: Floats) -> Interval:
        """Student's t of a value to whose error the answers add ``parts``, within [-1, 1]."""
        groups = self.dependence.groups
        if groups < 2.0:
            return Interval(value=value, low=-1.0, high=1.0)
        half = t_quantile(groups - 1.0, self.level) * self._variance(parts) ** 0.5
        return Interval(value=value, low=max(value - half, -1.0), high=min(value + half, 1.0))

    def uncertainty(self) -> Interval:
        """m (1 - m) of the mean score m, and what it is over the interval of m."""
        mean = self.mean(self.scores)
        ends = [each * (1.0 - each) for each in (mean.low, mean.high)]
        most = 0.25 if mean.low <= 0.5 <= mean.high else max(ends)
        value = mean.value * (1.0 - mean.value)
        return Interval(value=value, low=min(*ends, value), high=max(most, value))

    def mean(self, losses: Floats) -> Interval:
        """The mean of ``losses`` in [0, 1]."""
        if not len(losses):
            return _NOTHING
        value = float(losses.mean())
        return self._wilson(value, (losses - value) / len(losses), self.dependence.groups)

    def auroc(self) -> Interval:
        """The area under the ROC curve; of no spread, by the smaller kind's number."""
        value = float(auroc(self.confidence, self.scores)[0])
        right = self.scores >= 0.5
        if np.isnan(value):
            return _NOTHING
        fewest = min(self.dependence.among(kind).groups for kind in (right, ~right))
        return self._wilson(value, auroc_parts(self.confidence, self.scores), fewest)

    def risk_area(self) -> Interval:
        """The area under the risk-coverage curve."""
        if not len(self.scores):
            return _NOTHING
        value = float(risk_coverage(self.confidence, self.scores).area[0])
        parts = area_parts(self.confidence, self.scores)
        return self._wilson(value, parts, self.dependence.groups)

    def _variance(self, parts: Floats) -> float:
        return float(self.dependence.moments(parts[:, None]).variances()[0])

    def _wilson(self, value: float, parts: Floats, groups: float) -> Interval:
        """Wilson's interval at the effective size of the variance; of no spread, at ``groups``."""
        if groups < 2.0:
            return Interval(value=value, low=0.0, high=1.0)
        variance = self._variance(parts)
        size = value * (1.0 - value) / variance if variance > 1e-20 else groups
        low, high = share_interval(
            np.array([value]), np.array([max(size, 1.0)]), self.level, groups - 1.0
        )
        return Interval(value=value, low=float(low[0]), high=float(high[0]))


def _bin(c: Floats, y: Floats, binning: Binning, n_bins: int) -> Binned:
    if binning == "equal width":
        edges = np.linspace(0.0, 1.0, n_bins + 1)
    else:
        edges = np.unique(np.quantile(c, np.linspace(0.0, 1.0, n_bins + 1), method="lower"))
        edges = edges if len(edges) > 1 else np.array([edges[0], edges[0]])
    place = np.clip(np.searchsorted(edges, c, side="right") - 1, 0, len(edges) - 2)
    held = np.unique(place)
    member = (place[:, None] == held).astype(np.float64)
    return Binned(c, y, member, edges[held], edges[held + 1])


def _found(binned: Binned, answers: _Answers, n_draws: int, rng: np.random.Generator) -> _Found:
    dependence, level, parts = answers.dependence, answers.level, binned.parts()
    chance = gaps_by_chance(binned, dependence, n_draws, rng)
    ece, reliability, resolution = (0.0, 1.0), (0.0, 1.0), (0.0, 0.25)
    if dependence.groups >= 2.0:
        gap = binned.confidence - binned.scores
        lead = binned.scores - binned.scores.mean()
        how = (dependence, n_draws, rng, level)
        ece = ece_range(binned, *how)
        reliability = squares_range(binned, gap, binned.gaps, *how)
        resolution = squares_range(binned, lead, binned.leads, *how)
    return _Found(
        bins=_bins(binned, answers),
        ece=_interval(binned.ece(), ece),
        ece_by_chance=float(chance.mean()),
        ece_p=chance_p(binned, chance, dependence, rng),
        reliability=_interval(parts.reliability, reliability),
        resolution=_interval(parts.resolution, resolution),
        within_bins=answers.difference_of(parts.within_bins, binned.within_parts()),
    )


def _interval(value: float, ends: tuple[float, float]) -> Interval:
    return Interval(value=value, low=min(ends[0], value), high=max(ends[1], value))


def _bins(binned: Binned, answers: _Answers) -> tuple[ConfidenceBin, ...]:
    sizes = binned.member.sum(axis=0)
    right, ends = answers.dependence.shares(binned.member, binned.scores, answers.level)
    return tuple(
        ConfidenceBin(
            start=float(binned.starts[place]),
            end=float(binned.ends[place]),
            n=int(sizes[place]),
            confidence=float(binned.confidence @ binned.member[:, place] / sizes[place]),
            accuracy=float(right[place]),
            low=float(ends.low[place]),
            high=float(ends.high[place]),
        )
        for place in range(len(sizes))
    )


def _curve(answers: _Answers) -> tuple[RiskPoint, ...]:
    """The risk-coverage curve at coverages about evenly spaced, the least and the whole among
    them."""
    found = risk_coverage(answers.confidence, answers.scores)
    if not len(found.confidence):
        return ()
    coverage = found.coverage[0]
    wanted = np.linspace(coverage[0], 1.0, _MOST_POINTS)
    steps = np.unique([int(np.abs(coverage - each).argmin()) for each in wanted])
    levels = found.confidence[steps]
    member = (answers.confidence[:, None] >= levels).astype(np.float64)
    risk, ends = answers.dependence.shares(member, 1.0 - answers.scores, answers.level)
    sizes = member.sum(axis=0)
    return tuple(
        RiskPoint(
            confidence=float(levels[place]),
            coverage=float(coverage[step]),
            n=int(sizes[place]),
            risk=float(risk[place]),
            low=float(ends.low[place]),
            high=float(ends.high[place]),
        )
        for place, step in enumerate(steps.tolist())
    )
