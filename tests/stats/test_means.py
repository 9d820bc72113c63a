"""Means with intervals for both estimands: published values, arithmetic, a slow second way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.records.runs import Estimate, Population
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates, measure_spread
from proofstone.stats.intervals import (
    equal_weights,
    group_weights,
    share_interval,
    t_quantile,
    wilson,
)

Floats = NDArray[np.float64]
BOTH: tuple[Population, ...] = ("bank", "domain")


def column(values: list[float]) -> Floats:
    return np.array(values, dtype=np.float64)[:, None]


def keys_of(n: int, edges: list[tuple[int, int]]) -> SharedKeys:
    both = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return SharedKeys(n, both[:, 0].copy(), both[:, 1].copy())


def one(values: list[float], edges: list[tuple[int, int]], population: Population) -> Estimate:
    keys = keys_of(len(values), edges)
    return mean_estimates(column(values), equal_weights(len(values)), keys, population=population)[
        0
    ]


def bounds(estimate: Estimate) -> tuple[float, float]:
    return round(100 * estimate.low, 1), round(100 * estimate.high, 1)


@pytest.mark.parametrize("population", BOTH)
def test_independent_right_or_wrong_items_have_the_plain_wilson_interval(
    population: Population,
) -> None:
    """81 of 263 is Newcombe's (1998) example: 25.5 to 36.6."""
    estimate = one([1.0] * 81 + [0.0] * 182, [], population)
    assert bounds(estimate) == (25.5, 36.6)
    assert estimate.made_by == "Wilson"
    assert estimate.effective_n == pytest.approx(263)
    assert bounds(one([1.0] * 9 + [0.0] * 51, [], population)) == (8.1, 26.1)


def test_each_estimand_says_what_it_is_of_and_what_was_drawn() -> None:
    """Clusters only where items share a key, and only where keys count as sampled."""
    bank, knowledge = (one([1.0, 0.0, 1.0], [(0, 1), (1, 1)], population) for population in BOTH)
    assert (bank.population, bank.resampled) == ("this item bank", "items")
    assert (knowledge.population, knowledge.resampled) == (
        "the domain of this item bank",
        "clusters",
    )
    assert one([1.0, 0.0, 1.0], [], "domain").resampled == "items"


