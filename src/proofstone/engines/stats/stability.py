"""Rank stability: subsamples of items without replacement, and the bootstrap with replacement.

The bootstrap is centred on the scores seen, so the share of resamples that a leader wins is no
probability of being the best: of 20 equal models on 400 items the leader wins a third of them and
is the best in 5% of cases (`shrink_scores` states that probability). Items that share a key are
drawn together.

A subsample of the share r of n items differs from the whole by a variance of (1 - r) / r of what a
fresh sample of n items would differ from another's mean: all of it at 0.5, 0.43 at 0.7, 0.11 at
0.9. So stability at 0.9 says what a tenth fewer items do, not what other items would (each result
says its ``variance_share``). KINA (section 5.2, Table 4) calls such subsamples a bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.bootstrap import disjoint_clusters
from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.resampling import (
    Strata,
    blocks_of_draws,
    bootstrap_counts,
    generator,
    subsample_counts,
)
from proofstone.engines.stats.spread import measure_spread
from proofstone.engines.stats.standings_by_draw import means_by_draw, ranks_of
from proofstone.engines.stats.weights import Weighting, equal_weights
from proofstone.errors import BadUsage

__all__ = [
    "RankSpread",
    "Scheme",
    "Stability",
    "Summary",
    "bootstrap_stability",
    "subsample_stability",
    "summarise_draws",
]

Floats = NDArray[np.float64]
Ranks = NDArray[np.int32]
Scheme = Literal["subsampling without replacement", "bootstrap with replacement"]

_BOOTSTRAP = 1
_BY_COVARIANCE = "means by their clustered covariance"


class Summary(Struct, frozen=True, kw_only=True):
    """A quantity over ``n`` draws in which it is defined: its mean, standard deviation (n - 1),
    2.5% and 97.5% quantiles, and the Monte Carlo standard error of the mean. NaN without any."""

    mean: float
    sd: float
    low: float
    high: float
    error: float
    n: int


class RankSpread(Struct, frozen=True, kw_only=True):
    """The ranks of one respondent over the draws: ``counts[r]`` draws gave it rank r + 1.

    ``rank`` is that of the full sample; ``low`` and ``high`` hold 95% of the draws. Equal means
    share the best of their ranks.
    """

    respondent: int
    rank: int
    mean: float
    low: int
    high: int
    counts: tuple[int, ...]


class Stability(Struct, frozen=True, kw_only=True):
    """What one scheme of drawing items does to the ranking of respondents (columns).

    ``top`` are those that the full sample ranks k-th or better, best first; a tie at k makes it
    longer. ``tau`` is Kendall's tau-b over them between the full sample and a draw, undefined in
    draws where all of them tie; ``overlap`` the share of them that a draw has in its own top k
    (the longer of the two lists is the denominator). ``first_alone``: the share of draws in which
    the leader of the full sample (one of its ``leaders``) is first and no other ties with it;
    ``first_shared``: in which it is first, alone or tied. ``variance_share``: how much of the
    variance of a fresh sample these draws hold. ``resampled`` is what is drawn: items, clusters of
    items that share a key, either within strata, or, where such clusters overlap, the means from a
    normal distribution with their clustered covariance. ``n_drawn`` counts items, on average where
    clusters differ in size.
    """

    scheme: Scheme
    resampled: str
    rate: float
    variance_share: float
    n_draws: int
    seed: int
    n_units: int
    n_drawn: int
    k: int
    top: tuple[int, ...]
    leaders: tuple[int, ...]
    tau: Summary
    overlap: Summary
    first_alone: float
    first_shared: float
    ranks: tuple[RankSpread, ...]


def subsample_stability(
    values: Floats,
    strata: NDArray[np.integer] | None = None,
    *,
    k: int = 10,
    rates: Sequence[float] = (0.5, 0.7, 0.9),
    n_draws: int = 1_000,
    seed: int = 0,
    weighting: Weighting | None = None,
    keys: SharedKeys | None = None,
) -> tuple[Stability, ...]:
    """One result a rate, from subsamples without replacement within ``strata`` (codes, units).

    ``values`` (units, respondents): unit means, NaN where a cell is missing; a respondent is
    ranked by the units that it has. ``weighting`` of the units: equal without. Units that share one
    of ``keys`` are drawn together; where such clusters overlap, units are drawn. A rate's draws do
    not depend on the other rates. Raises BadUsage for a rate outside (0, 1], k or draws below 1.
    """
    if bad := [rate for rate in rates if not 0.0 < rate <= 1.0]:
        raise BadUsage(f"{bad[0]:g} is no share of the items", hint="give rates like 0.5,0.7,0.9")
    _check(k, n_draws)
    drawn_from = _Drawn.of(strata, len(values), keys)
    field = _Field(values, drawn_from, weighting, k, seed)
    found = []
    for rate in rates:
        rng = generator(seed, round(rate * 1e9))
        counts = (
            drawn_from.of_units(subsample_counts(drawn_from.strata, rate, number, rng))
            for number in blocks_of_draws(len(values), n_draws)
        )
        means = field.means_of(counts)
        found.append(field.measure(means, "subsampling without replacement", rate))
    return tuple(found)


def bootstrap_stability(
    values: Floats,
    strata: NDArray[np.integer] | None = None,
    *,
    k: int = 10,
    n_draws: int = 1_000,
    seed: int = 0,
    weighting: Weighting | None = None,
    keys: SharedKeys | None = None,
) -> Stability:
    """The same from draws of as many units, or clusters, with replacement, within ``strata``. Where
    clusters overlap, there is nothing to draw apart: the means are drawn from the normal
    distribution of their clustered covariance. That takes every cell to be there."""
    _check(k, n_draws)
    drawn_from = _Drawn.of(strata, len(values), keys)
    rng = generator(seed, _BOOTSTRAP)
    field = _Field(values, drawn_from, weighting, k, seed)
    if drawn_from.overlapping is not None and not np.isnan(values).any():
        means = [_normal_means(values, weighting, drawn_from.overlapping, n_draws, rng)]
        return field.measure(means, "bootstrap with replacement", 1.0, resampled=_BY_COVARIANCE)
    counts = (
        drawn_from.of_units(bootstrap_counts(drawn_from.strata, number, rng))
        for number in blocks_of_draws(len(values), n_draws)
    )
    return field.measure(field.means_of(counts), "bootstrap with replacement", 1.0)


def summarise_draws(drawn: Floats) -> Summary:
    """A quantity's draws (n) as their summary; NaN among them are left out."""
    kept = drawn[~np.isnan(drawn)]
    n = len(kept)
    if not n:
        nan = float("nan")
        return Summary(mean=nan, sd=nan, low=nan, high=nan, error=nan, n=0)
    sd = float(kept.std(ddof=1)) if n > 1 else float("nan")
    low, high = np.quantile(kept, [0.025, 0.975]).tolist()
    return Summary(mean=float(kept.mean()), sd=sd, low=low, high=high, error=sd / n**0.5, n=n)


