"""Item response theory on the section of the LSAT that all programs are tried on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as laws

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.items import fit_two_parameter
from proofstone.stats.stability import measure_reliability

Floats = NDArray[np.float64]

# Bock and Lieberman (1970), table 1: LSAT section 6, how many of 1,000 gave each pattern of five
# answers, from 00000 to 11111.
LSAT_6 = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15,
          10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]  # fmt: skip


def lsat() -> Floats:
    patterns = (np.arange(32)[:, None] >> np.arange(4, -1, -1)) & 1
    return np.repeat(patterns, LSAT_6, axis=0).T.astype(float)


def test_lsat_section_6() -> None:
    """Marginal maximum likelihood: slopes 0.825, 0.723, 0.890, 0.689, 0.657, intercepts 2.773,
    0.990, 0.249, 1.285, 2.053, log-likelihood -2466.65 (Rizopoulos 2006, section 3.1, after Bock
    and Aitkin 1981)."""
    found = fit_two_parameter(lsat(), with_prior=False, most_iterations=1_000, tolerance=1e-6)
    assert found.slope == pytest.approx([0.825, 0.723, 0.890, 0.689, 0.657], abs=0.003)
    assert found.intercept == pytest.approx([2.773, 0.990, 0.249, 1.285, 2.053], abs=0.003)
    assert found.log_likelihood == pytest.approx(-2466.65, abs=0.01)
    assert found.infit == pytest.approx([1.0] * 5, abs=0.05)
    assert found.outfit == pytest.approx([1.0] * 5, abs=0.05)
    assert found.flags == ()
    assert found.difficulty == pytest.approx(-found.intercept / found.slope)


def simulated(seed: int, n: int, m: int) -> tuple[Floats, Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    slope, intercept = np.exp(0.3 * rng.normal(size=n)), rng.normal(size=n)
    skill = rng.normal(size=m)
    chance = 1 / (1 + np.exp(-(slope[:, None] * skill + intercept[:, None])))
    return (rng.random((n, m)) < chance).astype(float), slope, intercept, skill


def test_skills_and_difficulties_are_recovered_from_few_respondents() -> None:
    """40 respondents on 400 items: skills well, intercepts roughly, slopes by the prior."""
    values, _, intercept, skill = simulated(1, 400, 40)
    found = fit_two_parameter(values)
    assert np.corrcoef(found.skill, skill)[0, 1] > 0.98
    assert np.corrcoef(found.intercept, intercept)[0, 1] > 0.9
    assert np.isnan(found.reliability)
    assert found.flags == ("few-respondents",)
    assert np.median(found.infit) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("sd", "truth"), [(0.0, 0.0), (0.3, 0.9), (1.0, 0.99)])
def test_reliability_is_that_of_the_simulation(sd: float, truth: float) -> None:
    """100 models, 400 items. With a prior of slopes around 1 equal models came out at 0.6."""
    rng = np.random.default_rng(int(10 * sd))
    slope, ease = np.exp(0.3 * rng.normal(size=400)), rng.normal(size=400)
    skill = sd * rng.normal(size=100)
    chance = 1 / (1 + np.exp(-(slope[:, None] * skill + ease[:, None])))
    true = chance.mean(axis=0)
    noise = float((chance * (1 - chance)).mean()) / 400
    assert true.var() / (true.var() + noise) == pytest.approx(truth, abs=0.02)
    values = (rng.random(chance.shape) < chance).astype(float)
    found = fit_two_parameter(values)
    assert found.reliability == pytest.approx(truth, abs=0.15 if sd == 0 else 0.025)
    kr20 = measure_reliability(values, SharedKeys.none(400))
    assert kr20.low <= truth <= kr20.high


def test_twenty_equal_models_have_no_reliability() -> None:
    """The model stated 50 to 71%, now none. KR-20's interval covers 0 as often as stated."""
    rng, held = np.random.default_rng(4), []
    for _ in range(400):
        values = (rng.random((100, 20)) < rng.random((100, 1))).astype(float)
        found = measure_reliability(values, SharedKeys.none(100))
        held.append(found.low <= 0.0 <= found.high)
    assert 0.93 <= np.mean(held) <= 0.97
    assert np.isnan(fit_two_parameter(values).reliability)


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.3, 1.0])
def test_the_interval_of_kr_20_holds_the_reliability(sd: float) -> None:
    """2,000 samples of 20 models and 200 items of one slope; the true share by quadrature."""
    rng, held = np.random.default_rng(8), []
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    for _ in range(2_000):
        hard = rng.normal(size=(200, 1))
        chance = 1 / (1 + np.exp(hard - sd * nodes))
        means = chance.mean(axis=0)
        between = float(weights @ means**2 - (weights @ means) ** 2)
        # Residuals hold what a model's skill does on one item more than on the others.
        lean = chance - means - (chance @ weights - means @ weights)[:, None]
        noise = float(((chance * (1 - chance) + lean**2).mean(axis=0) @ weights) / 200)
        skill = sd * rng.normal(size=20)
        values = rng.random((200, 20)) < 1 / (1 + np.exp(hard - skill))
        found = measure_reliability(values.astype(float), SharedKeys.none(200))
        held.append(found.low <= between / (between + noise) <= found.high)
    assert 0.92 <= np.mean(held) <= 0.98


