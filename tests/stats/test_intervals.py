"""Wilson's interval and Student's t against published values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.stats.intervals import normal_quantile, t_quantile, t_two_sided_p, wilson

# Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3, to four places.
NEWCOMBE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("right", "n", "low", "high"), NEWCOMBE)
def test_wilson_gives_newcombes_published_limits(
    right: int, n: int, low: float, high: float
) -> None:
    found = wilson(np.array([right / n]), np.array([float(n)]), normal_quantile(0.95))
    assert [round(float(end[0]), 4) for end in found] == [low, high]


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(1, 12.706), (10, 2.228), (50, 2.009), (120, 1.980)]
)
def test_t_quantiles_are_those_of_the_printed_tables(degrees: int, quantile: float) -> None:
    assert round(t_quantile(degrees, 0.95), 3) == quantile
    p = t_two_sided_p(np.array([quantile, -quantile]), degrees)
    assert p == pytest.approx([0.05, 0.05], abs=1e-4)


@given(
    share=st.floats(0, 1), size=st.floats(0.5, 1e6), quantile=st.floats(0.5, 50, allow_nan=False)
)
def test_wilson_holds_the_share_and_stays_in_0_1(
    share: float, size: float, quantile: float
) -> None:
    low, high = wilson(np.array([share]), np.array([size]), quantile)
    assert 0 <= low[0] <= share <= high[0] <= 1
    mirrored = wilson(np.array([1 - share]), np.array([size]), quantile)
    assert mirrored[0][0] == pytest.approx(1 - high[0], abs=1e-9)
