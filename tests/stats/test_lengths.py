"""Length against accuracy: what difficulty confounds, and what is left within items."""

from __future__ import annotations

import numpy as np
import pytest

from proofstone.stats.factors import length_effect


def test_two_replies_an_item_by_hand() -> None:
    """Within each of four items the reply of twice the length scores 0.25 more."""
    item = np.repeat(np.arange(4), 2)
    tokens = np.array([100, 200, 400, 800, 50, 100, 1_000, 2_000.0])
    scores = np.array([0.5, 0.75, 0.25, 0.5, 0.75, 1.0, 0.0, 0.25])
    found = length_effect(scores, tokens, item).within_items
    assert found.value == pytest.approx(0.25)
    assert (found.low, found.high, found.p) == pytest.approx((0.25, 0.25, 0.0))
    assert (found.n, found.n_items) == (8, 4)


def test_difficulty_is_taken_out() -> None:
    """Hard items draw long replies and are missed; within items length does nothing. Over items it
    seems to harm."""
    rng = np.random.default_rng(1)
    hard = rng.normal(size=200)
    item = np.repeat(np.arange(200), 6)
    who = np.tile(np.arange(6), 200)
    tokens = np.exp2(8 + hard[item] + 0.5 * who + rng.normal(size=1_200))
    scores = (rng.random(1_200) < 1 / (1 + np.exp(2 * hard[item] - 0.3 * who))).astype(float)
    found = length_effect(scores, tokens, item, who)
    assert found.over_items.high < -0.05
    assert found.within_items.low < 0 < found.within_items.high
    assert found.confounded == pytest.approx(found.over_items.value - found.within_items.value)
    assert found.within_items.p > 0.05 > found.over_items.p


def test_within_items_is_least_squares_with_a_level_for_each() -> None:
    rng = np.random.default_rng(2)
    item, who = np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)
    keep = rng.random(60) < 0.8
    item, who = item[keep], who[keep]
    tokens, scores = rng.integers(1, 500, len(item)).astype(float), rng.random(len(item))
    design = np.column_stack(
        [np.log2(tokens), item[:, None] == np.arange(12), who[:, None] == np.arange(5)]
    )
    expected = np.linalg.lstsq(design.astype(float), scores, rcond=None)[0][0]
    assert length_effect(scores, tokens, item, who).within_items.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "tokens", "item"),
    [
        ([], [], []),
        ([1.0, 0.0], [10, 20], [0, 0]),
        ([1.0] * 6, [10.0] * 6, [0, 0, 1, 1, 2, 2]),
        ([1.0, np.nan, 0.0], [np.nan, 5, 0], [0, 1, 2]),
        ([1.0, 0.0, 1.0], [5, 6, 7], [0, 1, 2]),
    ],
)
def test_what_says_nothing_is_nan(
    scores: list[float], tokens: list[float], item: list[int]
) -> None:
    found = length_effect(
        np.array(scores), np.array(tokens, dtype=float), np.array(item, dtype=int)
    )
    assert np.isnan(found.within_items.value)


@pytest.mark.slow
def test_the_interval_within_items_holds_no_effect() -> None:
    """2,000 tables of 60 items by four respondents, confounded and without effect."""
    rng, held = np.random.default_rng(3), 0
    item, who = np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60)
    for _ in range(2_000):
        hard = rng.normal(size=60)
        tokens = np.exp2(8 + hard[item] + rng.normal(size=240))
        scores = (rng.random(240) < 1 / (1 + np.exp(2 * hard[item]))).astype(float)
        found = length_effect(scores, tokens, item, who).within_items
        held += found.low <= 0 <= found.high
    assert 0.93 <= held / 2_000 <= 0.97
