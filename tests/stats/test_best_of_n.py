"""More samples with and without an oracle, against all subsets."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.stats.power import majority_at_k, majority_scores, pass_at_k, surest_at_k

samples = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=6)


@given(samples, st.integers(1, 6))
@settings(max_examples=60)
def test_the_surest_of_k_is_the_mean_over_all_choices(
    units: list[tuple[bool, int]], k: int
) -> None:
    scores, sure = np.array(units, dtype=float).T
    means = []
    for chosen in combinations(range(len(units)), k):
        best = max(sure[i] for i in chosen)
        means.append(np.mean([scores[i] for i in chosen if sure[i] == best]))
    found = surest_at_k(scores.reshape(1, 1, -1), sure.reshape(1, 1, -1), k)[0, 0]
    assert found == pytest.approx(np.mean(means) if means else np.nan, nan_ok=True)


def test_what_has_no_confidence_is_taken_last() -> None:
    scores = np.array([[[1.0, 0.0, np.nan]]])
    sure = np.array([[[np.nan, 0.3, 0.9]]])
    assert surest_at_k(scores, sure, 2)[0, 0] == 0.0
    assert surest_at_k(scores, sure, 1)[0, 0] == pytest.approx(0.5)
    assert np.isnan(surest_at_k(scores, sure, 3)[0, 0])


def test_the_majority_of_k_is_near_the_mean_over_all_choices() -> None:
    """Six samples: three say 1 (right), two say 2, one was not read; of every three of them."""
    answers = [1, 1, 1, 2, 2, -1]
    scores = [1.0, 1, 1, 0, 0, 0]
    means = []
    for chosen in combinations(range(6), 3):
        counts = Counter(answers[i] for i in chosen if answers[i] >= 0)
        most = [a for a, n in counts.items() if n == max(counts.values())]
        means.append(np.mean([float(a == 1) for a in most]))
    found = majority_at_k(
        np.array(scores).reshape(1, 1, -1),
        np.array(answers).reshape(1, 1, -1),
        3,
        n_resamples=20_000,
    )
    assert found[0, 0] == pytest.approx(np.mean(means), abs=0.01)


@given(samples)
@settings(max_examples=40)
def test_the_majority_of_all_is_exact(units: list[tuple[bool, int]]) -> None:
    codes = np.array([code - 1 for _, code in units]).reshape(1, 1, -1)
    worth = {code: right for right, code in units}
    scores = np.array([float(worth[code]) for _, code in units]).reshape(1, 1, -1)
    found = majority_at_k(scores, codes, len(units), n_resamples=3)
    assert found[0, 0] == pytest.approx(majority_scores(scores, codes)[0, 0])


def test_an_oracle_is_never_worse() -> None:
    rng = np.random.default_rng(1)
    scores = (rng.random((40, 2, 8)) < 0.4).astype(float)
    answers = np.where(scores == 1, 0, rng.integers(1, 4, scores.shape))
    sure = rng.random(scores.shape)
    scores[3, 1, 4:] = np.nan
    for k in (1, 3, 8):
        oracle = pass_at_k(scores, k)
        for other in (majority_at_k(scores, answers, k), surest_at_k(scores, sure, k)):
            assert (np.isnan(other) == np.isnan(oracle)).all()
            assert np.nanmean(other - oracle) <= 0.01
            if k == 8:
                assert (np.nan_to_num(other) <= np.nan_to_num(oracle) + 1e-9).all()
    assert majority_at_k(scores, answers, 1, n_resamples=4_000) == pytest.approx(
        np.nanmean(scores, axis=2), abs=0.05
    )


@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3), (2, 2, 0)])
def test_nothing_is_nan(shape: tuple[int, int, int]) -> None:
    empty = np.empty(shape)
    for found in (
        pass_at_k(empty, 1),
        surest_at_k(empty, empty, 1),
        majority_at_k(empty, empty.astype(int), 1),
    ):
        assert found.shape == shape[:2]
        assert np.isnan(found).all()
