"""The objective: literal values, submodularity, and inputs that are rejected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_pools import as_sparse, literal, names, pools

from proofstone.errors import BadInput
from proofstone.selection.objective import Coverage, coverage


@given(pools, st.data())
@settings(max_examples=300, deadline=None)
def test_coverage_is_monotone_and_submodular(pool: Coverage, data: st.DataObject) -> None:
    rows = list(range(len(pool.items)))
    large = data.draw(st.lists(st.sampled_from(rows), unique=True))
    small = [row for row in large if data.draw(st.booleans())]
    assert pool.value(small) <= pool.value(large)
    at_small, at_large = pool.gains(pool.covered(small)), pool.gains(pool.covered(large))
    assert (at_small >= at_large).all()
    assert (at_large >= 0).all()
    assert (at_large[large] == 0).all()


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 8))
@settings(max_examples=200, deadline=None)
def test_values_and_gains_are_those_of_the_paper(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random((n, m)) * (rng.random((n, m)) < 0.5)
    weights = rng.random(m)
    rows = rng.permutation(n)[: n // 2].tolist()
    for given_scores in (scores, as_sparse(scores)):
        pool = coverage(names("q", n), names("u", m), given_scores, weights)
        assert pool.value(rows) == pytest.approx(literal(scores, weights, rows), abs=1e-14)
        gains = pool.gains(pool.covered(rows))
        for row in range(n):
            more = literal(scores, weights, [*rows, row]) - literal(scores, weights, rows)
            assert gains[row] == pytest.approx(more, abs=1e-13)


def test_float32_scores_give_float64_values() -> None:
    scores = np.array([[0.1, 1.0]], dtype=np.float32)
    pool = coverage(["q"], ["u", "v"], scores, [1, 2])
    assert pool.value([0]) == float(np.float32(0.1)) + 2


def test_long_sparse_rows_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks smaller than a row, and empty rows between, change nothing."""
    rng = np.random.default_rng(3)
    scores = rng.random((40, 30)) * (rng.random((40, 30)) < 0.3)
    scores[[0, 7, 8, 39]] = 0
    scores[20] = 0.5
    for given_scores in (scores, as_sparse(scores)):
        pool = coverage(names("q", 40), names("u", 30), given_scores)
        prices = pool.covered([1, 2])
        whole = pool.gains(prices)
        with monkeypatch.context() as small:
            small.setattr("proofstone.selection.objective.BLOCK", 11)
            assert (pool.gains(prices) == whole).all()


def test_all_problems_of_an_input_are_stated_together() -> None:
    scores = np.array([[0.5, np.nan], [1.5, -0.25], [0, 1]])
    for given_scores in (scores, sparse.csr_array(scores)):
        with pytest.raises(BadInput) as caught:
            coverage(["b", "a", "a"], ["u", "v"], given_scores, [-1, np.inf])
        said = [str(problem) for problem in caught.value.problems]
        assert said == [
            "items: 'a' is listed 2 times",
            "score of 'b' for 'v': nan is not within 0 and 1",
            "score of 'a' for 'u': 1.5 is not within 0 and 1",
            "score of 'a' for 'v': -0.25 is not within 0 and 1",
            "weight of 'u': -1.0 is not a number of at least 0",
            "weight of 'v': inf is not a number of at least 0",
        ]


def test_shapes_must_fit() -> None:
    with pytest.raises(BadInput) as caught:
        coverage(["a"], ["u"], np.zeros((2, 1)), [1, 1])
    assert [str(problem) for problem in caught.value.problems] == [
        "scores: their shape is (2, 1), not (1, 1)",
        "weights: their shape is (2,), not (1,)",
    ]


def test_a_pair_given_twice_is_rejected() -> None:
    twice = sparse.csr_array(
        (np.array([0.2, 0.3]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1)
    )
    with pytest.raises(BadInput, match="a pair is listed twice"):
        coverage(["a"], ["u"], twice)


def test_unordered_columns_of_a_row_are_no_duplicates() -> None:
    mixed = sparse.csr_array(
        (np.array([0.25, 0.5]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2)
    )
    pool = coverage(["a"], ["u", "v"], mixed, [1, 1])
    assert pool.covered([0]).tolist() == [0.5, 0.25]


def test_unknown_items_are_named() -> None:
    with pytest.raises(BadInput) as caught:
        coverage(["a"], ["u"], np.ones((1, 1))).rows(["a", "b", "c"])
    assert len(caught.value.problems) == 2
