"""What items say: correlations by hand, wrong keys found, strong distractors named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import pearsonr

from proofstone.stats.items import (
    ITEM_FLAGS,
    correlation_interval,
    describe_items,
    item_rest_correlations,
)

Floats = NDArray[np.float64]


def test_corrected_item_total_correlation_leaves_the_item_out() -> None:
    """Item 0 against the mean of the other two, by hand of four respondents."""
    values = np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])
    found, rest = item_rest_correlations(values)
    assert rest[0].tolist() == [1.0, 0.5, 0.5, 0.0]
    # Deviations 1/2, 1/2, -1/2, -1/2 and 1/2, 0, 0, -1/2: products sum to 1/2.
    assert found[0] == pytest.approx(0.5 / np.sqrt(1.0 * 0.5))


@given(seed=st.integers(0, 300), missing=st.floats(0.0, 0.4))
@settings(max_examples=40)
def test_it_is_pearsons_correlation(seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, (6, 9)).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    found, rest = item_rest_correlations(values)
    for item in range(6):
        both = ~np.isnan(values[item]) & ~np.isnan(rest[item])
        x, y = values[item][both], rest[item][both]
        if len(x) < 2 or np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
            assert np.isnan(found[item])
        else:
            assert found[item] == pytest.approx(pearsonr(x, y).statistic)


def graded(seed: int, n_items: int = 120, m: int = 30) -> Floats:
    """Items of unequal ease, respondents of rising skill."""
    rng = np.random.default_rng(seed)
    ease, skill = rng.normal(size=(n_items, 1)), np.linspace(-2, 2, m)
    return (rng.random((n_items, m)) < 1 / (1 + np.exp(-2 * (skill + ease)))).astype(float)


def test_a_turned_key_is_found() -> None:
    """Three items of middling ease are scored by a wrong key: right is wrong."""
    values = graded(1)
    middling = np.argsort(np.abs(values.mean(axis=1) - 0.5))[:3]
    values[middling] = 1.0 - values[middling]
    found = describe_items(values)
    accused = {each.unit for each in found if "weak-beat-strong" in each.flags}
    assert accused == set(middling.tolist())
    one = found[int(middling[0])]
    assert one.weak > one.strong
    assert one.discrimination < 0


def test_a_good_table_accuses_hardly_anyone() -> None:
    """Of 40 tables without a wrong key few have any accused item."""
    accused = [
        any("weak-beat-strong" in each.flags for each in describe_items(graded(seed)))
        for seed in range(40)
    ]
    assert np.mean(accused) <= 0.15


def test_what_nearly_all_get_right_or_wrong() -> None:
    values = graded(2)
    values[0], values[1] = 1.0, 0.0
    first, second, *_ = describe_items(values)
    assert (first.flags, second.flags) == (("nearly-all-right",), ("nearly-all-wrong",))
    assert np.isnan(first.discrimination)
    assert (first.difficulty, first.n) == (1.0, 30)


def test_the_strongs_wrong_answer_is_named() -> None:
    """Nine respondents; the strongest three all give answer 2 where the key says 0."""
    values = np.tile(np.arange(9) >= np.arange(9)[:, None], (1, 1)).astype(float)
    values = np.vstack([values, np.zeros((1, 9))])
    answers = np.where(values == 1.0, 0, 1)
    answers[-1, -3:] = 2
    found = describe_items(values, answers=answers, answer_key=np.zeros(10, dtype=int))[-1]
    assert (found.distractor, found.distractor_share) == (2, 1.0)
    assert found.flags == ("nearly-all-wrong", "strong-distractor")
    twice = np.stack([answers, np.where(np.arange(9) > 6, answers, 1)], axis=2)
    several = describe_items(values, answers=twice, answer_key=np.zeros(10, dtype=int))[-1]
    assert (several.distractor, several.distractor_share) == (2, 5 / 6)
    texts = np.where(answers == 2, 2_000_000_000, answers)
    free = describe_items(values, answers=texts, answer_key=np.zeros(10, dtype=int))[-1]
    assert (free.distractor, free.distractor_share) == (2_000_000_000, 1.0)
    unread = describe_items(
        values, answers=np.full((10, 9), -1), answer_key=np.zeros(10, dtype=int)
    )[-1]
    assert unread.distractor == -1


def test_few_respondents_accuse_nobody() -> None:
    values = graded(3, m=6)
    values[0] = 0.0
    assert all(each.flags == () for each in describe_items(values))


@pytest.mark.parametrize(
    "values",
    [np.empty((0, 4)), np.empty((3, 0)), np.ones((1, 9)), np.full((3, 9), np.nan), np.ones((4, 1))],
)
def test_degenerate_tables_are_answered(values: Floats) -> None:
    answers = np.full(values.shape, -1)
    found = describe_items(values, answers=answers, answer_key=np.zeros(len(values), dtype=int))
    assert len(found) == len(values)
    assert all(np.isnan(each.discrimination) for each in found)


def test_every_flag_has_its_sentence() -> None:
    assert all(sentence[0].islower() for sentence in ITEM_FLAGS.values())


def test_a_correlation_s_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Pairs of normal variables with a correlation of 0.5: 2,000 samples of 30 pairs."""
    rng = np.random.default_rng(5)
    drawn = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=(2000, 30))
    covered = 0
    for sample in drawn:
        low, high = correlation_interval(float(pearsonr(sample[:, 0], sample[:, 1])[0]), 30)
        covered += low <= 0.5 <= high
    assert 0.935 <= covered / 2000 <= 0.965


def test_a_correlation_s_interval_is_scipys_and_says_nothing_of_three_pairs() -> None:
    one, other = np.random.default_rng(8).normal(size=(2, 12))
    expected = pearsonr(one, other).confidence_interval(0.9)
    found = correlation_interval(float(pearsonr(one, other)[0]), 12, 0.9)
    assert found == pytest.approx((expected.low, expected.high))
    assert np.isnan(correlation_interval(0.5, 3)).all()
    assert np.isnan(correlation_interval(float("nan"), 40)).all()
    assert correlation_interval(-1.0, 9) == (-1.0, -1.0)
