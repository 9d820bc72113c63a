"""How far two benchmarks put the same models in the same order: Kendall's tau-b and Spearman's rho.

Each has two intervals, named apart. Over *models*: other models like these, on the same items (the
bootstrap of models, by how often each is drawn; a model drawn twice is tied with itself, which
counts for neither coefficient's order). Over *items*: these very models, on other items like these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.drawn_means import DrawnMeans
from proofstone.engines.stats.resampling import Strata, bootstrap_counts, generator
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate

__all__ = [
    "FEWEST_MODELS",
    "RankAgreement",
    "models_drawn",
    "percentiles",
    "rank_agreement",
    "spearman",
    "weighted_correlation",
]

Floats = NDArray[np.float64]
RankCoefficient = Literal["Kendall's tau-b", "Spearman's rho"]

_PURPOSE = 7
# With fewer models a draw of them is mostly the same one again.
FEWEST_MODELS = 5
# Below this agreement of a benchmark with itself, noise hides more than an interval makes good.
_HIDDEN = 0.9
_MOST_LOOKED_AT = 200


class RankAgreement(Struct, frozen=True, kw_only=True):
    """A rank correlation of two benchmarks over ``n_models``, in [-1, 1], with both intervals; NaN
    where one of them gives all models the same score."""

    coefficient: RankCoefficient
    models: Estimate
    items: Estimate
    n_models: int


def rank_agreement(
    first: DrawnMeans,
    second: DrawnMeans,
    *,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[RankAgreement, RankAgreement]:
    """Tau-b and rho of the same m models, in the same order, on two benchmarks. A model without a
    mean on one of them is left out."""
    x, y = first.means, second.means
    if len(x) != len(y):
        raise BadUsage(
            f"the two benchmarks have {len(x)} and {len(y)} models",
            hint="give both the same models, in the same order",
        )
    kept = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[kept], y[kept]
    number = min(first.drawn.shape[1], second.drawn.shape[1])
    drawn = first.drawn[kept, :number], second.drawn[kept, :number]
    counts = models_drawn(len(x), n_draws, seed)
    once = np.ones((1, len(x)))
    found = []
    for name, of in _COEFFICIENTS:
        value = float(of(x[:, None], y[:, None], once)[0])
        over_models = of(x[:, None], y[:, None], counts)
        over_items = of(*drawn, np.ones((number, len(x))))
        found.append(
            RankAgreement(
                coefficient=name,
                models=_over_models(value, over_models, len(x), seed, confidence),
                items=_over_items(value, over_items, first, second, len(x), confidence),
                n_models=len(x),
            )
        )
    return found[0], found[1]


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's rho of two scores of the same m things, ties sharing the mean of their ranks; NaN
    where either gives all the same (Spearman 1904)."""
    return float(_rho(first[:, None], second[:, None], np.ones((1, len(first))))[0])


def models_drawn(m: int, n_draws: int, seed: int) -> Floats:
    """How often each of m models is drawn (draws, m), with replacement."""
    rng = generator(seed, _PURPOSE)
    return np.asarray(bootstrap_counts(Strata.of(None, m), n_draws, rng), dtype=np.float64)


def _tau(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Tau-b in each draw; x and y (m, draws or 1), counts (draws, m) of each model."""
    a, b = np.triu_indices(len(x), 1)
    pairs = (counts[:, a] * counts[:, b]).T
    sx, sy = np.sign(x[a] - x[b]), np.sign(y[a] - y[b])
    scale = np.sqrt((pairs * sx**2).sum(axis=0) * (pairs * sy**2).sum(axis=0))
    agreed = (pairs * (sx * sy)).sum(axis=0)
    return np.where(scale > 0, agreed / np.where(scale > 0, scale, 1.0), np.nan)


def _rho(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Rho in each draw: Pearson's correlation of midranks among those drawn."""
    w = counts.T
    return weighted_correlation(_midranks(x, w), _midranks(y, w), w)


def weighted_correlation(x: Floats, y: Floats, w: Floats) -> Floats:
    """Pearson's correlation of columns (m, draws) with counts ``w`` (m, draws); NaN where either
    is constant."""
    total = np.maximum(w.sum(axis=0), 1.0)
    dx = x - (w * x).sum(axis=0) / total
    dy = y - (w * y).sum(axis=0) / total
    scale = np.sqrt((w * dx**2).sum(axis=0) * (w * dy**2).sum(axis=0))
    varies = scale > 1e-15
    return np.where(varies, (w * dx * dy).sum(axis=0) / np.where(varies, scale, 1.0), np.nan)


def _midranks(values: Floats, w: Floats) -> Floats:
    """The midrank of each value among those drawn (m, draws), from the lowest."""
    ranks = np.empty(np.broadcast_shapes(values.shape, w.shape))
    for place, own in enumerate(values):
        below = (w * (values < own)).sum(axis=0)
        alike = (w * (values == own)).sum(axis=0)
        ranks[place] = below + (alike + 1.0) / 2.0
    return ranks


def _over_models(value: float, drawn: Floats, m: int, seed: int, confidence: float) -> Estimate:
    enough = m >= FEWEST_MODELS and not np.isnan(value)
    low, high = percentiles(drawn, confidence) if enough else (-1.0, 1.0)
    return Estimate(
        value=value,
        n=m,
        low=min(low, value),
        high=max(high, value),
        level=confidence,
        estimand="models like these, on these items",
        made_by=f"bootstrap, percentile, {len(drawn)} draws, seed {seed}" if enough else "none",
        resampled="models" if enough else "",
        effective_n=float(m),
        flags=() if enough else ("too-few-models",),
    )


def _over_items(
    value: float, drawn: Floats, first: DrawnMeans, second: DrawnMeans, m: int, confidence: float
) -> Estimate:
    low, high = percentiles(drawn, confidence)
    # A draw is noisier than the data, so agreement falls; the mirrored interval corrects for that,
    # and both together hold what either would miss.
    low, high = min(low, 2.0 * value - high), max(high, 2.0 * value - low)
    return Estimate(
        value=value,
        n=min(first.n_units, second.n_units),
        low=max(low, -1.0),
        high=min(high, 1.0),
        level=confidence,
        estimand="these models, on items like these",
        made_by=first.made_by,
        resampled=first.resampled,
        effective_n=float(m),
        flags=("order-hidden",) if min(_kept_order(first), _kept_order(second)) < _HIDDEN else (),
    )


def _kept_order(benchmark: DrawnMeans) -> float:
    """The mean tau-b of a benchmark with itself on other items; 1 where it has no order."""
    kept = ~np.isnan(benchmark.means)
    drawn = benchmark.drawn[kept, :_MOST_LOOKED_AT]
    tau = _tau(benchmark.means[kept, None], drawn, np.ones((drawn.shape[1], int(kept.sum()))))
    known = tau[~np.isnan(tau)]
    return float(known.mean()) if len(known) else 1.0


def percentiles(drawn: Floats, confidence: float) -> tuple[float, float]:
    """The middle ``confidence`` of the draws that have a value; NaN where none has."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return float("nan"), float("nan")
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(known, [tail, 1.0 - tail])
    return float(low), float(high)


_COEFFICIENTS: tuple[tuple[RankCoefficient, Callable[[Floats, Floats, Floats], Floats]], ...] = (
    ("Kendall's tau-b", _tau),
    ("Spearman's rho", _rho),
)
