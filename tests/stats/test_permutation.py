"""Sign flips: Fisher's own example, SciPy's test, clusters swapped whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from proofstone.stats.comparisons import sign_flip, sign_flip_p

# Darwin's fifteen pairs of maize, cross- minus self-fertilised, in eighths of an inch.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_darwins_maize() -> None:
    """Fisher, The Design of Experiments (1935), section 21: 863 of 2^15 patterns on one side reach
    a sum of 314, so 1,726 of 32,768 on both (5.267%)."""
    first = np.array(DARWIN, dtype=float)
    found = sign_flip(first, np.zeros(15), n_resamples=60_000, seed=2)
    assert found.difference == pytest.approx(314 / 15)
    assert found.p == pytest.approx(2 * 863 / 2**15, abs=0.003)
    assert not found.is_exact
    fewer = sign_flip(first[:14], np.zeros(14))
    assert (fewer.is_exact, fewer.n_patterns) == (True, 2**14)


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=9))
@settings(max_examples=30)
def test_all_patterns_are_scipys(differences: list[int]) -> None:
    first = np.array(differences, dtype=float)
    found = sign_flip(first, np.zeros(len(first)))
    expected = permutation_test(
        (first,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=np.inf,
        vectorized=True,
    )  # fmt: skip
    assert found.p == pytest.approx(expected.pvalue)


def test_a_cluster_is_swapped_whole() -> None:
    """Three clusters of four like differences are three coins: 2 / 2^3."""
    found = sign_flip(np.ones(12), np.zeros(12), np.repeat([5, 9, 7], 4))
    assert (found.p, found.n_flipped, found.resampled) == (2 / 2**3, 3, "clusters")
    assert sign_flip(np.ones(12), np.zeros(12)).p == 2 / 2**12


def test_missing_and_empty_columns() -> None:
    found = sign_flip(np.array([1.0, np.nan, 1.0]), np.array([0.0, 1.0, 0.0]))
    assert (found.n_units, found.p) == (2, 2 / 2**2)
    nothing = sign_flip(np.empty(0), np.empty(0))
    assert np.isnan(nothing.difference)
    assert nothing.p == 1.0
    assert sign_flip(np.ones(5), np.ones(5)).p == 1.0


def test_all_pairs_are_those_of_one() -> None:
    rng = np.random.default_rng(1)
    values = (rng.random((30, 3)) < [0.9, 0.5, 0.4]).astype(float)
    values[4, 1] = np.nan
    p = sign_flip_p(values, np.arange(30) // 2, n_resamples=2_000, seed=3)
    one = sign_flip(values[:, 0], values[:, 1], np.arange(30) // 2, n_resamples=2_000, seed=3)
    assert p[0, 1] == p[1, 0] == pytest.approx(one.p)
    assert np.diag(p).tolist() == [1.0] * 3
    assert sign_flip_p(values[:, :1]).tolist() == [[1.0]]
    many = rng.random((5_000, 2))
    apart = sign_flip(many[:, 0], many[:, 1], n_resamples=2_000)
    assert apart.p == sign_flip_p(many, n_resamples=2_000)[0, 1]


@pytest.mark.slow
def test_clustered_swaps_are_wrong_about_five_times_in_a_hundred() -> None:
    """60 clusters of four, two respondents of equal skill whose ease is shared in a cluster; swaps
    by unit would be wrong far more often."""
    rng, n = np.random.default_rng(8), 2_000
    clusters = np.arange(240) // 4
    wrong = {"clusters": 0, "items": 0}
    for draw in range(n):
        ease = np.repeat(rng.normal(size=(60, 2)), 4, axis=0)
        values = (rng.random((240, 2)) < 1 / (1 + np.exp(-2 * ease))).astype(float)
        args = {"n_resamples": 500, "seed": draw}
        wrong["clusters"] += sign_flip(values[:, 0], values[:, 1], clusters, **args).p < 0.05
        wrong["items"] += sign_flip(values[:, 0], values[:, 1], **args).p < 0.05
    assert 0.04 <= wrong["clusters"] / n <= 0.06
    assert wrong["items"] / n > 0.1
