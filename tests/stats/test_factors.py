"""What a factor does to each model, and whether it does the same to all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from proofstone.errors import BadUsage
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import measure_contrasts
from proofstone.stats.estimates import measure_spread
from proofstone.stats.factors import analyse_factor, wald
from proofstone.stats.intervals import equal_weights
from proofstone.stats.multiple_comparisons import holm
from proofstone.stats.ranks import rank_all

Floats = NDArray[np.float64]

# Cushny and Peebles (1905), as in Student (1908): hours of sleep gained by ten patients with each
# of two drugs. Here as hundredths, since scores are shares.
DRUG_1 = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]) / 100
DRUG_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]) / 100
NONE = SharedKeys.none


def answered(seed: int, n: int, m: int, levels: int, gain: float = 0.0) -> list[Floats]:
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1))
    return [
        (rng.random((n, m)) < 1 / (1 + np.exp(-ease - gain * k))).astype(float)
        for k in range(levels)
    ]


def test_students_sleep_data_paired() -> None:
    """Student (1908); R's t.test prints t = -4.0621, df = 9, p = 0.002833 and 0.70 to 2.46."""
    found = analyse_factor([DRUG_1[:, None], DRUG_2[:, None]], NONE(10))
    (effect,) = found.effects
    assert effect.is_paired
    assert 100 * effect.change.value == pytest.approx(1.58)
    assert 100 * effect.change.low == pytest.approx(0.7001142, abs=1e-6)
    assert 100 * effect.change.high == pytest.approx(2.4598858, abs=1e-6)
    assert effect.p == effect.p_holm == pytest.approx(0.002833, abs=5e-7)
    assert found.by_model[0].chi_square == pytest.approx(4.0621**2, abs=5e-4)
    assert found.by_model[0].p == pytest.approx(effect.p)
    assert (effect.change.n, effect.change.made_by) == (10, "paired, t on 9.0 degrees")


def test_students_sleep_data_as_twenty_patients() -> None:
    """R's t.test(extra ~ group): t = -1.8608, df = 17.776, p = 0.07939, -3.3654832 to 0.2054832."""
    before = np.concatenate([DRUG_2, np.full(10, np.nan)])[:, None]
    after = np.concatenate([np.full(10, np.nan), DRUG_1])[:, None]
    (effect,) = analyse_factor([before, after], NONE(20)).effects
    assert not effect.is_paired
    assert 100 * effect.change.low == pytest.approx(-3.3654832, abs=1e-6)
    assert 100 * effect.change.high == pytest.approx(0.2054832, abs=1e-6)
    assert effect.p == pytest.approx(0.07939, abs=5e-6)
    assert effect.change.made_by == "not paired, t on 17.8 degrees"
    by_library = stats.ttest_ind(DRUG_1, DRUG_2, equal_var=False)
    assert effect.p == pytest.approx(by_library.pvalue)


def test_the_interaction_of_two_models_is_the_paired_test_of_their_effects() -> None:
    """The drugs as two models on the same patients, from nothing to a drug: Student's test again,
    with F = t squared."""
    gains = np.stack([DRUG_1, DRUG_2], axis=1)
    found = analyse_factor([np.zeros((10, 2)), gains], NONE(10))
    assert found.interaction.df == 1
    assert found.interaction.chi_square == pytest.approx(4.0621**2, abs=5e-4)
    assert found.interaction.p == pytest.approx(0.002833, abs=5e-7)
    assert [e.p_beyond for e in found.effects] == pytest.approx([2 * 0.002833] * 2, abs=1e-6)
    assert found.effects[1].beyond is not None
    assert 100 * found.effects[1].beyond.value == pytest.approx(1.58)
    (average,) = found.average
    assert 100 * average.change.value == pytest.approx((0.75 + 2.33) / 2)


def hotelling(rows: Floats) -> float:
    """Hotelling's test of a mean of 0, written out."""
    n, q = rows.shape
    t2 = n * rows.mean(axis=0) @ np.linalg.inv(np.cov(rows.T, ddof=1)) @ rows.mean(axis=0)
    return float(stats.f.sf((n - q) / (q * (n - 1)) * t2, q, n - q))


def test_the_interaction_is_hotellings_test_whichever_model_comes_first() -> None:
    levels = answered(3, 80, 4, 2, gain=0.5)
    gains = levels[1] - levels[0]
    expected = hotelling(gains[:, 1:] - gains[:, :1])
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        found = analyse_factor([level[:, order] for level in levels], NONE(80))
        assert found.interaction.p == pytest.approx(expected)
        assert found.interaction.df == 3


