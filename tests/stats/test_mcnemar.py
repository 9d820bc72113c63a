"""McNemar's exact and mid-p tests, and corrections for many of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control

from proofstone.stats.comparisons import McNemar, mcnemar, mcnemar_p
from proofstone.stats.multiple_comparisons import benjamini_hochberg


def table(both: int, only_first: int, only_second: int, neither: int) -> McNemar:
    first = [1.0] * (both + only_first) + [0.0] * (only_second + neither)
    second = [1.0] * both + [0.0] * only_first + [1.0] * only_second + [0.0] * neither
    return mcnemar(np.array(first), np.array(second))


def test_airway_hyper_responsiveness() -> None:
    """Bentur et al. (2009) as in Fagerland et al. (2013), table 1: 1, 1, 7, 12 of 21 children;
    exact 0.0703, mid-p 0.0391."""
    found = table(1, 1, 7, 12)
    assert (found.both, found.only_first, found.only_second, found.neither) == (1, 1, 7, 12)
    assert found.p == pytest.approx(2 * (1 + 8) / 2**8)
    assert found.mid_p == pytest.approx(2 * (1 + 8 / 2) / 2**8)
    assert (round(found.p, 4), round(found.mid_p, 4)) == (0.0703, 0.0391)


def test_response_before_and_after_transplantation() -> None:
    """Cavo et al. (2012) as in Fagerland et al. (2013), table 2: 59, 6, 16, 80; 0.0525, 0.0347."""
    found = table(59, 6, 16, 80)
    assert (round(found.p, 4), round(found.mid_p, 4)) == (0.0525, 0.0347)


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_exact_p_is_the_binomial_test(only_first: int, only_second: int) -> None:
    p, mid_p = mcnemar_p(np.array(only_first), np.array(only_second))
    total = only_first + only_second
    expected = binomtest(only_first, total).pvalue if total else 1.0
    assert float(p) == pytest.approx(expected)
    assert 0.0 < mid_p <= p + 1e-12


def test_units_that_are_no_plain_answer_are_left_out() -> None:
    found = mcnemar(np.array([1.0, np.nan, 0.5, 0.0]), np.array([1.0, 1.0, 1.0, 1.0]))
    assert (found.both, found.only_second, found.left_out) == (1, 1, 2)
    nothing = mcnemar(np.empty(0), np.empty(0))
    assert (nothing.p, nothing.mid_p) == (1.0, 1.0)


def test_benjamini_and_hochbergs_own_example() -> None:
    """Their fifteen p-values (1995, section 3.2): four are rejected at 0.05, Bonferroni has
    three; the fourth becomes 0.0095 * 15 / 4."""
    p = np.array(
        [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
         0.5719, 0.6528, 0.7590, 1.0]
    )  # fmt: skip
    adjusted = benjamini_hochberg(p)
    assert int((adjusted < 0.05).sum()) == 4
    assert adjusted[3] == pytest.approx(0.0095 * 15 / 4)


@given(st.lists(st.floats(0.0, 1.0), max_size=12))
def test_benjamini_hochberg_is_that_of_scipy(p: list[float]) -> None:
    found = benjamini_hochberg(np.array(p))
    expected = false_discovery_control(p) if p else np.empty(0)
    assert found == pytest.approx(expected)
