"""Confidence intervals for shares and means, from variance, effective size and degrees of
freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

from proofstone.records.runs import Estimate

# Bounds for a model with missing scores: from all missing wrong to all missing correct.


class Bounds(Struct, frozen=True, kw_only=True):
    """Bounds of a mean: ``low`` with all missing scores 0, ``high`` with all of them 1.

    They are certain bounds, not a confidence interval. ``counted`` scores are present and
    ``missing`` are not. NaN where no score was expected.
    """

    low: float
    high: float
    counted: int
    missing: int


def bound_incomplete(counted: NDArray[np.float64], missing: int) -> Bounds:
    """Return bounds of the mean score in [0, 1]; NaN in ``counted`` is outside the denominator."""
    present = counted[~np.isnan(counted)]
    total = len(present) + missing
    got = float(present.sum())
    return Bounds(
        low=got / total if total else float("nan"),
        high=(got + missing) / total if total else float("nan"),
        counted=len(present),
        missing=missing,
    )


# Many tests: p-values adjusted for their family.

Floats = NDArray[np.float64]


def divided(tops: Floats | NDArray[np.integer], bottoms: Floats | NDArray[np.integer]) -> Floats:
    """Return ``tops / bottoms`` where the bottom is above 0, NaN elsewhere."""
    return np.asarray(tops / np.where(bottoms > 0, bottoms, np.nan))


def percentiles(drawn: Floats, confidence: float) -> tuple[float, float]:
    """Return the percentile interval of the samples that have a value; NaN where none has."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, tails(confidence))
    return float(low), float(high)


def tails(confidence: float) -> list[float]:
    """Return the two quantile levels that bound the middle ``confidence`` of a distribution."""
    tail = (1.0 - confidence) / 2.0
    return [tail, 1.0 - tail]


def covariance_root(covariance: Floats, *, is_symmetric: bool = False) -> Floats:
    """Return a square root of the nearest positive semidefinite covariance (m, m)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(root @ vectors.T if is_symmetric else root)


_Known = TypeVar("_Known", bound=Struct)


def unknown(of: type[_Known], **known: Any) -> _Known:
    """Return a record that is NaN except for the fields in ``known``."""
    return of(**dict.fromkeys(of.__struct_fields__, math.nan) | known)


def no_estimate(population: str, confidence: float, resampled: str) -> Estimate:
    """Return the estimate for no scores: NaN, flagged."""
    nan = float("nan")
    return Estimate(
        value=nan,
        n=0,
        low=nan,
        high=nan,
        level=confidence,
        population=population,
        made_by="none",
        resampled=resampled,
        flags=("no-scores",),
    )


# Averaging levels: every unit has equal weight, or every group of units.
#
# Encyclo-K's Table 4: sample-wise is the plain mean; subfield-, field- and discipline-wise are
# unweighted means of the groups' means. All are linear: unit i of group g has the weight ``1 /
# (groups * units in g)``. The groups are fixed, not sampled.


@dataclass(frozen=True, slots=True)
class Weighting:
    """Partition of n units: ``group`` codes (n) in [0, len(sizes)), no group empty."""

    group: NDArray[np.int64]
    sizes: NDArray[np.float64]

    @property
    def n_groups(self) -> int:
        """Return the number of averaged groups; 0 without units."""
        return len(self.sizes)

    def weights(self) -> NDArray[np.float64]:
        """Return the weight of each unit; they sum to 1."""
        return 1.0 / (self.n_groups * self.sizes[self.group])

    def group_means(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of each group (groups, C) for every column of ``columns`` (n, C)."""
        return self._group_sums(columns) / self.sizes[:, None]

    def _group_sums(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.n_groups:
            return np.zeros((0, columns.shape[1]))
        order = np.argsort(self.group, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)
        return np.add.reduceat(columns[order], starts, axis=0)


def equal_weights(n_units: int) -> Weighting:
    """Return one group in which each unit has the same weight."""
    return group_weights(np.zeros(n_units, dtype=np.int64))


def group_weights(codes: NDArray[np.integer]) -> Weighting:
    """Return groups by code (any integers): each group has the same weight, whatever its size."""
    _, group, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    return Weighting(group.astype(np.int64), sizes.astype(np.float64))


Booleans = NDArray[np.bool_]


# A variance below this is rounding error: one differing unit in ten million gives 1e-14.
NO_SPREAD_BELOW = 1e-20


# If fewer values than this differ from the rest, neither Wilson nor t has nominal coverage.
_FEW = 5.0


# Values count as equal if they differ by at most this share of the largest difference.
_NEAR = 0.1


_SMALLEST_SIZE = 1e-9


def normal_quantile(confidence: float) -> float:
    """Return the two-sided normal quantile: 1.96 at 0.95."""
    return float(special.ndtri(0.5 + confidence / 2))


def t_quantile(degrees: float, confidence: float) -> float:
    """Return the two-sided quantile of Student's t on ``degrees`` > 0, not necessarily whole."""
    return float(_t_quantiles(np.array(degrees), confidence))


def _t_quantiles(degrees: Floats, confidence: float) -> Floats:
    """Return the same for an array of ``degrees``, which may be infinite."""
    is_finite = np.isfinite(degrees)
    quantile = special.stdtrit(np.where(is_finite, degrees, 1.0), 0.5 + confidence / 2)
    return np.where(is_finite, quantile, normal_quantile(confidence))


def t_two_sided_p(t: Floats, degrees: float | Floats) -> Floats:
    """Return the two-sided p-value of t statistics on ``degrees`` > 0."""
    return np.asarray(2.0 * special.stdtr(degrees, -np.abs(t)))


def t_test_p(value: float, error: float, degrees: float) -> float:
    """Return the two-sided p-value of one value with a standard error above 0."""
    return float(t_two_sided_p(np.array(value / error), degrees))


def normal_two_sided_p(z: Floats) -> Floats:
    """Return the two-sided p-value of standard normal deviates."""
    return np.asarray(2.0 * special.ndtr(-np.abs(z)))


def wilson(share: Floats, size: Floats, quantile: float | Floats) -> tuple[Floats, Floats]:
    """Return Wilson's score interval for shares in [0, 1] at (effective) sizes > 0, within [0, 1].

    Wilson (1927). With an effective size and a t quantile it is the interval that Dean and Pagano
    (2015) found to have nominal coverage in clustered surveys.
    """
    q2 = quantile**2
    centre = (share + q2 / (2 * size)) / (1 + q2 / size)
    half = np.sqrt(share * (1 - share) / size + q2 / (4 * size**2)) * quantile / (1 + q2 / size)
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)


