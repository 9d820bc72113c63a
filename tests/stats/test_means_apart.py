"""How far means lie apart: the paper's figures, plain cases, and properties of the intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.stats.factors import spread_apart

# Chinese SimpleQA, Table 4, F: without a search, with Google's, with Baidu's.
ALONE = [59.7, 50.2, 41.1, 27.9, 17.3, 37.8]
GOOGLE = [81.8, 79.4, 79.3, 75.7, 72.5, 79.3]
BAIDU = [81.5, 79.2, 77.2, 72.7, 68.2, 76.1]


@pytest.mark.parametrize(("searched", "apart"), [(GOOGLE, 81.8 - 72.5), (BAIDU, 81.5 - 68.2)])
def test_the_papers_ranges_come_out(searched: list[float], apart: float) -> None:
    """42.4 points without a search, 9.3 with Google's."""
    found = spread_apart(np.array([*ALONE, *searched]), np.eye(12) * 0.8, degrees=2999)
    assert found.range_before.value == pytest.approx(59.7 - 17.3) == pytest.approx(42.4)
    assert found.range_after.value == pytest.approx(apart)
    assert found.range_change.value == pytest.approx(apart - 42.4)
    assert found.range_change.high < 0
    assert found.deviation_before.value == pytest.approx(np.std(ALONE, ddof=1))
    assert found.deviation_after.value == pytest.approx(np.std(searched, ddof=1))


def test_without_error_there_is_no_width() -> None:
    found = spread_apart(np.array([0.5, 0.2, 0.6, 0.6]), np.zeros((4, 4)), degrees=99)
    assert found.range_before == type(found.range_before)(0.3, 0.3, 0.3)
    assert found.range_after.low == found.range_after.high == pytest.approx(0.0)
    assert found.range_change.high == pytest.approx(-0.3)


def test_of_two_far_apart_the_range_is_their_difference() -> None:
    """Then its interval is that of a difference: 1.96 standard errors to each side."""
    error = 0.02
    found = spread_apart(np.array([0.9, 0.1, 0.8, 0.2]), np.eye(4) * error**2, degrees=1e6)
    half = 1.96 * error * np.sqrt(2)
    assert found.range_before.low == pytest.approx(0.8 - half, abs=0.1 * half)
    assert found.range_before.high == pytest.approx(0.8 + half, abs=0.1 * half)
    assert found.range_change.value == pytest.approx(-0.2)


def test_what_the_same_questions_move_alike_moves_no_range() -> None:
    """Means that rise and fall together are as far apart as before."""
    together = np.ones((4, 4)) * 0.05**2
    found = spread_apart(np.array([0.9, 0.1, 0.8, 0.2]), together, degrees=100)
    assert found.range_before.low == pytest.approx(0.8)
    assert found.range_before.high == pytest.approx(0.8)


def test_chance_alone_drives_equal_means_apart_and_the_interval_knows() -> None:
    """Six equal means with an error of 5 points: 12 or so points of range are nothing."""
    rng = np.random.default_rng(5)
    means = 0.5 + 0.05 * rng.standard_normal(12)
    found = spread_apart(means, np.eye(12) * 0.05**2, degrees=500)
    assert found.range_before.value > 0.05
    assert found.range_before.low == 0.0


def test_one_model_is_no_spread_and_few_groups_leave_it_open() -> None:
    alone = spread_apart(np.array([0.5, 0.6]), np.eye(2), degrees=10)
    assert np.isnan([alone.range_before.value, alone.deviation_change.high]).all()
    open_ended = spread_apart(np.array([0.5, 0.1, 0.5, 0.4]), np.eye(4), degrees=0.5)
    assert (open_ended.range_before.low, open_ended.range_before.high) == (0.0, np.inf)


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=6).map(np.array),
    st.floats(0, 0.1),
    st.randoms(use_true_random=False),
)
def test_the_order_of_models_means_nothing_to_the_values(
    means: np.ndarray, shift: float, random: object
) -> None:
    order = list(range(len(means)))
    random.shuffle(order)  # type: ignore[attr-defined]
    both = np.concatenate([means, means + shift])
    turned = np.concatenate([means[order], means[order] + shift])
    covariance = np.eye(len(both)) * 0.01
    first = spread_apart(both, covariance, degrees=50)
    other = spread_apart(turned, covariance, degrees=50)
    assert first.range_before.value == pytest.approx(other.range_before.value)
    assert first.range_change.value == pytest.approx(0.0, abs=1e-12)
    assert first.range_before.low <= first.range_before.high
    assert first.deviation_after.value == pytest.approx(first.deviation_before.value)
