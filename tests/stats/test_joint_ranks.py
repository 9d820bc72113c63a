"""Simultaneous ranks: Tukey's test where that is exact, the t-test for a pair, never above Holm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import studentized_range

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import Spread, measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ranks import RankInterval, rank_all, rank_jointly, tiers, top_group

Floats = NDArray[np.float64]


def spread_of(values: Floats, keys: SharedKeys | None = None) -> Spread:
    n = len(values)
    return measure_spread(values, equal_weights(n), keys or SharedKeys.none(n), "domain")


def test_a_single_pair_is_the_paired_t_test() -> None:
    """One pair, nothing to correct for: the p-value of `rank_all`, up to the draws."""
    rng = np.random.default_rng(2)
    spread = spread_of((rng.random((80, 2)) < [0.6, 0.45]).astype(float))
    joint = rank_jointly(spread, n_resamples=40_000)
    (pair,) = rank_all(spread).comparisons
    assert joint.p[0, 1] == pytest.approx(pair.p, abs=0.01)
    assert (joint.made_by, joint.n_resamples) == ("max-t", 40_000)


def test_independent_means_of_equal_variance_are_tukeys() -> None:
    """The largest of the pairs of five: the studentized range, Tukey (1953), on n - 1 degrees.

    The columns are made orthogonal and of one length, so that their estimated covariance is
    exactly that of independent means.
    """
    rng = np.random.default_rng(3)
    n, m = 41, 5
    noise = rng.standard_normal((n, m + 1))
    noise[:, 0] = 1.0
    orthogonal = np.linalg.qr(noise)[0][:, 1:]
    means = np.array([0.5, 0.52, 0.55, 0.6, 0.43])
    spread = spread_of(means + orthogonal)
    joint = rank_jointly(spread, n_resamples=60_000, seed=1)
    error = 1.0 / np.sqrt((n - 1) * n)
    q = (means.max() - means.min()) / error
    assert joint.p[3, 4] == pytest.approx(studentized_range.sf(q, m, n - 1), abs=0.01)


@given(seed=st.integers(0, 200), m=st.integers(2, 6))
@settings(max_examples=15)
def test_p_values_stand_between_one_test_and_holm(seed: int, m: int) -> None:
    """Corrected never below uncorrected, and never above Holm, but for the error of the draws."""
    rng = np.random.default_rng(seed)
    values = (rng.random((60, m)) < np.linspace(0.3, 0.7, m)).astype(float)
    spread = spread_of(values)
    joint = rank_jointly(spread, n_resamples=4_000, seed=seed)
    for pair in rank_all(spread).comparisons:
        p = joint.p[pair.first, pair.second]
        noise = 4.0 * np.sqrt(pair.p_holm * max(1.0 - pair.p_holm, 0.0) / 4_000) + 0.002
        assert pair.p - 4.0 * np.sqrt(pair.p * (1 - pair.p) / 4_000) - 0.002 <= p
        assert p <= pair.p_holm + noise


def test_what_differs_without_spread_is_left_to_holm() -> None:
    spread = spread_of(np.tile([1.0, 0.0], (8, 1)))
    joint = rank_jointly(spread)
    assert joint.made_by == "Holm"
    assert joint.p[0, 1] == pytest.approx(2 * 0.5**8)
    assert joint.intervals == (RankInterval(1, 1), RankInterval(2, 2))


@pytest.mark.parametrize("m", [1, 3])
def test_all_alike_or_alone_is_one_rank(m: int) -> None:
    joint = rank_jointly(spread_of(np.ones((5, m))))
    assert joint.intervals == (RankInterval(1, m),) * m
    assert joint.p.tolist() == np.ones((m, m)).tolist()


def test_one_group_resolves_nothing() -> None:
    keys = SharedKeys(8, np.arange(8), np.zeros(8, dtype=np.int64))
    values = np.random.default_rng(0).random((8, 3))
    assert rank_jointly(spread_of(values, keys)).intervals == (RankInterval(1, 3),) * 3


def test_the_seed_decides() -> None:
    spread = spread_of(np.random.default_rng(0).random((30, 4)))
    assert (rank_jointly(spread, seed=1).p == rank_jointly(spread, seed=1).p).all()
    assert (rank_jointly(spread, seed=1).p != rank_jointly(spread, seed=2).p).any()


def test_many_pairs_go_through_in_blocks() -> None:
    """120 respondents are 7,140 pairs: 560 draws are held at a time, and all are counted."""
    values = np.random.default_rng(0).random((20, 120))
    joint = rank_jointly(spread_of(values), n_resamples=600)
    assert joint.p.min() >= 1 / 601


def test_tiers_are_cut_where_all_above_beat_all_below() -> None:
    """0 and 1 tie and beat 2 and 3, which tie; then 1 no longer beats 2, and one tier is left."""
    better = np.zeros((4, 4), dtype=bool)
    better[:2, 2:] = True
    assert tiers(better) == ((0, 1), (2, 3))
    assert top_group(better) == (0, 1)
    better[1, 2] = False
    assert tiers(better) == ((0, 3),)
    assert top_group(better) == (0, 1)
    assert tiers(np.zeros((0, 0), dtype=bool)) == ()
    assert tiers(np.zeros((1, 1), dtype=bool)) == ((0, 0),)
    assert tiers(np.triu(np.ones((3, 3), dtype=bool), 1)) == ((0, 0), (1, 1), (2, 2))
