"""Ratios of sums of several respondents over the same clusters, and F1: how far each, and each
difference, may be off.

A ratio is linear in its sums up to an error of the second order, so what a cluster adds to
``top / bottom`` is ``(top_c - ratio bottom_c) / bottom``, and to F1, the harmonic mean of precision
and recall, that times its derivative, ``2 R^2 / (P + R)^2`` by precision (the delta method; Taylor
series in surveys: Woodruff 1971; Binder 1983). A cluster moves
both directions of all respondents at once, so one matrix holds all covariances, and ranks by it are
those of any other mean (`rank_jointly`). Which triples of a cluster a respondent was heard on may
differ between respondents; the clusters must be drawn from one population.

Assumed: clusters are a random sample, none outweighs all others, and neither ratio stands at an
end by chance alone: all right or all wrong has no spread here, as in any normal interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.drawn_ratios import harmonic_mean
from proofstone.engines.stats.spread import Spread

__all__ = ["harmonic_spread", "ratio_spread"]

Floats = NDArray[np.float64]

# Below this, G / (G - 1) multiplies by three or more.
_FEWEST_GROUPS = 1.5


def harmonic_spread(tops: Floats, bottoms: Floats) -> Spread:
    """F1 of R respondents with their spread over clusters, of (clusters, R, 2) sums each.

    ``own_groups`` is the lesser effective number of clusters behind both ratios of a respondent
    (Kish); each ratio's spread is corrected by its own number. A ratio over nothing makes its F1
    NaN: leave such out. Clusters that count nowhere change nothing.
    """
    ratios = _summed(tops, bottoms)
    added = _added(tops, bottoms, ratios) * _derivatives(ratios)
    means = harmonic_mean(ratios[:, 0], ratios[:, 1])
    return _spread(means, added.sum(axis=2), bottoms)


def ratio_spread(tops: Floats, bottoms: Floats) -> Spread:
    """One ratio of R respondents with its spread over clusters, of (clusters, R) sums each; as
    ``harmonic_spread``."""
    ratios = _summed(tops, bottoms)
    return _spread(ratios, _added(tops, bottoms, ratios), bottoms)


def _summed(tops: Floats, bottoms: Floats) -> Floats:
    totals = bottoms.sum(axis=0)
    return np.where(totals > 0, tops.sum(axis=0) / np.where(totals > 0, totals, 1.0), np.nan)


def _added(tops: Floats, bottoms: Floats, ratios: Floats) -> Floats:
    """What each cluster adds to each ratio's error, corrected for the few there are."""
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
        estimand="knowledge",
        is_shared=False,
        flags=(),
        own_groups=own,
    )


def _effective(bottoms: Floats) -> Floats:
    """The effective number of clusters behind each ratio (Kish), 0 where nothing is counted."""
    squares = (bottoms**2).sum(axis=0)
    return np.asarray(bottoms.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1.0))


def _derivatives(ratios: Floats) -> Floats:
    """Those of 2PR / (P + R) by P and by R (R, 2); 0 where both are 0, for it stays there."""
    total = ratios.sum(axis=1)
    other = ratios[:, ::-1] / np.where(total == 0, 1.0, total)[:, None]
    return np.asarray(2.0 * other**2)
