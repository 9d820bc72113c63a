"""Scaling with model size: lines of scores against log10 of parameters.

Least squares on log10 of the parameters, with equal weights unless given. A slope has two
intervals. Over *models*: Student's t on the residuals (other models of the family, on the same
items). Over *items*: the slope is a weighted sum of the models' means, so its variance follows from
their covariance (these models, on other items).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

from proofstone.records.runs import Estimate, Flag
from proofstone.stats.intervals import normal_quantile, t_quantile, t_test_p, unknown
from proofstone.stats.multiple_comparisons import holm

# Curvature: do scores keep rising with the logarithm of size, or level off?
#
# The family of curves is ``a + s (1 - exp(-b t)) / b``: t runs from 0 at the smallest size to 1 at
# the largest. The bend b is 0 for the straight line, above 0 where scores level off, below where
# they accelerate. The slope at the largest size is exp(-b) times the one at the smallest, and with
# b > 0 there is a ceiling at a + s / b (asymptotic regression, Stevens 1951). For a given b the
# rest is linear, so the best b is found by grid search, and its interval holds every b that an
# F-test does not reject.
#
# Few families have enough models to decide. "log-linear" needs an interval that excludes slopes
# that halve or double; otherwise the result is inconclusive.

Floats = NDArray[np.float64]


Shape = Literal["log-linear", "saturating", "accelerating", "inconclusive"]


_MOST = 10.0


_GRID = np.linspace(-_MOST, _MOST, 2_001)


# A bend is relevant if the slope halves or doubles from one end to the other.
_WORTH_NAMING = float(np.log(2.0))


class Bend(Struct, frozen=True, kw_only=True):
    """Best bend of n points with its interval, and the comparison of line and curve.

    The interval is infinite where even the sharpest bend fits. ``slope_ratio = exp(-bend)`` is the
    slope at the largest size over that at the smallest. ``ceiling`` is NaN unless the curve levels
    off. ``f`` and ``p`` are the F-test of the bend on 1 and n - 3 degrees. ``aicc_line`` and
    ``aicc_bent`` are Akaike's criterion with its correction for few points (Hurvich and Tsai 1989),
    lower is better, NaN with fewer points than it needs. ``shape`` is what the interval allows.
    """

    bend: float
    low: float
    high: float
    slope_ratio: float
    ceiling: float
    f: float
    p: float
    aicc_line: float
    aicc_bent: float
    n: int
    shape: Shape


def fit_bend(x: Floats, y: Floats, *, confidence: float = 0.95) -> Bend:
    """Return the bend of ``y`` (n) along ``x`` (n): logarithms of size, NaN in either left out.

    Inconclusive with fewer than four points, fewer than three distinct x, or a constant y.
    """
    kept = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[kept], y[kept]
    n = len(y)
    if n < 4 or len(np.unique(x)) < 3 or np.ptp(y) == 0.0:
        return unknown(Bend, low=-np.inf, high=np.inf, n=n, shape="inconclusive")
    t = (x - x.min()) / np.ptp(x)
    line = float(_left_over(t, y, np.zeros(1))[0])
    left = _left_over(t, y, _GRID)
    best = _refined(t, y, float(_GRID[left.argmin()]))
    bent = min(float(_left_over(t, y, np.array([best]))[0]), line)
    low, high = _interval(left, bent, n, confidence)
    f = (line - bent) / (bent / (n - 3)) if bent > 0.0 else float("inf")
    return Bend(
        bend=best,
        low=min(low, best),
        high=max(high, best),
        slope_ratio=float(np.exp(-best)),
        ceiling=_ceiling(t, y, best),
        f=f,
        p=float(special.fdtrc(1, n - 3, f)) if np.isfinite(f) else 0.0,
        aicc_line=_aicc(line, n, 3),
        aicc_bent=_aicc(bent, n, 4),
        n=n,
        shape=_shape(min(low, best), max(high, best)),
    )


def _left_over(t: Floats, y: Floats, bends: Floats) -> Floats:
    """Return the residual sum of squares of the best curve for each bend."""
    curve = _curve(t, bends)
    centred = curve - curve.mean(axis=1, keepdims=True)
    own = y - y.mean()
    taken = (centred @ own) ** 2 / (centred**2).sum(axis=1)
    left: Floats = np.maximum(own @ own - taken, 0.0)
    return left


def _curve(t: Floats, bends: Floats) -> Floats:
    """Return the curve of each bend at each t (bends, n), from 0 to 1."""
    flat = np.abs(bends) < 1e-9
    b = np.where(flat, 1.0, bends)[:, None]
    curve: Floats = np.where(flat[:, None], t[None, :], np.expm1(-b * t) / np.expm1(-b))
    return curve


def _refined(t: Floats, y: Floats, near: float) -> float:
    # Slow to import, and seldom needed.
    from scipy.optimize import minimize_scalar  # noqa: PLC0415

    step = float(_GRID[1] - _GRID[0])
    bounds = (max(near - step, -_MOST), min(near + step, _MOST))
    found = minimize_scalar(
        lambda b: float(_left_over(t, y, np.array([b]))[0]),
        bounds=bounds,
        method="bounded",
        options={"xatol": 1e-8},
    )
    return float(found.x)


def _interval(left: Floats, bent: float, n: int, confidence: float) -> tuple[float, float]:
    """Return the outermost bends that the F-test does not reject; infinite at the end of the
    grid.
    """
    allowed = bent * (1.0 + float(special.fdtri(1, n - 3, confidence)) / (n - 3))
    # Points exactly on one curve may allow no grid bend except the nearest.
    inside = _GRID[left <= max(allowed, float(left.min())) + 1e-15]
    low = -np.inf if inside[0] == _GRID[0] else float(inside[0])
    high = np.inf if inside[-1] == _GRID[-1] else float(inside[-1])
    return low, high


def _ceiling(t: Floats, y: Floats, bend: float) -> float:
    if bend <= 1e-9:
        return float("nan")
    curve = _curve(t, np.array([bend]))[0]
    rise = float(np.polyfit(curve, y, 1)[0])
    start = float(y.mean() - rise * curve.mean())
    return start + rise / float(-np.expm1(-bend))


def _aicc(left_over: float, n: int, parameters: int) -> float:
    if n - parameters - 1 < 1:
        return float("nan")
    fit = n * np.log(left_over / n) if left_over > 0.0 else -np.inf
    penalty = 2 * parameters + 2 * parameters * (parameters + 1) / (n - parameters - 1)
    return float(fit + penalty)


def _shape(low: float, high: float) -> Shape:
    if low > 0.0:
        return "saturating"
    if high < 0.0:
        return "accelerating"
    return "log-linear" if -low < _WORTH_NAMING and high < _WORTH_NAMING else "inconclusive"


class SizeSlope(Struct, frozen=True, kw_only=True):
    """Line through n models: ``at_one`` at one unit of size plus ``models.value`` per tenfold size.

    Values are shares, not points. ``models`` holds the interval of the slope over models, ``items``
    over items where the covariance is known. ``residual`` is the standard deviation about the line,
    ``r_squared`` the explained share of the scores' variance, ``decades`` the range of sizes.
    ``weighting`` is "equal" or "given".
    """

    models: Estimate
    items: Estimate | None
    at_one: float
    residual: float
    r_squared: float
    n_models: int
    decades: float
    weighting: str


class SlopeDifference(Struct, frozen=True, kw_only=True):
    """Slope of ``first`` less that of ``second`` (indices), over models.

    ``p_holm`` is Holm-adjusted for all pairs. Degrees of freedom are Welch's.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    p_holm: float


