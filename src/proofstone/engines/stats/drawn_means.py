"""The means of all respondents over other items than those there were: what a statistic of means
is made from when it has no formula of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.bootstrap import disjoint_clusters
from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.flags import Estimand, estimand_name, resampled_unit
from proofstone.engines.stats.resampling import Strata, bootstrap_counts, generator
from proofstone.engines.stats.spread import measure_spread
from proofstone.engines.stats.standings_by_draw import means_by_draw
from proofstone.engines.stats.weights import equal_weights

__all__ = ["DrawnMeans", "draw_means", "draw_shares"]

Floats = NDArray[np.float64]

_PURPOSE = 6
# From this many items on, means follow the normal law closely, and cost less by it.
_NORMAL_FROM = 5_000


@dataclass(frozen=True, slots=True)
class DrawnMeans:
    """The ``means`` (m) of m respondents and ``drawn`` ones (m, draws). ``resampled`` says what was
    drawn, ``made_by`` how and by which seed, ``estimand`` what the draws speak of."""

    means: Floats
    drawn: Floats
    n_units: int
    resampled: str
    made_by: str
    estimand: str

    def noise(self) -> float:
        """The variance of one respondent's mean over other items, freed of what all share: half of
        the mean variance of a difference; NaN for one respondent."""
        m = len(self.means)
        if m < 2:
            return float("nan")
        centred = self.drawn - self.drawn.mean(axis=0)
        return float(centred.var(axis=1).sum() / (m - 1))


def draw_means(
    values: Floats,
    keys: SharedKeys,
    *,
    estimand: Estimand = "knowledge",
    strata: NDArray[np.integer] | None = None,
    n_draws: int = 2_000,
    seed: int = 0,
    stream: int = 0,
) -> DrawnMeans:
    """Draws of the means of ``values`` (U units, m respondents; NaN where missing).

    Items, or clusters of items that share facts, with replacement within ``strata`` (U). Where
    facts are shared by overlapping sets, no set can be drawn apart; then means are drawn from a
    normal law with the covariance that is summed over pairs, on the items that all have. So are
    those of 5,000 items or more, without strata and missing cells. Two benchmarks of other items
    need another ``stream`` each.
    """
    rng = generator(seed, _PURPOSE, stream)
    shares = estimand == "knowledge" and len(keys.unit) > 0
    clusters = disjoint_clusters(keys) if shares and len(values) else None
    if not len(values):
        drawn = np.full((values.shape[1], n_draws), np.nan)
        return DrawnMeans(drawn.mean(axis=1), drawn, 0, "", "none", estimand_name(estimand))
    is_many = len(values) >= _NORMAL_FROM and strata is None and not np.isnan(values).any()
    if (shares and clusters is None) or is_many:
        return _normal(values, keys, estimand, n_draws, seed, rng)
    if clusters is None:
        clusters = np.arange(len(values))
    counts = _counts(clusters, strata, n_draws, rng)
    whole = np.ones((1, len(values)), dtype=np.float32)
    what = "clusters of items" if shares else "items"
    return DrawnMeans(
        means=means_by_draw(whole, values)[:, 0],
        drawn=means_by_draw(counts, values),
        n_units=len(values),
        resampled=f"{what} within strata" if strata is not None else what,
        made_by=f"bootstrap, {n_draws} draws, seed {seed}",
        estimand=estimand_name(estimand),
    )


def draw_shares(shares: Floats, n: int, *, n_draws: int = 2_000, seed: int = 0,
                stream: int = 0) -> DrawnMeans:  # fmt: skip
    """Draws where only ``shares`` (m) of ``n`` items are known: binomial, each respondent with
    items of its own, which moves more than the same items for all would."""
    rng = generator(seed, _PURPOSE, stream)
    drawn = rng.binomial(max(n, 1), np.clip(shares, 0.0, 1.0)[:, None], (len(shares), n_draws))
    known = drawn / n if n else np.full(drawn.shape, np.nan)
    return DrawnMeans(
        means=shares,
        drawn=known,
        n_units=n,
        resampled="items, each model with its own" if n else "",
        made_by=f"binomial, {n_draws} draws, seed {seed}" if n else "none",
        estimand="questions like these",
    )


def _counts(
    clusters: NDArray[np.integer],
    strata: NDArray[np.integer] | None,
    n_draws: int,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """How often each unit is drawn (draws, U), whole clusters at a time; a cluster belongs to the
    stratum of its first unit."""
    _, first, member = np.unique(clusters, return_index=True, return_inverse=True)
    drawn_from = Strata.of(None if strata is None else strata[first], len(first))
    counts = np.empty((n_draws, len(first)), dtype=np.float32)
    counts[:, drawn_from.order] = bootstrap_counts(drawn_from, n_draws, rng)
    return counts[:, member]


def _normal(
    values: Floats,
    keys: SharedKeys,
    estimand: Estimand,
    n_draws: int,
    seed: int,
    rng: np.random.Generator,
) -> DrawnMeans:
    units = np.flatnonzero(~np.isnan(values).any(axis=1))
    if not len(units):
        drawn = np.full((values.shape[1], n_draws), np.nan)
        return DrawnMeans(drawn.mean(axis=1), drawn, 0, "", "none", estimand_name(estimand))
    spread = measure_spread(values[units], equal_weights(len(units)), keys.among(units), estimand)
    own, axes = np.linalg.eigh(spread.covariance())
    root = axes * np.sqrt(np.maximum(own, 0.0))
    normal = rng.standard_normal((root.shape[1], n_draws))
    return DrawnMeans(
        means=spread.means,
        drawn=spread.means[:, None] + root @ normal,
        n_units=len(units),
        resampled=resampled_unit(is_shared=spread.is_shared),
        made_by=f"normal law of the means, {n_draws} draws, seed {seed}",
        estimand=estimand_name(estimand),
    )
