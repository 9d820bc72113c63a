"""Equilibria of effort and sufficient bonuses: theorem 1 and corollary 1, computed twice."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tournament import GAMES, made, normal

from proofstone.errors import BadUsage
from proofstone.mechanism.bonus import (
    WhitelistState,
    dominant_bonus,
    flat_rate,
    least_rate_bonus,
    least_saving,
    mean_quality_bonus,
    rate_bonus,
    spent_per_item,
)
from proofstone.mechanism.equilibria import (
    all_equilibria,
    is_dominant,
    lowest_rate,
    response,
)
from proofstone.mechanism.tournament import Chances, Tournament, chances

FOUND = chances(GAMES["normal"])
COST = made("lognormal", median=3, sigma=0.5)


def of_gains(low: float, high: float) -> Chances:
    return Chances(
        low_low=0.2, low_high=0.1, high_low=0.2 + low, high_high=0.1 + high,
        reach_low=0.5, reach_high=0.8, error=0.0,
    )  # fmt: skip


@given(
    low=st.floats(0.01, 0.8), high=st.floats(0.01, 0.8), bonus=st.floats(0, 60),
    sigma=st.floats(0.05, 1.5),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_every_equilibrium_answers_itself_and_respects_the_bound(
    low: float, high: float, bonus: float, sigma: float
) -> None:
    """Theorem 1: pi >= G(B dp_min) >= G(0), for each symmetric equilibrium found."""
    game, cost = of_gains(low, high), made("lognormal", median=3, sigma=sigma)
    found = all_equilibria(game, bonus, cost)
    assert any(each.is_symmetric for each in found)
    bound = float(cost.cdf(np.array([bonus * game.least_gain]))[0])
    for each in found:
        assert response(game, bonus, cost, each.first) == pytest.approx(each.second, abs=1e-5)
        assert response(game, bonus, cost, each.second) == pytest.approx(each.first, abs=1e-5)
        if each.is_symmetric:
            assert each.first >= bound - 1e-6
            assert bound >= flat_rate(cost)


def test_all_crossings_of_complements_are_found() -> None:
    """Gains that grow with the other's effort: low, middle (unstable) and high rates."""
    game, cost = of_gains(0.1, 0.6), normal(3.5, 0.5)
    found = all_equilibria(game, 10, cost)
    scanned = np.linspace(0, 1, 200_000)
    gaps = cost.cdf(10 * (0.1 + 0.5 * scanned)) - scanned
    assert len(found) == int(np.sum(np.diff(np.sign(gaps)) != 0)) == 3
    assert [each.is_stable for each in found] == [True, False, True]


def test_substitutes_have_unequal_equilibria_too() -> None:
    """Gains that fall with the other's effort: one works, the other does not."""
    found = all_equilibria(of_gains(0.6, 0.1), 10, normal(3.5, 0.5))
    unequal = [each for each in found if not each.is_symmetric]
    assert len(unequal) == 1
    assert unequal[0].is_stable
    assert (unequal[0].first, unequal[0].second) == pytest.approx((0, 1), abs=0.05)
    assert [each.is_stable for each in found if each.is_symmetric] == [False]


@pytest.mark.parametrize(
    ("gains", "bonus", "expected"),
    [
        ((0.3, 0.3), 5, [(0, 0)]),
        ((0.3, 0.3), 20, [(1, 1)]),
        ((0.1, 0.6), 10, [(0, 0), (0.6, 0.6), (1, 1)]),
        ((0.6, 0.1), 10, [(0, 1), (0.4, 0.4)]),
        ((0.4, 0.4), 10, [(0, 0), (0, 1), (1, 1)]),
    ],
)
def test_one_cost_for_all_is_a_two_by_two_game(
    gains: tuple[float, float], bonus: float, expected: list[tuple[float, float]]
) -> None:
    found = all_equilibria(of_gains(*gains), bonus, made("constant", value=4))
    assert np.array([(e.first, e.second) for e in found]) == pytest.approx(np.array(expected))


