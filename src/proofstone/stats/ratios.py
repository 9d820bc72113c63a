"""Ratios of two means over the same units, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.records.runs import Estimate, Population, group_flags
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import Spread, mean_estimates
from proofstone.stats.intervals import (
    divided,
    equal_weights,
    percentiles,
    share_interval,
    t_quantile,
)
from proofstone.stats.resampling import bootstrapped, generator

Floats = NDArray[np.float64]


def ratio_values(tops: Floats, bottoms: Floats) -> Floats:
    """Return values (n, m) whose mean over n units is ``sum(tops) / sum(bottoms)``.

    Their spread is that of this ratio (see ``ratio_estimates``). Without units it is ``tops``.
    """
    if not len(bottoms):
        return tops
    ratio = tops.sum(axis=0) / bottoms.sum(axis=0)
    around = ratio + (tops - ratio * bottoms) / bottoms.mean(axis=0)
    return np.where(np.ptp(bottoms, axis=0) == 0, tops / bottoms, around)


def ratio_estimate(
    tops: Floats,
    bottoms: Floats,
    keys: SharedKeys,
    *,
    population: Population,
    confidence: float = 0.95,
) -> Estimate:
    """Return ``ratio_estimates`` of one column (n)."""
    (estimate,) = ratio_estimates(
        tops[:, None], bottoms[:, None], keys, population=population, confidence=confidence
    )
    return estimate


def ratio_estimates(
    tops: Floats,
    bottoms: Floats,
    keys: SharedKeys,
    *,
    population: Population,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """Return ``sum(tops) / sum(bottoms)`` over n units of each column (n, m), 0 <= tops <= bottoms.

    Each bottom is above 0. A unit's contribution to the error is its residual ``(top - ratio *
    bottom) / mean(bottoms)`` (Cochran 1977, 6.4). These residuals plus the ratio are values whose
    mean it is, so their spread is that of any mean. Where all bottoms are equal it is the mean of
    ``tops / bottoms``. Without units the result is NaN, flagged.
    """
    values = ratio_values(tops, bottoms)
    return mean_estimates(
        values, equal_weights(len(values)), keys, population=population, confidence=confidence
    )


# Ratios of sums over clusters, resampled jointly: precision, recall and functions of them.
#
# Where two shares are of the same clusters (a model's statements about an entity, and the known
# facts of that entity), a resample of clusters changes both. So anything computed from both gets a
# joint interval.

_PURPOSE = 23


@dataclass(frozen=True, slots=True)
class BootstrapRatios:
    """K ratios ``values`` (NaN if the denominator is 0), with bootstrap resamples (``draws``, K).

    ``n`` (K) is the denominator, ``groups`` (K) the effective number of ``clusters`` behind each.
    Where no resample changes a value, its interval is that of a share of so many clusters.
    """

    values: Floats
    draws: Floats
    n: Floats
    groups: Floats
    made_by: str
    clusters: str

    def ratio(self, place: int, *, confidence: float = 0.95) -> Estimate:
        """Return one of the ratios with its percentile interval."""
        return self.made_of((place,), lambda ratios: ratios[:, place], confidence=confidence)

    def made_of(
        self,
        places: tuple[int, ...],
        make: Callable[[Floats], Floats],
        *,
        confidence: float = 0.95,
    ) -> Estimate:
        """Return ``make`` of rows of the ratios (rows, K) -> (rows), within [0, 1].

        It uses the ratios at ``places``; n and groups are the smallest of theirs.
        """
        value = float(np.clip(make(self.values[None, :])[0], 0.0, 1.0))
        n = int(min(self.n[place] for place in places))
        groups = float(min(self.groups[place] for place in places))
        low, high = (0.0, 1.0) if n else (float("nan"), float("nan"))
        found = percentiles(make(self.draws), confidence)
        if groups >= 2.0 and not np.isnan(found[0]):
            low, high = (float(end) for end in np.clip(found, 0.0, 1.0))
        is_alike = low == high
        if is_alike and groups >= 2.0:  # no resample changes it: clusters count as one answer each
            ends = np.concatenate(share_interval(np.array([value]), np.array([groups]), confidence))
            low, high = (float(end) for end in ends)
        return Estimate(
            value=value,
            n=n,
            low=low,
            high=high,
            level=confidence,
            population=f"{self.clusters} like these",
            made_by=self.made_by if groups >= 2.0 else "none",
            resampled=self.clusters,
            effective_n=groups,
            flags=group_flags(n, groups, is_alike=is_alike),
        )


def bootstrap_ratios(
    tops: Floats,
    bottoms: Floats,
    *,
    clusters: str = "clusters",
    n_resamples: int = 2_000,
    seed: int = 0,
) -> BootstrapRatios:
    """Return ``sum(tops) / sum(bottoms)`` of each column (clusters, K), with ``n_resamples``
    resamples.

    Clusters are resampled with replacement, one fewer than there are, and rescaled (Rao and Wu
    1988). A cluster with zeros in all columns is left out: it was not in the sample. ``clusters``
    is their name in the output.
    """
    (found,) = bootstrap_ratios_each(
        [(tops, bottoms)], clusters=clusters, n_resamples=n_resamples, seed=seed
    )
    return found


def bootstrap_ratios_each(
    pairs: Sequence[tuple[Floats, Floats]],
    *,
    clusters: str = "clusters",
    n_resamples: int = 2_000,
    seed: int = 0,
) -> list[BootstrapRatios]:
    """Return ``bootstrap_ratios`` of each (tops, bottoms), sharing resamples where cluster numbers
    agree.

    The results are the same as one by one, in the time of one.
    """
    held = [_counting(tops, bottoms) for tops, bottoms in pairs]
    drawn: dict[int, Floats] = {}
    for n_clusters in {len(bottoms) for _tops, bottoms in held}:
        places = [at for at, (_tops, bottoms) in enumerate(held) if len(bottoms) == n_clusters]
        tops, bottoms = (
            np.concatenate([held[at][side] for at in places], axis=1) for side in (0, 1)
        )
        ends = np.cumsum([held[at][1].shape[1] for at in places])[:-1]
        parts = np.split(_drawn(tops, bottoms, n_resamples, seed), ends, axis=1)
        drawn |= dict(zip(places, parts, strict=True))
    return [
        _ratios(tops, bottoms, drawn[at], clusters, f"{n_resamples} resamples, seed {seed}")
        for at, (tops, bottoms) in enumerate(held)
    ]


def _counting(tops: Floats, bottoms: Floats) -> tuple[Floats, Floats]:
    held = bottoms.any(axis=1) if bottoms.size else np.zeros(len(bottoms), dtype=bool)
    return tops[held], bottoms[held]


def _drawn(tops: Floats, bottoms: Floats, n_resamples: int, seed: int) -> Floats:
    """Return the ratios in each resample (resamples, K)."""
    if not len(bottoms):
        return np.empty((0, bottoms.shape[1]))

    def ratios(counts: Floats) -> Floats:
        return divided(counts @ tops, counts @ bottoms)

    return bootstrapped(len(bottoms), ratios, n_resamples, generator(seed, _PURPOSE), one_less=True)


def _ratios(
    tops: Floats, bottoms: Floats, draws: Floats, clusters: str, how: str
) -> BootstrapRatios:
    totals = bottoms.sum(axis=0)
    return BootstrapRatios(
        values=divided(tops.sum(axis=0), totals),
        draws=draws,
        n=totals,
        groups=_effective(bottoms),
        made_by=f"bootstrap, percentile, {how}",
        clusters=clusters,
    )


def harmonic_mean(first: Floats, second: Floats) -> Floats:
    """Return 2ab / (a + b), 0 where both are 0, NaN where either is NaN."""
    total = first + second
    return np.where(total == 0, 0.0, 2 * first * second / np.where(total == 0, 1.0, total))


def more_for_half_width(estimate: Estimate, half_width: float) -> int | None:
    """Return how many more units in more such clusters reduce the half-width to ``half_width``.

    The variance falls as 1 / n. 0 if already reached; None without an interval.
    """
    half = (estimate.high - estimate.low) / 2.0
    if not estimate.n or not half > 0 or estimate.effective_n < 2.0:
        return None
    return max(0, int(np.ceil(estimate.n * ((half / half_width) ** 2 - 1.0))))


# Delta-method variances of ratios and F1 of several models over the same clusters.
#
# A ratio is linear in its sums up to a second-order error, so a cluster adds ``(top_c - ratio
# bottom_c) / bottom`` to ``top / bottom``. To F1, the harmonic mean of precision and recall, it
# adds that times the derivative, ``2 R^2 / (P + R)^2`` by precision (Taylor series in surveys:
# Woodruff 1971; Binder 1983). A cluster affects both directions of all models, so one matrix holds
# all covariances, and ranks follow as for any other mean (`rank_jointly`). The triples of a cluster
# that were elicited may differ between models; the clusters must be sampled from one population.
#
# Assumptions: clusters are a random sample, none dominates, and neither ratio is 0 or 1 by chance
# alone: all correct or all wrong has no spread here, as in any normal interval.

# Below this, G / (G - 1) is three or more.
_FEWEST_GROUPS = 1.5


def harmonic_spread(tops: Floats, bottoms: Floats) -> Spread:
    """Return F1 of R models with their spread over clusters, from (clusters, R, 2) sums each.

    ``own_groups`` is the smaller effective number of clusters behind both ratios of a model (Kish);
    each ratio's spread is corrected by its own number. A ratio with denominator 0 makes its F1 NaN;
    leave such models out. Clusters of zeros change nothing.
    """
    ratios = divided(tops.sum(axis=0), bottoms.sum(axis=0))
    added = _added(tops, bottoms, ratios) * _derivatives(ratios)
    means = harmonic_mean(ratios[:, 0], ratios[:, 1])
    return _spread(means, added.sum(axis=2), bottoms)


def ratio_spread(tops: Floats, bottoms: Floats) -> Spread:
    """Return one ratio of R models with its spread over clusters, from (clusters, R) sums each.

    The rest is as in ``harmonic_spread``.
    """
    ratios = divided(tops.sum(axis=0), bottoms.sum(axis=0))
    return _spread(ratios, _added(tops, bottoms, ratios), bottoms)


def _added(tops: Floats, bottoms: Floats, ratios: Floats) -> Floats:
    """Return each cluster's contribution to each ratio's error, with the small-sample
    correction.
    """
    totals = bottoms.sum(axis=0)
    groups = _effective(bottoms)
    correction = np.sqrt(groups / np.maximum(groups - 1.0, _FEWEST_GROUPS - 1.0))
    return np.asarray((tops - ratios * bottoms) / np.where(totals > 0, totals, 1.0) * correction)


def _spread(means: Floats, added: Floats, bottoms: Floats) -> Spread:
    held = bottoms.any(axis=tuple(range(1, bottoms.ndim)))
    groups = _effective(bottoms)
    own = groups.reshape(len(means), -1).min(axis=1)
    return Spread(
        means=means,
        alone=added[held],
        parts=added[held],
        partners=added[held],
        groups=float(own.min()) if own.size else 0.0,
        n_units=int(held.sum()),
        population="domain",
        is_shared=False,
        flags=(),
        own_groups=own,
    )


def _effective(bottoms: Floats) -> Floats:
    """Return the effective number of clusters behind each ratio (Kish); 0 if the denominator is
    0.
    """
    squares = (bottoms**2).sum(axis=0)
    return np.asarray(bottoms.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1.0))


def _derivatives(ratios: Floats) -> Floats:
    """Return the derivatives of 2PR / (P + R) by P and by R (R, 2); 0 where both are 0."""
    total = ratios.sum(axis=1)
    other = ratios[:, ::-1] / np.where(total == 0, 1.0, total)[:, None]
    return np.asarray(2.0 * other**2)


# Simultaneous intervals of several functions of jointly resampled ratios.
#
# Each is a function of ratios over the same clusters (`bootstrap_ratios`), such as a difference of
# two F1 or a slope. Its standard error is the standard deviation of its resamples. The half-width
# is that times the quantile, at the requested level, of the largest standardized deviation in a
# resample ("max-t", Westfall and Young 1993), which accounts for their correlation. With few
# clusters a quantile of Student's t replaces the normal one and widens them.

_MANY = 1e6  # degrees of freedom at which t is effectively normal


@dataclass(frozen=True, slots=True)
class MadeOf:
    """A function ``make`` of rows of the ratios (rows, K) -> (rows), within ``low`` and ``high``.

    It uses the ratios at ``places``.
    """

    places: tuple[int, ...]
    make: Callable[[Floats], Floats]
    low: float = -1.0
    high: float = 1.0


def estimate_together(
    drawn: BootstrapRatios, made: Sequence[MadeOf], *, confidence: float = 0.95
) -> tuple[Estimate, ...]:
    """Return the value of each with its interval, at joint ``confidence`` for all of them.

    n and effective_n are the smallest of the ratios that a value uses. With fewer than two
    effective clusters behind one of them, its interval is its bounds, and it does not widen the
    others'. Where no resample changes a value, each of its two shares may be off as far as a share
    at 0 or 1.
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
    """Return the standard deviation of resamples; 0 where they are equal up to rounding."""
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
    """Return the half-width of an interval in standard errors."""
    largest: Floats | None = None
    for place in able:
        off = np.nan_to_num(np.abs(draws[place] - values[place]) / errors[place])
        largest = off if largest is None else np.maximum(largest, off)
    return 0.0 if largest is None else float(np.quantile(largest, confidence))