class MixtureGap(Struct, frozen=True, kw_only=True):
    """Mean of mixtures of experts above dense models of the same size, on one ``basis``.

    All lines have the same slope; the interval is over models.
    """

    basis: str
    gap: Estimate
    p: float
    n_dense: int
    n_mixtures: int


def slope_of(
    sizes: Floats,
    scores: Floats,
    *,
    weights: Floats | None = None,
    covariance: Floats | None = None,
    groups: float = np.inf,
    n_units: int = 0,
    confidence: float = 0.95,
) -> SizeSlope:
    """Return the slope of ``scores`` (n) per tenfold of ``sizes`` (n, > 0); NaN in either is left
    out.

    ``covariance`` (n, n) is that of the scores over ``n_units`` items, with ``groups`` effective
    independent ones. With one size there is no slope (NaN), with two models no interval over
    models.
    """
    kept = ~np.isnan(scores) & (sizes > 0)
    x, y = np.log10(sizes[kept]), scores[kept]
    given = np.ones(len(y)) if weights is None else weights[kept]
    line = _Line.of(np.stack([np.ones_like(x), x], axis=1), y, given)
    centred = y - (given @ y) / given.sum() if len(y) else y
    total = float(given @ centred**2)
    items = None
    if covariance is not None:
        over = covariance[np.ix_(kept, kept)]
        items = _over_items(line, over, n_units, groups, confidence)
    return SizeSlope(
        models=line.estimate(1, confidence),
        items=items,
        at_one=float(line.values[0]),
        residual=float(np.sqrt(line.variance)),
        r_squared=1.0 - line.left_over / total if line.is_known and total > 0 else float("nan"),
        n_models=len(y),
        decades=float(np.ptp(x)) if len(x) else 0.0,
        weighting="equal" if weights is None else "given",
    )


def compare_slopes(
    slopes: Sequence[SizeSlope], *, confidence: float = 0.95
) -> tuple[SlopeDifference, ...]:
    """Return all pairs of slopes of different models that have an interval over models."""
    pairs = [
        (a, b)
        for a, b in combinations(range(len(slopes)), 2)
        if not np.isnan(_error(slopes[a])) and not np.isnan(_error(slopes[b]))
    ]
    found = [_welch(slopes[a], slopes[b], confidence) for a, b in pairs]
    adjusted = holm(np.array([p for _, p in found]))
    return tuple(
        SlopeDifference(first=a, second=b, difference=difference, p=p, p_holm=float(corrected))
        for (a, b), (difference, p), corrected in zip(pairs, found, adjusted, strict=True)
    )


