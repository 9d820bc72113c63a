"""How often tests of continuous data, and of counts, reject where there is nothing to find.

5,000 samples each. Tests of continuous data reject 4 to 6% at 5%; tests of counts at most 6%.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.stats.agreement import filter_bias
from proofstone.stats.calibration import calibrate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import compare_pair, mcnemar, sign_flip
from proofstone.stats.factors import analyse_factor, check_dimension, length_effect
from proofstone.stats.items import position_bias
from proofstone.stats.ranks import homogeneity, rank_shares
from proofstone.stats.scaling import compare_slopes, slope_of

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]
Test = Callable[[np.random.Generator], float]
TRIALS = 5_000


def rejected(test: Test, seed: int, trials: int = TRIALS) -> float:
    """The share of samples with p below 0.05; an undefined p rejects nothing."""
    rng = np.random.default_rng([2026, seed])
    return float(np.mean([test(rng) < 0.05 for _ in range(trials)]))


def graded(rng: np.random.Generator, n: int, m: int) -> Floats:
    """Scores of m equal models that share the items' ease."""
    return np.clip(
        0.5 + 0.1 * rng.standard_normal((n, 1)) + 0.1 * rng.standard_normal((n, m)), 0, 1
    )


def a_pair(rng: np.random.Generator) -> float:
    first, second = graded(rng, 60, 2).T
    return compare_pair(first, second, SharedKeys.none(60), population="bank").p


def a_pair_in_clusters(rng: np.random.Generator) -> float:
    cluster = np.repeat(np.arange(40), 3)
    first, second = (graded(rng, 120, 2) + 0.1 * rng.standard_normal((40, 2))[cluster]).T
    keys = SharedKeys(120, np.arange(120), cluster)
    return compare_pair(first, second, keys, population="domain").p


def an_effect(rng: np.random.Generator) -> float:
    values = graded(rng, 80, 2)
    found = analyse_factor([values[:, :1], values[:, 1:]], SharedKeys.none(80), population="bank")
    return found.effects[0].p


def an_interaction(rng: np.random.Generator) -> float:
    values = graded(rng, 80, 6)
    found = analyse_factor([values[:, :3], values[:, 3:]], SharedKeys.none(80), population="bank")
    return found.interaction.p


def a_length(rng: np.random.Generator) -> float:
    return length_effect(
        graded(rng, 200, 1)[:, 0], np.exp(rng.normal(5, 0.7, 200)), np.arange(200)
    ).over_items.p


def two_slopes(rng: np.random.Generator) -> float:
    sizes = np.array([0.5, 1.5, 3.0, 7.0, 14.0, 32.0, 72.0])
    lines = [
        slope_of(sizes, 0.3 + 0.1 * np.log10(sizes) + 0.02 * rng.standard_normal(7))
        for _ in range(2)
    ]
    return compare_slopes(lines)[0].p


def a_filter(rng: np.random.Generator) -> float:
    values, is_filtered = graded(rng, 120, 4), np.arange(120) < 60
    own = np.array([True, False, False, False])
    keys = SharedKeys.none(120)
    return filter_bias(values, is_filtered, ~is_filtered, own, keys, population="bank").p


CONTINUOUS: dict[str, Test] = {
    "a pair": a_pair,
    "a pair in clusters": a_pair_in_clusters,
    "an effect of a factor": an_effect,
    "model x factor": an_interaction,
    "an effect of length": a_length,
    "two slopes": two_slopes,
    "a filter's bias": a_filter,
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_tests_reject_four_to_six_percent(name: str) -> None:
    share = rejected(CONTINUOUS[name], list(CONTINUOUS).index(name))
    assert 0.04 <= share <= 0.06, share


def binary(rng: np.random.Generator, n: int, m: int) -> Floats:
    return (rng.random((n, m)) < 1 / (1 + np.exp(-rng.standard_normal((n, 1))))).astype(float)


def an_exact_pair(rng: np.random.Generator) -> float:
    return mcnemar(*binary(rng, 120, 2).T).p


def a_mid_p(rng: np.random.Generator) -> float:
    return mcnemar(*binary(rng, 120, 2).T).mid_p


def a_pair_of_accuracies(rng: np.random.Generator) -> float:
    first, second = binary(rng, 120, 2).T
    return compare_pair(first, second, SharedKeys.none(120), population="bank").p


def flipped_signs(rng: np.random.Generator) -> float:
    return sign_flip(*binary(rng, 60, 2).T, n_resamples=999, seed=int(rng.integers(2**31))).p


def groups_of_one_mean(rng: np.random.Generator) -> float:
    return homogeneity(binary(rng, 200, 1)[:, 0], np.arange(200, dtype=np.int32) % 4).p


def strata_that_mean_nothing(rng: np.random.Generator) -> float:
    found = check_dimension(
        binary(rng, 60, 4), np.arange(60) % 3, n_resamples=199, seed=int(rng.integers(2**31))
    )
    return found.p


def two_shares(rng: np.random.Generator) -> float:
    shares = rng.binomial(200, 0.6, 2) / 200
    return rank_shares(shares, 200, confidence=0.95).comparisons[0].p


def positions(rng: np.random.Generator) -> float:
    answer_key = rng.integers(0, 4, 240)
    chosen = np.where(rng.random(240) < 0.6, answer_key, (answer_key + rng.integers(1, 4, 240)) % 4)
    found = position_bias((chosen == answer_key).astype(float), answer_key, chosen, np.full(240, 4))
    return found.accuracy.p


def calibrated(rng: np.random.Generator) -> float:
    stated = rng.uniform(0.3, 0.95, 200)
    right = (rng.random(200) < stated).astype(float)
    return calibrate(stated, right, n_resamples=199, seed=int(rng.integers(2**31))).ece_p


DISCRETE: dict[str, Test] = {
    "McNemar, exact": an_exact_pair,
    "McNemar, mid-p": a_mid_p,
    "a pair of accuracies": a_pair_of_accuracies,
    "flipped signs": flipped_signs,
    "groups of one mean": groups_of_one_mean,
    "strata that mean nothing": strata_that_mean_nothing,
    "two shares": two_shares,
    "positions": positions,
    "calibration": calibrated,
}


@pytest.mark.parametrize("name", DISCRETE)
def test_tests_of_counts_reject_at_most_six_percent(name: str) -> None:
    share = rejected(DISCRETE[name], 100 + list(DISCRETE).index(name))
    assert share <= 0.06, share
