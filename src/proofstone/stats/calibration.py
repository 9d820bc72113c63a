"""Does a stated confidence mean what it says?

Confidence and score lie in [0, 1]; an answer without either is left out. Answers of one item, and
of items that share keys, depend on each other; every interval here says so (`dependence`).
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

# Figures over bins of confidence: calibration error, and the parts of the Brier score.
#
# A sum of distances over bins is too large by chance: it is above 0 where nothing is wrong. So its
# interval asks, for gaps that are all a share of those seen (0 where calibrated), how often noise
# would make the sum as large, or as small, as it is: the test inverted along that line. It holds 0
# exactly where a calibrated respondent would often enough show as much.

Floats = NDArray[np.float64]


# Ends are looked for among shares of the gaps seen up to this one, in so many halvings.
_FARTHEST, _HALVINGS = 8.0, 30


class Interval(Struct, frozen=True, kw_only=True):
    """A value and its interval; NaN where undefined."""

    value: float
    low: float
    high: float


class Parts(Struct, frozen=True, kw_only=True):
    """The mean squared difference of confidence and score over n answers, taken apart."""

    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float


@dataclass(frozen=True, slots=True)
class Binned:
    """n answers, n > 0, with their bins as columns of ``member`` (n, bins), none empty, and where
    each bin starts and ends (bins)."""

    confidence: Floats
    scores: Floats
    member: Floats
    starts: Floats
    ends: Floats

    @property
    def shares(self) -> Floats:
        """The share of answers in each bin."""
        return np.asarray(self.member.mean(axis=0))

    @property
    def gaps(self) -> Floats:
        """Mean confidence less mean score of each bin, times its share."""
        return np.asarray((self.confidence - self.scores) @ self.member / len(self.scores))

    @property
    def leads(self) -> Floats:
        """The mean score of each bin less that of all, times its share."""
        return np.asarray((self.scores - self.scores.mean()) @ self.member / len(self.scores))

    def ece(self) -> float:
        """The mean distance of confidence and score over bins."""
        return float(np.abs(self.gaps).sum())

    def parts(self) -> Parts:
        """Murphy's (1973), and what binning leaves over."""
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
        """What each answer adds to the error of ``within_bins`` (n)."""
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
        """A root (bins, bins) of the covariance of sums over bins of ``values`` (n) whose present
        means by bin are ``means``, times the bins' shares."""
        left = self.member * (values[:, None] - means / self.shares)
        return dependence.moments(left / len(values)).root()


def ece_range(
    binned: Binned, dependence: Dependence, n_resamples: int, rng: np.random.Generator, level: float
) -> tuple[float, float]:
    """The interval of the calibration error, from at least two groups of answers."""
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
    """The interval of the weighted squares of ``sums`` over bins of ``values``: reliability of the
    gaps, resolution of the leads."""
    noise = _noise(binned.noise(values, sums, dependence), dependence.groups, n_resamples, rng)
    shares = binned.shares
    low, high = _along(sums, noise, lambda drawn: (drawn**2 / shares).sum(axis=1), level)
    value = float((sums**2 / shares).sum())
    return low**2 * value, min(high**2 * value, 1.0)


