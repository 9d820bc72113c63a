"""Chances of a tournament: against simulation, closed forms, and the paper's inequalities."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.errors import BadUsage
from proofstone.mechanism.distributions import Distribution, read_distribution
from proofstone.mechanism.tournament import (
    Tournament,
    chances,
    dominance,
    score_cdf,
    simulate,
)


def made(shape: str, **parameters: object) -> Distribution:
    return read_distribution({"distribution": shape, **parameters}, "here")


def normal(mean: float, sd: float) -> Distribution:
    return made("normal", mean=mean, sd=sd)


GAMES = {
    "normal": Tournament(
        low=normal(0.6, 0.1), high=normal(0.75, 0.1), noise=normal(0, 0.05), bar=0.65
    ),
    "beta": Tournament(
        low=made("beta", a=4, b=3), high=made("beta", a=6, b=2), noise=normal(0, 0.05), bar=0.65
    ),
    "beta without noise": Tournament(
        low=made("beta", a=2, b=3), high=made("beta", a=3, b=2), bar=0.5
    ),
    "pilot": Tournament(
        low=made("empirical", values=[0.2, 0.4, 0.4, 0.5, 0.8]),
        high=made("empirical", values=[0.5, 0.6, 0.9, 0.9]),
        noise=made("laplace", sd=0.1),
        bar=0.55,
    ),
    "uniform noise": Tournament(
        low=normal(0, 1), high=normal(1, 2), noise=made("uniform", low=-1, high=1), bar=0.5
    ),
    "a bar below every score": Tournament(low=normal(0, 1), high=normal(1, 1), bar=-1e6),
    "a bar above every score": Tournament(low=normal(0, 1), high=normal(1, 1), bar=1e6),
}


@pytest.mark.parametrize("name", GAMES)
def test_chances_agree_with_a_simulation(name: str) -> None:
    game = GAMES[name]
    found, drawn = chances(game), simulate(game, n=200_000, seed=5)
    computed = (
        found.low_low, found.low_high, found.high_low, found.high_high,
        found.reach_low, found.reach_high,
    )  # fmt: skip
    for value, share, error in zip(computed, drawn.shares, drawn.errors, strict=True):
        assert abs(value - share) <= 4.5 * error + 1e-9


@pytest.mark.parametrize("name", GAMES)
def test_exactly_one_wins_if_one_reaches_the_bar(name: str) -> None:
    found = chances(GAMES[name])
    reach = {"low": found.reach_low, "high": found.reach_high}
    for mine, other in (("low", "low"), ("low", "high"), ("high", "high")):
        won = getattr(found, f"{mine}_{other}") + getattr(found, f"{other}_{mine}")
        assert won == pytest.approx(1 - (1 - reach[mine]) * (1 - reach[other]), abs=1e-9)
    for rate in (0.0, 0.3, 1.0):
        pairs = [(rate if e == "high" else 1 - rate, e) for e in ("low", "high")]
        spent = sum(
            a * b * (1 - (1 - reach[e]) * (1 - reach[f])) for a, e in pairs for b, f in pairs
        )
        assert found.spent(rate) == pytest.approx(spent, abs=1e-12)


def test_two_normal_scores_without_a_bar_have_a_closed_form() -> None:
    found = chances(Tournament(low=normal(0, 1), high=normal(1, 2), noise=normal(0, 1), bar=-1e9))
    apart = 1 / math.sqrt(1 + 4 + 2)
    assert found.high_low == pytest.approx(0.5 * math.erfc(-apart / math.sqrt(2)), abs=1e-7)
    assert found.low_low == pytest.approx(0.5, abs=1e-9)
    assert found.high_high == pytest.approx(0.5, abs=1e-9)


def test_a_gain_is_the_mean_difference_of_score_cdfs_at_the_threshold() -> None:
    """Appendix C: Delta p(e) = E[F_L(T) - F_H(T)] with T = max(S^e, tau), drawn here."""
    game = GAMES["beta"]
    rng = np.random.default_rng(11)
    found = chances(game)
    for effort, gain in (("low", found.gain_low), ("high", found.gain_high)):
        scores = getattr(game, effort).draw(rng, 20_000) + game.noise.draw(rng, 20_000)
        at = np.maximum(scores, game.bar)
        differences = score_cdf(game.low, game.noise, at) - score_cdf(game.high, game.noise, at)
        error = differences.std() / math.sqrt(len(at))
        assert abs(differences.mean() - gain) < 4.5 * error


@given(
    shift=st.floats(0, 3), spread=st.floats(0.05, 3), noise=st.floats(0.01, 3), bar=st.floats(-4, 4)
)
@settings(max_examples=40, deadline=None)
def test_dominance_makes_every_gain_at_least_zero(
    shift: float, spread: float, noise: float, bar: float
) -> None:
    game = Tournament(
        low=normal(0, spread), high=normal(shift, spread), noise=normal(0, noise), bar=bar
    )
    assert dominance(game.low, game.high).holds
    found = chances(game)
    assert found.least_gain >= -1e-7


def test_effort_that_widens_scores_fails_dominance_and_may_not_pay() -> None:
    game = Tournament(low=normal(0, 0.1), high=normal(0.02, 1), noise=normal(0, 0.01), bar=-0.5)
    told = dominance(game.low, game.high)
    assert not told.holds
    assert told.excess == pytest.approx(
        float((game.high.cdf(np.array([told.at])) - game.low.cdf(np.array([told.at])))[0])
    )
    assert chances(game).gain_low < 0.05


def test_equal_efforts_gain_nothing() -> None:
    game = Tournament(low=normal(0, 1), high=normal(0, 1), noise=normal(0, 1), bar=0.3)
    found = chances(game)
    assert found.gain_low == pytest.approx(0, abs=1e-12)
    assert not dominance(game.low, game.high).is_strict


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (
            Tournament(low=made("empirical", values=[1, 2]), high=normal(2, 1), bar=1),
            "has ties",
        ),
        (Tournament(low=made("constant", value=1), high=normal(2, 1), bar=1), "has ties"),
        (
            Tournament(low=normal(1, 1), high=normal(2, 1), noise=made("constant", value=0), bar=1),
            "noise",
        ),
    ],
)
def test_scores_that_may_tie_are_refused(game: Tournament, said: str) -> None:
    with pytest.raises(BadUsage, match=said):
        chances(game)


def test_all_problems_of_a_distribution_are_told_at_once() -> None:
    with pytest.raises(BadUsage) as raised:
        made("beta", a=-1, b=math.nan, low=2, high=1, c=3)
    said = str(raised.value)
    for part in ("unknown parameter 'c'", "a must be above 0", "b must be a finite", "low (2)"):
        assert part in said
    with pytest.raises(BadUsage, match="unknown distribution 'gaussian'"):
        made("gaussian")
    with pytest.raises(BadUsage, match="at least two finite numbers"):
        made("empirical", values=[1])
    with pytest.raises(BadUsage, match="mean must be above 0"):
        made("exponential", mean=0)


@pytest.mark.parametrize(
    "each",
    [
        made("normal", mean=1, sd=2), made("laplace", mean=1, sd=2), made("beta", a=2, b=5),
        made("uniform", low=-1, high=4), made("exponential", mean=3),
        made("lognormal", median=2, sigma=0.4), made("empirical", values=[1, 1, 4, 9]),
        made("interpolated", values=[1, 1.5, 4, 9]), made("constant", value=2),
    ],
    ids=lambda each: each.shape,
)  # fmt: skip
def test_distributions_agree_with_their_draws(each: Distribution) -> None:
    drawn = each.draw(np.random.default_rng(3), 100_000)
    assert each.mean() == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 300 + 1e-12)
    for at in np.quantile(drawn, [0.1, 0.5, 0.9]) + 1e-9:
        assert float(each.cdf(np.array([at]))[0]) == pytest.approx(np.mean(drawn <= at), abs=0.01)
    values, weights = each.nodes()
    assert weights.sum() == pytest.approx(1)
    assert values @ weights == pytest.approx(each.mean(), rel=1e-3)
