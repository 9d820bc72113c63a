"""A ratio of two means: its value exact, its spread that of its residuals."""

from __future__ import annotations

import numpy as np
import pytest

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights, t_quantile, wilson
from proofstone.stats.ratios import ratio_estimate

NONE = SharedKeys(6, np.array([], dtype=np.int64), np.array([], dtype=np.int64))
TOPS = np.array([2.0, 2.0, 0.0, 0.0, 0.0, 2.0])
BOTTOMS = np.array([2.0, 2.0, 2.0, 1.0, 1.0, 2.0])


def test_the_value_is_the_ratio_of_the_sums() -> None:
    """F of three correct, one incorrect and two not attempted: 2 A / (2 A + 2 B + C)."""
    found = ratio_estimate(TOPS, BOTTOMS, NONE, population="bank")
    assert found.value == pytest.approx(2 * 3 / (2 * 3 + 2 * 1 + 2))
    assert found.low < found.value < found.high
    assert found.n == 6


def test_its_variance_is_that_of_its_residuals() -> None:
    """The variance is n / (n - 1) times the mean of squared residuals over n; t on 5 degrees, in
    Wilson's form."""
    n, ratio = 6, 0.6
    residuals = (TOPS - ratio * BOTTOMS) / BOTTOMS.mean()
    variance = (residuals**2).sum() / (n - 1) / n
    found = ratio_estimate(TOPS, BOTTOMS, NONE, population="bank")
    size = np.array([ratio * (1 - ratio) / variance])
    low, high = wilson(np.array([ratio]), size, t_quantile(5, 0.95))
    assert (found.low, found.high) == pytest.approx((low[0], high[0]))


def test_equal_bottoms_make_it_a_mean() -> None:
    values = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    (mean,) = mean_estimates(values[:, None], equal_weights(6), NONE, population="domain")
    assert ratio_estimate(values * 2, np.full(6, 2.0), NONE, population="domain") == mean


def test_units_that_share_a_key_count_together() -> None:
    """Three pairs of which both halves are alike are three units, not six."""
    paired = SharedKeys(6, np.arange(6), np.array([0, 0, 1, 1, 2, 2]))
    tops = np.array([2.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    bottoms = np.array([2.0, 2.0, 2.0, 2.0, 1.0, 1.0])
    alone = ratio_estimate(tops, bottoms, NONE, population="domain")
    found = ratio_estimate(tops, bottoms, paired, population="domain")
    assert found.value == alone.value
    assert found.high - found.low > alone.high - alone.low


def test_nothing_gives_no_number() -> None:
    empty = SharedKeys(0, np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    found = ratio_estimate(np.array([]), np.array([]), empty, population="bank")
    assert np.isnan(found.value)
    assert found.flags == ("no-scores",)
