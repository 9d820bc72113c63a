"""Lazy greedy: the items of greedy, its guarantee, and edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_pools import best_of, drawn, names, pools

from proofstone.errors import BadUsage, QuotasConflict
from proofstone.selection.choose import select
from proofstone.selection.greedy import Bounds, lazy_greedy
from proofstone.selection.objective import Coverage, coverage


def plain_greedy(pool: Coverage, k: int) -> list[int]:
    """Every gain at every step; of equal gains the first row, and rows stand by id."""
    chosen: list[int] = []
    for _ in range(k):
        gains = pool.gains(pool.covered(chosen))
        gains[chosen] = -1
        chosen.append(int(np.argmax(gains)))
    return chosen


@given(pools, st.data())
@settings(max_examples=300, deadline=None)
def test_lazy_greedy_takes_the_items_of_greedy(pool: Coverage, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(pool.items)))
    assert lazy_greedy(pool, k) == plain_greedy(pool, k)


@given(st.integers(0, 10**6), st.sampled_from([1e-300, 1e-60, 1e-8, 1.0, 1e8]), st.integers(1, 600))
@settings(max_examples=200, deadline=None)
def test_bounds_in_single_precision_are_bounds(seed: int, scale: float, n: int) -> None:
    """Of weights that differ by up to 50 orders of magnitude, at any number of chosen items."""
    rng = np.random.default_rng(seed)
    weights = scale * 10 ** rng.uniform(-50 * (seed % 2), 0, n)
    pool = coverage(names("q", 12), names("u", n), rng.random((12, n)), weights)
    bounds, covered = Bounds.of(pool), np.zeros(n)
    assert bounds is not None
    for row in range(6):
        exact = pool.gains(covered)
        entries = [(-math.inf, at) for at in range(12)]
        for (bound, at), gain in zip(bounds.lowered(entries), exact, strict=True):
            assert -bound >= gain
            assert -bound <= gain + 1e-5 * (covered.sum() + gain) + 1e-30 * scale
            assert bounds.lowered([(-gain, at)]) == [(-gain, at)]
        pool.cover(covered, row)
        bounds.cover(row)


@pytest.mark.parametrize("ties", [False, True])
def test_lazy_greedy_is_greedy_on_larger_pools(ties: bool) -> None:
    pool = drawn(5, 400, 150, ties=ties)
    assert lazy_greedy(pool, 60) == plain_greedy(pool, 60)


def test_greedy_reaches_its_share_of_the_best_on_thousands_of_pools() -> None:
    least = 1.0
    for seed in range(3000):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 9)), int(rng.integers(1, 7))
        pool = drawn(seed, n, m, density=float(rng.choice([0.3, 0.6, 1])), ties=seed % 2 == 0)
        k = int(rng.integers(1, n + 1))
        best = best_of(pool, k)
        value = pool.value(lazy_greedy(pool, k))
        assert best is not None
        assert value >= (1 - 1 / math.e) * best - 1e-12
        assert value <= best + 1e-12
        if best:
            least = min(least, value / best)
    assert least < 0.98  # some pools are hard, or this would show nothing


@pytest.mark.parametrize("seed", range(6))
def test_greedy_reaches_its_share_of_the_exact_program(seed: int) -> None:
    pool = drawn(seed, 60, 40, density=0.3)
    best, greedy = select(pool, 6, how="exact"), select(pool, 6, how="greedy")
    assert (best.how, greedy.how) == ("exact", "greedy")
    assert best.value >= greedy.value >= (1 - 1 / math.e) * best.value


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_order_of_items_and_references_changes_nothing(
    seed: int, ties: bool, as_csr: bool
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random((30, 17))
    weights = rng.random(17)
    if ties:
        scores, weights = np.round(scores * 2) / 2, np.ones(17)
    rows, columns = rng.permutation(30), rng.permutation(17)
    items, references = np.array(names("q", 30)), np.array(names("u", 17))
    form = sparse.csr_array if as_csr else np.array
    one = select(
        coverage(items.tolist(), references.tolist(), form(scores), weights), 7, how="greedy"
    )
    mixed = form(scores[np.ix_(rows, columns)])
    other = select(
        coverage(items[rows].tolist(), references[columns].tolist(), mixed, weights[columns]),
        7,
        how="greedy",
    )
    assert one == other


@given(st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_sparse_scores_select_what_dense_ones_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random((25, 12)) * 8) / 8 * (rng.random((25, 12)) < 0.4)
    made = [
        select(coverage(names("q", 25), names("u", 12), form, np.ones(12)), 5, how="greedy")
        for form in (scores, sparse.csr_array(scores), sparse.csr_matrix(scores))
    ]
    assert made[0] == made[1] == made[2]


def test_equal_items_are_taken_by_id() -> None:
    scores = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    pool = coverage(["d", "b", "c", "a"], ["u", "v"], scores.astype(float))
    assert select(pool, 4, how="greedy").items == ("a", "c", "b", "d")


def test_nothing_asked_and_nothing_there() -> None:
    pool = drawn(1, 4, 3)
    for how in ("greedy", "exact"):
        assert select(pool, 0, how=how).items == ()  # type: ignore[arg-type]
        assert select(coverage([], ["u"], np.zeros((0, 1))), 0, how=how).value == 0  # type: ignore[arg-type]
        assert len(select(coverage(["a", "b"], [], np.zeros((2, 0))), 1, how=how).items) == 1  # type: ignore[arg-type]


def test_one_candidate_and_all_candidates() -> None:
    assert select(coverage(["a"], ["u"], np.array([[0.5]])), 1).value == 0.5
    pool = drawn(2, 5, 3)
    assert sorted(select(pool, 5).items) == list(pool.items)


def test_more_items_than_candidates_is_a_conflict_in_plain_words() -> None:
    with pytest.raises(QuotasConflict, match="size: at least 6, and 5 candidates"):
        select(drawn(2, 5, 3), 6)
    with pytest.raises(BadUsage, match="-1 items cannot be chosen"):
        select(drawn(2, 5, 3), -1)


def test_weights_of_zero_leave_no_gain() -> None:
    pool = coverage(["b", "a"], ["u"], np.ones((2, 1)), [0])
    chosen = select(pool, 1, how="greedy")
    assert (chosen.items, chosen.gains, chosen.value) == (("a",), (0.0,), 0.0)
    assert select(pool, 1, how="exact").value == 0


def test_gains_sum_to_the_value_and_do_not_grow() -> None:
    chosen = select(drawn(9, 50, 30), 12)
    assert math.fsum(chosen.gains) == pytest.approx(chosen.value, abs=1e-12)
    assert list(chosen.gains) == sorted(chosen.gains, reverse=True)
