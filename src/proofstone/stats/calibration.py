"""Calibration of stated confidence: ECE, Brier parts, AUROC and risk-coverage.

Confidence and score lie in [0, 1]; answers without either are left out. Answers of one item, and of
items that share keys, are dependent. Every interval here accounts for that (`dependence`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.stats.clusters import Dependence, SharedKeys
from proofstone.stats.intervals import (
    divided,
    share_interval,
    t_quantile,
    t_test_p,
    tails,
    unknown,
)
from proofstone.stats.resampling import blocks_of_resamples, generator

# Statistics over confidence bins: ECE and the parts of the Brier score.
#
# A sum of absolute distances over bins is biased upward: it is above 0 even for a calibrated model.
# So its interval inverts a test. Gaps are scaled by a common factor (0 where calibrated), and the
# interval holds the factors for which sampling error would produce a sum as large, or as small, as
# the observed one. It contains 0 exactly where the test does not reject calibration.

Floats = NDArray[np.float64]


# The scale factor is searched up to this value, in this many bisection steps.
_FARTHEST, _HALVINGS = 8.0, 30


class Interval(Struct, frozen=True, kw_only=True):
    """Return a value and its interval; NaN where undefined."""

    value: float
    low: float
    high: float


class Parts(Struct, frozen=True, kw_only=True):
    """Murphy parts of the mean squared difference of confidence and score over n answers."""

    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float


@dataclass(frozen=True, slots=True)
class Binned:
    """n > 0 answers with their bins as columns of ``member`` (n, bins), none empty.

    ``starts`` and ``ends`` (bins) are the bin edges.
    """

    confidence: Floats
    scores: Floats
    member: Floats
    starts: Floats
    ends: Floats

    @property
    def shares(self) -> Floats:
        """Return the share of answers in each bin."""
        return np.asarray(self.member.mean(axis=0))

    @property
    def gaps(self) -> Floats:
        """Return mean confidence less mean score of each bin, times the bin's share."""
        return np.asarray((self.confidence - self.scores) @ self.member / len(self.scores))

    @property
    def leads(self) -> Floats:
        """Return the mean score of each bin less the overall mean, times the bin's share."""
        return np.asarray((self.scores - self.scores.mean()) @ self.member / len(self.scores))

    def ece(self) -> float:
        """Return the ECE: the mean absolute difference of confidence and score over bins."""
        return float(np.abs(self.gaps).sum())

    def parts(self) -> Parts:
        """Return Murphy's (1973) parts and the within-bin remainder."""
        mean = float(self.scores.mean())
        reliability = float((self.gaps**2 / self.shares).sum())
        resolution = float((self.leads**2 / self.shares).sum())
        uncertainty = mean * (1.0 - mean)
        brier = float(((self.confidence - self.scores) ** 2).mean())
        return Parts(
            reliability=reliability,
            resolution=resolution,
            uncertainty=uncertainty,
            within_bins=brier - (reliability - resolution + uncertainty),
        )

    def within_parts(self) -> Floats:
        """Return each answer's contribution to the error of ``within_bins`` (n)."""
        gap, lead = (
            self.member @ (self.gaps / self.shares),
            self.member @ (self.leads / self.shares),
        )
        c, y = self.confidence, self.scores
        mean = y.mean()
        own = (c - y) ** 2 - gap * (2.0 * (c - y) - gap)
        own += lead * (2.0 * (y - mean) - lead) - (1.0 - 2.0 * mean) * (y - mean)
        return np.asarray((own - own.mean()) / len(y))

    def noise(self, values: Floats, means: Floats, dependence: Dependence) -> Floats:
        """Return a root (bins, bins) of the covariance of bin sums of ``values`` (n).

        ``means`` are the present means by bin; sums are scaled by the bins' shares.
        """
        left = self.member * (values[:, None] - means / self.shares)
        return dependence.moments(left / len(values)).root()


