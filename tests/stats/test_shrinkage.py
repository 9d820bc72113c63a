"""The hierarchical model: what it states at the null, at known skill, and for what it is silent."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import Spread, measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.stability import Shrinkage, bootstrap_stability, shrink_scores

Floats = NDArray[np.float64]
N_MODELS, N_ITEMS = 20, 400


def world(rng: np.random.Generator, sd: float, n_items: int = N_ITEMS) -> tuple[Floats, Floats]:
    """Right or wrong answers (items, models) on items of unequal difficulty, and true scores."""
    base = special.expit(rng.normal(0.0, 1.2, n_items))
    skill = rng.normal(0.0, 1.0, N_MODELS) * sd
    # The mean of base (1 - base) is 0.19 over the items that there are.
    chance = np.clip(base[:, None] + skill * (base * (1 - base) / 0.19)[:, None], 0.0, 1.0)
    return (rng.random(chance.shape) < chance).astype(np.float64), 0.5 + skill


def spread_of(values: Floats, keys: SharedKeys | None = None) -> Spread:
    n = len(values)
    return measure_spread(values, equal_weights(n), keys or SharedKeys.none(n), "domain")


def shrunken(values: Floats, keys: SharedKeys | None = None, seed: int = 0) -> Shrinkage:
    found = shrink_scores(spread_of(values, keys), n_resamples=1_000, seed=seed)
    assert found is not None
    return found


def simulate(sd: float, times: int, seed: int) -> tuple[float, float, float]:
    """What the leader's probability is on average, how often it is truly the best, and how often
    intervals hold the true score, averaged over models."""
    rng = np.random.default_rng(seed)
    stated, best, covered = [], [], []
    for time in range(times):
        values, true = world(rng, sd)
        found = shrunken(values, seed=time)
        leader = int(values.mean(axis=0).argmax())
        stated.append(found.scores[leader].best)
        best.append(int(true.argmax()) == leader)
        covered += [s.low <= true[s.respondent] <= s.high for s in found.scores]
    return float(np.mean(stated)), float(np.mean(best)), float(np.mean(covered))


def test_equal_models_are_stated_a_third_of_what_a_bootstrap_states() -> None:
    """20 equal models on 400 items: each is the best in 5% of cases. At most 16% on average for
    the leader; the bootstrap states about a third."""
    stated, _, covered = simulate(0.0, 200, seed=3)
    assert 0.05 < stated <= 0.16
    assert covered >= 0.94
    rng = np.random.default_rng(3)
    alone = [
        bootstrap_stability(world(rng, 0.0)[0], n_resamples=200).first_shared for _ in range(20)
    ]
    assert np.mean(alone) > 0.28


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.01, 0.03])
def test_the_leaders_probability_is_within_three_points_of_its_frequency(sd: float) -> None:
    """At a true standard deviation of 1 and of 3 points; 3,000 worlds leave an error of 0.9."""
    stated, best, covered = simulate(sd, 3_000, seed=21)
    assert stated == pytest.approx(best, abs=0.03)
    assert 0.93 <= covered <= 0.975


@pytest.mark.slow
def test_the_null_at_length() -> None:
    """2,000 worlds: at most 16%."""
    stated, _, covered = simulate(0.0, 2_000, seed=5)
    assert stated <= 0.16
    assert covered >= 0.94


def test_two_models_agree_with_a_slow_integral() -> None:
    """Of two, the difference d is normal around theta with variance v, theta is N(0, 2 tau**2):
    P(theta > 0 | d) integrated over tau by SciPy's own quadrature."""
    rng = np.random.default_rng(1)
    values = (rng.random((300, 2)) < [0.66, 0.6]).astype(np.float64)
    spread = spread_of(values)
    d = float(spread.means[0] - spread.means[1])
    v = float(spread.difference_variances()[0, 1]) * 299 / 297
    tau = np.linspace(1e-4, 1.5, 40_000)
    prior = 1.0 / (1.0 + (tau / (5.0 * np.sqrt(v / 2))) ** 2)
    weight = prior * stats.norm.pdf(d, 0.0, np.sqrt(v + 2 * tau**2))
    kept = 2 * tau**2 / (2 * tau**2 + v)
    above = stats.norm.cdf(kept * d / np.sqrt(kept * v))
    expected = np.trapezoid(weight * above, tau) / np.trapezoid(weight, tau)
    found = shrink_scores(spread, n_resamples=40_000)
    assert found is not None
    assert found.scores[0].best == pytest.approx(expected, abs=0.015)


def test_items_that_share_a_key_count_once() -> None:
    """Every item copied four times with one key: as surely as without the copies."""
    values, _ = world(np.random.default_rng(7), 0.03, n_items=120)
    copied = np.repeat(values, 4, axis=0)
    keys = SharedKeys(480, np.arange(480), np.arange(480) // 4)
    once, alike, apart = shrunken(values), shrunken(copied, keys), shrunken(copied)
    leader = int(values.mean(axis=0).argmax())
    assert alike.scores[leader].best == pytest.approx(once.scores[leader].best, abs=0.03)
    assert apart.scores[leader].best > once.scores[leader].best + 0.1


def test_scores_are_drawn_towards_the_mean_and_probabilities_sum_to_one() -> None:
    values, _ = world(np.random.default_rng(9), 0.01)
    found = shrunken(values)
    seen = values.mean(axis=0)
    assert sum(score.best for score in found.scores) == pytest.approx(1.0)
    leader, last = int(seen.argmax()), int(seen.argmin())
    assert found.scores[leader].value < seen[leader]
    assert found.scores[last].value > seen[last]
    assert found.spread_low < found.spread < found.spread_high


def test_it_says_nothing_where_nothing_can_be_said() -> None:
    """One model; models that score alike item by item; nine items; too many models."""
    values, _ = world(np.random.default_rng(2), 0.0, n_items=30)
    assert shrink_scores(spread_of(values[:, :1])) is None
    assert shrink_scores(spread_of(np.repeat(values[:, :1], 5, axis=1))) is None
    assert shrink_scores(spread_of(values[:9])) is None
    assert shrink_scores(spread_of(np.repeat(values, 51, axis=1))) is None


def test_more_models_than_items_are_no_surer() -> None:
    """200 equal models on 40 items: the leader is not called the best."""
    values = (np.random.default_rng(4).random((40, 200)) < 0.5).astype(np.float64)
    assert max(score.best for score in shrunken(values).scores) < 0.2
