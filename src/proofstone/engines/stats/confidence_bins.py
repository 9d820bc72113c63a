"""Figures over bins of confidence: calibration error, and the parts of the Brier score.

A sum of distances over bins is too large by chance: it is above 0 where nothing is wrong. So its
interval asks, for gaps that are all a share of those seen (0 where calibrated), how often noise
would make the sum as large, or as small, as it is: the test inverted along that line. It holds 0
exactly where a calibrated respondent would often enough show as much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.dependence import Dependence
from proofstone.engines.stats.resampling import blocks_of_draws

__all__ = [
    "Binned",
    "Interval",
    "Parts",
    "chance_p",
    "ece_range",
    "gaps_by_chance",
    "squares_range",
]

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
    binned: Binned, dependence: Dependence, n_draws: int, rng: np.random.Generator, level: float
) -> tuple[float, float]:
    """The interval of the calibration error, from at least two groups of answers."""
    gaps = binned.gaps
    root = binned.noise(binned.confidence - binned.scores, gaps, dependence)
    noise = _noise(root, dependence.groups, n_draws, rng)
    low, high = _along(gaps, noise, lambda sums: np.abs(sums).sum(axis=1), level)
    value = binned.ece()
    return low * value, min(high * value, 1.0)


def squares_range(
    binned: Binned,
    values: Floats,
    sums: Floats,
    dependence: Dependence,
    n_draws: int,
    rng: np.random.Generator,
    level: float,
) -> tuple[float, float]:
    """The interval of the weighted squares of ``sums`` over bins of ``values``: reliability of the
    gaps, resolution of the leads."""
    noise = _noise(binned.noise(values, sums, dependence), dependence.groups, n_draws, rng)
    shares = binned.shares
    low, high = _along(sums, noise, lambda drawn: (drawn**2 / shares).sum(axis=1), level)
    value = float((sums**2 / shares).sum())
    return low**2 * value, min(high**2 * value, 1.0)


def gaps_by_chance(
    binned: Binned, dependence: Dependence, n_draws: int, rng: np.random.Generator
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
    for number in blocks_of_draws(n, n_draws):
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


def _noise(root: Floats, groups: float, n_draws: int, rng: np.random.Generator) -> Floats:
    """Errors of sums over bins (draws, bins), each draw over one draw of their common scale."""
    scale = _scale(groups, n_draws, rng)
    return np.asarray(rng.standard_normal((n_draws, len(root))) @ root.T / scale[:, None])


def _scale(groups: float, n_draws: int, rng: np.random.Generator) -> Floats:
    """What an estimated deviation of so many groups is of the true one, drawn."""
    degrees = max(groups - 1.0, 1.0)
    return np.asarray(np.sqrt(rng.chisquare(degrees, n_draws) / degrees))


def _along(
    seen: Floats, noise: Floats, size: Callable[[Floats], Floats], level: float
) -> tuple[float, float]:
    """The least and largest share of ``seen`` (bins) for which chance makes ``size`` as it is."""
    tail = (1.0 - level) / 2.0
    value = float(size(seen[None])[0])
    if value <= 0.0:
        return 0.0, 0.0

    def as_large(share: float) -> float:
        return float((size(share * seen + noise) >= value * (1.0 - 1e-9)).mean())

    low = 0.0 if as_large(0.0) > tail else _crossing(as_large, tail, 1.0)
    return min(low, 1.0), max(_crossing(as_large, 1.0 - tail, _FARTHEST), 1.0)


def _crossing(rising: Callable[[float], float], level: float, most: float) -> float:
    """Where a function that rises from 0 to ``most`` reaches ``level``."""
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > level else (middle, high)
    return (low + high) / 2.0
