"""What a pilot identifies: against games with known gains, and coverage of the intervals."""

import math

import numpy as np
import pytest
from test_tournament import normal

from proofstone.mechanism.pilot import PilotReview, bars_around, calibrate
from proofstone.mechanism.tournament import Tournament, chances

GAME = Tournament(low=normal(0.6, 0.1), high=normal(0.75, 0.1), noise=normal(0, 0.05), bar=0.65)
TRUE = chances(GAME)
EXTRA = 4.0


def pilot(
    seed: int, *, reviewers: int = 60, each: int = 4, group: str = "", costs: bool = True
) -> list[PilotReview]:
    """Reviewers assigned to one effort, each with a level of their own in the noise of a score."""
    rng = np.random.default_rng(seed)
    reviews = []
    for who in range(reviewers):
        effort = ("low", "high")[who % 2]
        for _ in range(each):
            quality = getattr(GAME, effort).draw(rng, 1)[0]
            cost = 5 + EXTRA * (effort == "high") + rng.normal(0, 1)
            reviews.append(
                PilotReview(
                    reviewer=f"r{who}", group=group, effort=effort,
                    score=float(quality + rng.normal(0, 0.05)),
                    cost=float(cost) if costs else math.nan,
                )
            )  # fmt: skip
    return reviews


def test_large_pilots_find_the_gains_the_cost_and_the_bonus() -> None:
    (found,) = calibrate(pilot(1, reviewers=800), GAME.bar, n_resamples=200)
    assert found.identified == "all"
    assert found.gain_low.value == pytest.approx(TRUE.gain_low, abs=0.03)
    assert found.gain_high.value == pytest.approx(TRUE.gain_high, abs=0.03)
    assert found.cost.value == pytest.approx(EXTRA, abs=0.1)
    assert found.bonus.value == pytest.approx(EXTRA / TRUE.least_gain, rel=0.1)


def test_intervals_contain_the_truth_as_often_as_they_say() -> None:
    held = {"gain_low": 0, "gain_high": 0, "least_gain": 0, "cost": 0, "bonus": 0}
    truth = {
        "gain_low": TRUE.gain_low, "gain_high": TRUE.gain_high, "least_gain": TRUE.least_gain,
        "cost": EXTRA, "bonus": EXTRA / TRUE.least_gain,
    }  # fmt: skip
    n = 200
    for seed in range(n):
        (found,) = calibrate(pilot(seed), GAME.bar, n_resamples=300, seed=seed)
        for name in held:
            interval = getattr(found, name)
            held[name] += interval.low <= truth[name] <= interval.high
    for name, count in held.items():
        assert count / n >= 0.90, name


def test_without_costs_only_the_gains_are_identified() -> None:
    (found,) = calibrate(pilot(2, costs=False), GAME.bar, n_resamples=100)
    assert found.identified == "gains"
    assert found.why == "costs of reviews"
    assert math.isnan(found.bonus.value)
    assert found.least_gain.low < found.least_gain.value < found.least_gain.high


def test_logs_identify_nothing() -> None:
    logs = [PilotReview(reviewer=e.reviewer, score=e.score, cost=e.cost) for e in pilot(3)]
    (found,) = calibrate(logs, GAME.bar)
    assert (found.identified, found.why) == ("nothing", "assigned effort or pay")
    assert math.isnan(found.gain_low.value)
    one_arm = [e for e in pilot(3) if e.effort == "high"]
    assert calibrate(one_arm, GAME.bar)[0].why == "reviews of low effort"
    paid = [PilotReview(reviewer=e.reviewer, score=e.score, pay=5.0) for e in pilot(3)]
    assert calibrate(paid, GAME.bar)[0].why == "reviews without a bonus"
    unpaid = [PilotReview(reviewer=e.reviewer, score=e.score, pay=0.0) for e in pilot(3)]
    assert calibrate(unpaid, GAME.bar)[0].why == "reviews at one bonus above 0"


def test_assigned_pay_gives_lower_bounds_of_the_gain() -> None:
    """Half of the paid reviewers work harder: the bound is half of the gain."""
    rng = np.random.default_rng(9)
    reviews = []
    for who in range(1_200):
        pay = float(10 * (who % 2))
        works = pay > 0 and rng.random() < 0.5
        quality = (GAME.high if works else GAME.low).draw(rng, 1)[0] + rng.normal(0, 0.05)
        reviews.append(PilotReview(reviewer=f"r{who}", score=float(quality), pay=pay))
    (found,) = calibrate(reviews, GAME.bar, n_resamples=100)
    assert found.identified == "bounds"
    assert found.gain_low.value == pytest.approx(0.5 * TRUE.gain_low, abs=0.04)
    assert found.gain_high.value == pytest.approx(0.5 * TRUE.gain_at(0.5), abs=0.04)
    assert math.isnan(found.least_gain.value)


def test_few_reviewers_give_no_interval_and_groups_stand_apart() -> None:
    reviews = [*pilot(4, reviewers=12, group="Law"), *pilot(5, group="Art")]
    found = calibrate(reviews, GAME.bar, n_resamples=100)
    assert [each.group for each in found] == ["Art", "Law"]
    assert math.isnan(found[1].gain_low.low)
    assert not math.isnan(found[0].gain_low.low)


def test_no_reviewer_is_compared_with_himself() -> None:
    """One reviewer in both arms and one rival: only pairs of two people count."""
    reviews = [
        PilotReview(reviewer="a", effort="low", score=0.1),
        PilotReview(reviewer="a", effort="high", score=0.9),
        PilotReview(reviewer="b", effort="low", score=0.5),
        PilotReview(reviewer="b", effort="high", score=0.7),
    ]
    (found,) = calibrate(reviews, 0.0, n_resamples=10)
    # High against low: a beats b's 0.5, b beats a's 0.1; low against low: one of two.
    assert found.gain_low.value == pytest.approx(1.0 - 0.5)
    assert found.gain_high.value == pytest.approx(0.5 - 0.0)


def test_a_gain_that_may_be_zero_supports_no_finite_bonus() -> None:
    rng = np.random.default_rng(0)
    reviews = [
        PilotReview(
            reviewer=f"r{who}", effort=("low", "high")[who % 2], score=float(rng.normal()),
            cost=1.0 + who % 2,
        )
        for who in range(40)
    ]  # fmt: skip
    (found,) = calibrate(reviews, 0.0, n_resamples=300)
    assert found.bonus.high == math.inf


def test_bars_of_the_sensitivity_table_hold_the_stated_one() -> None:
    bars = bars_around(pilot(6), 0.65)
    assert 0.65 in bars
    assert list(bars) == sorted(bars)
