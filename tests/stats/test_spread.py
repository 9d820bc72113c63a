"""The spread of groups' scores, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.stats import spread
from proofstone.stats.spread import density, spread_of_groups


def drawn(
    seed: int, between: float, sizes: np.ndarray, n_models: int = 1
) -> tuple[np.ndarray, ...]:
    """Return right or wrong (items, models) and groups, whose true means have SD ``between``."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    truth = 0.5 + between * rng.choice([-1.0, 1.0], (len(sizes), n_models))
    return (rng.random((len(codes), n_models)) < truth[codes]).astype(float), codes


def test_a_hand_computed_case() -> None:
    """Means 0.5, 1 and 0; variances of the means 0.5 / 2, 0 and 0."""
    values = np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [0.0]])
    (found,) = spread_of_groups(values, np.array([0, 0, 1, 1, 2, 2]))
    assert found.scores == (0.5, 1.0, 0.0)
    assert (found.mean, found.median) == (0.5, 0.5)
    assert found.sd == pytest.approx(0.5)
    assert found.sampling_sd == pytest.approx((0.25 / 3) ** 0.5)
    assert found.between_sd == pytest.approx((0.25 - 0.25 / 3) ** 0.5)
    # Of 20 placements of the three ones, 12 give the means 0, 0.5 and 1, and 8 three times 0.5.
    assert found.p == pytest.approx(0.6, abs=0.02)


def test_the_order_of_items_changes_nothing_but_the_draws() -> None:
    values, codes = drawn(3, 0.1, np.array([4, 9, 2, 7]))
    mixed = np.random.default_rng(1).permutation(len(codes))
    (one,), (other,) = (
        spread_of_groups(values, codes),
        spread_of_groups(values[mixed], codes[mixed]),
    )
    assert one.scores == pytest.approx(other.scores)
    assert one.between_sd == pytest.approx(other.between_sd)
    assert one.p == pytest.approx(other.p, abs=0.03)


@pytest.mark.parametrize("between", [0.0, 0.1, 0.2])
def test_variances_are_right_on_average(between: float) -> None:
    """Mean of sd^2 - sampling^2 over 2,000 draws of 12 groups: the true variance."""
    sizes = np.array([5, 5, 8, 8, 10, 10, 20, 20, 30, 30, 40, 40])
    left = [
        each.sd**2 - each.sampling_sd**2
        for seed in range(5)
        for each in spread_of_groups(*drawn(seed, between, sizes, 400), n_permutations=1)
    ]
    assert np.mean(left) == pytest.approx(between**2, abs=0.0015)  # 3 standard errors or more


def test_the_test_keeps_its_level_and_finds_what_is_there() -> None:
    sizes = np.full(12, 15)
    none = [
        each.p
        for seed in range(5)
        for each in spread_of_groups(*drawn(seed, 0.0, sizes, 400), n_permutations=400)
    ]
    assert 0.03 <= np.mean(np.array(none) < 0.05) <= 0.065
    much = spread_of_groups(*drawn(0, 0.2, sizes, 100), n_permutations=400)
    assert np.mean([each.p < 0.05 for each in much]) > 0.9


def test_equal_scores_have_no_spread() -> None:
    for each in spread_of_groups(np.ones((6, 2)), np.array([0, 0, 1, 1, 2, 2])):
        assert (each.sd, each.sampling_sd, each.between_sd, each.p) == (0, 0, 0, 1)


def test_fewer_permutations_for_large_tables_are_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    values, codes = drawn(0, 0.0, np.full(4, 20))
    assert spread_of_groups(values, codes)[0].n_permutations == 10_000
    monkeypatch.setattr(spread, "_MOST_WORK", 80 * 3_000)
    assert spread_of_groups(values, codes)[0].n_permutations == 3_000
    monkeypatch.setattr(spread, "_MOST_WORK", 80)
    assert spread_of_groups(values, codes)[0].n_permutations == 2_000


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
@settings(max_examples=100, deadline=None)
def test_a_density_has_the_area_1(scores: list[float]) -> None:
    places, heights = density(scores, n=2001)
    assert np.trapezoid(heights, places) == pytest.approx(1, abs=0.002)
    assert min(heights) >= 0


def test_a_density_is_highest_where_scores_are() -> None:
    places, heights = density([0.3] * 5 + [0.31] * 5 + [0.9])
    assert places[int(np.argmax(heights))] == pytest.approx(0.3, abs=0.02)