def _check(k: int, n_draws: int) -> None:
    if k < 1 or n_draws < 1:
        raise BadUsage(f"a top {k} in {n_draws} draws is nothing", hint="give 1 or more of each")


def _normal_means(
    values: Floats,
    weighting: Weighting | None,
    keys: SharedKeys,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Means (respondents, draws) around those seen, with the covariance over all pairs of units
    that share a key; directions in which sharing sums to less than nothing are held."""
    spread = measure_spread(values, weighting or equal_weights(len(values)), keys, "knowledge")
    own, axes = np.linalg.eigh(spread.covariance())
    root = (axes * np.sqrt(np.maximum(own, 0.0))) @ axes.T
    noise = rng.standard_normal((len(own), n_draws))
    return np.asarray(np.round(spread.means[:, None] + root @ noise, 12))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What a draw holds whole: units, or clusters of units that share a key. ``strata`` is of
    these, ``place`` (units) the place of each unit's own among them in ``strata.order``; None where
    units are drawn. ``overlapping``: the keys, where their clusters overlap."""

    strata: Strata
    place: NDArray[np.int64] | None = None
    overlapping: SharedKeys | None = None

    @classmethod
    def of(
        cls, strata: NDArray[np.integer] | None, n_units: int, keys: SharedKeys | None
    ) -> _Drawn:
        """Clusters are drawn within ``strata`` where each lies in one of them."""
        if keys is None or not len(keys.unit):
            return cls(Strata.of(strata, n_units))
        cluster = disjoint_clusters(keys)
        if cluster is None:
            return cls(Strata.of(strata, n_units), overlapping=keys)
        n_clusters = int(cluster.max()) + 1
        if n_clusters == n_units:
            return cls(Strata.of(strata, n_units))
        own = None
        if strata is not None:
            own = np.zeros(n_clusters, dtype=np.int64)
            own[cluster] = strata
            own = own if (own[cluster] == strata).all() else None
        of_clusters = Strata.of(own, n_clusters)
        return cls(of_clusters, np.argsort(of_clusters.order)[cluster])

    @property
    def order(self) -> NDArray[np.int64]:
        """The units in the order of the columns of ``of_units``."""
        return self.strata.order if self.place is None else np.arange(len(self.place))

    @property
    def name(self) -> str:
        """What is drawn, in words."""
        if len(self.strata.sizes) > 1:
            return "items within strata" if self.place is None else "clusters within strata"
        return "items" if self.place is None else "clusters"

    def of_units(self, counts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Counts of units (draws, units) by those of what is drawn."""
        return counts if self.place is None else counts[:, self.place]


class _Field:
    """All respondents of one full sample, against which draws are held."""

    def __init__(
        self, values: Floats, drawn: _Drawn, weighting: Weighting | None, k: int, seed: int
    ) -> None:
        self.values = values[drawn.order]
        self.weights = None
        if weighting is not None and weighting.n_groups > 1:
            self.weights = weighting.weights()[drawn.order]
        self.resampled = drawn.name
        self.k, self.seed = k, seed
        self.n_drawn = float(len(values))
        everything = np.ones((1, len(values)), dtype=np.float32)
        self.means = means_by_draw(everything, self.values, self.weights)
        self.ranks = ranks_of(self.means)[:, 0]
        order = np.argsort(self.ranks, kind="stable")
        self.top = order[self.ranks[order] <= k]

    def means_of(self, counts: Iterable[NDArray[np.float32]]) -> Iterator[Floats]:
        """The means (respondents, draws) of each block of counts (draws, units)."""
        drawn = []
        for block in counts:
            drawn.append(block.sum(axis=1, dtype=np.float64))
            self.n_drawn = float(np.concatenate(drawn).mean())
            yield means_by_draw(block, self.values, self.weights)

    def measure(
        self, means: Iterable[Floats], scheme: Scheme, rate: float, *, resampled: str = ""
    ) -> Stability:
        """The stability of the ranking over blocks of means by draw."""
        ranks = np.concatenate([ranks_of(block) for block in means], axis=1)
        alone, shared = self._first(ranks)
        n_units = len(self.values)
        is_bootstrap = scheme == "bootstrap with replacement"
        return Stability(
            scheme=scheme,
            resampled=resampled or self.resampled,
            rate=rate,
            variance_share=1.0 if is_bootstrap else (1.0 - rate) / rate,
            n_draws=ranks.shape[1],
            seed=self.seed,
            n_units=n_units,
            n_drawn=round(self.n_drawn),
            k=self.k,
            top=tuple(self.top.tolist()),
            leaders=tuple(np.flatnonzero(self.ranks == 1).tolist()),
            tau=summarise_draws(_tau_b_by_draw(self.ranks[self.top], ranks[self.top])),
            overlap=summarise_draws(self._overlap(ranks)),
            first_alone=alone,
            first_shared=shared,
            ranks=_rank_spreads(self.ranks, ranks),
        )

    def _first(self, ranks: Ranks) -> tuple[float, float]:
        """In which share of draws a leader is first, without and with a tie."""
        if not len(ranks):
            return float("nan"), float("nan")
        leads = self.ranks == 1
        is_first = (ranks[leads] == 1).any(axis=0)
        has_rival = (ranks[~leads] == 1).any(axis=0)
        return float((is_first & ~has_rival).mean()), float(is_first.mean())

    def _overlap(self, ranks: Ranks) -> Floats:
        in_draw = (ranks <= self.k).sum(axis=0)
        both = (ranks[self.top] <= self.k).sum(axis=0)
        longer = np.maximum(in_draw, len(self.top)).astype(np.float64)
        return np.asarray(both / np.where(longer > 0, longer, np.nan))


def _tau_b_by_draw(full: Ranks, drawn: Ranks) -> Floats:
    """Kendall's tau-b between ``full`` (m) and every column of ``drawn`` (m, draws)."""
    a, b = np.triu_indices(len(full), 1)
    x = np.sign(full[a] - full[b]).astype(np.float32)
    y = np.sign(drawn[a] - drawn[b]).astype(np.float32)
    scale = np.sqrt(float((x**2).sum()) * np.abs(y).sum(axis=0, dtype=np.float64))
    return np.asarray((x @ y) / np.where(scale > 0, scale, np.nan), dtype=np.float64)


def _rank_spreads(full: Ranks, drawn: Ranks) -> tuple[RankSpread, ...]:
    m, n_draws = drawn.shape
    cells = np.arange(m)[:, None] * m + drawn - 1
    counts = np.bincount(cells.ravel(), minlength=m * m).reshape(m, m)
    reached = np.cumsum(counts, axis=1)
    low = 1 + (reached < 0.025 * n_draws).sum(axis=1)
    high = 1 + (reached < 0.975 * n_draws).sum(axis=1)
    return tuple(
        RankSpread(
            respondent=place,
            rank=int(full[place]),
            mean=float(drawn[place].mean()),
            low=int(low[place]),
            high=int(high[place]),
            counts=tuple(counts[place].tolist()),
        )
        for place in range(m)
    )
