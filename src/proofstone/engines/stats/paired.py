"""One pair on the same units: how far apart, and how many would put it on one side of a bound.

The t interval of a difference says too little where few units differ: with none that differ its
width is 0. So it is never narrower than Bonett and Price's (2012, adjusted Wald) on right-or-wrong
units, and where no difference varies at all it holds what so many equal ones leave open.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand, estimand_name, resampled_unit
from proofstone.engines.stats.intervals import NO_SPREAD_BELOW, normal_quantile
from proofstone.engines.stats.power import separations
from proofstone.engines.stats.ranks import Comparison, rank_all
from proofstone.engines.stats.spread import Spread, measure_spread
from proofstone.engines.stats.weights import equal_weights
from proofstone.records.results import Estimate

__all__ = ["PairedDifference", "compare_pair", "compare_spread", "units_to_pass"]

Floats = NDArray[np.float64]

_FEW_GROUPS = 50.0


class PairedDifference(Struct, frozen=True, kw_only=True):
    """``estimate`` of the second's mean minus the first's, ``p`` of the clustered t-test that it is
    0. ``rises``, ``falls`` and ``level`` count units by what the second is to the first."""

    estimate: Estimate
    p: float
    standard_error: float
    rises: int
    falls: int
    level: int


def compare_pair(
    first: Floats,
    second: Floats,
    keys: SharedKeys,
    *,
    estimand: Estimand = "knowledge",
    confidence: float = 0.95,
) -> PairedDifference:
    """The second against the first: two columns (units) of shares in [0, 1], no NaN.

    Without a unit everything is NaN and p is 1; with fewer than two independent groups the interval
    is [-1, 1].
    """
    difference = second - first
    rises, falls = int((difference > 0).sum()), int((difference < 0).sum())
    counts = {"rises": rises, "falls": falls, "level": len(difference) - rises - falls}
    if not len(difference):
        nan = math.nan
        nothing = _estimate(nan, nan, nan, 0, 0.0, estimand, confidence, "none")
        return PairedDifference(estimate=nothing, p=1.0, standard_error=math.nan, **counts)
    spread = measure_spread(
        np.column_stack([second, first]), equal_weights(len(first)), keys, estimand
    )
    (compared,) = rank_all(spread, confidence=confidence).comparisons
    variance = float(spread.difference_variances()[0, 1])
    low, high, made_by = _interval(compared, first, second, spread, variance, confidence)
    return PairedDifference(
        estimate=_estimate(
            compared.difference,
            low,
            high,
            len(first),
            spread.groups,
            estimand,
            confidence,
            made_by,
            is_shared=spread.is_shared,
        ),
        p=compared.p,
        standard_error=math.sqrt(variance),
        **counts,
    )


def compare_spread(
    spread: Spread, *, clusters: str, confidence: float = 0.95
) -> tuple[Estimate, float]:
    """The second of two respondents against the first, by a spread over ``clusters`` that need be
    no means of units (`ratio_spread`), and the p-value of the t-test that they are level."""
    (compared,) = rank_all(spread, confidence=confidence).comparisons
    value = 0.0 - compared.difference
    low, high, made_by = -1.0, 1.0, "none"
    if spread.groups >= 2.0:
        low, high = 0.0 - compared.high, 0.0 - compared.low
        made_by = f"delta method, clustered t on {spread.groups - 1.0:.1f} degrees"
        if spread.difference_variances()[0, 1] < NO_SPREAD_BELOW:
            low, high = _if_alike(value, spread.groups, confidence)
            made_by = f"{clusters} all alike"
    estimate = _estimate(
        value, low, high, spread.n_units, spread.groups, "knowledge", confidence, made_by
    )
    named = {"estimand": f"{clusters} like these", "resampled": clusters}
    return structs.replace(estimate, **named), compared.p


def units_to_pass(
    first: Floats,
    second: Floats,
    keys: SharedKeys,
    bound: float,
    *,
    estimand: Estimand = "knowledge",
    confidence: float = 0.95,
    power: float = 0.8,
) -> float:
    """How many units like these put the whole interval of the difference on the side of ``bound``
    where the difference now lies, with ``power``, if it is the true one.

    Infinite where it lies on the bound itself; NaN with fewer than two independent groups.
    """
    if not len(first):
        return math.nan
    shifted = np.column_stack([second - bound, first])
    spread = measure_spread(shifted, equal_weights(len(first)), keys, estimand)
    (needed,) = separations(spread, [(0, 1)], confidence=confidence, power=power)
    if math.isnan(needed.needed) or math.isinf(needed.needed):
        return needed.needed
    if needed.standard_error**2 >= NO_SPREAD_BELOW:
        return math.ceil(needed.needed)
    value = needed.difference + bound
    room = needed.difference / (1.0 + value) if needed.difference > 0 else 0.0
    room = -needed.difference / (1.0 - value) if needed.difference < 0 else room
    if room >= 1.0:
        return math.ceil(needed.needed)
    groups = math.log((1.0 - confidence) / 2.0) / math.log1p(-room)
    return math.ceil(max(groups, 3.0) * len(first) / spread.groups)


def _interval(
    compared: Comparison,
    first: Floats,
    second: Floats,
    spread: Spread,
    variance: float,
    confidence: float,
) -> tuple[float, float, str]:
    value = compared.difference
    if spread.groups < 2.0:
        return -1.0, 1.0, "none"
    if variance < NO_SPREAD_BELOW:
        return *_if_alike(value, spread.groups, confidence), "units all alike"
    low, high = compared.low, compared.high
    made_by = f"clustered t on {spread.groups - 1.0:.1f} degrees"
    if not _are_plain(first, second):
        return low, high, made_by
    wald = _adjusted_wald(first, second, confidence)
    if wald[0] < low or wald[1] > high:
        made_by += ", no narrower than Bonett and Price's"
    return min(low, wald[0]), max(high, wald[1]), made_by


def _if_alike(value: float, groups: float, confidence: float) -> tuple[float, float]:
    """What a difference that is the same everywhere leaves open: if more than this share of all
    units were unlike these, one would likely be among them."""
    share = 1.0 - ((1.0 - confidence) / 2.0) ** (1.0 / groups)
    return value - share * (1.0 + value), value + share * (1.0 - value)


def _adjusted_wald(first: Floats, second: Floats, confidence: float) -> tuple[float, float]:
    """Bonett and Price (2012): one more unit in each discordant cell."""
    n = len(first) + 2.0
    rises, falls = ((second > first).sum() + 1.0) / n, ((second < first).sum() + 1.0) / n
    value = rises - falls
    half = normal_quantile(confidence) * math.sqrt((rises + falls - value**2) / n)
    return max(float(value - half), -1.0), min(float(value + half), 1.0)


def _are_plain(first: Floats, second: Floats) -> bool:
    both = np.concatenate([first, second])
    return bool(((both == 0.0) | (both == 1.0)).all())


def _estimate(
    value: float,
    low: float,
    high: float,
    n: int,
    groups: float,
    estimand: Estimand,
    confidence: float,
    made_by: str,
    *,
    is_shared: bool = False,
) -> Estimate:
    flags = ("no-scores",) if not n else ("one-group",) if groups < 2.0 else ()
    flags = flags or (("few-groups",) if groups < _FEW_GROUPS else ())
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        estimand=estimand_name(estimand),
        made_by=made_by,
        resampled=resampled_unit(is_shared=is_shared),
        effective_n=groups,
        flags=flags,
    )
