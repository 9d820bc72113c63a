"""Mean scores with intervals that say what they are intervals of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand, Flag, estimand_name, resampled_unit
from proofstone.engines.stats.intervals import normal_quantile, t_quantile, wilson
from proofstone.engines.stats.spread import Spread, measure_spread
from proofstone.engines.stats.weights import Weighting
from proofstone.records.results import Estimate

__all__ = ["NO_SPREAD_BELOW", "estimates_of", "mean_estimates"]

Floats = NDArray[np.float64]

# A variance below this is rounding: one unlike unit in ten million gives 1e-14.
NO_SPREAD_BELOW = 1e-20
_FEW_GROUPS = 50.0


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
    right-or-wrong answers the values of a column are made, where a unit's is the share of several.
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
    """Wilson's interval at the effective size that ``spread`` of ``values`` amounts to.

    ``n_eff = n / (n - 1) * p (1 - p) / variance``, at most n, of shares at most ``n_parts`` (Kish;
    Korn and Graubard 1998), with Student's t on G - 1 degrees of freedom (Dean and Pagano 2015).
    Right-or-wrong units of equal weight of which no two share anything need no estimated variance:
    plain Wilson, normal quantile. Without spread the effective size is G; with G below 2 the
    interval is all of [0, 1].
    """
    size, alike = _effective_sizes(spread, n_parts or spread.n_units)
    is_plain = _is_plain(spread, values, weighting)
    by_t = (np.zeros_like(size), np.ones_like(size))
    if spread.groups >= 2.0:
        by_t = wilson(spread.means, size, t_quantile(spread.groups - 1.0, confidence))
    by_z = wilson(spread.means, size, normal_quantile(confidence))
    low, high = np.where(is_plain, by_z[0], by_t[0]), np.where(is_plain, by_z[1], by_t[1])
    return tuple(
        Estimate(
            value=float(spread.means[r]),
            n=spread.n_units,
            low=float(low[r]),
            high=float(high[r]),
            level=confidence,
            estimand=estimand_name(spread.estimand),
            made_by=_made_by(bool(is_plain[r]), spread),
            resampled=resampled_unit(spread.estimand),
            effective_n=float(size[r]),
            flags=_flags(spread, is_plain=bool(is_plain[r]), is_alike=bool(alike[r])),
        )
        for r in range(len(spread.means))
    )


def _effective_sizes(spread: Spread, most: int) -> tuple[Floats, NDArray[np.bool_]]:
    """The number of independent right-or-wrong units as good as these, ``most`` at most, and where
    none vary."""
    variances = spread.variances()
    alike = variances < NO_SPREAD_BELOW
    n = spread.n_units
    p = np.clip(spread.means, 0.0, 1.0)
    bessel = n / max(n - 1, 1)
    size = bessel * p * (1 - p) / np.where(alike, 1.0, variances)
    return np.where(alike, spread.groups, np.clip(size, 0.0, most)), alike


def _is_plain(spread: Spread, values: Floats, weighting: Weighting) -> NDArray[np.bool_]:
    """Which columns hold only 0 and 1, of equal weight and independent."""
    if spread.is_shared or weighting.n_groups > 1:
        return np.zeros(values.shape[1], dtype=bool)
    return np.asarray(((values == 0.0) | (values == 1.0)).all(axis=0))


def _made_by(is_plain: bool, spread: Spread) -> str:
    if is_plain:
        return "Wilson"
    if spread.groups < 2.0:
        return "none"
    return f"Wilson at the effective size, t on {spread.groups - 1.0:.1f} degrees"


def _flags(spread: Spread, *, is_plain: bool, is_alike: bool) -> tuple[Flag, ...]:
    found = list(spread.flags)
    if is_alike and not is_plain:
        found.append("no-spread")
    if not is_plain and spread.groups < 2.0:
        found.append("one-group")
    elif not is_plain and spread.groups < _FEW_GROUPS:
        found.append("few-groups")
    return tuple(found)


def _nothing(estimand: Estimand, confidence: float) -> Estimate:
    return Estimate(
        value=float("nan"),
        n=0,
        low=float("nan"),
        high=float("nan"),
        level=confidence,
        estimand=estimand_name(estimand),
        made_by="none",
        resampled=resampled_unit(estimand),
        flags=("no-scores",),
    )