def test_without_a_bonus_only_free_effort_is_made() -> None:
    found = all_equilibria(FOUND, 0, normal(1, 1))
    assert [each.first for each in found] == pytest.approx([flat_rate(normal(1, 1))])
    assert flat_rate(COST) == 0


def test_corollary_a_is_where_effort_becomes_dominant() -> None:
    bonus = dominant_bonus(FOUND, 4)
    assert is_dominant(FOUND, bonus * 1.001, 4) == "dominant"
    assert is_dominant(FOUND, bonus * 0.999, 4) == "depends"
    assert is_dominant(FOUND, 0.1, 4) == "never"
    assert dominant_bonus(of_gains(0.2, 0.0), 4) == math.inf
    assert dominant_bonus(of_gains(0.2, 0.0), 0) == 0


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.8, 0.99])
def test_corollary_b_reaches_the_rate_and_the_least_bonus_is_smaller(rate: float) -> None:
    enough, least = rate_bonus(FOUND, COST, rate), least_rate_bonus(FOUND, COST, rate)
    assert lowest_rate(FOUND, enough, COST) >= rate - 1e-9
    assert least <= enough
    if rate:
        assert lowest_rate(FOUND, least * 1.0001, COST) >= rate - 1e-6
        assert lowest_rate(FOUND, least * 0.999, COST) < rate


def test_corollary_c_reaches_the_mean_by_simulation() -> None:
    game = GAMES["normal"]
    assert isinstance(game, Tournament)
    bonus = mean_quality_bonus(game, FOUND, COST, 0.1)
    rate = lowest_rate(FOUND, bonus, COST)
    rng = np.random.default_rng(2)
    works = rng.random(200_000) < rate
    quality = np.where(works, game.high.draw(rng, 200_000), game.low.draw(rng, 200_000))
    assert quality.mean() - game.low.mean() >= 0.1 - 4 * quality.std() / math.sqrt(200_000)
    with pytest.raises(BadUsage, match="out of reach"):
        mean_quality_bonus(game, FOUND, COST, 0.16)
    with pytest.raises(BadUsage, match="does not raise"):
        mean_quality_bonus(Tournament(low=normal(1, 1), high=normal(1, 1), bar=0), FOUND, COST, 0)


def test_spending_is_the_simulated_share_of_bonuses() -> None:
    game, rate = GAMES["normal"], 0.4
    rng = np.random.default_rng(8)
    n = 200_000

    def scores() -> np.ndarray:
        works = rng.random(n) < rate
        quality = np.where(works, game.high.draw(rng, n), game.low.draw(rng, n))
        return quality + game.noise.draw(rng, n)

    paid = 7 * np.mean(np.maximum(scores(), scores()) >= game.bar)
    assert spent_per_item(FOUND, 7, rate) == pytest.approx(paid, abs=7 * 4.5 * 0.5 / math.sqrt(n))


def test_a_whitelist_takes_its_least_saving_off_the_cost() -> None:
    states = [WhitelistState(saved=0.2, value=10), WhitelistState(saved=0.05, value=30)]
    saving = least_saving(states)
    assert saving == pytest.approx(1.5)
    assert least_saving([]) == 0
    assert dominant_bonus(FOUND, 4, saving) == pytest.approx(2.5 / FOUND.least_gain)
    assert dominant_bonus(FOUND, 1, saving) == 0
    with pytest.raises(BadUsage, match="state 1"):
        least_saving([WhitelistState(saved=2, value=1)])
    with pytest.raises(BadUsage, match=r"\[0, 1\)"):
        rate_bonus(FOUND, COST, 1.0)


def test_an_unreachable_rate_has_no_finite_bonus() -> None:
    assert least_rate_bonus(of_gains(0.2, 0.0), COST, 0.5) == math.inf
    assert least_rate_bonus(FOUND, normal(-5, 1), 0.5) == 0
