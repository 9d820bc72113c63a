"""Several numbers made of drawn ratios, with intervals that hold for all of them together.

Each is a function of ratios that were drawn over the same clusters (`draw_ratios`): a difference of
two F1, a slope. Its error is the standard deviation of its draws; the intervals are as many of
these wide as the largest of all standardised deviations in a draw is, at the level that is asked
for ("max-t", Westfall and Young 1993). That allows for whatever the numbers share. A quantile of
Student's t in place of the normal one widens them where there are few clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.drawn_ratios import DrawnRatios
from proofstone.engines.stats.flags import Flag
from proofstone.engines.stats.intervals import share_interval, t_quantile
from proofstone.records.results import Estimate

__all__ = ["MadeOf", "estimate_together"]

Floats = NDArray[np.float64]

_FEW_GROUPS = 50.0
_MANY = 1e6  # degrees of freedom at which t is the normal law


@dataclass(frozen=True, slots=True)
class MadeOf:
    """What ``make`` makes of rows of the ratios (rows, K) -> (rows), which uses those of
    ``places``; it lies within ``low`` and ``high``."""

    places: tuple[int, ...]
    make: Callable[[Floats], Floats]
    low: float = -1.0
    high: float = 1.0


def estimate_together(
    drawn: DrawnRatios, made: Sequence[MadeOf], *, confidence: float = 0.95
) -> tuple[Estimate, ...]:
    """The value of each with its interval, ``confidence`` for all intervals at once.

    n and effective_n are the least of the ratios that a value uses. With fewer than two effective
    clusters behind one of them it has no interval but its bounds, and no part in the others'. Where
    no draw moves a value, each of two shares may be off as far as a share at an end is.
    """
    values = [float(each.make(drawn.values[None, :])[0]) for each in made]
    draws = [each.make(drawn.draws) for each in made]
    groups = [min(float(drawn.groups[place]) for place in each.places) for each in made]
    errors = [_error(column) for column in draws]
    able = [
        place
        for place, value in enumerate(values)
        if groups[place] >= 2.0 and errors[place] > 0.0 and not np.isnan(value)
    ]
    times = _times(draws, values, errors, able, confidence)
    return tuple(
        _estimate(
            drawn, each, values[place], errors[place] * times, groups[place], confidence, len(made)
        )
        for place, each in enumerate(made)
    )


def _error(column: Floats) -> float:
    """The standard deviation of draws; 0 where they are alike but for rounding."""
    known = column[~np.isnan(column)]
    found = float(known.std()) if len(known) else 0.0
    return found if found > 1e-12 else 0.0


def _times(
    draws: Sequence[Floats],
    values: Sequence[float],
    errors: Sequence[float],
    able: Sequence[int],
    confidence: float,
) -> float:
    """How many standard errors wide half an interval is."""
    largest: Floats | None = None
    for place in able:
        off = np.nan_to_num(np.abs(draws[place] - values[place]) / errors[place])
        largest = off if largest is None else np.maximum(largest, off)
    return 0.0 if largest is None else float(np.quantile(largest, confidence))


def _estimate(
    drawn: DrawnRatios,
    made: MadeOf,
    value: float,
    half: float,
    groups: float,
    confidence: float,
    n_together: int,
) -> Estimate:
    n = int(min(drawn.n[place] for place in made.places))
    flags: list[Flag] = []
    low, high = made.low, made.high
    if np.isnan(value) or not n:
        low = high = float("nan")
        flags.append("no-scores")
    elif groups >= 2.0:
        if not half:
            half = _unmoved(groups, confidence)
            flags.append("no-spread")
        half *= t_quantile(max(groups - 1.0, 1.0), confidence) / t_quantile(_MANY, confidence)
        low, high = max(value - half, made.low), min(value + half, made.high)
    if n and groups < _FEW_GROUPS:
        flags.append("one-group" if groups < 2.0 else "few-groups")
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        estimand=f"{drawn.clusters} like these",
        made_by=_made_by(drawn.made_by, n_together) if groups >= 2.0 else "none",
        resampled=drawn.clusters,
        effective_n=groups,
        flags=tuple(flags),
    )


def _made_by(drawn: str, n_together: int) -> str:
    return drawn.replace("percentile", f"max-t over {n_together}" if n_together > 1 else "t")


def _unmoved(groups: float, confidence: float) -> float:
    _low, high = share_interval(np.array([0.0]), np.array([groups]), confidence)
    return float(np.sqrt(2.0) * high[0])