def test_several_levels_are_tested_together_whichever_is_the_reference() -> None:
    levels = answered(4, 100, 1, 3, gain=0.3)
    rows = np.concatenate([levels[1] - levels[0], levels[2] - levels[0]], axis=1)
    for reference in range(3):
        found = analyse_factor(levels, NONE(100), reference=reference)
        assert found.by_model[0].p == pytest.approx(hotelling(rows))
        assert [e.level for e in found.effects] == [k for k in range(3) if k != reference]
    assert np.isnan(found.interaction.p)  # one model


def test_the_effects_of_clustered_items_are_those_of_the_ranking() -> None:
    """An independent way to the same: each pair of columns compared by `rank_all`."""
    levels = answered(5, 120, 3, 2, gain=0.4)
    keys = SharedKeys(
        120, np.repeat(np.arange(120), 2), np.random.default_rng(1).integers(0, 90, 240)
    )
    found = analyse_factor(levels, keys)
    for m, effect in enumerate(found.effects):
        pair = np.stack([levels[1][:, m], levels[0][:, m]], axis=1)
        spread = measure_spread(pair, equal_weights(120), keys, "domain")
        (expected,) = rank_all(spread).comparisons
        assert effect.change.value == pytest.approx(expected.difference)
        assert (effect.change.low, effect.change.high) == pytest.approx(
            (expected.low, expected.high)
        )
        assert effect.p == pytest.approx(expected.p)
    assert [e.p_holm for e in found.effects] == pytest.approx(
        holm(np.array([e.p for e in found.effects])).tolist()
    )


def test_forms_that_rest_on_the_same_facts_are_compared_as_such() -> None:
    """Two forms of other questions on the same facts: the shared luck of a fact cancels."""
    rng = np.random.default_rng(6)
    n = 300
    ease = rng.normal(size=(n, 1)) * 2
    forms = [(rng.random((n, 1)) < 1 / (1 + np.exp(-ease))).astype(float) for _ in range(2)]
    nothing = np.full((n, 1), np.nan)
    before, after = np.concatenate([forms[0], nothing]), np.concatenate([nothing, forms[1]])
    keys = SharedKeys(2 * n, np.arange(2 * n), np.arange(2 * n) % n)
    together = analyse_factor([before, after], keys).effects[0]
    apart = analyse_factor([before, after], NONE(2 * n)).effects[0]
    paired = analyse_factor(forms, NONE(n)).effects[0]
    width = [e.change.high - e.change.low for e in (together, apart, paired)]
    assert not together.is_paired
    # The floor: never surer than independent items would be.
    assert width[0] == pytest.approx(width[1], rel=0.01)
    assert width[2] < width[1]


def test_few_common_items_do_not_make_a_pair() -> None:
    """Of 40 items each, 10 in both: all are used; with 20 in both, only those."""
    values = np.random.default_rng(7).random((70, 1))
    rows = np.arange(70)[:, None]
    for start, is_paired, n in ((30, False, 40), (20, True, 20)):
        before = np.where(rows < 40, values, np.nan)
        after = np.where((rows >= start) & (rows < start + 40), values + 0.1, np.nan)
        found = measure_contrasts(before, after, NONE(70), "bank")
        assert (bool(found.is_paired[0]), found.n_units[0].tolist()) == (is_paired, [n, n])


def test_units_of_both_conditions_count_once() -> None:
    """10 of 40 items in both: the two means share the luck of those ten; by hand."""
    rng = np.random.default_rng(8)
    before, after = rng.random((70, 1)), rng.random((70, 1)) + 0.2
    before[40:], after[:30] = np.nan, np.nan
    found = measure_contrasts(before, after, NONE(70), "bank")
    a, b = before[:40, 0] - before[:40].mean(), after[30:, 0] - after[30:].mean()
    common = (a[30:] * b[:10]).sum() / (39 * 40)
    expected = a.var(ddof=1) / 40 + b.var(ddof=1) / 40 - 2 * common
    assert found.variances()[0] == pytest.approx(expected)


