"""Medians with intervals by document, in samples whose median is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import median_estimate

CLUSTERS, EACH = 40, 5
N = CLUSTERS * EACH


def keys(each: int = EACH) -> SharedKeys:
    units = np.arange(N)
    return SharedKeys(N, units, units // each)


def test_intervals_cover_the_median_of_dependent_values() -> None:
    """Log-normal lengths whose documents differ as much as their questions: median 100."""
    draws = np.random.default_rng(5)
    covered, trials = 0, 300
    for _ in range(trials):
        values = 100 * np.exp(draws.normal(size=CLUSTERS).repeat(EACH) + draws.normal(size=N))
        found = median_estimate(values, keys(), population="domain")
        covered += found.low <= 100 <= found.high
    assert 0.92 <= covered / trials <= 0.98


def test_values_that_documents_share_have_a_wider_interval() -> None:
    values = np.arange(CLUSTERS, dtype=np.float64).repeat(EACH)
    together = median_estimate(values, keys(), population="domain")
    alone = median_estimate(values, keys(1), population="domain")
    assert together.value == alone.value == 19.5
    assert together.high - together.low > 1.8 * (alone.high - alone.low)


def test_ties_at_the_median_and_nothing_at_all() -> None:
    values = np.array([1.0] * 20 + [2.0] * (N - 40) + [3.0] * 20)
    found = median_estimate(values, keys(), population="domain")
    assert (found.low, found.value, found.high) == (2.0, 2.0, 2.0)
    assert found.n == N
    nothing = median_estimate(np.empty(0), SharedKeys.none(0), population="domain")
    assert math.isnan(nothing.value)
    assert nothing.n == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_values_have_an_interval_within_them(n: int) -> None:
    found = median_estimate(np.arange(n, dtype=np.float64), SharedKeys.none(n), population="bank")
    assert 0 <= found.low <= found.value <= found.high <= n - 1
