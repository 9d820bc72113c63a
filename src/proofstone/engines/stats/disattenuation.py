"""What two benchmarks would correlate if both had endless items.

Noise of the items hides agreement: the correlation of observed means is the true one times the root
of the product of both reliabilities (Spearman 1904). Dividing by that root undoes it, and may give
more than 1 where noise happens to agree; the value is shown as it comes out.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.drawn_means import DrawnMeans
from proofstone.engines.stats.rank_agreement import (
    FEWEST_MODELS,
    models_drawn,
    percentiles,
    weighted_correlation,
)
from proofstone.records.results import Estimate

__all__ = ["Disattenuated", "disattenuate"]

Floats = NDArray[np.float64]

# Below this reliability of either there is too little left to divide by.
_LEAST_RELIABLE = 0.1


class Disattenuated(Struct, frozen=True, kw_only=True):
    """Pearson's correlation of the means as ``observed``, and freed of the items' noise: with
    intervals over ``models`` and over ``items`` (NaN where a reliability is below 0.1).

    ``reliability`` of the first and the second benchmark, by their noise over items.
    """

    observed: float
    reliability: tuple[float, float]
    models: Estimate
    items: Estimate
    n_models: int


def disattenuate(
    first: DrawnMeans,
    second: DrawnMeans,
    *,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Disattenuated:
    """The correlation of the same m models on two benchmarks of other items; models without a mean
    on one of them are left out."""
    kept = ~np.isnan(first.means) & ~np.isnan(second.means)
    m = int(kept.sum())
    x, y = first.means[kept, None], second.means[kept, None]
    noise = first.noise(), second.noise()
    once = np.ones((m, 1))
    reliable = tuple(float(_reliability(v, n, once)[0]) for v, n in zip((x, y), noise, strict=True))
    observed = float(weighted_correlation(x, y, once)[0]) if m > 1 else float("nan")
    value = float(_corrected(x, y, noise, once)[0]) if m > 1 else float("nan")
    counts = models_drawn(m, n_draws, seed).T
    number = min(first.drawn.shape[1], second.drawn.shape[1])
    drawn = first.drawn[kept, :number], second.drawn[kept, :number]
    # A draw of items holds the noise twice: once as there, once again.
    twice = 2.0 * noise[0], 2.0 * noise[1]
    over_models = _corrected(x, y, noise, counts)
    over_items = _corrected(*drawn, twice, np.ones((m, number)))
    enough = m >= FEWEST_MODELS
    return Disattenuated(
        observed=observed,
        reliability=(reliable[0], reliable[1]),
        models=_estimate(
            value,
            over_models if enough else np.full(1, np.nan),
            m,
            confidence,
            estimand="models like these, on these items",
            made_by=f"bootstrap, percentile, {n_draws} draws, seed {seed}" if enough else "none",
            resampled="models" if enough else "",
        ),
        items=_estimate(
            value,
            over_items,
            m,
            confidence,
            estimand="these models, on items like these",
            made_by=first.made_by,
            resampled=first.resampled,
        ),
        n_models=m,
    )


def _variance(x: Floats, w: Floats) -> Floats:
    """The variance over models (by their number less 1) of each column, with counts ``w``."""
    total = w.sum(axis=0)
    centred = x - (w * x).sum(axis=0) / np.maximum(total, 1.0)
    return np.asarray((w * centred**2).sum(axis=0) / np.maximum(total - 1.0, 1.0))


def _reliability(x: Floats, noise: float, w: Floats) -> Floats:
    variance = _variance(x, w)
    varies = variance > 1e-20
    return np.where(varies, 1.0 - noise / np.where(varies, variance, 1.0), np.nan)


def _corrected(x: Floats, y: Floats, noise: tuple[float, float], w: Floats) -> Floats:
    """The correlation in each column over the root of both reliabilities; NaN where either is
    too low."""
    if not len(x):
        return np.full(1, np.nan)
    a, b = _reliability(x, noise[0], w), _reliability(y, noise[1], w)
    enough = (a >= _LEAST_RELIABLE) & (b >= _LEAST_RELIABLE)
    root = np.sqrt(np.where(enough, a * b, 1.0))
    return np.where(enough, weighted_correlation(x, y, w) / root, np.nan)


def _estimate(
    value: float, drawn: Floats, m: int, confidence: float, *, estimand: str, made_by: str,
    resampled: str,
) -> Estimate:  # fmt: skip
    low, high = percentiles(drawn, confidence)
    known = not np.isnan(value)
    return Estimate(
        value=value,
        n=m,
        low=min(low, value) if known else float("nan"),
        high=max(high, value) if known else float("nan"),
        level=confidence,
        estimand=estimand,
        made_by=made_by,
        resampled=resampled,
        effective_n=float(m),
        flags=() if m >= FEWEST_MODELS else ("too-few-models",),
    )
