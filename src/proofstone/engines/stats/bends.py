"""Whether scores go on rising with the logarithm of size, or level off.

The straight line is one end of a family of curves, ``a + s (1 - exp(-b t)) / b``: t runs from 0 at
the smallest size to 1 at the largest, and b, the bend, is 0 for the line, above 0 where scores
level off, below where they rise ever faster. The slope at the largest size is exp(-b) times the
one at the smallest, and with b > 0 there is a ceiling at a + s / b (asymptotic regression, Stevens
1951).
For every b the rest is linear, so the best b is found by going through them all, and its interval
holds every b that an F-test does not reject.

Seldom do models of one family suffice to tell. What an absence of evidence looks like is said:
"log-linear" needs an interval that leaves no room for a slope that halves or doubles.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import special

__all__ = ["Bend", "Shape", "fit_bend"]

Floats = NDArray[np.float64]
Shape = Literal["log-linear", "saturating", "accelerating", "cannot tell"]

_MOST = 10.0
_GRID = np.linspace(-_MOST, _MOST, 2_001)
# Half or twice the slope from one end to the other is a bend worth the name.
_WORTH_NAMING = float(np.log(2.0))


class Bend(Struct, frozen=True, kw_only=True):
    """The best bend of n points, its interval (infinite where even the sharpest bend fits), and the
    line against the curve.

    ``slope_ratio = exp(-bend)``: the slope at the largest size over that at the smallest.
    ``ceiling`` is NaN unless the curve levels off. ``f`` and ``p``: the F-test of the bend on 1 and
    n - 3 degrees; ``aicc_line`` and ``aicc_bent``: Akaike's criterion with its correction for few
    points (Hurvich and Tsai 1989), the lower the better, NaN with fewer points than it needs.
    ``shape`` is what the interval allows.
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
    """The bend of ``y`` (n) along ``x`` (n): logarithms of size, NaN in either left out.

    With fewer than four points, or than three different x, or where no curve rises or falls, it
    cannot be told.
    """
    kept = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[kept], y[kept]
    n = len(y)
    if n < 4 or len(np.unique(x)) < 3 or np.ptp(y) == 0.0:
        return _unknown(n)
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
    """The sum of squares that the best curve of each bend leaves."""
    curve = _curve(t, bends)
    centred = curve - curve.mean(axis=1, keepdims=True)
    own = y - y.mean()
    taken = (centred @ own) ** 2 / (centred**2).sum(axis=1)
    left: Floats = np.maximum(own @ own - taken, 0.0)
    return left


def _curve(t: Floats, bends: Floats) -> Floats:
    """The curve of each bend at each t (bends, n), from 0 to 1."""
    flat = np.abs(bends) < 1e-9
    b = np.where(flat, 1.0, bends)[:, None]
    curve: Floats = np.where(flat[:, None], t[None, :], np.expm1(-b * t) / np.expm1(-b))
    return curve


def _refined(t: Floats, y: Floats, near: float) -> float:
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - slow to load, seldom needed

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
    """The outermost bends that the F-test does not reject; infinite at the end of the grid."""
    allowed = bent * (1.0 + float(special.fdtri(1, n - 3, confidence)) / (n - 3))
    # Points that lie on one curve may allow no bend of the grid but the nearest.
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
    return "log-linear" if -low < _WORTH_NAMING and high < _WORTH_NAMING else "cannot tell"


def _unknown(n: int) -> Bend:
    nan = float("nan")
    return Bend(
        bend=nan,
        low=-np.inf,
        high=np.inf,
        slope_ratio=nan,
        ceiling=nan,
        f=nan,
        p=nan,
        aicc_line=nan,
        aicc_bent=nan,
        n=n,
        shape="cannot tell",
    )
