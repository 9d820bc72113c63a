"""Several answers an item: pass@k, majority, consistency, and where the variance lies."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.stats.power import (
    answer_consistency,
    chance_correlation,
    consistency,
    majority_scores,
    pass_at_k,
    sample_means,
    split_variance,
)

Floats = NDArray[np.float64]


def cell(*scores: float) -> Floats:
    """One unit of one respondent."""
    return np.array(scores, dtype=float).reshape(1, 1, -1)


def test_pass_at_k_of_one_right_in_four() -> None:
    """1 - C(3, k) / C(4, k): a quarter, a half, three quarters, and surely (Chen et al. 2021)."""
    found = [float(pass_at_k(cell(1, 0, 0, 0), k)[0, 0]) for k in (1, 2, 3, 4)]
    assert found == pytest.approx([1 / 4, 1 / 2, 3 / 4, 1.0])
    assert np.isnan(pass_at_k(cell(1, 0, 0, 0), 5)[0, 0])
    assert np.isnan(pass_at_k(cell(1, np.nan), 2)[0, 0])
    assert pass_at_k(cell(0, 0), 2)[0, 0] == 0.0


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_pass_at_k_is_the_mean_over_all_choices(right: list[bool], k: int) -> None:
    found = float(pass_at_k(cell(*map(float, right)), k)[0, 0])
    chosen = [any(each) for each in combinations(right, k)]
    assert found == pytest.approx(np.mean(chosen) if chosen else np.nan, nan_ok=True)


@given(st.lists(st.tuples(st.integers(-1, 2), st.booleans()), min_size=1, max_size=6))
def test_the_majority_answers(samples: list[tuple[int, bool]]) -> None:
    """By counting; equally frequent answers share, and where none was read all samples do."""
    answers = [answer for answer, _ in samples]
    right = dict(samples)  # one answer has one worth: that of its last mention
    scores = [float(right[answer]) for answer in answers]
    counts = Counter(answer for answer in answers if answer >= 0)
    most = [a for a, n in counts.items() if n == max(counts.values())]
    expected = np.mean([right[a] for a in most]) if counts else np.mean(scores)
    found = majority_scores(cell(*scores), np.array(answers).reshape(1, 1, -1))
    assert float(found[0, 0]) == pytest.approx(float(expected))


@given(st.lists(st.integers(-1, 2), max_size=6))
def test_consistency_is_the_share_of_pairs_that_agree(answers: list[int]) -> None:
    pairs = list(combinations(range(len(answers)), 2))
    alike = [answers[a] == answers[b] >= 0 for a, b in pairs]
    codes = np.array(answers, dtype=int).reshape(1, 1, -1)
    found = answer_consistency(codes, np.ones(codes.shape, dtype=bool))
    assert float(found[0, 0]) == pytest.approx(np.mean(alike) if pairs else np.nan, nan_ok=True)
    scores = codes.astype(float)
    by_score = [answers[a] == answers[b] for a, b in pairs]
    expected = np.mean(by_score) if pairs else np.nan
    assert float(consistency(scores)[0, 0]) == pytest.approx(expected, nan_ok=True)


def test_missing_samples_are_left_out() -> None:
    assert sample_means(cell(1, np.nan, 0))[0, 0] == 0.5
    assert np.isnan(sample_means(cell(np.nan))[0, 0])
    assert consistency(cell(1, np.nan, 1))[0, 0] == 1.0
    assert majority_scores(cell(1, np.nan), np.array([[[0, 1]]]))[0, 0] == 1.0


def test_searles_analysis_of_variance() -> None:
    """Three units of two: between 2 * var of (1, 3, 5) = 8, within 2, so items (8 - 2) / 2 = 3.

    Snedecor and Cochran's layout of a one-way random effects table, by hand.
    """
    scores = np.array([[0.0, 2.0], [2.0, 4.0], [4.0, 6.0]])
    found = split_variance(scores)
    assert (found.items, found.samples) == (pytest.approx(3.0), pytest.approx(2.0))
    assert found.repeatability == pytest.approx(3 / 5)
    assert found.error == pytest.approx(np.sqrt((3 + 2 / 2) / 3))
    assert found.error == pytest.approx(scores.mean(axis=1).std(ddof=1) / np.sqrt(3))
    assert found.error_of_one == pytest.approx(np.sqrt(5 / 3))
    assert found.error_at_best == pytest.approx(1.0)
    assert (found.n_units, found.mean_samples) == (3, 2.0)


def test_unequal_numbers_of_samples_are_allowed() -> None:
    """n0 = (N - sum n^2 / N) / (k - 1) with 3, 2 and 1 samples: (6 - 14/6) / 2."""
    scores = np.array([[1.0, 0, 0], [1, 1, np.nan], [0, np.nan, np.nan], [np.nan] * 3])
    number, means = np.array([3, 2, 1]), np.array([1 / 3, 1.0, 0.0])
    within = ((1 - 1 / 3) ** 2 + 2 / 9) / (6 - 3)
    between = (number * (means - 0.5) ** 2).sum() / 2
    found = split_variance(scores)
    assert found.samples == pytest.approx(within)
    assert found.items == pytest.approx(max((between - within) / ((6 - 14 / 6) / 2), 0))


@pytest.mark.parametrize(
    "scores", [np.empty((0, 3)), np.ones((1, 3)), np.ones((5, 1)), np.full((4, 2), np.nan)]
)
def test_what_cannot_be_split_is_unknown(scores: Floats) -> None:
    assert np.isnan(split_variance(scores).items)


def test_nothing_that_varies_has_no_repeatability() -> None:
    found = split_variance(np.ones((4, 3)))
    assert (found.items, found.samples, found.error) == (0.0, 0.0, 0.0)
    assert np.isnan(found.repeatability)
    assert np.isnan(chance_correlation(np.ones((4, 3)), np.ones((4, 3))))


@given(st.integers(0, 200))
@settings(max_examples=20)
def test_parts_of_the_variance_are_recovered(seed: int) -> None:
    """2,000 units whose chances have a known variance and go together by 0.5."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(2_000, 2))
    own[:, 1] = 0.5 * own[:, 0] + np.sqrt(0.75) * own[:, 1]
    chances = 0.5 + 0.12 * np.clip(own, -4, 4)
    first, second = ((rng.random((2_000, 4)) < chances[:, r, None]).astype(float) for r in (0, 1))
    assert split_variance(first).items == pytest.approx(0.12**2, abs=0.012)
    assert chance_correlation(first, first.copy()) == 1.0
    assert -1.0 <= chance_correlation(first, second) <= 1.0
