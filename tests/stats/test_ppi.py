"""A judged rate corrected by people, and a judge's table against theirs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import precision_score, recall_score

from proofstone.stats.agreement import confuse, correct_judged_rate

Floats = NDArray[np.float64]


def judged(seed: int, n: int, flip: float, bias: float = 0.0) -> tuple[Floats, Floats]:
    """Labels of rate 0.6, and a judge who turns a share of them and says 1 a little too often."""
    rng = np.random.default_rng(seed)
    people = (rng.random(n) < 0.6).astype(float)
    judge = np.where(rng.random(n) < flip, 1.0 - people, people)
    return people, np.where(rng.random(n) < bias, 1.0, judge)


def test_labels_that_are_all_alike_are_no_certainty() -> None:
    """Ten of ten, the judge alike: the interval is that of a share of ten, not a point."""
    alike = np.ones(10)
    found = correct_judged_rate(alike, alike, np.ones(30)).corrected
    assert found.value == 1.0
    assert (found.low, found.high) == (pytest.approx(0.025 ** (1 / 10)), 1.0)


def test_the_correction_by_hand() -> None:
    """People 1, 0, 1, 1 and the judge 1, 0, 0, 1; elsewhere he says 1 in six of eight.

    Their covariance is 1/8 on the four; the judge varies by 1/4 there and 3/16 elsewhere, so
    trust = (1/8 / 4) / (1/4 / 4 + 3/16 / 8) = 4/11; 3/4 + (3/4 - 2/4) 4/11.
    """
    people, judge = np.array([1.0, 0, 1, 1]), np.array([1.0, 0, 0, 1])
    elsewhere = np.array([1.0, 1, 1, 1, 1, 1, 0, 0])
    found = correct_judged_rate(people, judge, elsewhere)
    assert found.trust == pytest.approx((1 / 8 / 4) / (1 / 4 / 4 + 3 / 16 / 8))
    assert found.corrected.value == pytest.approx(3 / 4 + (6 / 8 - 2 / 4) * 4 / 11)
    assert found.people_only.value == 3 / 4
    assert found.judge_only == pytest.approx(8 / 12)
    assert found.bias == pytest.approx(-1 / 4)


def test_a_good_judge_saves_labels_and_a_coin_does_not() -> None:
    """At correlation r and many judged units, the variance falls to 1 - r^2 of people's alone."""
    people, judge = judged(1, 20_200, 0.1)
    found = correct_judged_rate(people[:200], judge[:200], judge[200:])
    assert found.helps
    expected = 200 * (1 / (1 - found.agreement**2) - 1)
    assert found.labels_saved == pytest.approx(expected, rel=0.1)
    narrow = found.corrected.high - found.corrected.low
    assert narrow < found.people_only.high - found.people_only.low
    coin = judged(2, 20_200, 0.5)
    alone = correct_judged_rate(coin[0][:200], coin[1][:200], coin[1][200:])
    assert alone.trust < 0.15
    assert alone.labels_saved < 10


def test_a_bias_is_taken_out() -> None:
    people, judge = judged(3, 50_500, 0.1, bias=0.4)
    found = correct_judged_rate(people[:500], judge[:500], judge[500:])
    assert found.judge_only > 0.68
    assert found.bias > 0.1
    assert found.corrected.low < 0.6 < found.corrected.high


def test_a_judge_against_people_gets_no_trust() -> None:
    people, judge = judged(4, 1_000, 0.95)
    found = correct_judged_rate(people[:100], judge[:100], judge[100:])
    assert (found.trust, found.helps) == (0.0, False)
    assert found.corrected.value == found.people_only.value


@pytest.mark.parametrize(
    ("people", "same", "elsewhere", "flags"),
    [
        ([], [], [1.0], ("no-scores",)),
        ([1.0], [1.0], [1.0, 0.0], ("one-group",)),
        ([1.0, 0.0], [1.0, 1.0], [], ("few-groups",)),
        ([1.0, 1.0], [1.0, 1.0], [1.0], ("few-groups", "no-spread")),
    ],
)
def test_degenerate_samples_are_answered(
    people: list[float], same: list[float], elsewhere: list[float], flags: tuple[str, ...]
) -> None:
    found = correct_judged_rate(np.array(people), np.array(same), np.array(elsewhere))
    assert found.corrected.flags == flags
    assert not found.helps
    assert correct_judged_rate(np.empty(0), np.empty(0), np.empty(0)).corrected.n == 0


@pytest.mark.slow
@pytest.mark.parametrize(("n", "flip"), [(60, 0.15), (200, 0.3)])
def test_corrected_intervals_hold_the_truth(n: int, flip: float) -> None:
    """2,000 samples with a biased judge: 93 to 97 in 100 hold 0.6."""
    held = 0
    for seed in range(2_000):
        people, judge = judged(seed, n + 1_000, flip, bias=0.2)
        found = correct_judged_rate(people[:n], judge[:n], judge[n:]).corrected
        held += found.low <= 0.6 <= found.high
    assert 0.93 <= held / 2_000 <= 0.97


def test_a_table_by_hand() -> None:
    """Of four right ones the judge knows three; of six that he calls right three are."""
    people = np.array([1] * 4 + [0] * 6 + [-1, 1])
    judge = np.array([1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, -1])
    found = confuse(people, judge, 2)
    assert found.counts == ((3, 3), (1, 3))
    assert (found.accuracy.value, found.accuracy.n, found.left_out) == (6 / 10, 10, 2)
    assert (found.recall[1].value, found.precision[1].value) == (3 / 4, 3 / 6)
    assert found.recall[1].low < 3 / 4 < found.recall[1].high
    empty = confuse(people[:0], judge[:0], 2)
    assert empty.accuracy.flags == ("no-scores",)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20))
@settings(max_examples=40)
def test_the_table_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    people, judge = np.array(pairs).T
    found = confuse(people, judge, 3)
    recall = recall_score(people, judge, labels=[0, 1, 2], average=None, zero_division=np.nan)
    precision = precision_score(people, judge, labels=[0, 1, 2], average=None, zero_division=np.nan)
    assert [each.value for each in found.recall] == pytest.approx(recall.tolist(), nan_ok=True)
    assert [each.value for each in found.precision] == pytest.approx(
        precision.tolist(), nan_ok=True
    )