def clopper_pearson(
    share: Floats, square: Floats, size: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's (1934) interval for the mean of ``size`` values in [0, 1].

    ``square`` is the mean of the squared values. For binary values it equals ``share``; the ends
    are then the published ones, also for fractional sizes (Korn and Graubard 1998). For other
    values each end is the quantile of the Beta distribution with the mean and variance of the
    Bayesian bootstrap of the values and one more value, at that end of the scale (Gaffke 2005: the
    same bound for 0 and 1).
    """
    share = np.clip(share, 0.0, 1.0)
    square = np.clip(square, share**2, share)
    ends = []
    for added, quantile in zip((0.0, 1.0), tails(confidence), strict=True):
        mean = (size * share + added) / (size + 1.0)
        variance = ((size * square + added) / (size + 1.0) - mean**2) / (size + 2.0)
        has_spread = (mean > 0.0) & (mean < 1.0) & (variance > 0.0)
        inner = np.where(has_spread, mean, 0.5)
        weight = inner * (1.0 - inner) / np.where(has_spread, variance, 0.125) - 1.0
        end = special.betaincinv(inner * weight, (1.0 - inner) * weight, quantile)
        ends.append(np.where(has_spread, end, added))
    return np.minimum(ends[0], share), np.maximum(ends[1], share)


def share_interval(
    share: Floats, size: Floats, confidence: float, degrees: float = np.inf
) -> tuple[Floats, Floats]:
    """Return the interval for shares of binary units at (effective) sizes > 0.

    It is Wilson's, or Clopper and Pearson's where fewer than five units are correct or fewer than
    five are wrong. ``degrees`` are those of the variance behind an effective size. The exact
    interval then uses the size times (z / t)^2 (Korn and Graubard 1998).
    """
    quantile = t_quantile(degrees, confidence)
    low, high = wilson(share, size, quantile)
    adjusted = size * (normal_quantile(confidence) / quantile) ** 2
    exact = clopper_pearson(share, share, adjusted, confidence)
    rare = is_rare(share, size)
    return np.where(rare, exact[0], low), np.where(rare, exact[1], high)


def is_rare(share: Floats, size: Floats) -> Booleans:
    """Return where fewer than five of ``size`` units are correct, or fewer than five are wrong."""
    return np.asarray(size * np.minimum(share, 1.0 - share) < _FEW - 1e-9)


def unlike_values(values: Floats, weights: Floats) -> Floats:
    """Return how many values of each column (n, R) differ from the rest.

    It is (sum of d^2)^2 / sum of d^4 of the weighted differences d from the median; 0 where all are
    equal. For k ones among more zeros it is k. Infinite where less than half of the values lie
    within a tenth of the largest difference. ``weights`` (n) sum to 1.
    """
    difference = np.abs(values - np.median(values, axis=0))
    is_near = difference <= _NEAR * difference.max(axis=0)
    squares = difference**2 * weights[:, None]
    fourth = (squares**2).sum(axis=0)
    is_unlike = fourth > 1e-30
    found = np.where(is_unlike, squares.sum(axis=0) ** 2 / np.where(is_unlike, fourth, 1.0), 0.0)
    return np.where(weights @ is_near >= 0.5 - 1e-9, found, np.inf)


@dataclass(frozen=True, slots=True)
class Moments:
    """Inputs to the intervals of R means of ``n`` (R) values in [0, 1].

    ``means`` and ``squares`` (R) are those of the values and of their squares. ``variances`` (R)
    are those of the means, on ``degrees`` (R) of freedom, 0 if none. ``unlike`` (R) is
    ``unlike_values``. ``is_binary`` (R): all values are 0 or 1. ``is_plain`` (R): units are
    independent and of equal weight. ``groups`` (R): independent groups, used as the size where all
    values are equal. ``most``: the number of binary answers behind graded values.
    """

    n: Floats
    means: Floats
    squares: Floats
    variances: Floats
    degrees: Floats
    groups: Floats
    unlike: Floats
    is_binary: Booleans
    is_plain: Booleans
    most: float = np.inf


@dataclass(frozen=True, slots=True)
class MeanIntervals:
    """Intervals ``low`` and ``high`` (R), the effective ``size`` (R) and the method (``made_by``,
    R).

    ``is_alike`` (R): all values are equal. ``is_few`` (R): too few graded values differ for a t
    statistic, and the interval is conservative. ``is_none`` (R): there is no interval, and the ends
    are 0 and 1. ``is_plain`` (R): independent binary units.
    """

    low: Floats
    high: Floats
    size: Floats
    made_by: tuple[str, ...]
    is_alike: Booleans
    is_few: Booleans
    is_none: Booleans
    is_plain: Booleans


def interval_of_means(found: Moments, confidence: float) -> MeanIntervals:
    """Return the interval of each mean, by one rule for accuracies, graded scores and shares.

    - Independent binary units: Wilson, or Clopper-Pearson where fewer than five are correct or
      fewer than five are wrong.
    - Dependent binary units: the same at the effective size n / (n - 1) p (1 - p) / variance, at
      most n (Kish; Korn and Graubard 1998), with Student's t (Dean and Pagano 2015). The same
      applies to shares of several binary answers, at most ``most``.
    - Graded scores: Student's t, with a standard error that varies with the mean m as the root of m
      (1 - m), so that both ends lie within [0, 1]. This is Wilson's form without a cap on the
      effective size.
    - Graded scores of which few differ from the rest: ``clopper_pearson`` by their two moments.
    """
    z = normal_quantile(confidence)
    share = np.clip(found.means, 0.0, 1.0)
    is_alike = found.variances < NO_SPREAD_BELOW
    is_plain = found.is_binary & found.is_plain
    is_none = ~is_plain & ~(found.degrees > 0.0)
    answers, alike = _sizes(found, share, is_alike)
    is_counted = found.is_binary | np.isfinite(found.most)
    quantile = _t_quantiles(
        np.where(is_plain, np.inf, np.where(is_none, 1.0, found.degrees)), confidence
    )
    low, high = wilson(share, np.maximum(answers, _SMALLEST_SIZE), quantile)
    size = np.where(is_counted, answers, alike)
    is_few = ~is_counted & (found.unlike * alike < _FEW * found.n)
    is_exact = is_few | (is_counted & is_rare(share, answers))
    adjusted = np.maximum(size * np.where(is_alike, 1.0, (z / quantile) ** 2), _SMALLEST_SIZE)
    square = np.where(is_counted, share, found.squares)
    exact = clopper_pearson(share, square, adjusted, confidence)
    low, high = np.where(is_exact, exact[0], low), np.where(is_exact, exact[1], high)
    names = [
        _made_by(*each)
        for each in zip(is_none, is_plain, is_counted, is_exact, found.degrees, strict=True)
    ]
    return MeanIntervals(
        low=np.where(is_none, 0.0, low),
        high=np.where(is_none, 1.0, high),
        size=np.where(is_none, np.minimum(size, found.groups), size),
        made_by=tuple(names),
        is_alike=is_alike,
        is_few=is_few & ~is_alike & ~is_none,
        is_none=is_none,
        is_plain=is_plain,
    )


def _sizes(found: Moments, share: Floats, is_alike: Booleans) -> tuple[Floats, Floats]:
    """Return the number of independent binary units, and of independent units, with these
    variances.

    Where all values are equal it is ``groups``.
    """
    variances = np.where(is_alike, 1.0, found.variances)
    bessel = found.n / np.maximum(found.n - 1.0, 1.0)
    binary = bessel * share * (1.0 - share) / variances
    graded = share * (1.0 - share) / variances
    most = np.where(found.is_binary, found.n, found.most)
    answers = np.where(np.isfinite(most), np.minimum(binary, most), graded)
    spread = np.maximum(found.squares - found.means**2, 0.0)
    like = np.minimum(bessel * spread / variances, found.n)
    return np.where(is_alike, found.groups, answers), np.where(is_alike, found.groups, like)


def _made_by(
    is_none: bool, is_plain: bool, is_counted: bool, is_exact: bool, degrees: float
) -> str:
    if is_none:
        return "none"
    if is_plain:
        return "Clopper-Pearson" if is_exact else "Wilson"
    if not is_counted:
        return (
            "Clopper-Pearson for graded scores"
            if is_exact
            else f"Wilson-type t interval on {degrees:.1f} degrees"
        )
    name = "Clopper-Pearson at the effective size" if is_exact else "Wilson at the effective size"
    return f"{name}, t on {degrees:.1f} degrees"


# Random-guess baseline, and its position relative to an interval.

Against = Literal["above", "inside", "below", "unknown"]


def chance_level(n_options: NDArray[np.integer], weights: NDArray[np.float64]) -> float:
    """Return the expected score of a uniform guess: the weighted mean of 1 / options.

    ``weights`` sum to 1. NaN without units, or where any unit has no options to guess among.
    """
    if not len(n_options) or (n_options <= 0).any():
        return float("nan")
    return float(weights @ (1.0 / n_options))


def interval_against(chance: float, estimate: Estimate) -> Against:
    """Return where the interval lies relative to chance; its ends belong to it."""
    if np.isnan(chance) or np.isnan(estimate.low):
        return "unknown"
    if estimate.low > chance:
        return "above"
    return "below" if estimate.high < chance else "inside"


# Null distribution of a quadratic form of dependent errors, by its first two moments.
#
# ``e' W e`` for errors e with covariance V is distributed as a weighted sum of chi-squares, with
# mean tr(WV) and variance 2 tr((WV)^2). It is approximated by a scaled chi-square with the same two
# moments (Satterthwaite 1946; Box 1954). V is estimated from G groups, so F replaces it (Thomas and
# Rao 1987).


def quadratic_p(statistic: float, trace: float, trace_of_square: float, groups: float) -> float:
    """Return the p-value of ``statistic`` = e' W e from tr(WV) and tr((WV)^2).

    V is estimated from ``groups`` effective groups. NaN without spread or with fewer than two
    groups.
    """
    if not (trace > 0.0 and trace_of_square > 0.0 and groups >= 2.0):
        return float("nan")
    df = trace**2 / trace_of_square
    return float(special.fdtrc(df, df * (groups - 1.0), statistic / trace))


# Range of k independent standard normal variables: its mean and tail probability.

_GRID = np.linspace(-12.0, 12.0, 4_801)


_NODES = 48


@lru_cache(maxsize=256)
def expected_range(k: int) -> float:
    """Return the mean range of ``k`` standard normals: 1.128 for two, 3.078 for ten.

    Tippett (1925, table 10). The integral of 1 - Phi(x)^k - (1 - Phi(x))^k over x; 0 for k below 2.
    """
    if k < 2:
        return 0.0
    below = special.ndtr(_GRID)
    return float(np.trapezoid(1.0 - below**k - (1.0 - below) ** k, _GRID))


def range_p(width: float, k: int, degrees: float = np.inf) -> float:
    """Return the p-value of a range of ``width`` standard deviations among ``k`` >= 2 normals.

    The deviation is estimated on ``degrees`` of freedom: Tukey's studentized range. The
    distribution on infinite degrees is averaged over the deviation's own, chi over the root of its
    degrees, at Gauss-Legendre nodes in its probability.
    """
    if np.isinf(degrees):
        return float(_known_range_p(np.array([width]), k)[0])
    share, weights = _nodes()
    deviation = np.sqrt(special.chdtri(degrees, 1.0 - share) / degrees)
    return float(np.clip(_known_range_p(width * deviation, k) @ weights, 0.0, 1.0))


@lru_cache(maxsize=1)
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probabilities and their weights, denser toward both ends."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    weights = weights * np.cos(nodes * np.pi / 2.0)
    return (1.0 + np.sin(nodes * np.pi / 2.0)) / 2.0, weights / weights.sum()


def _known_range_p(width: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the same for each of several widths, where the standard deviation is known."""
    # For such integrands the trapezoid rule with steps of 0.1 is exact to rounding.
    grid = _GRID[::20]
    inside = special.ndtr(grid + width[:, None]) - special.ndtr(grid)
    density = np.exp(-(grid**2) / 2.0) / np.sqrt(2.0 * np.pi)
    below = np.trapezoid(k * density * inside ** (k - 1), grid, axis=1)
    return np.asarray(np.clip(1.0 - below, 0.0, 1.0))


# Confidence levels for a comparison that is checked repeatedly (sequential testing).
#
# Repeating a test until it passes inflates its error rate: at a true difference on the limit, ten
# looks at 95% intervals passed 9.9% of the time in a simulation, one look 2.7%. Here four fifths of
# the error probability go to the first look. The last fifth covers all later ones together through
# a confidence sequence, whose intervals hold simultaneously over all sample sizes. By the union
# bound the error over any number of looks is at most that of one interval.
#
# The sequence is the normal mixture of Robbins (1970) with an estimated variance, asymptotic in the
# sense of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and
# asymptotic confidence sequences" (2021), section 2. It is a function of the sample size alone. So
# it is expressed as the level of the interval with the same width, whatever method makes that
# interval.

FIRST_SHARE = 0.8  # share of the error probability for the first look


_TIGHTEST = 2.0  # the sequence is narrowest at this multiple of the first look's items


def look_confidence(confidence: float, n: int, earlier: Sequence[int] = ()) -> float:
    """Return the level of the interval for a look at ``n`` items after looks at ``earlier`` sizes.

    ``confidence`` is the joint level of all looks, in (0, 1). ``earlier`` lists the numbers of
    items of the former looks, oldest first, each at least 1. The result is above ``confidence`` and
    below 1.
    """
    error = 1.0 - confidence
    if not earlier:
        return 1.0 - FIRST_SHARE * error
    rest = (1.0 - FIRST_SHARE) * error
    best = -float(special.lambertw(-(rest**2) / math.e, k=-1).real) - 1.0
    information = best * max(n, 1) / (_TIGHTEST * earlier[0])
    squared = (1.0 + 1.0 / information) * (2.0 * math.log(1.0 / rest) + math.log1p(information))
    return 1.0 - 2.0 * float(special.ndtr(-math.sqrt(squared)))


def error_of_looks(confidence: float, *, after_single: bool = False) -> float:
    """Return a bound on the error probability of any number of looks, two-sided.

    With ``after_single`` the first look used the full level, as the only one planned, and more
    followed.
    """
    return (1.0 + (1.0 - FIRST_SHARE) * after_single) * (1.0 - confidence)
