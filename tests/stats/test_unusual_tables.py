"""Tables that leave a statistic little or nothing to go by: every branch has an answer."""

from __future__ import annotations

import numpy as np
import pytest

from proofstone.stats.agreement import cohen_kappa
from proofstone.stats.calibration import area_parts, auroc_parts, calibrate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import measure_spread
from proofstone.stats.intervals import equal_weights, group_weights, quadratic_p
from proofstone.stats.items import position_bias
from proofstone.stats.power import answer_consistency
from proofstone.stats.ranks import (
    differ_significantly,
    rank_shares,
    share_estimate,
    stated_estimate,
)
from proofstone.stats.ratios import more_for_half_width
from proofstone.stats.stability import bootstrap_stability, shrink_scores


def chain(n: int) -> SharedKeys:
    """Units of which each shares a key with the next: clusters that overlap."""
    return SharedKeys(n, np.repeat(np.arange(n), 2), np.column_stack(
        [np.arange(n), np.arange(n) + 1]).ravel())  # fmt: skip


def test_agreement_on_overlapping_clusters_is_drawn_from_a_normal_law() -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, 120)
    second = np.where(rng.random(120) < 0.8, first, 1 - first)
    shared = cohen_kappa(first, second, clusters=np.arange(120), keys=chain(120), n_resamples=400)
    alone = cohen_kappa(first, second, n_resamples=400)
    assert shared.value == alone.value
    assert shared.low < shared.value < shared.high
    assert shared.made_by.startswith("normal approximation")
    disjoint = SharedKeys(60, np.arange(60), np.arange(60) // 2)
    whole = cohen_kappa(first, second, clusters=np.arange(120) // 2, keys=disjoint, n_resamples=400)
    assert whole.effective_n == pytest.approx(30)


def test_no_interval_says_nothing_of_how_many_more_units() -> None:
    nothing = share_estimate(float("nan"), 0, 0.95)
    assert nothing.made_by == "none"
    assert more_for_half_width(nothing, 0.01) is None
    found = share_estimate(0.5, 100, 0.95)
    assert more_for_half_width(found, 1.0) == 0
    half = (found.high - found.low) / 2
    assert more_for_half_width(found, half / 2) == 300


def test_shares_of_entities_say_so() -> None:
    found = share_estimate(0.02, 100, 0.95, of="entities")
    assert found.made_by == "Clopper-Pearson, each entity once"
    assert (found.population, found.resampled) == ("entities like these", "entities")
    assert share_estimate(0.5, 100, 0.95).made_by.startswith("Wilson, each item asked once")


def test_shares_are_ranked_as_independent_samples() -> None:
    """The common variance is 2 * 0.65 * 0.35 / 200; z = 0.3 over its root."""
    found = rank_shares(np.array([0.5, 0.8, 0.8]), 200, confidence=0.95)
    assert [each.resolved for each in found.comparisons] == [True, True, False]
    assert found.comparisons[0].p < 1e-9
    assert found.comparisons[2].p == 1.0
    assert [(each.low, each.high) for each in found.intervals] == [(3, 3), (1, 2), (1, 2)]
    assert not (found.better & found.better.T).any()
    turned = rank_shares(np.array([0.8, 0.5]), 200, confidence=0.95).better
    assert turned.tolist() == [[False, True], [False, False]]
    stated = rank_shares(np.array([0.5, 0.8]), 0, confidence=0.95, stderr=np.array([0.02, 0.02]))
    assert stated.comparisons[0].resolved
    unknown = rank_shares(np.array([0.5, 0.8]), 0, confidence=0.95)
    assert not unknown.better.any()


def test_a_stated_standard_error_is_a_normal_interval_within_bounds() -> None:
    found = stated_estimate(0.9, 0.02, 0, 0.95)
    assert (found.low, found.high) == pytest.approx(
        (0.9 - 1.96 * 0.02, 0.9 + 1.96 * 0.02), abs=1e-4
    )
    assert stated_estimate(0.99, 0.02, 500, 0.95).high == 1.0
    assert np.isnan(stated_estimate(0.9, float("nan"), 0, 0.95).low)


def test_means_with_intervals_differ_where_holm_says_so() -> None:
    """Scores 10 standard errors apart differ; without an interval nothing does."""
    found = [stated_estimate(value, 0.02, 0, 0.95) for value in (0.5, 0.51, 0.8)]
    assert differ_significantly(found).tolist() == [
        [False, False, True],
        [False, False, True],
        [True, True, False],
    ]
    unknown = stated_estimate(0.1, float("nan"), 0, 0.95)
    assert not differ_significantly([found[0], unknown]).any()


def test_a_sum_of_squares_without_spread_or_groups_has_no_p() -> None:
    assert np.isnan(quadratic_p(1.0, 0.0, 0.0, 10.0))
    assert np.isnan(quadratic_p(1.0, 1.0, 1.0, 1.5))
    assert 0 < quadratic_p(2.0, 1.0, 0.5, 10.0) < 1


def test_areas_of_one_kind_or_of_nothing_add_nothing() -> None:
    assert auroc_parts(np.array([0.2, 0.9]), np.ones(2)).tolist() == [0.0, 0.0]
    assert area_parts(np.zeros(0), np.zeros(0)).tolist() == []
    assert np.isnan(calibrate(np.zeros(0), np.zeros(0)).risk_area.value)


def test_positions_that_share_keys_may_depend_less_than_independent_ones() -> None:
    """Two replies of an item that never go the same way: the design is no smaller than 1."""
    answer_key = np.tile([0, 1], 40)
    chosen = np.where(np.arange(80) % 4 < 2, answer_key, 1 - answer_key)
    unit = np.arange(80) // 2
    right = (chosen == answer_key).astype(float)
    keys = SharedKeys.none(40)
    found = position_bias(right, answer_key, chosen, np.full(80, 2), unit=unit, keys=keys)
    assert found.accuracy.design >= 1.0
    assert found.choice.design == 1.0


def test_consistency_within_an_order_needs_two_of_one() -> None:
    answers = np.array([[[0, 0, 1]]])
    orders = np.array([[[0, 0, 1]]])
    there = np.ones_like(answers, dtype=bool)
    assert answer_consistency(answers, there, orders, same_order=True)[0, 0] == 1.0
    assert answer_consistency(answers, there, orders)[0, 0] == 0.0


def test_stability_draws_clusters_and_overlapping_ones_from_their_covariance() -> None:
    rng = np.random.default_rng(2)
    values = (rng.random((60, 3)) < [0.4, 0.5, 0.9]).astype(float)
    overlapping = bootstrap_stability(values, k=3, n_resamples=200, keys=chain(60))
    assert overlapping.leaders == (2,)
    cluster = np.arange(60) // 3
    disjoint = SharedKeys(60, np.arange(60), cluster)
    whole = bootstrap_stability(values, cluster % 2, k=3, n_resamples=200, keys=disjoint)
    across = bootstrap_stability(values, np.arange(60) % 2, k=3, n_resamples=200, keys=disjoint)
    alone = SharedKeys(60, np.arange(60), np.arange(60))
    private = bootstrap_stability(values, k=3, n_resamples=200, keys=alone)
    unstratified = bootstrap_stability(values, k=3, n_resamples=200, keys=disjoint)
    for found in (whole, across, private, unstratified):
        assert found.leaders == (2,)


def test_effects_of_keys_need_many_keys_none_of_which_outweighs_the_rest() -> None:
    rng = np.random.default_rng(3)
    facts = rng.random((80, 30)).argpartition(9, axis=1)[:, :9]
    unit, values = np.repeat(np.arange(80), 9), rng.random((80, 1))
    many = SharedKeys(80, unit, facts.ravel().astype(np.int64))
    assert measure_spread(values, equal_weights(80), many, "domain").by_key is not None
    by_group = measure_spread(values, group_weights(np.arange(80) % 2), many, "domain")
    assert by_group.by_key is not None
    one = SharedKeys(80, np.concatenate([unit, np.arange(80)]), np.concatenate(
        [facts.ravel(), np.full(80, 99)]))  # fmt: skip
    assert measure_spread(values, equal_weights(80), one, "domain").by_key is None
    crowd = np.arange(80 * 30) + 1_000
    private = SharedKeys(80, np.concatenate([many.unit, np.repeat(np.arange(80), 30)]),
                         np.concatenate([many.key, crowd]))  # fmt: skip
    assert measure_spread(values, equal_weights(80), private, "domain").by_key is None


def test_the_variance_by_keys_is_that_of_their_effects_and_of_errors() -> None:
    """On average over 2,000 respondents: the errors are a tenth of it."""
    rng = np.random.default_rng(5)
    facts = rng.random((80, 30)).argpartition(9, axis=1)[:, :9]
    held = np.zeros((80, 30))
    np.put_along_axis(held, facts, 1.0, axis=1)
    keys = SharedKeys(80, np.repeat(np.arange(80), 9), facts.ravel().astype(np.int64))
    values = held @ rng.normal(0, 0.2, (30, 2_000)) + rng.normal(0, 1, (80, 2_000))
    found = measure_spread(values, equal_weights(80), keys, "domain").by_key
    assert found is not None
    expected = 0.04 * float((held.mean(axis=0) ** 2).sum()) + 1 / 80
    assert float(found.variances.mean()) == pytest.approx(expected, rel=0.08)


def test_where_all_pairs_share_alike_effects_of_keys_cannot_be_told_from_errors() -> None:
    """Six units, a key for each of the 15 pairs: residuals are as independent ones are."""
    first, second = np.triu_indices(6, 1)
    keys = SharedKeys(6, np.concatenate([first, second]), np.tile(np.arange(15), 2))
    values = np.array([[0.0], [1.0], [1.0], [0.0], [1.0], [1.0]])
    assert measure_spread(values, equal_weights(6), keys, "domain").by_key is None


def test_scores_shrink_toward_their_common_level() -> None:
    """The more alike the models are, the closer; too few groups or no difference gives nothing."""
    rng = np.random.default_rng(4)
    values = (rng.random((200, 6)) < [0.5, 0.5, 0.5, 0.5, 0.5, 0.6]).astype(float)
    keys = SharedKeys(200, np.arange(200), np.arange(200) // 2)
    for shared in (SharedKeys.none(200), keys, chain(200)):
        spread = measure_spread(values, equal_weights(200), shared, "domain")
        found = shrink_scores(spread, n_resamples=500)
        assert found is not None
        shown = np.array([each.value for each in found.scores])
        assert np.ptp(shown) < np.ptp(spread.means)
        assert sum(each.best for each in found.scores) == pytest.approx(1.0)
    few = measure_spread(values[:8], equal_weights(8), SharedKeys.none(8), "domain")
    assert shrink_scores(few) is None
    same = measure_spread(values[:, [0, 0]], equal_weights(200), keys, "domain")
    assert shrink_scores(same) is None


def test_no_unit_makes_no_group() -> None:
    """As where every label is missing: means of nothing, and no error."""
    nothing = equal_weights(0)
    assert nothing.n_groups == 0
    assert nothing.group_means(np.empty((0, 3))).shape == (0, 3)
    assert nothing.weights().shape == (0,)
