"""Agreement of orders and homogeneity of groups, against published values and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, kendalltau

from proofstone.stats.ranks import homogeneity, tau_b


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12),
)
def test_tau_b_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    """Ties of either side count for neither; NaN where one side is constant."""
    first, second = np.array(pairs, dtype=np.float64).T
    expected = kendalltau(first, second).statistic
    assert tau_b(first, second) == pytest.approx(expected, nan_ok=True)


def test_tau_b_of_one_swap() -> None:
    """One of six pairs is turned: (5 - 1) / 6."""
    assert tau_b(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4])) == pytest.approx(4 / 6)
    assert np.isnan(tau_b(np.array([1.0]), np.array([2.0])))


def test_homogeneity_is_pearsons_chi_square() -> None:
    """60 of 100 right in one group and 40 of 100 in the other: 200 (60 60 - 40 40)^2 / 100^4."""
    values = np.array([1.0] * 60 + [0.0] * 40 + [1.0] * 40 + [0.0] * 60)
    found = homogeneity(values, np.repeat([3, 7], 100).astype(np.int32))
    assert found.chi_square == pytest.approx(200 * (60 * 60 - 40 * 40) ** 2 / 100**4)
    other = chi2_contingency([[60, 40], [40, 60]], correction=False)
    assert (found.df, found.p) == (1, pytest.approx(other.pvalue))


@pytest.mark.parametrize(
    ("values", "groups"), [([1.0, 1.0], [0, 1]), ([0.0, 1.0], [2, 2]), ([], [])]
)
def test_nothing_to_compare_gives_nan(values: list[float], groups: list[int]) -> None:
    """Values all alike, one group, or none."""
    found = homogeneity(np.array(values), np.array(groups, dtype=np.int32))
    assert np.isnan(found.chi_square)
    assert np.isnan(found.p)