def test_equal_disjoint_clusters_have_cr1s_variance() -> None:
    """Four clusters of two: CR1 is G / (G - 1) times the summed squares of cluster sums."""
    values = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    keys = keys_of(8, [(i, i // 2) for i in range(8)])
    spread = measure_spread(column(values), equal_weights(8), keys, "domain")
    mean = 5 / 8
    cluster_sums = [2 - 2 * mean, 0 - 2 * mean, 1 - 2 * mean, 2 - 2 * mean]
    expected = 4 / 3 * sum(each**2 for each in cluster_sums) / 8**2
    assert spread.variances()[0] == pytest.approx(expected)
    assert spread.groups == pytest.approx(4)
    (estimate,) = mean_estimates(column(values), equal_weights(8), keys, population="domain")
    effective = 8 / 7 * mean * (1 - mean) / expected
    low, high = share_interval(np.array([mean]), np.array([effective]), 0.95, 3)
    assert (estimate.low, estimate.high) == pytest.approx((low[0], high[0]))
    assert estimate.made_by == "Clopper-Pearson at the effective size, t on 3.0 degrees"
    assert estimate.effective_n == pytest.approx(effective)
    assert estimate.flags == ("few-groups",)


def test_enough_dependent_answers_have_wilsons_interval_at_the_effective_size() -> None:
    """30 clusters of two alike, half of them right: n_eff is 29 * 60 / 59, t on 29 degrees."""
    estimate = one(
        [float(i % 4 < 2) for i in range(60)], [(i, i // 2) for i in range(60)], "domain"
    )
    low, high = wilson(np.array([0.5]), np.array([29 * 60 / 59]), t_quantile(29, 0.95))
    assert (estimate.low, estimate.high) == pytest.approx((low[0], high[0]))
    assert estimate.made_by == "Wilson at the effective size, t on 29.0 degrees"


def test_fully_correlated_clusters_have_kishs_design_effect() -> None:
    """With correlation 1 in clusters of m = 5, Kish's 1 + (m - 1) rho is 5; G - 1 of 99 remain."""
    n, m = 500, 5
    values = [float(cluster % 2) for cluster in range(n // m) for _ in range(m)]
    estimate = one(values, [(i, i // m) for i in range(n)], "domain")
    assert estimate.effective_n == pytest.approx((n / m - 1) * n / (n - 1))


def slow_variance(values: list[float], edges: list[tuple[int, int]]) -> float:
    """The slow second implementation: double loops in plain Python."""
    n = len(values)
    held = [{key for unit, key in edges if unit == i} for i in range(n)]
    pairs = [(i, j) for i, j in product(range(n), repeat=2) if i == j or held[i] & held[j]]
    mean = sum(values) / n
    products = sum((values[i] - mean) * (values[j] - mean) for i, j in pairs)
    groups = n**2 / len(pairs)
    correction = groups / (groups - 1) if groups >= 1.5 else 1.0
    alone = sum((value - mean) ** 2 for value in values) / n**2 * n / (n - 1)
    return max(alone, products / n**2 * correction)


edge_lists = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 12)), max_size=30)
value_lists = st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 1.0]), min_size=15, max_size=15)


@given(values=value_lists, edges=edge_lists)
@settings(max_examples=150)
def test_the_variance_equals_the_slow_double_loop(
    values: list[float], edges: list[tuple[int, int]]
) -> None:
    spread = measure_spread(column(values), equal_weights(15), keys_of(15, edges), "domain")
    assert spread.variances()[0] == pytest.approx(slow_variance(values, edges), abs=1e-15)


@given(values=value_lists, edges=edge_lists, order=st.permutations(range(15)), shift=st.integers())
@settings(max_examples=60)
def test_order_and_names_of_keys_do_not_matter(
    values: list[float], edges: list[tuple[int, int]], order: list[int], shift: int
) -> None:
    place = {unit: i for i, unit in enumerate(order)}
    names = [((key * 7919 + shift) % 2**40) for key in range(13)]
    moved = [(place[unit], names[key]) for unit, key in reversed(edges)]
    before = one(values, edges, "domain")
    after = one([values[unit] for unit in order], moved, "domain")
    assert (after.low, after.high) == pytest.approx((before.low, before.high), abs=1e-9)


@given(values=value_lists, edges=edge_lists)
@settings(max_examples=60)
def test_knowledge_is_never_surer_than_bank(
    values: list[float], edges: list[tuple[int, int]]
) -> None:
    bank, knowledge = one(values, edges, "bank"), one(values, edges, "domain")
    if "no-spread" in bank.flags:
        return
    assert knowledge.low <= bank.low + 1e-12
    assert knowledge.high >= bank.high - 1e-12
    assert knowledge.effective_n <= 15 + 1e-9


@given(right=st.integers(1, 19))
def test_copies_that_share_a_key_add_nothing(right: int) -> None:
    """20 items, then each of them four times under one key: the interval does not shrink."""
    values = [float(i < right) for i in range(20)]
    single = one(values, [(i, i) for i in range(20)], "domain")
    copied = one(values * 4, [(i, i % 20) for i in range(80)], "domain")
    as_bank = one(values * 4, [(i, i % 20) for i in range(80)], "bank")
    assert copied.high - copied.low >= single.high - single.low - 1e-9
    assert as_bank.high - as_bank.low < single.high - single.low


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_right_or_all_wrong_counts_only_the_effective_groups(value: float) -> None:
    """60 items in 20 clusters of three: n_eff = G = 60**2 / (60 * 3) = 20, and of 20 alike the
    97.5% end is 1 - 0.025^(1 / 20)."""
    estimate = one([value] * 60, [(i, i // 3) for i in range(60)], "domain")
    far = 1 - 0.025 ** (1 / 20)
    assert (estimate.low, estimate.high) == pytest.approx(
        (max(value - far, 0), min(value + far, 1))
    )
    assert estimate.effective_n == pytest.approx(20)
    assert estimate.flags == ("no-spread", "few-groups")


def test_all_right_independent_items_have_the_plain_interval() -> None:
    """20 of 20 mirrors 0 of 20 by method 5 of Newcombe's (1998) table I: 1 - 0.1684."""
    estimate = one([1.0] * 20, [], "bank")
    assert (round(estimate.low, 4), estimate.high, estimate.flags) == (1 - 0.1684, 1.0, ())
    assert estimate.made_by == "Clopper-Pearson"


def test_items_that_all_share_one_fact_bound_nothing() -> None:
    estimate = one([1.0, 0.0, 1.0, 1.0], [(i, 0) for i in range(4)], "domain")
    assert (estimate.value, estimate.low, estimate.high) == (0.75, 0.0, 1.0)
    assert (estimate.made_by, estimate.flags) == ("none", ("one-group",))


@pytest.mark.parametrize("population", BOTH)
def test_one_item_is_answered(population: Population) -> None:
    """One right answer: Clopper and Pearson's 0.025^(1 / n) at n = 1."""
    estimate = one([1.0], [], population)
    assert (estimate.low, estimate.high) == pytest.approx((0.025, 1.0))
    partly = one([0.5], [], population)
    assert (partly.low, partly.high) == (0.0, 1.0)
    assert "one-group" in partly.flags


@pytest.mark.parametrize("population", BOTH)
def test_no_items_give_nan_and_say_so(population: Population) -> None:
    found = mean_estimates(
        np.empty((0, 2)), equal_weights(0), SharedKeys.none(0), population=population
    )
    assert len(found) == 2
    assert np.isnan([found[0].value, found[0].low, found[0].high]).all()
    assert (found[0].n, found[0].flags) == (0, ("no-scores",))


def test_unknown_facts_are_flagged_in_the_estimand_that_needs_them() -> None:
    assert one([1.0, 0.0], [], "domain").flags == ("no-keys",)
    assert one([1.0, 0.0], [], "bank").flags == ()


def test_means_over_samples_are_units_and_never_worth_more_than_themselves() -> None:
    """Items half right in two samples each: spread 0, so n_eff is the number of items."""
    estimate = one([0.5] * 30, [], "bank")
    assert estimate.effective_n == pytest.approx(30)
    assert (estimate.made_by, estimate.flags[0]) == (
        "Clopper-Pearson for graded scores",
        "no-spread",
    )


def test_scores_that_vary_little_are_worth_their_units_and_have_their_own_width() -> None:
    """40 scores, 0.4 or 0.6: t s / sqrt(40) to either side, not as far as right or wrong."""
    estimate = one([0.4, 0.6] * 20, [], "bank")
    assert estimate.effective_n == pytest.approx(40)
    error = (40 / 39 * 0.1**2 / 40) ** 0.5
    assert estimate.high - 0.5 == pytest.approx(t_quantile(39, 0.95) * error, rel=0.01)


def test_shares_of_several_answers_are_worth_no_more_than_those() -> None:
    """Ten shares of nine answers each: by their variance worth more than 90, and held to 90."""
    values = np.array([[4 / 9], [5 / 9]] * 5)
    (estimate,) = mean_estimates(
        values, equal_weights(10), SharedKeys.none(10), population="bank", n_parts=90
    )
    assert estimate.effective_n == pytest.approx(90)
    spread = np.array([[2 / 9], [7 / 9]] * 5)
    (wide,) = mean_estimates(
        spread, equal_weights(10), SharedKeys.none(10), population="bank", n_parts=90
    )
    # 10 / 9 * p (1 - p) over the variance of the mean, (5 / 18) ** 2 / 9
    assert wide.effective_n == pytest.approx(10 / 9 * 0.25 / ((5 / 18) ** 2 / 9))


def test_respondents_are_columns_of_their_own() -> None:
    values = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    keys = keys_of(4, [(0, 0), (1, 0)])
    both = mean_estimates(values, equal_weights(4), keys, population="domain")
    for r in range(2):
        assert both[r] == one(values[:, r].tolist(), [(0, 0), (1, 0)], "domain")


def test_another_confidence_is_another_width() -> None:
    keys = SharedKeys.none(60)
    values = column([1.0] * 9 + [0.0] * 51)
    (wide,) = mean_estimates(values, equal_weights(60), keys, population="bank", confidence=0.99)
    low, high = wilson(np.array([0.15]), np.array([60.0]), 2.5758293)
    assert (wide.low, wide.high, wide.level) == pytest.approx((low[0], high[0], 0.99))


# ------------------------------------------------------------ levels of averaging

# Encyclo-K, Table 5: instances by gold position, and accuracy there.
POSITIONS = (880, 877, 913, 884, 657, 435, 262, 130)
TABLE_5 = {
    "DeepSeek-R1": (48.99, (46.36, 55.30, 51.92, 46.72, 47.34, 46.67, 44.66, 43.85)),
    "Gemini-2.5-Pro": (58.93, (55.11, 59.98, 62.54, 62.56, 55.86, 56.09, 53.05, 64.62)),
}


@pytest.mark.parametrize("model", TABLE_5)
def test_sample_wise_means_are_those_of_encyclo_k_table_5(model: str) -> None:
    """Its cells by position give its average; each position alike gives the mean of the cells."""
    average, cells = TABLE_5[model]
    right = [round(cell * n / 100) for cell, n in zip(cells, POSITIONS, strict=True)]
    values = np.concatenate(
        [np.arange(n) < k for n, k in zip(POSITIONS, right, strict=True)]
    ).astype(float)[:, None]
    codes = np.repeat(np.arange(8), POSITIONS)
    keys = SharedKeys.none(5038)
    (by_item,) = mean_estimates(values, equal_weights(5038), keys, population="bank")
    (by_group,) = mean_estimates(values, group_weights(codes), keys, population="bank")
    assert round(100 * by_item.value, 2) == average
    assert 100 * by_group.value == pytest.approx(sum(cells) / 8, abs=0.01)


def test_each_group_counts_the_same_with_its_own_residuals() -> None:
    """Groups of 4 and 2: variance is the mean over groups squared of s_g**2 / n_g."""
    values = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    weighting = group_weights(np.array([7, 7, 7, 7, 3, 3]))
    spread = measure_spread(column(values), weighting, SharedKeys.none(6), "bank")
    variance = (1 / 2) ** 2 * ((4 * 0.25 / 3) / 4 + (2 * 0.25 / 1) / 2)
    assert spread.means[0] == (2 / 4 + 1 / 2) / 2
    assert spread.variances()[0] == pytest.approx(variance)


def test_a_group_of_one_takes_the_spread_between_groups_and_is_flagged() -> None:
    """A lone unit has no residual: it is centred at the mean of all groups."""
    values = [1.0, 0.0, 1.0]
    weighting = group_weights(np.array([0, 0, 1]))
    (estimate,) = mean_estimates(column(values), weighting, SharedKeys.none(3), population="bank")
    spread = measure_spread(column(values), weighting, SharedKeys.none(3), "bank")
    mean = (0.5 + 1.0) / 2
    within = (1 / 4) ** 2 * (0.25 + 0.25) * 2 / 1
    assert spread.variances()[0] == pytest.approx(within + (1 / 2) ** 2 * (1 - mean) ** 2)
    assert "lone-units" in estimate.flags


def test_only_lone_units_still_have_an_interval() -> None:
    """Five groups of one are five units: the interval is that of the plain mean's t, not n - 1."""
    (estimate,) = mean_estimates(
        column([1.0, 0.0, 1.0, 1.0, 0.0]),
        group_weights(np.arange(5)),
        SharedKeys.none(5),
        population="bank",
    )
    assert 0 < estimate.low < 0.6 < estimate.high < 1
    assert estimate.flags == ("lone-units", "few-groups")


def test_groups_of_dependent_units_use_their_own_correction() -> None:
    """Two groups, each of two clusters of two: G_g = 4**2 / (4 * 2) = 2, so twice the squares."""
    values = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    keys = keys_of(8, [(i, i // 2) for i in range(8)])
    weighting = group_weights(np.repeat([0, 1], 4))
    spread = measure_spread(column(values), weighting, keys, "domain")
    first = [2 - 2 * 0.5, 0 - 2 * 0.5]
    second = [1 - 2 * 0.75, 2 - 2 * 0.75]
    expected = 2 * sum(each**2 for each in [*first, *second]) / (2 * 4) ** 2
    assert spread.variances()[0] == pytest.approx(expected)
    assert spread.groups == pytest.approx(4)


def test_groups_all_right_and_all_wrong_do_not_pretend_to_certainty() -> None:
    """No residual within any group: the effective number of groups stands in for the spread."""
    values = column([1.0] * 10 + [0.0] * 10)
    weighting = group_weights(np.repeat([0, 1], 10))
    (estimate,) = mean_estimates(values, weighting, SharedKeys.none(20), population="bank")
    assert estimate.effective_n == pytest.approx(20)
    assert "no-spread" in estimate.flags