def _estimate(
    drawn: BootstrapRatios,
    made: MadeOf,
    value: float,
    half: float,
    groups: float,
    confidence: float,
    n_together: int,
) -> Estimate:
    n = int(min(drawn.n[place] for place in made.places))
    is_known = bool(n) and not np.isnan(value)
    low, high = (made.low, made.high) if is_known else (float("nan"), float("nan"))
    is_alike = is_known and groups >= 2.0 and not half
    if is_known and groups >= 2.0:
        half = half or _unmoved(groups, confidence)
        half *= t_quantile(max(groups - 1.0, 1.0), confidence) / t_quantile(_MANY, confidence)
        low, high = max(value - half, made.low), min(value + half, made.high)
    flags = group_flags(n, groups, is_alike=is_alike)
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        population=f"{drawn.clusters} like these",
        made_by=_made_by(drawn.made_by, n_together) if groups >= 2.0 else "none",
        resampled=drawn.clusters,
        effective_n=groups,
        flags=flags if is_known or not n else ("no-scores", *flags),
    )


def _made_by(drawn: str, n_together: int) -> str:
    return drawn.replace("percentile", f"max-t over {n_together}" if n_together > 1 else "t")


def _unmoved(groups: float, confidence: float) -> float:
    _low, high = share_interval(np.array([0.0]), np.array([groups]), confidence)
    return float(np.sqrt(2.0) * high[0])
