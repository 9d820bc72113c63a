"""Ratios of sums over clusters, all drawn again together: precision, recall and what joins them.

Where two shares are of the same clusters (what a model says of an entity, and what is known of that
entity), a draw of clusters moves both, and so the interval of anything made of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.flags import Flag
from proofstone.engines.stats.intervals import share_interval
from proofstone.engines.stats.resampling import (
    Strata,
    blocks_of_draws,
    bootstrap_counts,
    generator,
)
from proofstone.records.results import Estimate

__all__ = [
    "DrawnRatios",
    "draw_ratios",
    "draw_ratios_each",
    "harmonic_mean",
    "more_for_half_width",
]

Floats = NDArray[np.float64]

_PURPOSE = 23
_FEW_GROUPS = 50.0


@dataclass(frozen=True, slots=True)
class DrawnRatios:
    """K ratios: their ``values`` (K; NaN where nothing is counted), and as they come out in each
    draw (``draws``, K). ``n`` (K) is what was counted, ``groups`` (K) the effective number of
    ``clusters`` behind each. Where no draw moves a value, the interval of a share of that many."""

    values: Floats
    draws: Floats
    n: Floats
    groups: Floats
    made_by: str
    clusters: str

    def ratio(self, place: int, *, confidence: float = 0.95) -> Estimate:
        """One of the ratios, with the percentiles of its draws."""
        return self.made_of((place,), lambda ratios: ratios[:, place], confidence=confidence)

    def made_of(
        self,
        places: tuple[int, ...],
        make: Callable[[Floats], Floats],
        *,
        confidence: float = 0.95,
    ) -> Estimate:
        """What ``make`` makes of rows of the ratios (rows, K) -> (rows), which uses those of
        ``places``; held within [0, 1]. n and groups are the least of theirs."""
        value = float(np.clip(make(self.values[None, :])[0], 0.0, 1.0))
        drawn = make(self.draws)
        drawn = drawn[~np.isnan(drawn)]
        n = int(min(self.n[place] for place in places))
        groups = float(min(self.groups[place] for place in places))
        low, high = (0.0, 1.0) if n else (float("nan"), float("nan"))
        if groups >= 2.0 and len(drawn):
            tail = (1.0 - confidence) / 2.0
            ends = np.quantile(drawn, [tail, 1.0 - tail])
            low, high = (float(end) for end in np.clip(ends, 0.0, 1.0))
        is_alike = low == high
        if is_alike and groups >= 2.0:  # no draw can move it: clusters count as one answer each
            ends = np.concatenate(share_interval(np.array([value]), np.array([groups]), confidence))
            low, high = (float(end) for end in ends)
        return Estimate(
            value=value,
            n=n,
            low=low,
            high=high,
            level=confidence,
            estimand=f"{self.clusters} like these",
            made_by=self.made_by if groups >= 2.0 else "none",
            resampled=self.clusters,
            effective_n=groups,
            flags=_flags(n, groups, is_alike=is_alike),
        )


def draw_ratios(
    tops: Floats,
    bottoms: Floats,
    *,
    clusters: str = "clusters",
    n_draws: int = 2_000,
    seed: int = 0,
) -> DrawnRatios:
    """``sum(tops) / sum(bottoms)`` of each column (clusters, K), and the same in ``n_draws`` draws
    of clusters with replacement, one fewer than there are and rescaled (Rao and Wu 1988).

    A cluster that counts in no column is left out: it was not in the sample. ``clusters`` is what
    intervals call them.
    """
    (found,) = draw_ratios_each([(tops, bottoms)], clusters=clusters, n_draws=n_draws, seed=seed)
    return found


def draw_ratios_each(
    pairs: Sequence[tuple[Floats, Floats]],
    *,
    clusters: str = "clusters",
    n_draws: int = 2_000,
    seed: int = 0,
) -> list[DrawnRatios]:
    """``draw_ratios`` of each (tops, bottoms); those of as many clusters share their draws, which
    one by one would be the same, and take the time of one."""
    held = [_counting(tops, bottoms) for tops, bottoms in pairs]
    drawn: dict[int, Floats] = {}
    for n_clusters in {len(bottoms) for _tops, bottoms in held}:
        places = [at for at, (_tops, bottoms) in enumerate(held) if len(bottoms) == n_clusters]
        tops, bottoms = (
            np.concatenate([held[at][side] for at in places], axis=1) for side in (0, 1)
        )
        ends = np.cumsum([held[at][1].shape[1] for at in places])[:-1]
        parts = np.split(_drawn(tops, bottoms, n_draws, seed), ends, axis=1)
        drawn |= dict(zip(places, parts, strict=True))
    return [
        _ratios(tops, bottoms, drawn[at], clusters, f"{n_draws} draws, seed {seed}")
        for at, (tops, bottoms) in enumerate(held)
    ]


def _counting(tops: Floats, bottoms: Floats) -> tuple[Floats, Floats]:
    held = bottoms.any(axis=1) if bottoms.size else np.zeros(len(bottoms), dtype=bool)
    return tops[held], bottoms[held]


def _drawn(tops: Floats, bottoms: Floats, n_draws: int, seed: int) -> Floats:
    """The ratios in each draw (draws, K)."""
    n_clusters, k = bottoms.shape
    rng, parts = generator(seed, _PURPOSE), [np.empty((0, k))]
    strata = Strata.of(None, n_clusters)
    for number in blocks_of_draws(n_clusters, n_draws if n_clusters else 0):
        counts = bootstrap_counts(strata, number, rng, one_less=True).astype(np.float64)
        parts.append(_divided(counts @ tops, counts @ bottoms))
    return np.concatenate(parts)


def _ratios(tops: Floats, bottoms: Floats, draws: Floats, clusters: str, how: str) -> DrawnRatios:
    totals = bottoms.sum(axis=0)
    squares = (bottoms**2).sum(axis=0)
    return DrawnRatios(
        values=_divided(tops.sum(axis=0), totals),
        draws=draws,
        n=totals,
        groups=totals**2 / np.where(squares > 0, squares, 1.0),
        made_by=f"bootstrap, percentile, {how}",
        clusters=clusters,
    )


def harmonic_mean(first: Floats, second: Floats) -> Floats:
    """2ab / (a + b), 0 where both are 0, NaN where one is."""
    total = first + second
    return np.where(total == 0, 0.0, 2 * first * second / np.where(total == 0, 1.0, total))


def more_for_half_width(estimate: Estimate, half_width: float) -> int | None:
    """How many more units like these, of more clusters like these, bring half the interval down to
    ``half_width``: its variance falls as 1 / n. 0 where it is there; None where no interval is."""
    half = (estimate.high - estimate.low) / 2.0
    if not estimate.n or not half > 0 or estimate.effective_n < 2.0:
        return None
    return max(0, int(np.ceil(estimate.n * ((half / half_width) ** 2 - 1.0))))


def _divided(tops: Floats, bottoms: Floats) -> Floats:
    return np.where(bottoms > 0, tops / np.where(bottoms > 0, bottoms, 1.0), np.nan)


def _flags(n: int, groups: float, *, is_alike: bool) -> tuple[Flag, ...]:
    if not n:
        return ("no-scores",)
    found: list[Flag] = ["no-spread"] if is_alike else []
    if groups < _FEW_GROUPS:
        found.append("one-group" if groups < 2.0 else "few-groups")
    return tuple(found)