def gaps_by_chance(
    binned: Binned, dependence: Dependence, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """The calibration error of a respondent that is right as often as it says, drawn (draws).

    Each answer is right by its own confidence, independently (Vaicenavicius et al. 2019). How far
    answers that depend rise and fall together is only known from these: the gaps of their bins are
    spread by the root of each bin's own design effect.
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
    """How often a calibrated respondent shows an error as large as this one: by ``gaps_by_chance``,
    over a drawn scale where that of answers that depend is only estimated."""
    drawn = chance
    if dependence.is_shared:
        drawn = chance / _scale(dependence.groups, len(chance), rng)
    reached = int((drawn >= binned.ece() * (1.0 - 1e-9)).sum())
    return (reached + 1) / (len(drawn) + 1)


def _noise(root: Floats, groups: float, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Errors of sums over bins (draws, bins), each draw over one draw of their common scale."""
    scale = _scale(groups, n_resamples, rng)
    return np.asarray(rng.standard_normal((n_resamples, len(root))) @ root.T / scale[:, None])


def _scale(groups: float, n_resamples: int, rng: np.random.Generator) -> Floats:
    """What an estimated deviation of so many groups is of the true one, drawn."""
    degrees = max(groups - 1.0, 1.0)
    return np.asarray(np.sqrt(rng.chisquare(degrees, n_resamples) / degrees))


def _along(
    seen: Floats, noise: Floats, size: Callable[[Floats], Floats], level: float
) -> tuple[float, float]:
    """The least and largest share of ``seen`` (bins) for which chance makes ``size`` as it is."""
    tail, most = tails(level)
    value = float(size(seen[None])[0])
    if value <= 0.0:
        return 0.0, 0.0

    def as_large(share: float) -> float:
        return float((size(share * seen + noise) >= value * (1.0 - 1e-9)).mean())

    low = 0.0 if as_large(0.0) > tail else _crossing(as_large, tail, 1.0)
    return min(low, 1.0), max(_crossing(as_large, most, _FARTHEST), 1.0)


def _crossing(rising: Callable[[float], float], level: float, most: float) -> float:
    """Where a function that rises from 0 to ``most`` reaches ``level``."""
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > level else (middle, high)
    return (low + high) / 2.0


# Answering only when sure: how a respondent's own confidence sorts right answers from wrong.


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """What answering only above a confidence would give, surest first.

    ``confidence`` (steps) falls, one step a distinct confidence; ``coverage`` and ``risk`` (draws,
    steps) are the share answered and the mean loss among them, NaN where a draw has none.
    ``area`` (draws) is the mean over units of the risk at the coverage that lets each in (El-Yaniv
    and Wiener 2010).
    """

    confidence: Floats
    coverage: Floats
    risk: Floats
    area: Floats


def risk_coverage(
    confidence: Floats, scores: Floats, weights: Floats | None = None
) -> RiskCoverage:
    """The curve of ``scores`` by ``confidence`` (units, no NaN); ``weights`` (draws, units) are how
    often each unit stands in each draw, by default once in one. Equal confidences enter together.
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
    """How often a right answer is surer than a wrong one, equal ones half (draws).

    ``scores`` of 0.5 and more are right; NaN without both kinds. The area under the ROC curve
    (Hanley and McNeil 1982).
    """
    weights = np.ones((1, len(scores))) if weights is None else weights
    levels, step = _falling(confidence)
    right = _by_step(weights * (scores >= 0.5), step, len(levels))
    wrong = _by_step(weights * (scores < 0.5), step, len(levels))
    surer = np.cumsum(right, axis=1) - right / 2.0
    pairs = right.sum(axis=1) * wrong.sum(axis=1)
    return divided((surer * wrong).sum(axis=1), pairs)


def auroc_parts(confidence: Floats, scores: Floats) -> Floats:
    """What each unit adds to the error of ``auroc`` (units): how often it is surer, or less sure,
    than those of the other kind, less the mean of that, by its kind's number (DeLong, DeLong and
    Clarke-Pearson 1988; for clusters Obuchowski 1997). Zeros without both kinds."""
    right = scores >= 0.5
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    if not n_right or not n_wrong:
        return np.zeros(len(scores))
    value = float(auroc(confidence, scores)[0])
    above_wrong = _share_below(confidence, confidence[~right])
    above_right = _share_below(confidence, confidence[right])
    return np.where(right, (above_wrong - value) / n_right, (1.0 - above_right - value) / n_wrong)


def area_parts(confidence: Floats, scores: Floats) -> Floats:
    """What each unit adds to the error of ``risk_coverage(...).area`` (units): the risk at its own
    coverage less the area, and what its loss changes at all coverages that let it in."""
    n = len(scores)
    if not n:
        return np.zeros(0)
    curve = risk_coverage(confidence, scores)
    risk, coverage = curve.risk[0], curve.coverage[0]
    step = len(curve.confidence) - 1 - np.searchsorted(curve.confidence[::-1], confidence)
    weight = np.diff(coverage, prepend=0.0) / coverage
    # A unit stands in every coverage from its own step on, surest first.
    later = np.cumsum(weight[::-1])[::-1]
    later_risk = np.cumsum((weight * risk)[::-1])[::-1]
    own = risk[step] - float(curve.area[0]) + (1.0 - scores) * later[step] - later_risk[step]
    return np.asarray(own / n)


def _share_below(values: Floats, among: Floats) -> Floats:
    """The share of ``among`` below each value, equal ones half."""
    ordered = np.sort(among)
    ends = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(ends / (2.0 * len(among)))


def _falling(confidence: Floats) -> tuple[Floats, NDArray[np.intp]]:
    levels, place = np.unique(confidence, return_inverse=True)
    return levels[::-1], len(levels) - 1 - place


def _by_step(columns: Floats, step: NDArray[np.intp], n_steps: int) -> Floats:
    """Sums of ``columns`` (draws, units) over the units of each step (draws, steps)."""
    order = np.argsort(step, kind="stable")
    if not n_steps:
        return np.zeros((len(columns), 0))
    starts = np.searchsorted(step[order], np.arange(n_steps))
    return np.asarray(np.add.reduceat(columns[:, order], starts, axis=1))


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
        return t_test_p(value, error, groups - 1.0)

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
