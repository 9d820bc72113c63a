"""Simulation: 95% intervals of both estimands hold the truth 93 to 97 times in 100."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates, measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ranks import rank_all

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]
DRAWS = 4_000
FACTS = 9


def logistic(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def composed(rng: np.random.Generator, n: int, n_facts: int) -> NDArray[np.int64]:
    """Nine different facts of a bank for each of n questions."""
    order = rng.random((n, n_facts)).argpartition(FACTS, axis=1)
    return order[:, :FACTS].astype(np.int64)


def truth_over_banks(shift: float, scale: float) -> float:
    """The mean of logistic(shift + scale * z) over a standard normal z, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return float(weights @ logistic(shift + scale * nodes) / weights.sum())


@pytest.mark.parametrize("shift", [0.0, 1.4])
def test_knowledge_intervals_hold_the_mean_over_banks(shift: float) -> None:
    """Each draw is a new bank: facts vary in difficulty, and questions share them."""
    rng = np.random.default_rng(11)
    held = []
    for _ in range(8):
        n, n_facts = 500, 7_000
        facts = composed(rng, n, n_facts)
        keys = SharedKeys(n, np.repeat(np.arange(n), FACTS), facts.ravel())
        ease = rng.normal(size=(n_facts, DRAWS // 8)).astype(np.float32)
        right = rng.random((n, DRAWS // 8)) < logistic(shift + ease[facts].sum(axis=1) * 2 / 3)
        estimates = mean_estimates(right.astype(float), equal_weights(n), keys, population="domain")
        assert "few-groups" not in estimates[0].flags
        truth = truth_over_banks(shift, 2 / 3 * np.sqrt(FACTS))
        held += [estimate.low <= truth <= estimate.high for estimate in estimates]
    assert 0.93 <= np.mean(held) <= 0.97


def test_knowledge_intervals_hold_with_strong_disjoint_clusters() -> None:
    """80 clusters of five, correlation about 0.4 within; naive intervals would hold about 70%."""
    rng = np.random.default_rng(12)
    n_clusters, size = 80, 5
    n = n_clusters * size
    ease = rng.normal(size=(n_clusters, DRAWS))
    right = rng.random((n, DRAWS)) < logistic(0.5 + 2.5 * np.repeat(ease, size, axis=0))
    keys = SharedKeys(n, np.arange(n), np.arange(n) // size)
    truth = truth_over_banks(0.5, 2.5)
    held = {
        population: np.mean(
            [
                estimate.low <= truth <= estimate.high
                for estimate in mean_estimates(
                    right.astype(float), equal_weights(n), keys, population=population
                )
            ]
        )
        for population in ("bank", "domain")
    }
    assert 0.93 <= held["domain"] <= 0.97
    assert held["bank"] < 0.85


def test_bank_intervals_hold_the_mean_over_forms_of_one_bank() -> None:
    """One bank of 2,000 facts; each draw is a fresh form of 200 questions from it."""
    rng = np.random.default_rng(13)
    n, n_facts = 200, 2_000
    ease = rng.normal(size=n_facts)
    facts = rng.integers(0, n_facts, size=(n, DRAWS, FACTS))
    chances = logistic(0.3 + ease[facts].sum(axis=2) * 2 / 3)
    right = (rng.random((n, DRAWS)) < chances).astype(float)
    truth = float(
        logistic(
            0.3 + ease[rng.integers(0, n_facts, (2_000_000, FACTS))].sum(axis=1) * 2 / 3
        ).mean()
    )
    estimates = mean_estimates(right, equal_weights(n), SharedKeys.none(n), population="bank")
    held = np.mean([estimate.low <= truth <= estimate.high for estimate in estimates])
    assert 0.93 <= held <= 0.97


def test_paired_tests_are_wrong_about_five_times_in_a_hundred() -> None:
    """Two respondents of equal skill on the same composed questions, 3,000 draws."""
    rng = np.random.default_rng(14)
    n, n_facts, wrong = 400, 7_000, []
    facts = composed(rng, n, n_facts)
    keys = SharedKeys(n, np.repeat(np.arange(n), FACTS), facts.ravel())
    for _ in range(3_000):
        ease = rng.normal(size=(n_facts, 1)) + rng.normal(size=(n_facts, 2))
        values = rng.random((n, 2)) < logistic(ease[facts].sum(axis=1) * 0.5)
        spread = measure_spread(values.astype(float), equal_weights(n), keys, "domain")
        wrong.append(rank_all(spread).comparisons[0].resolved)
    assert 0.035 <= np.mean(wrong) <= 0.065
