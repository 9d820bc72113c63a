"""The game of three roles, and leniency: against simulation and enumeration."""

from itertools import product

import numpy as np
import pytest
from msgspec import structs
from test_tournament import made, normal

from proofstone.errors import BadUsage
from proofstone.mechanism.leniency import Choice, Rating, simulated_win, study_leniency, win_chance
from proofstone.mechanism.roles import (
    Roles,
    care_premiums,
    careful_standing,
    payoffs,
    pure_equilibria,
    varied,
)

GAME = Roles(
    base=30, level_1=30, level_2=60, cost=(20, 8, 12), survives=(0.5, 0.7), sufficient=(0.5, 0.9),
    accuracy=0.9, in_time=(0.6, 0.3), late=(0.2, 0.3), guess=0.13, revisions=2, revision_cost=4,
    kept=0.5,
)  # fmt: skip


def simulated(game: Roles, profile: tuple[int, int, int], n: int, seed: int) -> np.ndarray:
    """Play question after question; pay-offs of the verifiers per question that reaches them."""
    rng = np.random.default_rng(seed)
    writer, evidence, answer = profile
    rows = []
    for _ in range(n):
        survives = rng.random() < game.survives[writer]
        earned, seen = -game.cost[0] * writer, np.zeros(2)
        if game.base_on == "written":
            earned += game.base
        bonus, spent, verified, checks = 0.0, 0.0, False, 0
        for turn in range(game.revisions + 1):
            checks += 1
            enough = rng.random() < game.sufficient[writer]
            verified = rng.random() < (game.accuracy if enough and evidence else game.guess)
            if verified:
                bonus = game.level_1 * game.kept**turn
                break
            spent += game.revision_cost if turn < game.revisions else 0.0
        early, late = (game.in_time[writer], game.late[writer]) if answer else (game.guess, 0.0)
        drawn = rng.random()
        seen[0] = bonus - game.cost[1] * evidence * checks
        seen[1] = game.level_1 * (drawn < early) - game.cost[2] * answer
        if survives:
            kept = bonus
            if game.easy_forfeits == "every bonus" and drawn < early:
                kept = 0.0
            earned += kept - spent
            if verified:
                earned += game.base if game.base_on == "verified" else 0.0
                if early <= drawn < early + late:
                    earned += game.level_1
                elif drawn >= early + late:
                    earned += game.level_2
        rows.append((earned, *seen))
    return np.array(rows)


@pytest.mark.parametrize("profile", [(1, 1, 1), (0, 1, 0), (1, 0, 1)])
@pytest.mark.parametrize(
    "game",
    [GAME, structs.replace(GAME, base_on="written", easy_forfeits="the last bonus")],
    ids=["verified", "written"],
)
def test_payoffs_agree_with_play(game: Roles, profile: tuple[int, int, int]) -> None:
    played = simulated(game, profile, 30_000, 4)
    errors = played.std(axis=0) / np.sqrt(len(played))
    assert np.all(np.abs(payoffs(game)[profile] - played.mean(axis=0)) <= 4.5 * errors + 1e-9)


def test_equilibria_are_those_that_nobody_leaves() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        table = rng.integers(0, 3, (2, 2, 2, 3)).astype(float)
        expected = [
            profile
            for profile in product((0, 1), repeat=3)
            if all(
                table[profile][who]
                >= table[tuple(1 - c if k == who else c for k, c in enumerate(profile))][who]
                for who in range(3)
            )
        ]
        assert list(pure_equilibria(table)) == expected


def test_care_is_an_equilibrium_exactly_if_no_premium_is_negative() -> None:
    table = payoffs(GAME)
    assert min(care_premiums(table)) < 0
    assert careful_standing(GAME) == "none"
    cheap = structs.replace(GAME, cost=(5, 1, 1))
    assert min(care_premiums(payoffs(cheap))) > 0
    assert careful_standing(cheap) in ("only", "one of several")
    assert careful_standing(structs.replace(GAME, cost=(0, 0, 0))) == "only"


def test_matching_pennies_has_no_equilibrium_in_pure_strategies() -> None:
    table = np.zeros((2, 2, 2))
    table[..., 0] = [[1, -1], [-1, 1]]
    table[..., 1] = -table[..., 0]
    assert pure_equilibria(table) == ()


def test_values_vary_one_by_one() -> None:
    changed = varied(GAME, {"sufficient": 0.2, "accuracy": 0.4})
    assert changed.sufficient == (0.5, 0.2)
    assert changed.accuracy == 0.4
    with pytest.raises(BadUsage, match="cannot vary"):
        varied(GAME, {"revisions": 3})


def test_all_values_out_of_range_are_told() -> None:
    wrong = structs.replace(GAME, accuracy=2, cost=(-1, 0, 0), in_time=(0.9, 0.3), revisions=-1)
    with pytest.raises(BadUsage) as raised:
        payoffs(wrong)
    for part in ("accuracy", "cost of the writer", "in_time + late (careless)", "revisions"):
        assert part in str(raised.value)


RATING = Rating(
    quality=normal(0.6, 0.15), low_error=normal(0, 0.15), high_error=normal(0, 0.05), bar=0.65,
    bonus=10, cost=2, most=0.3, levels=4,
)  # fmt: skip


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (Choice("high", 0.0), Choice("low", 0.0)),
        (Choice("low", 0.1), Choice("high", 0.3)),
        (Choice("high", 0.2), Choice("high", 0.2)),
    ],
)
def test_chances_of_ratings_agree_with_simulation(mine: Choice, other: Choice) -> None:
    share = simulated_win(RATING, mine, other, n=200_000, seed=6)
    assert win_chance(RATING, mine, other) == pytest.approx(share, abs=4.5 * 0.5 / 447)


def test_paying_the_higher_rating_rewards_leniency() -> None:
    found = study_leniency(RATING)
    assert found.leniency_gain > 0
    assert [each.leniency for each in found.equilibria] == [RATING.most]
    assert all(best.leniency == RATING.most for _other, best in found.best_response)


def test_careful_reading_of_typical_items_loses_below_the_bar() -> None:
    """A bar above the mean is cleared more often by noisy readings."""
    assert max(study_leniency(RATING).effort_gain) < 0
    low_bar = structs.replace(RATING, bar=0.0)
    assert all(abs(gain) < 0.02 for gain in study_leniency(low_bar).effort_gain)


def test_a_large_penalty_leaves_no_leniency() -> None:
    found = study_leniency(structs.replace(RATING, penalty=100))
    assert [each.leniency for each in found.equilibria] == [0]


def test_all_problems_of_a_rating_game_are_told() -> None:
    wrong = structs.replace(
        RATING, low_error=made("constant", value=0), bonus=0, penalty=-1, levels=1
    )
    with pytest.raises(BadUsage) as raised:
        study_leniency(wrong)
    for part in ("low_error", "bonus must be above 0", "penalty", "levels"):
        assert part in str(raised.value)
