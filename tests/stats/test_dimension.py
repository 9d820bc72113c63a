"""Do strata rank differently? Chance is shuffled strata."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.stats.factors import check_dimension

Floats = NDArray[np.float64]
STRATA = np.repeat([3, 5, 8], [40, 60, 100])


def table(seed: int, own: float) -> Floats:
    """200 items in three strata by six respondents; ``own`` is how far profiles are their own."""
    rng = np.random.default_rng(seed)
    profile = own * rng.normal(size=(3, 6))
    level = np.linspace(-1, 1, 6) + np.repeat(profile, [40, 60, 100], axis=0)
    ease = rng.normal(size=(200, 1))
    return (rng.random((200, 6)) < 1 / (1 + np.exp(-level - ease))).astype(float)


def test_own_profiles_are_found() -> None:
    found = check_dimension(table(1, 0.8), STRATA)
    assert found.p < 0.01
    assert found.corrected > found.by_chance
    assert (found.n_units, found.n_strata, found.n_resamples, found.seed) == (200, 3, 500, 0)


def test_the_interaction_is_what_additive_means_leave() -> None:
    """Against the residuals of stratum means after both margins, weighted by items."""
    values = table(2, 0.5)
    means = np.array([values[code == STRATA].mean(axis=0) for code in (3, 5, 8)])
    weights = np.array([40, 60, 100]) / 200
    left = means - means.mean(axis=1, keepdims=True)
    left -= weights @ left
    expected = np.sqrt(weights @ (left**2).mean(axis=1))
    assert check_dimension(values, STRATA, n_resamples=5).interaction == pytest.approx(expected)


def test_without_own_profiles_one_in_twenty_is_found() -> None:
    p = [check_dimension(table(seed, 0.0), STRATA, n_resamples=99).p for seed in range(200)]
    assert 0.015 <= np.mean(np.array(p) <= 0.05) <= 0.1


def test_missing_cells_leave_their_items_out() -> None:
    values = table(3, 0.0)
    values[:10, 0] = np.nan
    assert check_dimension(values, STRATA, n_resamples=5).n_units == 190


@pytest.mark.parametrize(
    ("values", "strata"),
    [
        (np.ones((4, 1)), [0, 0, 1, 1]),
        (np.ones((4, 3)), [0, 0, 0, 0]),
        (np.empty((0, 3)), []),
        (np.full((3, 2), np.nan), [0, 1, 2]),
    ],
)
def test_what_cannot_be_checked_is_nan(values: Floats, strata: list[int]) -> None:
    found = check_dimension(values, np.array(strata, dtype=int))
    assert np.isnan(found.interaction)
    assert np.isnan(found.p)


def test_all_alike_shows_nothing() -> None:
    found = check_dimension(np.ones((6, 3)), np.array([0, 0, 0, 1, 1, 1]))
    assert (found.interaction, found.p) == (0.0, 1.0)
    with pytest.raises(BadUsage):
        check_dimension(np.ones((6, 3)), np.zeros(6, dtype=int), n_resamples=0)
