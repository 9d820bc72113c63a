"""Simulation: paired tests and simultaneous ranks are wrong as often as they say, and no more."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import mcnemar_p
from proofstone.stats.estimates import mean_estimates, measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ranks import rank_all, rank_jointly

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]
DRAWS = 2_000


def alike(rng: np.random.Generator, n: int, m: int, spread: float) -> Floats:
    """Items of unequal ease, respondents of one skill."""
    ease = spread * rng.normal(size=(n, 1))
    return (rng.random((n, m)) < 1 / (1 + np.exp(-0.3 - ease))).astype(float)


def test_mcnemar_is_careful_and_its_mid_p_exact() -> None:
    """200 items, 2,000 pairs: exact at most 5%, mid-p 4 to 6%."""
    rng = np.random.default_rng(31)
    tables = [alike(rng, 200, 2, 1.5) for _ in range(DRAWS)]
    first, second = (
        np.array([int(((t[:, a] == 1) & (t[:, 1 - a] == 0)).sum()) for t in tables]) for a in (0, 1)
    )
    p, mid_p = mcnemar_p(first, second)
    assert (p < 0.05).mean() <= 0.05
    assert 0.04 <= (mid_p < 0.05).mean() <= 0.06


@pytest.mark.parametrize("shared", [False, True])
def test_simultaneous_ranks_claim_too_much_five_times_in_a_hundred(shared: bool) -> None:
    """Eight respondents of one skill on 240 items, alone or in 60 clusters of four whose ease
    differs by respondent: any claim is false. Max-t 3.5 to 6.5 in 100, Holm fewer."""
    rng = np.random.default_rng(32)
    claims = {"max-t": 0, "Holm": 0}
    for draw in range(DRAWS):
        if shared:
            ease = np.repeat(rng.normal(size=(60, 8)), 4, axis=0)
            values = (rng.random((240, 8)) < 1 / (1 + np.exp(-1.5 * ease))).astype(float)
            keys = SharedKeys(240, np.arange(240), np.arange(240) // 4)
        else:
            values, keys = alike(rng, 240, 8, 1.5), SharedKeys.none(240)
        spread = measure_spread(values, equal_weights(240), keys, "domain")
        claims["max-t"] += rank_jointly(spread, n_resamples=1_000, seed=draw).better.any()
        claims["Holm"] += rank_all(spread).better.any()
    assert 0.035 <= claims["max-t"] / DRAWS <= 0.065, claims
    assert claims["Holm"] <= claims["max-t"], claims


@pytest.mark.parametrize(
    ("n_clusters", "low", "high"),
    [(8, 0.94, 0.985), (15, 0.94, 0.975), (30, 0.93, 0.97), (60, 0.93, 0.97)],
)
def test_intervals_of_few_clusters_are_flagged_and_near(
    n_clusters: int, low: float, high: float
) -> None:
    """Clusters of one to six items; below 50 effective groups the interval says so (the measured
    coverage stands in docs/explanation/intervals.md)."""
    rng, held, flagged = np.random.default_rng(33), 0, 0
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    truth = float(weights @ (1 / (1 + np.exp(-0.4 - 1.5 * nodes))) / weights.sum())
    for _ in range(DRAWS):
        clusters = np.repeat(np.arange(n_clusters), rng.integers(1, 7, n_clusters))
        chance = 1 / (1 + np.exp(-0.4 - 1.5 * rng.normal(size=n_clusters)))
        n = len(clusters)
        values = (rng.random(n) < chance[clusters]).astype(float)[:, None]
        keys = SharedKeys(n, np.arange(n), clusters)
        (found,) = mean_estimates(values, equal_weights(n), keys, population="domain")
        held += found.low <= truth <= found.high
        flagged += "few-groups" in found.flags
    assert low <= held / DRAWS <= high, held / DRAWS
    assert flagged == DRAWS or n_clusters >= 60