def mixture_gap(
    sizes: Floats,
    scores: Floats,
    is_mixture: NDArray[np.bool_],
    *,
    basis: str,
    confidence: float = 0.95,
) -> MixtureGap:
    """Return the gap on ``sizes`` of one ``basis``: "total" or "active" parameters.

    A dense model's parameters are all active. NaN without both kinds, or with only one size.
    """
    kept = ~np.isnan(scores) & (sizes > 0)
    x, y, mixed = np.log10(sizes[kept]), scores[kept], is_mixture[kept]
    columns = np.stack([np.ones_like(x), x, mixed.astype(np.float64)], axis=1)
    line = _Line.of(columns, y, np.ones(len(y)))
    return MixtureGap(
        basis=basis,
        gap=line.estimate(2, confidence),
        p=line.p(2),
        n_dense=int((~mixed).sum()),
        n_mixtures=int(mixed.sum()),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """Weighted least squares: coefficients ``values`` (k) and the ``rows`` (k, n) that give them.

    ``left_over`` is the residual sum of squares on ``degrees`` of freedom.
    """

    values: Floats
    rows: Floats
    inverse: Floats
    left_over: float
    degrees: int

    @classmethod
    def of(cls, columns: Floats, y: Floats, weights: Floats) -> _Line:
        n, k = columns.shape
        if np.linalg.matrix_rank(columns) < k:
            nothing = np.full(k, np.nan)
            return cls(nothing, np.full((k, n), np.nan), np.full((k, k), np.nan), np.nan, n - k)
        inverse: Floats = np.linalg.inv((columns * weights[:, None]).T @ columns).astype(np.float64)
        rows = inverse @ (columns * weights[:, None]).T
        values = rows @ y
        return cls(values, rows, inverse, float(weights @ (y - columns @ values) ** 2), n - k)

    @property
    def is_known(self) -> bool:
        return not np.isnan(self.values).any()

    @property
    def variance(self) -> float:
        """Return the variance of one score of weight 1 about the line; NaN without degrees of
        freedom.
        """
        return self.left_over / self.degrees if self.degrees > 0 else float("nan")

    def error(self, place: int) -> float:
        return float(np.sqrt(self.variance * self.inverse[place, place]))

    def p(self, place: int) -> float:
        error = self.error(place)
        if np.isnan(error):
            return float("nan")
        if error == 0.0:
            return 0.0 if self.values[place] else 1.0
        return t_test_p(float(self.values[place]), error, float(self.degrees))

    def estimate(self, place: int, confidence: float) -> Estimate:
        value, error = float(self.values[place]), self.error(place)
        known = not np.isnan(error)
        half = t_quantile(self.degrees, confidence) * error if known else float("nan")
        flags: tuple[Flag, ...] = () if known else ("too-few-models",)
        return Estimate(
            value=value,
            n=self.rows.shape[1],
            low=value - half,
            high=value + half,
            level=confidence,
            population="models like these, on these items",
            made_by=f"least squares, t on {self.degrees} degrees" if known else "none",
            resampled="models" if known else "",
            effective_n=float(self.rows.shape[1]),
            flags=flags,
        )


def _over_items(
    line: _Line, covariance: Floats, n_units: int, groups: float, confidence: float
) -> Estimate:
    row, value = line.rows[1], float(line.values[1])
    error = float(np.sqrt(max(row @ covariance @ row, 0.0))) if line.is_known else float("nan")
    enough = groups >= 2.0
    quantile = normal_quantile(confidence)
    if enough and np.isfinite(groups):
        quantile = t_quantile(groups - 1.0, confidence)
    half = quantile * error if enough else float("nan")
    flags: tuple[Flag, ...] = () if enough else ("one-group",)
    return Estimate(
        value=value,
        n=n_units,
        low=value - half,
        high=value + half,
        level=confidence,
        population="these models, on items like these",
        made_by="least squares, covariance of the means" if enough else "none",
        resampled="items" if enough else "",
        effective_n=groups,
        flags=flags,
    )


def _error(slope: SizeSlope) -> float:
    """Return the standard error over models, recovered from the interval."""
    degrees = slope.n_models - 2
    if degrees < 1:
        return float("nan")
    width = slope.models.high - slope.models.low
    return width / 2.0 / t_quantile(degrees, slope.models.level)


def _welch(first: SizeSlope, second: SizeSlope, confidence: float) -> tuple[Estimate, float]:
    a, b = _error(first) ** 2, _error(second) ** 2
    d_a, d_b = first.n_models - 2.0, second.n_models - 2.0
    value = first.models.value - second.models.value
    degrees = (a + b) ** 2 / (a**2 / d_a + b**2 / d_b) if a + b > 0 else min(d_a, d_b)
    error = float(np.sqrt(a + b))
    p = t_test_p(value, error, degrees) if error else float(value == 0.0)
    half = t_quantile(degrees, confidence) * error
    difference = Estimate(
        value=value,
        n=first.n_models + second.n_models,
        low=value - half,
        high=value + half,
        level=confidence,
        population="models like these, on these items",
        made_by=f"least squares, t on {degrees:.1f} degrees",
        resampled="models",
        effective_n=float(first.n_models + second.n_models),
    )
    return difference, p
