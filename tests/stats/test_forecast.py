"""A total forecast from samples: worked values, and how often the interval covers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.stats.intervals import t_quantile
from proofstone.stats.power import Forecast, Sampled, forecast_total

amounts = st.floats(0, 1e6, allow_subnormal=False)


def test_a_worked_value_without_lean() -> None:
    """Of 1, 2 and 3 (mean 2, variance 1) and 6 left: 6 * 2, give or take t(2) * sqrt(6 + 36 / 3).
    The lower end would be below 0."""
    half = t_quantile(2, 0.95) * (6 + 6**2 / 3) ** 0.5
    forecast = forecast_total([Sampled([1, 2, 3], 6)])
    assert forecast.likely == pytest.approx(6 * 2)
    assert forecast.high == pytest.approx(6 * 2 + half)
    assert forecast.low == 0 > 6 * 2 - half


def test_groups_add_up_with_satterthwaites_degrees() -> None:
    first, second = Sampled([10, 11, 12], 6), Sampled([20, 22, 24, 26], 8)
    one, two = 1 * (6 + 36 / 3), 20 / 3 * (8 + 64 / 4)
    degrees = (one + two) ** 2 / (one**2 / 2 + two**2 / 3)
    half = t_quantile(degrees, 0.95) * (one + two) ** 0.5
    forecast = forecast_total([first, second])
    assert forecast.likely == pytest.approx(6 * 11 + 8 * 23)
    assert (forecast.low, forecast.high) == pytest.approx(
        (forecast.likely - half, forecast.likely + half)
    )


def test_a_lean_to_the_right_moves_the_upper_end_alone() -> None:
    """The worked term: with m3 the third moment, M left and c = M + M^2/n, the upper end moves by
    [d + (k + 6 d)(t^2 - 1) / 6] / V, d = c M m3 / 2n, k = m3 (M - M^3 / n^2), V = c s^2."""
    values, left = [1.0, 1.0, 1.0, 1.0, 6.0], 45
    n, mean = len(values), 2.0
    spread = (4 * 1 + 16) / 4
    third = (4 * -1 + 64) * 5 / (4 * 3)
    c = left + left**2 / n
    d, k, v = c * left * third / (2 * n), third * (left - left**3 / n**2), c * spread
    t = t_quantile(4, 0.95)
    forecast = forecast_total([Sampled(values, left)])
    moved = (d + (k + 6 * d) * (t * t - 1) / 6) / v
    assert moved > 0
    assert forecast.high == pytest.approx(left * mean + t * v**0.5 + moved)
    assert forecast.low == max(0.0, left * mean - t * v**0.5)
    mirrored = forecast_total([Sampled([7 - value for value in values], left)])
    assert mirrored.high - mirrored.likely == pytest.approx(t * v**0.5)


def test_what_is_known_has_no_spread() -> None:
    assert forecast_total([]) == Forecast(0, 0, 0)
    assert forecast_total([Sampled([1, 9], 0), Sampled([], 0)]) == Forecast(0, 0, 0)
    assert forecast_total([Sampled([3, 3, 3], 10)]) == Forecast(30, 30, 30)


def test_two_values_are_enough_and_one_is_not() -> None:
    assert forecast_total([Sampled([1, 2], 1)]).high > 1.5
    with pytest.raises(ValueError, match="two sampled values, got 1"):
        forecast_total([Sampled([1], 1)])


@given(st.lists(amounts, min_size=2, max_size=30), st.integers(0, 10_000))
def test_the_likely_total_lies_within(values: list[float], left: int) -> None:
    forecast = forecast_total([Sampled(values, left)])
    assert 0 <= forecast.low <= forecast.likely * (1 + 1e-9)
    assert forecast.likely <= forecast.high * (1 + 1e-9)


@given(st.lists(amounts, min_size=2, max_size=12), st.integers(1, 500), st.floats(1e-6, 1e3))
def test_another_unit_scales_it(values: list[float], left: int, unit: float) -> None:
    one = forecast_total([Sampled(values, left)])
    scaled = forecast_total([Sampled([value * unit for value in values], left)])
    ends = (one.likely * unit, one.low * unit, one.high * unit)
    assert (scaled.likely, scaled.low, scaled.high) == pytest.approx(ends, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "n", "total", "at_least"),
    [("normal", 20, 500, 0.94), ("normal", 20, 30, 0.94), ("lognormal 0.5", 20, 500, 0.93),
     ("lognormal 1", 20, 500, 0.88), ("lognormal 1", 50, 2000, 0.91), ("two sizes", 20, 500, 0.93)],
)  # fmt: skip
def test_it_covers_nearly_as_often_as_it_says(
    name: str, n: int, total: int, at_least: float
) -> None:
    rng = np.random.default_rng(7)
    draw = {
        "normal": lambda: rng.normal(10, 2, total),
        "lognormal 0.5": lambda: rng.lognormal(0, 0.5, total),
        "lognormal 1": lambda: rng.lognormal(0, 1, total),
        "two sizes": lambda: 1 + 3.0 * (rng.random(total) < 0.2) + 0.1 * rng.random(total),
    }[name]
    covered, trials = 0, 1500
    for _ in range(trials):
        costs = draw()
        forecast = forecast_total([Sampled(costs[:n].tolist(), total - n)])
        covered += forecast.low <= costs[n:].sum() <= forecast.high
    assert covered / trials >= at_least