def test_kr_20_by_hand() -> None:
    """Four models, three items: k / (k - 1) (1 - sum of p q / variance of sums), and Feldt's F."""
    values = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=float)
    sums = values.sum(axis=0)
    shares = values.mean(axis=1)
    expected = 3 / 2 * (1 - float((shares * (1 - shares)).sum()) / float(sums.var()))
    found = measure_reliability(values, SharedKeys.none(3))
    assert found.value == pytest.approx(expected)
    low, high = (1 - (1 - expected) * laws.f.ppf(q, 3, 6) for q in (0.975, 0.025))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_an_item_that_does_not_fit_shows() -> None:
    """A coin and a turned key lose their slope; an item that only the middling get right, which no
    such curve has, fails the test of its curve."""
    values, _, _, skill = simulated(2, 60, 300)
    values[0] = np.random.default_rng(0).integers(0, 2, 300)
    values[1] = 1.0 - values[1]
    values[2] = np.abs(skill) < 0.7
    found = fit_two_parameter(values)
    assert found.slope[0] < 0.5
    assert found.slope[1] < 0.3
    assert found.fit_p[2] < 1e-6
    assert found.fit_p[2] == found.fit_p.min()


def test_items_that_fit_seldom_fail() -> None:
    """Of 600 items that follow the model about one in twenty fails at 5%."""
    p = np.concatenate([fit_two_parameter(simulated(s, 200, 120)[0]).fit_p for s in range(3)])
    assert 0.01 <= np.mean(p < 0.05) <= 0.1


def test_missing_cells_and_shares_are_taken() -> None:
    values, *_ = simulated(3, 50, 60)
    holes = values.copy()
    holes[np.random.default_rng(0).random(values.shape) < 0.2] = np.nan
    whole, partial = fit_two_parameter(values), fit_two_parameter(holes)
    assert np.corrcoef(whole.skill, partial.skill)[0, 1] > 0.97
    shares = fit_two_parameter((values + np.roll(values, 1, axis=1)) / 2)
    assert np.isfinite(shares.slope).all()


@pytest.mark.parametrize(
    "values",
    [np.empty((0, 3)), np.empty((3, 0)), np.ones((1, 1)), np.ones((4, 5)), np.zeros((4, 5)),
     np.full((2, 3), np.nan)],
)  # fmt: skip
@pytest.mark.parametrize("with_prior", [True, False])
def test_degenerate_tables_are_answered(values: Floats, with_prior: bool) -> None:
    found = fit_two_parameter(values, with_prior=with_prior, most_iterations=50)
    assert found.slope.shape == (values.shape[0],)
    assert found.skill.shape == (values.shape[1],)
    assert np.isfinite(found.intercept).all()


def test_too_few_steps_are_told() -> None:
    assert "not-converged" in fit_two_parameter(lsat(), most_iterations=2).flags
