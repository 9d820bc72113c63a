"""Position bias: one number of options at a time, Encyclo-K's Table 5, and what a key causes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from proofstone.stats.items import position_bias
from proofstone.stats.ranks import LEAST_EXPECTED, homogeneity


def test_choices_against_uniform_are_pearsons() -> None:
    """Sixty choices among three positions: 30, 20, 10 against 20 each."""
    chosen = np.repeat([0, 1, 2], [30, 20, 10])
    answer_key = np.tile([0, 1, 2], 20)
    found = position_bias((chosen == answer_key).astype(float), answer_key, chosen, np.full(60, 3))
    expected = chisquare([30, 20, 10])
    assert (found.choice.chi_square, found.choice.df) == (pytest.approx(expected.statistic), 2)
    assert found.choice.p == pytest.approx(expected.pvalue)
    assert [(s.chosen, s.right, s.asked, s.expected) for s in found.positions] == [
        (30, 20, 60, pytest.approx(20)), (20, 20, 60, pytest.approx(20)),
        (10, 20, 60, pytest.approx(20)),
    ]  # fmt: skip


def test_numbers_of_options_are_added_up() -> None:
    """Two and four options: 1 + 3 degrees, and the sum of both statistics."""
    k = np.repeat([2, 4], 40)
    answer_key = np.concatenate([np.tile([0, 1], 20), np.tile([0, 1, 2, 3], 10)])
    chosen = np.concatenate([np.repeat([0, 1], [30, 10]), np.repeat([0, 1, 2, 3], [10, 10, 5, 15])])
    found = position_bias((chosen == answer_key) * 1.0, answer_key, chosen, k)
    both = chisquare([30, 10]).statistic + chisquare([10, 10, 5, 15]).statistic
    assert (found.choice.chi_square, found.choice.df) == (pytest.approx(both), 4)
    assert [share.asked for share in found.positions] == [80, 80, 40, 40]


def test_a_skewed_key_is_no_bias_in_errors() -> None:
    """The right option stands first in 7 of 10: a respondent who is mostly right chooses it often,
    and errs evenly all the same; one who always says the first errs there."""
    rng = np.random.default_rng(1)
    answer_key = rng.choice(4, 2_000, p=[0.7, 0.1, 0.1, 0.1])
    guess = rng.integers(0, 4, 2_000)
    fair = np.where(rng.random(2_000) < 0.7, answer_key, guess)
    found = position_bias((fair == answer_key) * 1.0, answer_key, fair, np.full(2_000, 4))
    assert found.choice.p < 1e-6
    assert found.error.p > 0.01
    assert found.error.df == 3
    first = np.where(rng.random(2_000) < 0.7, answer_key, 0)
    biased = position_bias((first == answer_key) * 1.0, answer_key, first, np.full(2_000, 4))
    assert biased.error.p < 1e-6
    assert biased.accuracy.p < 1e-6


def test_the_test_of_errors_is_right_under_chance() -> None:
    """Of 400 fair respondents about one in twenty is rejected at 5%."""
    rng, p = np.random.default_rng(2), []
    for _ in range(400):
        k = rng.integers(3, 7, 300)
        answer_key = (rng.random(300) * k).astype(int)
        chosen = np.where(rng.random(300) < 0.5, answer_key, (rng.random(300) * k).astype(int))
        p.append(position_bias((chosen == answer_key) * 1.0, answer_key, chosen, k).error.p)
    assert 0.025 <= np.mean(np.array(p) < 0.05) <= 0.08


def test_unread_and_missing_replies() -> None:
    scores = np.array([1.0, 0.0, np.nan, 0.0])
    found = position_bias(scores, np.array([0, 1, 1, -1]), np.array([0, -1, 1, 0]), np.full(4, 2))
    assert found.unread == 1
    assert [share.chosen for share in found.positions] == [1, 0]
    silent = position_bias(np.zeros(3), np.array([0, 1, 2]), np.full(3, -1), np.full(3, 3))
    assert (silent.unread, silent.choice.df) == (3, 0)
    nothing = position_bias(np.empty(0), *(np.empty(0, dtype=int) for _ in range(3)))
    assert nothing.positions == ()
    assert np.isnan([nothing.accuracy.p, nothing.choice.p, nothing.error.p]).all()


def test_the_smallest_expected_count_is_told_for_each_test() -> None:
    """Of 60 questions with three options 30 are right: 10 wrong and 10 right for each key, 20
    choices of each position, and of 30 wrong choices 10 in each."""
    answer_key = np.tile([0, 1, 2], 20)
    wrong = (answer_key + 1 + np.arange(60) // 30) % 3
    chosen = np.where(np.arange(60) % 2, answer_key, wrong)
    found = position_bias((chosen == answer_key) * 1.0, answer_key, chosen, np.full(60, 3))
    assert found.accuracy.least_expected == pytest.approx(10)
    assert found.choice.least_expected == pytest.approx(20)
    assert found.error.least_expected == pytest.approx(10)
    thrice = np.tile(np.arange(60), 3)
    more = position_bias(
        (chosen == answer_key)[thrice] * 1.0, answer_key[thrice], chosen[thrice], np.full(180, 3),
        unit=thrice,
    )  # fmt: skip
    assert more.choice.least_expected == pytest.approx(20, rel=0.2)  # as many as independent ones


def test_a_key_of_one_position_expects_no_choices_there() -> None:
    """All keys are A: wrong choices can only be B or C, and these alone are expected."""
    chosen = np.array([1, 2] * 6)
    found = position_bias(np.zeros(12), np.zeros(12, dtype=int), chosen, np.full(12, 3))
    assert found.error.least_expected == pytest.approx(6)
    assert np.isnan(found.accuracy.least_expected)


@pytest.mark.parametrize(("n", "share"), [(70, 0.5), (120, 0.7), (40, 0.0)])
def test_valid_tests_hold_their_level_just_above_five_expected(n: int, share: float) -> None:
    """Of fair models at the smallest sizes that are shown at most 7% are rejected at 5%."""
    rng, p = np.random.default_rng(3), []
    for _ in range(3_000):
        answer_key = rng.integers(0, 4, n)
        chosen = np.where(rng.random(n) < share, answer_key, rng.integers(0, 4, n))
        found = position_bias((chosen == answer_key) * 1.0, answer_key, chosen, np.full(n, 4))
        if LEAST_EXPECTED <= found.error.least_expected < 2 * LEAST_EXPECTED:
            p.append(found.error.p)
    assert len(p) > 100
    assert np.mean(np.array(p) < 0.05) <= 0.07


def test_homogeneity_tells_the_smallest_expected_count() -> None:
    """6 of 30 right in groups of 10 and 20: 2 right answers are expected in the first."""
    values = np.zeros(30)
    values[:6] = 1
    found = homogeneity(values, np.repeat([0, 1], [10, 20]).astype(np.int32))
    assert found.least_expected == pytest.approx(2)
