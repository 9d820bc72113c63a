"""Paired comparisons, Holm's correction, rank intervals and ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import measure_spread
from proofstone.stats.intervals import equal_weights, t_two_sided_p
from proofstone.stats.multiple_comparisons import holm
from proofstone.stats.ranks import Ranking, RankInterval, rank_all, tied_runs


def ranked(values: NDArray[np.float64], keys: SharedKeys | None = None) -> Ranking:
    n = len(values)
    spread = measure_spread(values, equal_weights(n), keys or SharedKeys.none(n), "domain")
    return rank_all(spread)


def test_holm_steps_down_and_never_falls() -> None:
    """Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1; the last is held up by the one before."""
    found = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert found == pytest.approx([3 * 0.01, 2 * 0.03, 2 * 0.03, 4 * 0.005])
    assert holm(np.array([0.7, 0.8])) == pytest.approx([1.0, 1.0])
    assert len(holm(np.empty(0))) == 0


def test_a_difference_is_tested_paired() -> None:
    """Differences 1, 1, 0, 0, -1, 1: the t-test of six paired values on 5 degrees."""
    values = np.array([[1, 0], [1, 0], [0, 0], [1, 1], [0, 1], [1, 0]], dtype=float)
    (pair,) = ranked(values).comparisons
    differences = np.array([1, 1, 0, 0, -1, 1], dtype=float)
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(6))
    assert pair.difference == pytest.approx(2 / 6)
    assert pair.p == pytest.approx(float(t_two_sided_p(np.array([t]), 5)[0]))
    assert pair.low < 0 < pair.high
    assert not pair.resolved


def test_shared_facts_make_a_difference_less_sure() -> None:
    """The same differences, each item copied four times under one key."""
    rng = np.random.default_rng(4)
    single = (rng.random((40, 2)) < [0.75, 0.5]).astype(float)
    copied = np.tile(single, (4, 1))
    keys = SharedKeys(160, np.arange(160), np.arange(160) % 40)
    (shared,), (naive,) = ranked(copied, keys).comparisons, ranked(copied).comparisons
    (once,) = ranked(single).comparisons
    assert naive.p < once.p
    assert shared.p == pytest.approx(once.p)


def test_what_is_resolved_bounds_the_ranks() -> None:
    """Two like respondents well above a third: ranks 1-2, 1-2 and 3."""
    rng = np.random.default_rng(5)
    values = (rng.random((400, 3)) < [0.8, 0.8, 0.3]).astype(float)
    result = ranked(values)
    assert result.intervals == (RankInterval(1, 2), RankInterval(1, 2), RankInterval(3, 3))
    assert tied_runs(result.better) == ((0, 1),)


def test_one_respondent_has_rank_one() -> None:
    result = ranked(np.array([[1.0], [0.0]]))
    assert (result.comparisons, result.intervals) == ((), (RankInterval(1, 1),))
    assert tied_runs(result.better) == ()


def test_the_same_answers_are_never_told_apart() -> None:
    values = np.tile(np.array([[1.0], [0.0], [1.0]]), (10, 2))
    (pair,) = ranked(values).comparisons
    assert (pair.difference, pair.p, pair.p_holm, pair.resolved) == (0.0, 1.0, 1.0, False)


@pytest.mark.parametrize(("n", "resolved"), [(5, False), (6, True)])
def test_all_right_against_all_wrong_is_a_sign_test(n: int, resolved: bool) -> None:
    """Without spread the test counts groups: 2 * 0.5**5 = 0.0625, 2 * 0.5**6 = 0.031."""
    (pair,) = ranked(np.tile([1.0, 0.0], (n, 1))).comparisons
    assert pair.p == pytest.approx(2 * 0.5**n)
    assert pair.resolved is resolved


def test_a_difference_that_is_the_same_everywhere_has_no_variance_below_zero() -> None:
    """Two columns half a point apart on each of three items: rounding left -7e-18, whose root is
    no number, and the interval of the difference was none."""
    values = np.array([[0.0, 1.0, 0.5], [0.0, 0.5, 0.0], [0.0, 1.0, 0.5]])
    keys = SharedKeys(3, np.arange(3), np.zeros(3, dtype=np.int64))
    for population in ("bank", "domain"):
        spread = measure_spread(values, equal_weights(3), keys, population)
        assert (spread.difference_variances() >= 0.0).all()
    bank = measure_spread(values, equal_weights(3), SharedKeys.none(3), "bank")
    apart = rank_all(bank).comparisons[2]
    assert (apart.low, apart.high) == (pytest.approx(0.5), pytest.approx(0.5))


def test_items_of_one_fact_resolve_nothing() -> None:
    keys = SharedKeys(8, np.arange(8), np.zeros(8, dtype=np.int64))
    (pair,) = ranked(np.tile([1.0, 0.0], (8, 1)), keys).comparisons
    assert (pair.p, pair.low, pair.high) == (1.0, -1.0, 1.0)


def test_ties_may_overlap() -> None:
    """1 beats 3 and no other pair is resolved: 1 ties with 2, and 2 with 3 and 4."""
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = True
    assert tied_runs(better) == ((0, 1), (1, 3))


def test_a_run_inside_another_is_left_out() -> None:
    assert tied_runs(np.zeros((3, 3), dtype=bool)) == ((0, 2),)


@given(seed=st.integers(0, 1000), m=st.integers(1, 5), n=st.integers(1, 30))
@settings(max_examples=60)
def test_rank_intervals_hold_the_observed_rank(seed: int, m: int, n: int) -> None:
    values = (np.random.default_rng(seed).random((n, m)) < np.linspace(0.2, 0.9, m)).astype(float)
    intervals = ranked(values).intervals
    means = values.mean(axis=0)
    for r, interval in enumerate(intervals):
        at_best = 1 + int((means > means[r] + 1e-12).sum())
        at_worst = m - int((means < means[r] - 1e-12).sum())
        assert 1 <= interval.low <= at_best <= at_worst <= interval.high <= m


@given(seed=st.integers(0, 1000), order=st.permutations(range(4)))
@settings(max_examples=40)
def test_the_order_of_respondents_does_not_matter(seed: int, order: list[int]) -> None:
    values = (np.random.default_rng(seed).random((30, 4)) < [0.2, 0.4, 0.6, 0.9]).astype(float)
    before, after = ranked(values).intervals, ranked(values[:, order]).intervals
    assert [before[r] for r in order] == list(after)


@given(seed=st.integers(0, 10_000), m=st.integers(1, 9), share=st.floats(0, 1))
@settings(max_examples=100)
def test_tied_runs_are_the_longest_without_a_winner(seed: int, m: int, share: float) -> None:
    """As found by looking at every run of neighbours."""
    better = np.triu(np.random.default_rng(seed).random((m, m)) < share, 1)
    runs = [
        (a, b) for a in range(m) for b in range(a + 1, m) if not better[a : b + 1, a : b + 1].any()
    ]
    longest = [(a, b) for a, b in runs if not any(c <= a and b <= d for c, d in {*runs} - {(a, b)})]
    assert tied_runs(better) == tuple(longest)


def test_two_items_are_tested_on_one_degree() -> None:
    (found,) = ranked(np.array([[1.0, 0.2], [0.8, 0.1]])).comparisons
    assert found.p == pytest.approx(float(t_two_sided_p(np.array(15.0), 1.0)))
