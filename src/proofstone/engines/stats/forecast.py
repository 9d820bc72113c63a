"""What a whole will come to, forecast from samples of its parts: a prediction interval of a total.

Each group has ``left`` units to come, of which nothing is known but that those sampled, without
replacement, were drawn from the same ones. With n sampled values of mean m and variance s^2,

    likely = left * m,    variance = s^2 * (left + left^2 / n),

the second term for not knowing the mean, the first for the units to come (together, with the
sampled part known, this is the variance of an expanded total in sampling without replacement:
Cochran, Sampling Techniques, ch. 2). Groups add up; the degrees of freedom are Satterthwaite's.

Costs lean to the right: most replies are short, a few are long. Then Student's interval is passed
above far more often than below. So its upper end is moved up by the second-order term of the
Edgeworth expansion of the studentized error (Hall, The Bootstrap and Edgeworth Expansion, ch. 2),
with the sampled third moments; the lower end is never moved. Measured at 20 of 500 and 95%: normal
costs are covered in 95% of draws (Student 95%), lognormal ones of sigma 0.5, 1 and 1.5 in 95%, 90%
and 83% (Student 93%, 86%, 77%). What is too rare to be met in a sample is in no interval of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.intervals import t_quantile

__all__ = ["Forecast", "Sampled", "forecast_total"]


class Sampled(Struct, frozen=True):
    """A group: the ``values`` of its sampled units, and how many units are ``left`` besides."""

    values: Sequence[float]
    left: int


class Forecast(Struct, frozen=True):
    """A total to come, and the ends of its prediction interval."""

    likely: float
    low: float
    high: float


class _Moments(Struct, frozen=True):
    """Of the error of one group's total: its ``variance``, its third cumulant, half its covariance
    with the estimate of its variance, and the degrees of freedom of that."""

    likely: float
    variance: float
    third: float
    drift: float
    degrees: int


def forecast_total(groups: Sequence[Sampled], confidence: float = 0.95) -> Forecast:
    """The total of what is left of all groups; its interval ends at 0 where values cannot be less.

    Groups with nothing left count nothing. Raises ValueError where one with something left has
    fewer than two values: there is no interval then.
    """
    left = [group for group in groups if group.left > 0]
    unit = max((abs(value) for group in left for value in group.values), default=0.0) or 1.0
    parts = [_moments(group, unit) for group in left]  # in this unit no power runs out of range
    likely = sum(part.likely for part in parts)
    variance = sum(part.variance for part in parts)
    if not variance:
        return Forecast(likely * unit, likely * unit, likely * unit)
    degrees = 1 / sum((part.variance / variance) ** 2 / part.degrees for part in parts)
    t = t_quantile(degrees, confidence)
    drift, third = sum(part.drift for part in parts), sum(part.third for part in parts)
    lean = (drift + (third + 6 * drift) * (t * t - 1) / 6) / variance**1.5
    half = variance**0.5
    low, high = likely - t * half, likely + half * (t + max(0.0, lean))
    return Forecast(likely * unit, max(0.0, low) * unit, high * unit)


def _moments(group: Sampled, unit: float) -> _Moments:
    values = np.sort(np.asarray(group.values, dtype=np.float64)) / unit  # in whichever order
    n, left = len(values), group.left
    if n < 2:
        raise ValueError(f"an interval needs two sampled values, not {n}")
    mean = float(values.mean())
    spread = float(values.var(ddof=1))
    lean = _third_moment(values - mean)
    per_unit = left + left**2 / n
    return _Moments(
        likely=left * mean,
        variance=per_unit * spread,
        third=lean * (left - left**3 / n**2),
        drift=per_unit * left * lean / (2 * n),
        degrees=n - 1,
    )


def _third_moment(deviations: NDArray[np.float64]) -> float:
    """The unbiased third central moment; 0 of two values, which have no lean."""
    n = len(deviations)
    return float((deviations**3).sum()) * n / ((n - 1) * (n - 2)) if n > 2 else 0.0