def ece_range(
    binned: Binned, dependence: Dependence, n_resamples: int, rng: np.random.Generator, level: float
) -> tuple[float, float]:
    """Return the interval of the ECE; needs at least two groups of answers."""
    gaps = binned.gaps
    root = binned.noise(binned.confidence - binned.scores, gaps, dependence)
    noise = _noise(root, dependence.groups, n_resamples, rng)
    low, high = _along(gaps, noise, lambda sums: np.abs(sums).sum(axis=1), level)
    value = binned.ece()
    return low * value, min(high * value, 1.0)


def squares_range(
    binned: Binned,
    values: Floats,
    sums: Floats,
    dependence: Dependence,
    n_resamples: int,
    rng: np.random.Generator,
    level: float,
) -> tuple[float, float]:
    """Return the interval of the weighted squares of ``sums`` over bins of ``values``.

    Gaps give the reliability part, leads the resolution part.
    """
    noise = _noise(binned.noise(values, sums, dependence), dependence.groups, n_resamples, rng)
    shares = binned.shares
    low, high = _along(sums, noise, lambda drawn: (drawn**2 / shares).sum(axis=1), level)
    value = float((sums**2 / shares).sum())
    return low**2 * value, min(high**2 * value, 1.0)


def gaps_by_chance(
    binned: Binned, dependence: Dependence, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return the ECE of simulated calibrated models (resamples).

    Each answer is correct with the probability of its confidence, independently (Vaicenavicius
    et al. 2019). Dependence between answers is only known from the data, so the gaps of each bin
    are scaled by the root of the bin's design effect.
    """
    c, n = binned.confidence, len(binned.confidence)
    spread = np.ones(binned.member.shape[1])
    if dependence.is_shared:
        left = (
            binned.member
            * (c - binned.scores - binned.member @ (binned.gaps / binned.shares))[:, None]
        )
        apart = (left**2).sum(axis=0)
        own = dependence.moments(left).variances()
        spread = np.sqrt(np.maximum(own / np.where(apart > 0, apart, np.inf), 1.0))
    drawn = []
    for number in blocks_of_resamples(n, n_resamples):
        right = (rng.random((number, n)) < c).astype(np.float64)
        drawn.append((np.abs((right - c) @ binned.member) * spread).sum(axis=1) / n)
    return np.concatenate(drawn)


def chance_p(
    binned: Binned, chance: Floats, dependence: Dependence, rng: np.random.Generator
) -> float:
    """Return the p-value of the ECE under calibration, from ``gaps_by_chance``.

    Where answers are dependent, the scale is estimated and is sampled with its own uncertainty.
    """
    drawn = chance
    if dependence.is_shared:
        drawn = chance / _scale(dependence.groups, len(chance), rng)
    reached = int((drawn >= binned.ece() * (1.0 - 1e-9)).sum())
    return (reached + 1) / (len(drawn) + 1)


def _noise(root: Floats, groups: float, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return errors of sums over bins (resamples, bins); each row is divided by one sampled common
    scale.
    """
    scale = _scale(groups, n_resamples, rng)
    return np.asarray(rng.standard_normal((n_resamples, len(root))) @ root.T / scale[:, None])


def _scale(groups: float, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return sampled ratios of the estimated to the true standard deviation for so many groups."""
    degrees = max(groups - 1.0, 1.0)
    return np.asarray(np.sqrt(rng.chisquare(degrees, n_resamples) / degrees))


def _along(
    seen: Floats, noise: Floats, size: Callable[[Floats], Floats], level: float
) -> tuple[float, float]:
    """Return the smallest and largest scale of ``seen`` (bins) at which the test does not
    reject.
    """
    tail, most = tails(level)
    value = float(size(seen[None])[0])
    if value <= 0.0:
        return 0.0, 0.0

    def as_large(share: float) -> float:
        return float((size(share * seen + noise) >= value * (1.0 - 1e-9)).mean())

    low = 0.0 if as_large(0.0) > tail else _crossing(as_large, tail, 1.0)
    return min(low, 1.0), max(_crossing(as_large, most, _FARTHEST), 1.0)


def _crossing(rising: Callable[[float], float], level: float, most: float) -> float:
    """Return where an increasing function from 0 to ``most`` reaches ``level``."""
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > level else (middle, high)
    return (low + high) / 2.0


# Selective answering: how well a model's own confidence separates correct from wrong answers.


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk-coverage curve: answer only above a confidence threshold, most confident first.

    ``confidence`` (steps) decreases, one step per distinct value. ``coverage`` and ``risk``
    (resamples, steps) are the share answered and the mean loss among them, NaN where a resample has
    none. ``area`` (resamples) is the mean over units of the risk at the coverage that first
    includes the unit (El-Yaniv and Wiener 2010).
    """

    confidence: Floats
    coverage: Floats
    risk: Floats
    area: Floats


def risk_coverage(
    confidence: Floats, scores: Floats, weights: Floats | None = None
) -> RiskCoverage:
    """Return the curve of ``scores`` by ``confidence`` (units, no NaN).

    ``weights`` (resamples, units) are the counts of each unit in each resample, by default one
    resample with each unit once. Units with equal confidence enter together.
    """
    weights = np.ones((1, len(scores))) if weights is None else weights
    levels, step = _falling(confidence)
    number = _by_step(weights, step, len(levels))
    lost = _by_step(weights * (1.0 - scores), step, len(levels))
    answered = np.cumsum(number, axis=1)
    total = weights.sum(axis=1, keepdims=True)
    risk = divided(np.cumsum(lost, axis=1), answered)
    held = np.where(total > 0, total, np.nan)
    area = np.nansum(np.where(number > 0, number * risk, 0.0), axis=1) / held[:, 0]
    return RiskCoverage(levels, answered / held, risk, area)


def auroc(confidence: Floats, scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the AUROC: how often a correct answer has the higher confidence, ties half
    (resamples).

    Scores of 0.5 and more count as correct; NaN unless both kinds occur (Hanley and McNeil 1982).
    """
    weights = np.ones((1, len(scores))) if weights is None else weights
    levels, step = _falling(confidence)
    right = _by_step(weights * (scores >= 0.5), step, len(levels))
    wrong = _by_step(weights * (scores < 0.5), step, len(levels))
    surer = np.cumsum(right, axis=1) - right / 2.0
    pairs = right.sum(axis=1) * wrong.sum(axis=1)
    return divided((surer * wrong).sum(axis=1), pairs)


def auroc_parts(confidence: Floats, scores: Floats) -> Floats:
    """Return each unit's contribution to the error of ``auroc`` (units).

    It is how often the unit's confidence is on the correct side of the other kind's, centered at
    the mean and divided by the size of its kind (DeLong, DeLong and Clarke-Pearson 1988; for
    clusters Obuchowski 1997). Zeros unless both kinds occur.
    """
    right = scores >= 0.5
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    if not n_right or not n_wrong:
        return np.zeros(len(scores))
    value = float(auroc(confidence, scores)[0])
    above_wrong = _share_below(confidence, confidence[~right])
    above_right = _share_below(confidence, confidence[right])
    return np.where(right, (above_wrong - value) / n_right, (1.0 - above_right - value) / n_wrong)


def area_parts(confidence: Floats, scores: Floats) -> Floats:
    """Return each unit's contribution to the error of ``risk_coverage(...).area`` (units).

    It is the risk at the unit's own coverage less the area, plus the effect of its loss on all
    coverages that include it.
    """
    n = len(scores)
    if not n:
        return np.zeros(0)
    curve = risk_coverage(confidence, scores)
    risk, coverage = curve.risk[0], curve.coverage[0]
    step = len(curve.confidence) - 1 - np.searchsorted(curve.confidence[::-1], confidence)
    weight = np.diff(coverage, prepend=0.0) / coverage
    # A unit is part of every coverage from its own step on, most confident first.
    later = np.cumsum(weight[::-1])[::-1]
    later_risk = np.cumsum((weight * risk)[::-1])[::-1]
    own = risk[step] - float(curve.area[0]) + (1.0 - scores) * later[step] - later_risk[step]
    return np.asarray(own / n)


def _share_below(values: Floats, among: Floats) -> Floats:
    """Return the share of ``among`` below each value, ties half."""
    ordered = np.sort(among)
    ends = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(ends / (2.0 * len(among)))


def _falling(confidence: Floats) -> tuple[Floats, NDArray[np.intp]]:
    levels, place = np.unique(confidence, return_inverse=True)
    return levels[::-1], len(levels) - 1 - place


def _by_step(columns: Floats, step: NDArray[np.intp], n_steps: int) -> Floats:
    """Return sums of ``columns`` (resamples, units) over the units of each step (resamples,
    steps).
    """
    order = np.argsort(step, kind="stable")
    if not n_steps:
        return np.zeros((len(columns), 0))
    starts = np.searchsorted(step[order], np.arange(n_steps))
    return np.asarray(np.add.reduceat(columns[:, order], starts, axis=1))


Binning = Literal["equal width", "equal mass"]


_PURPOSE = 7


_MOST_POINTS = 25


class ConfidenceBin(Struct, frozen=True, kw_only=True):
    """Answers with confidence in [``start``, ``end``]: mean confidence and accuracy.

    ``low`` and ``high`` are Wilson's interval at the effective size.
    """

    start: float
    end: float
    n: int
    confidence: float
    accuracy: float
    low: float
    high: float


class RiskPoint(Struct, frozen=True, kw_only=True):
    """A point of the curve: the share answered from ``confidence`` up and the mean loss among them.

    ``n`` answers; ``low`` and ``high`` are the interval of the mean loss.
    """

    confidence: float
    coverage: float
    n: int
    risk: float
    low: float
    high: float


class Calibration(Struct, frozen=True, kw_only=True):
    """Calibration of one model's stated confidence on ``n`` answers.

    ``over_confidence`` is mean confidence less accuracy; ``over_confidence_p`` is the t-test that
    it is 0. ``ece`` is the mean absolute difference over bins, weighted by answers (Naeini et al.
    2015). It is biased upward, so ``ece_by_chance`` gives its expectation for a calibrated model on
    these answers, and ``ece_p`` the probability of at least this ECE under calibration.

    ``brier`` is the mean squared difference (Brier 1950) = ``reliability - resolution + uncertainty
    + within_bins`` (Murphy 1973; the last part by Stephenson et al. 2008). ``auroc`` is how often a
    correct answer has the higher confidence, ties half. ``risk_area`` is the mean risk over all
    coverages; ``curve`` gives the risk at 25 coverages at most. ``groups`` is the effective number
    of independent groups of answers.
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
    n_resamples: int
    seed: int


def calibrate(
    confidence: Floats,
    scores: Floats,
    *,
    unit: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    binning: Binning = "equal width",
    n_bins: int = 10,
    n_resamples: int = 1_000,
    seed: int = 0,
    level: float = 0.95,
) -> Calibration:
    """Return the calibration of ``confidence`` against ``scores`` (answers), NaN where missing.

    ``unit`` (answers) gives the item of each answer by its index in ``keys``; by default each
    answer is an item. Bins of equal width hold confidences in [i/b, (i+1)/b), the last one also 1.
    Bins of equal mass hold equally many answers and keep equal confidences together, so there may
    be fewer. Means and areas have t and Wilson intervals by the variance of their linear parts.
    Sums over bins are biased upward, so their intervals invert a test. Bins are held fixed.
    """
    kept = ~np.isnan(confidence) & ~np.isnan(scores)
    units = None if unit is None else np.asarray(unit)[kept]
    c, y = confidence[kept].astype(np.float64), scores[kept].astype(np.float64)
    answers = _Answers(c, y, Dependence.of(len(c), units, keys), level)
    over_bins = _Found()
    if len(c):
        rng = generator(seed, _PURPOSE)
        over_bins = _found(_bin(c, y, binning, n_bins), answers, n_resamples, rng)
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
        n_resamples=n_resamples,
        seed=seed,
    )


_NOTHING = unknown(Interval)


@dataclass(frozen=True, slots=True)
class _Found:
    """Statistics over bins; NaN and empty without answers."""

    bins: tuple[ConfidenceBin, ...] = ()
    ece: Interval = _NOTHING
    ece_by_chance: float = float("nan")
    ece_p: float = float("nan")
    reliability: Interval = _NOTHING
    resolution: Interval = _NOTHING
    within_bins: Interval = _NOTHING


@dataclass(frozen=True, slots=True)
class _Answers:
    """Confidences and scores of n answers, and their dependence."""

    confidence: Floats
    scores: Floats
    dependence: Dependence
    level: float

    def difference(self) -> Interval:
        """Return mean confidence less mean score, with its interval."""
        gap = self.confidence - self.scores
        if not len(gap):
            return _NOTHING
        value = float(gap.mean())
        return self.difference_of(value, (gap - value) / len(gap))

    def difference_p(self) -> float:
        """Return the two-sided p-value of no difference; 1 with fewer than two groups or no
        answers.
        """
        gap, groups = self.confidence - self.scores, self.dependence.groups
        if not len(gap) or groups < 2.0:
            return 1.0
        value = float(gap.mean())
        error = self._variance((gap - value) / len(gap)) ** 0.5
        if error < 1e-10:
            return 1.0 if abs(value) < 1e-10 else min(1.0, 2.0 * 0.5**groups)
        return t_test_p(value, error, groups - 1.0)

    def difference_of(self, value: float, parts: Floats) -> Interval:
        """Return Student's t interval of ``value`` within [-1, 1], from the answers' error
        ``parts``.
        """
        groups = self.dependence.groups
        if groups < 2.0:
            return Interval(value=value, low=-1.0, high=1.0)
        half = t_quantile(groups - 1.0, self.level) * self._variance(parts) ** 0.5
        return Interval(value=value, low=max(value - half, -1.0), high=min(value + half, 1.0))

    def uncertainty(self) -> Interval:
        """Return m (1 - m) of the mean score m, and its range over the interval of m."""
        mean = self.mean(self.scores)
        ends = [each * (1.0 - each) for each in (mean.low, mean.high)]
        most = 0.25 if mean.low <= 0.5 <= mean.high else max(ends)
        value = mean.value * (1.0 - mean.value)
        return Interval(value=value, low=min(*ends, value), high=max(most, value))

    def mean(self, losses: Floats) -> Interval:
        """Return the mean of ``losses`` in [0, 1]."""
        if not len(losses):
            return _NOTHING
        value = float(losses.mean())
        return self._wilson(value, (losses - value) / len(losses), self.dependence.groups)

    def auroc(self) -> Interval:
        """Return the AUROC; without spread, its interval uses the size of the smaller kind."""
        value = float(auroc(self.confidence, self.scores)[0])
        right = self.scores >= 0.5
        if np.isnan(value):
            return _NOTHING
        fewest = min(self.dependence.among(kind).groups for kind in (right, ~right))
        return self._wilson(value, auroc_parts(self.confidence, self.scores), fewest)

    def risk_area(self) -> Interval:
        """Return the area under the risk-coverage curve."""
        if not len(self.scores):
            return _NOTHING
        value = float(risk_coverage(self.confidence, self.scores).area[0])
        parts = area_parts(self.confidence, self.scores)
        return self._wilson(value, parts, self.dependence.groups)

    def _variance(self, parts: Floats) -> float:
        return float(self.dependence.moments(parts[:, None]).variances()[0])

    def _wilson(self, value: float, parts: Floats, groups: float) -> Interval:
        """Return Wilson's interval at the effective size; without spread, at ``groups``."""
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


def _found(binned: Binned, answers: _Answers, n_resamples: int, rng: np.random.Generator) -> _Found:
    dependence, level, parts = answers.dependence, answers.level, binned.parts()
    chance = gaps_by_chance(binned, dependence, n_resamples, rng)
    ece, reliability, resolution = (0.0, 1.0), (0.0, 1.0), (0.0, 0.25)
    if dependence.groups >= 2.0:
        gap = binned.confidence - binned.scores
        lead = binned.scores - binned.scores.mean()
        how = (dependence, n_resamples, rng, level)
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
    """Return the risk-coverage curve at about evenly spaced coverages, with the least and the full
    one.
    """
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
