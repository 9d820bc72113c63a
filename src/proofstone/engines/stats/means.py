"""Mean scores with intervals that say what they are intervals of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand, Flag, estimand_name, resampled_unit
from proofstone.engines.stats.intervals import (
    MeanIntervals,
    Moments,
    interval_of_means,
    unlike_values,
)
from proofstone.engines.stats.spread import Spread, measure_spread
from proofstone.engines.stats.weights import Weighting
from proofstone.records.results import Estimate

__all__ = ["estimates_of", "mean_estimates"]

Floats = NDArray[np.float64]

_FEW_GROUPS = 50.0 - 1e-6  # sums of weights end a rounding error below it


def mean_estimates(
    values: Floats,
    weighting: Weighting,
    keys: SharedKeys,
    *,
    estimand: Estimand,
    confidence: float = 0.95,
    n_parts: int | None = None,
) -> tuple[Estimate, ...]:
    """One estimate a column of ``values``: (n units, R respondents), shares in [0, 1], no NaN.

    A unit asked several times enters once, as the mean of its samples. ``n_parts``: of how many
    right-or-wrong answers the values of a column are made, where a unit's is the share of several;
    they are worth at most as many.
    No unit gives NaN, flagged.
    """
    if not len(values):
        return tuple(_nothing(estimand, confidence) for _ in range(values.shape[1]))
    spread = measure_spread(values, weighting, keys, estimand)
    return estimates_of(spread, values, weighting, confidence=confidence, n_parts=n_parts)


def estimates_of(
    spread: Spread,
    values: Floats,
    weighting: Weighting,
    *,
    confidence: float,
    n_parts: int | None = None,
) -> tuple[Estimate, ...]:
    """Return the interval that ``spread`` of ``values`` gives by ``interval_of_means``.

    Units that share keys in overlapping sets have the variance and degrees of freedom of
    ``spread.by_key`` where there is one; else the degrees are G - 1. Without either the interval
    is all of [0, 1], flagged.
    """
    found = interval_of_means(_moments(spread, values, weighting, n_parts), confidence)
    return tuple(
        Estimate(
            value=float(spread.means[r]),
            n=spread.n_units,
            low=float(found.low[r]),
            high=float(found.high[r]),
            level=confidence,
            estimand=estimand_name(spread.estimand),
            made_by=found.made_by[r],
            resampled=resampled_unit(is_shared=spread.is_shared),
            effective_n=float(found.size[r]),
            flags=_flags(spread, found, r),
        )
        for r in range(len(spread.means))
    )


def _moments(spread: Spread, values: Floats, weighting: Weighting, n_parts: int | None) -> Moments:
    m = len(spread.means)
    weights = weighting.weights()
    variances, degrees = spread.variances(), np.full(m, max(spread.groups - 1.0, 0.0))
    if spread.by_key is not None:
        variances, degrees = spread.by_key.variances, spread.by_key.degrees
    elif spread.groups < 2.0:
        degrees = np.zeros(m)
    return Moments(
        n=np.full(m, float(spread.n_units)),
        means=spread.means,
        squares=weights @ values**2,
        variances=variances,
        degrees=degrees,
        groups=np.full(m, spread.groups),
        unlike=unlike_values(values, weights),
        is_binary=((values == 0.0) | (values == 1.0)).all(axis=0),
        is_plain=np.full(m, not spread.is_shared and weighting.n_groups == 1),
        most=float("inf") if n_parts is None else float(n_parts),
    )


def _flags(spread: Spread, found: MeanIntervals, r: int) -> tuple[Flag, ...]:
    flags = list(spread.flags)
    if found.is_plain[r]:
        return tuple(flags)
    if found.is_alike[r]:
        flags.append("no-spread")
    if found.is_few[r]:
        flags.append("few-values")
    if found.is_none[r]:
        flags.append("one-group")
    elif spread.groups < _FEW_GROUPS:
        flags.append("few-groups")
    return tuple(flags)


def _nothing(estimand: Estimand, confidence: float) -> Estimate:
    return Estimate(
        value=float("nan"),
        n=0,
        low=float("nan"),
        high=float("nan"),
        level=confidence,
        estimand=estimand_name(estimand),
        made_by="none",
        resampled=resampled_unit(is_shared=False),
        flags=("no-scores",),
    )
