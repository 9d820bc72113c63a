"""Simulation: what is said of answers that depend holds as often as it says, by keys that overlap.

Each question rests on three of many facts, and is asked once or several times.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.stats.agreement import correct_judged_rate
from proofstone.stats.calibration import Calibration, calibrate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.factors import check_dimension
from proofstone.stats.items import position_bias

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]
FACTS = 3
FIGURES = ("over_confidence", "brier", "within_bins", "auroc", "risk_area")
SUMS = ("ece", "reliability", "resolution")
# Of a mean near one half, m (1 - m) is nearly the same all over its interval.
FLAT = ("uncertainty",)


def logistic(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def composed(
    rng: np.random.Generator, n: int, n_facts: int
) -> tuple[NDArray[np.int64], SharedKeys]:
    """Three different facts for each of n questions, each three as likely as any other."""
    facts = np.empty((n, FACTS), dtype=np.int64)
    for drawn in range(FACTS):
        # One of those that are left, by its place among them: past each one drawn that is no later.
        left = rng.integers(0, n_facts - drawn, n)
        for taken in np.sort(facts[:, :drawn], axis=1).T:
            left += left >= taken
        facts[:, drawn] = left
    return facts, SharedKeys(n, np.repeat(np.arange(n), FACTS), facts.ravel())


def eased(rng: np.random.Generator, facts: NDArray[np.int64], n_facts: int, m: int = 1) -> Floats:
    """The ease of each question to each of m respondents, of variance one (questions, m)."""
    return rng.normal(size=(n_facts, m))[facts].sum(axis=1) / np.sqrt(FACTS)


def confident(
    rng: np.random.Generator, n: int, samples: int, n_facts: int
) -> tuple[Floats, Floats, NDArray[np.int64], SharedKeys]:
    """Answers that are surer than right, more so on questions whose facts are hard."""
    facts, keys = composed(rng, n, n_facts)
    ease = eased(rng, facts, n_facts)[:, 0]
    unit = np.repeat(np.arange(n), samples)
    sure = 0.3 + rng.normal(size=n * samples) + 0.5 * ease[unit]
    chance = logistic(sure - 0.5 + 0.8 * (rng.normal(size=n)[unit] + ease[unit]))
    return logistic(sure), (rng.random(n * samples) < chance).astype(float), unit, keys


def the_truth() -> Calibration:
    """By 300,000 answers that share nothing."""
    rng = np.random.default_rng(1)
    parts = [confident(rng, 3_000, 1, 9_000)[:2] for _ in range(100)]
    confidence, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    return calibrate(confidence, scores, n_resamples=2)


@pytest.mark.parametrize("samples", [1, 3])
def test_calibration_intervals_hold_the_truth(samples: int) -> None:
    """2,000 samples of 300 questions on 900 facts: about 75 effective groups. Of sums of distances
    over bins, whose noise has ten directions, 88 to 98 in 100."""
    truth = the_truth()
    rng = np.random.default_rng(2)
    held = dict.fromkeys((*FIGURES, *SUMS, *FLAT), 0)
    for seed in range(2_000):
        confidence, scores, unit, keys = confident(rng, 300, samples, 900)
        found = calibrate(confidence, scores, unit=unit, keys=keys, n_resamples=300, seed=seed)
        for name in held:
            interval = getattr(found, name)
            held[name] += interval.low <= getattr(truth, name).value <= interval.high
    shares = {name: count / 2_000 for name, count in held.items()}
    assert {name: share for name, share in shares.items() if not 0.88 <= share <= 0.985} == {}
    assert {name: shares[name] for name in FIGURES if not 0.925 <= shares[name] <= 0.975} == {}


def test_corrected_rates_hold_the_truth() -> None:
    """2,000 samples: people saw all records of 150 of 600 questions, each asked of two models."""
    rng = np.random.default_rng(3)
    held = naive = 0
    for _ in range(2_000):
        facts, keys = composed(rng, 600, 2_000)
        unit = np.repeat(np.arange(600), 2)
        ease = eased(rng, facts, 2_000)[unit, 0] * 1.5
        people = (rng.random(1_200) < logistic(ease)).astype(float)
        judge = np.where(rng.random(1_200) < 0.15, 1.0, people)
        split = (people[:300], judge[:300], judge[300:])
        found = correct_judged_rate(*split, unit=unit, keys=keys).corrected
        alone = correct_judged_rate(*split).corrected
        held += found.low <= 0.5 <= found.high
        naive += alone.low <= 0.5 <= alone.high
    assert 0.93 <= held / 2_000 <= 0.97
    assert naive / 2_000 < 0.92


@pytest.mark.parametrize("overlap", [False, True])
def test_strata_that_mean_nothing_are_accused_about_five_times_in_a_hundred(overlap: bool) -> None:
    """2,000 samples: five respondents of like skill on 240 questions in four strata; three facts
    each, or 60 passages of four questions, a passage in one stratum. By moments, where facts
    overlap, it is cautious: three times in a hundred."""
    rng = np.random.default_rng(4)
    wrong = naive = 0
    for seed in range(2_000):
        passage = np.arange(240) // 4
        if overlap:
            facts, keys = composed(rng, 240, 900)
            ease, strata = eased(rng, facts, 900, 5), np.arange(240) % 4
        else:
            keys = SharedKeys(240, np.arange(240), passage)
            ease, strata = rng.normal(size=(60, 5))[passage], passage % 4
        values = (rng.random((240, 5)) < logistic(1.5 * ease)).astype(float)
        wrong += check_dimension(values, strata, keys=keys, n_resamples=99, seed=seed).p <= 0.05
        naive += check_dimension(values, strata, n_resamples=99, seed=seed).p <= 0.05
    assert 0.02 <= wrong / 2_000 <= 0.065
    if not overlap:
        assert naive / 2_000 > 0.1


def test_even_positions_are_accused_about_five_times_in_a_hundred() -> None:
    """2,000 samples: 200 questions of four options asked three times; a question's lure, wherever
    it stands, draws all three answers."""
    rng = np.random.default_rng(5)
    wrong, naive = np.zeros(3), np.zeros(3)
    for _ in range(2_000):
        _facts, keys = composed(rng, 200, 2_000)
        unit = np.repeat(np.arange(200), 3)
        answer_key, lure = rng.integers(0, 4, 200)[unit], rng.integers(0, 4, 200)[unit]
        chosen = np.where(rng.random(600) < 0.8, lure, rng.integers(0, 4, 600))
        scores, k = (chosen == answer_key).astype(float), np.full(600, 4)
        found = position_bias(scores, answer_key, chosen, k, unit=unit, keys=keys)
        alone = position_bias(scores, answer_key, chosen, k)
        wrong += [test.p <= 0.05 for test in (found.accuracy, found.choice, found.error)]
        naive += [test.p <= 0.05 for test in (alone.accuracy, alone.choice, alone.error)]
    assert (wrong / 2_000 >= 0.03).all(), wrong
    assert (wrong / 2_000 <= 0.07).all(), wrong
    assert (naive / 2_000 > 0.12).all(), naive
