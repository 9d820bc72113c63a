"""Ratios over clusters that are drawn again together: exact values, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

from proofstone.stats.ratios import bootstrap_ratios, harmonic_mean, more_for_half_width


def made(seed: int, clusters: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    own = rng.beta(2, 2, clusters)
    bottoms = np.column_stack([rng.integers(1, 9, clusters), rng.integers(1, 9, clusters)])
    tops = rng.binomial(bottoms, own[:, None])
    return tops.astype(float), bottoms.astype(float)


def test_values_are_sums_over_sums() -> None:
    tops, bottoms = np.array([[1.0, 0.0], [2.0, 3.0]]), np.array([[2.0, 1.0], [4.0, 4.0]])
    drawn = bootstrap_ratios(tops, bottoms)
    assert drawn.values == pytest.approx([3 / 6, 3 / 5])
    assert drawn.n.tolist() == [6, 5]
    f1 = drawn.made_of((0, 1), lambda ratios: harmonic_mean(ratios[:, 0], ratios[:, 1]))
    assert f1.value == pytest.approx(2 * 0.5 * 0.6 / 1.1)
    assert f1.n == 5


def test_the_interval_is_near_that_of_linearised_residuals() -> None:
    """A second way to the same: the ratio's residuals by cluster (Cochran 6.4)."""
    tops, bottoms = made(0)
    ours = bootstrap_ratios(tops, bottoms).ratio(0)
    top, bottom = tops[:, 0], bottoms[:, 0]
    ratio = top.sum() / bottom.sum()
    residuals = (top - ratio * bottom) / bottom.mean()
    half = 1.96 * residuals.std(ddof=1) / len(top) ** 0.5
    assert ours.value == pytest.approx(ratio)
    assert ours.low == pytest.approx(ratio - half, abs=0.02)
    assert ours.high == pytest.approx(ratio + half, abs=0.02)


def test_intervals_hold_about_as_often_as_they_say() -> None:
    """The true ratio is 1/2; of 200 samples some 190 hold it."""
    held = 0
    for seed in range(200):
        estimate = bootstrap_ratios(*made(seed), n_resamples=300, seed=seed).ratio(1)
        held += estimate.low <= 0.5 <= estimate.high
    assert 178 <= held <= 199


def test_no_spread_is_no_certainty() -> None:
    ones = np.ones((20, 1))
    estimate = bootstrap_ratios(ones, ones).ratio(0)
    assert estimate.value == estimate.high == 1.0
    assert 0.7 < estimate.low < 0.95
    assert set(estimate.flags) == {"no-spread", "few-groups"}


def test_one_cluster_bounds_nothing_and_none_says_nothing() -> None:
    one = bootstrap_ratios(np.ones((1, 1)), np.full((1, 1), 4.0)).ratio(0)
    assert (one.value, one.low, one.high, one.flags) == (0.25, 0.0, 1.0, ("one-group",))
    none = bootstrap_ratios(np.zeros((3, 1)), np.zeros((3, 1)))
    assert np.isnan(none.ratio(0).value)
    assert none.ratio(0).flags == ("no-scores",)


def test_the_harmonic_mean_of_nothing_is_nothing() -> None:
    zero = np.zeros(1)
    assert harmonic_mean(zero, zero).tolist() == [0.0]


def test_four_times_as_many_halve_the_interval() -> None:
    estimate = bootstrap_ratios(*made(1)).ratio(0)
    half = (estimate.high - estimate.low) / 2
    more = more_for_half_width(estimate, half / 2)
    assert more is not None
    assert more == pytest.approx(3 * estimate.n, abs=1)
    assert more_for_half_width(estimate, half * 1.01) == 0


def test_fifty_groups_are_not_few() -> None:
    assert bootstrap_ratios(np.ones((50, 1)), np.ones((50, 1))).ratio(0).flags == ("no-spread",)
    assert "few-groups" in bootstrap_ratios(np.ones((49, 1)), np.ones((49, 1))).ratio(0).flags