@given(seed=st.integers(0, 1_000), missing=st.floats(0.0, 0.3))
@settings(max_examples=30, deadline=None)
def test_turned_round_the_effect_is_the_other_way(seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    levels = answered(seed, 40, 3, 2, gain=0.5)
    for level in levels:
        level[rng.random(level.shape) < missing] = np.nan
    there, back = (analyse_factor(levels, NONE(40), reference=reference) for reference in (0, 1))
    for one, other in zip(there.effects, back.effects, strict=True):
        assert one.change.value == pytest.approx(-other.change.value)
        assert one.change.low == pytest.approx(-other.change.high)
        assert one.p == pytest.approx(other.p)
        assert one.change.low <= one.change.value <= one.change.high
    assert there.interaction.p == pytest.approx(back.interaction.p, nan_ok=True)


@pytest.mark.parametrize(
    "levels",
    [
        [np.empty((0, 2)), np.empty((0, 2))],
        [np.ones((1, 1)), np.zeros((1, 1))],
        [np.ones((5, 1)), np.ones((5, 1))],
        [np.zeros((5, 3)), np.ones((5, 3))],
        [np.zeros((3, 5)), np.eye(3, 5)],
        [np.full((4, 2), np.nan), np.ones((4, 2))],
        [np.empty((4, 0)), np.empty((4, 0))],
    ],
)
@pytest.mark.parametrize("population", ["bank", "domain"])
def test_degenerate_input_is_answered(levels: list[Floats], population: str) -> None:
    n = len(levels[0])
    found = analyse_factor(levels, SharedKeys(n, np.arange(n), np.zeros(n, dtype=int)),
                           population=population)  # fmt: skip
    for effect in found.effects:
        assert effect.change.low <= effect.change.value <= effect.change.high
        assert 0.0 <= effect.p <= 1.0
    assert not found.interaction.p < 0.05


def test_the_same_gain_on_every_item_is_told_by_its_sign_alone() -> None:
    """Ten items, each from wrong to right: p = 2 / 2^10, as a sign test says."""
    found = analyse_factor([np.zeros((10, 1)), np.ones((10, 1))], NONE(10), population="bank")
    assert found.effects[0].p == pytest.approx(2 / 2**10)
    assert found.by_model[0].p == pytest.approx(2 / 2**10)
    assert "no-spread" in found.effects[0].change.flags


def test_a_model_that_lacks_a_level_is_left_out_of_the_interaction_alone() -> None:
    levels = answered(9, 60, 3, 3)
    levels[2][:, 1] = np.nan
    found = analyse_factor(levels, NONE(60))
    assert found.n_complete == 2
    assert [(e.model, e.level) for e in found.effects] == [(0, 1), (0, 2), (1, 1), (2, 1), (2, 2)]
    assert [each.n_models for each in found.average] == [3, 2]


def test_one_level_is_no_factor() -> None:
    with pytest.raises(BadUsage, match="two or more levels"):
        analyse_factor([np.ones((3, 1))], NONE(3))


def test_as_many_quantities_as_groups_cannot_be_told() -> None:
    identity = np.eye(4)
    assert np.isnan(wald(np.ones(4), identity, identity, 4.0).p)
    assert wald(np.ones(4), identity, identity, 400.0).p == pytest.approx(
        stats.chi2.sf(4.0, 4), abs=0.01
    )


def test_shared_facts_never_make_the_test_surer() -> None:
    floor = np.diag([1.0, 4.0])
    loose = wald(np.array([2.0, 2.0]), floor * 0.1, floor, 50.0)
    assert loose.chi_square == pytest.approx(2.0**2 / 1.0 + 2.0**2 / 4.0)
    shared = wald(np.array([2.0, 2.0]), floor * 3.0, floor, 50.0)
    assert shared.chi_square == pytest.approx(loose.chi_square / 3.0)


@pytest.mark.slow
@pytest.mark.parametrize("shares", [False, True])
def test_the_tests_are_wrong_about_five_times_in_a_hundred(shares: bool) -> None:
    """2,000 draws of five models with no effect of the factor but luck: per effect, for all models
    together, and for the interaction; and intervals hold a true effect 93 to 97 times."""
    rng = np.random.default_rng(10)
    n, m, size = 240, 5, 4
    keys = SharedKeys(n, np.arange(n), np.arange(n) // size) if shares else NONE(n)
    wrong, held = [], []
    for _ in range(2_000):
        ease = np.repeat(rng.normal(size=(n // size, m)), size, axis=0) if shares else 0.0
        shift = np.repeat(rng.normal(size=(n // size, m)), size, axis=0) if shares else 0.0
        before = (rng.random((n, m)) < 1 / (1 + np.exp(-ease + shift))).astype(float)
        after = (rng.random((n, m)) < 1 / (1 + np.exp(-ease - shift))).astype(float)
        found = analyse_factor([before, after], keys)
        held += [e.change.low <= 0.0 <= e.change.high for e in found.effects]
        some = any(e.p_holm < 0.05 for e in found.effects)
        wrong.append([some, found.interaction.p < 0.05, found.average[0].p < 0.05])
    assert 0.93 <= np.mean(held) <= 0.97
    assert (np.mean(wrong, axis=0) <= 0.065).all()
    assert (np.mean(wrong, axis=0)[1:] >= 0.03).all()


def test_nothing_to_test_is_answered() -> None:
    nothing = wald(np.empty(0), np.empty((0, 0)), np.empty((0, 0)), 5.0)
    assert nothing.df == 0
    assert np.isnan([nothing.chi_square, nothing.p]).all()


def test_a_change_beyond_the_others_is_two_at_most() -> None:
    levels = [
        np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]),
        np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]),
    ]
    found = [each.beyond for each in analyse_factor(levels, NONE(3)).effects if each.beyond]
    assert [(each.low, each.high) for each in found] == [(-2.0, 2.0), (-2.0, 2.0)]
