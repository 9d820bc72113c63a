"""Numbers made of drawn ratios, with intervals that hold for all of them together."""

from __future__ import annotations

import numpy as np
import pytest

from proofstone.stats.ratios import MadeOf, bootstrap_ratios, estimate_together

N = 200


def difference(first: int, second: int) -> MadeOf:
    return MadeOf((first, second), lambda ratios: ratios[:, first] - ratios[:, second])


def test_a_difference_of_shares_of_the_same_clusters_has_the_paired_error() -> None:
    """Both move with the cluster: the difference of two columns is that of their means, and its
    standard error that of the differences by cluster, s / sqrt(n)."""
    rng = np.random.default_rng(1)
    common = rng.uniform(0.0, 0.5, N)
    tops = np.stack([common + rng.uniform(0, 0.1, N), common + rng.uniform(0, 0.1, N)], axis=1)
    drawn = bootstrap_ratios(tops, np.ones((N, 2)), n_resamples=4000)
    (found,) = estimate_together(drawn, [difference(0, 1)])
    by_cluster = tops[:, 0] - tops[:, 1]
    assert found.value == pytest.approx(by_cluster.mean())
    half = 1.972 * by_cluster.std(ddof=1) / np.sqrt(N)  # t on 199 degrees
    assert found.high - found.value == pytest.approx(half, rel=0.05)
    assert found.value - found.low == pytest.approx(half, rel=0.05)
    assert "no-spread" not in found.flags


def test_several_at_once_are_wider_and_a_copy_makes_nothing_wider() -> None:
    """The largest of many deviations is larger; of one number twice it is the same."""
    rng = np.random.default_rng(2)
    tops = rng.uniform(0, 1, (N, 8))
    drawn = bootstrap_ratios(tops, np.ones((N, 8)), n_resamples=4000)
    alone, twice = (estimate_together(drawn, [difference(1, 0)] * times)[0] for times in (1, 2))
    many = estimate_together(drawn, [difference(place, 0) for place in range(1, 8)])[0]
    assert twice.high == pytest.approx(alone.high)
    assert many.high - many.low > 1.2 * (alone.high - alone.low)
    assert "max-t" in many.made_by


def test_all_intervals_together_hold_the_truth_as_often_as_they_say() -> None:
    """Of 200 samples with three true differences of 0.1, 0 and -0.1: at 90% for all together 180
    are expected, and 165 or fewer once in a thousand."""
    held = 0
    for sample in range(200):
        rng = np.random.default_rng([7, sample])
        common = rng.uniform(-0.2, 0.2, (60, 1))
        chance = np.clip(np.array([0.5, 0.6, 0.5, 0.4]) + common, 0, 1)
        tops = rng.binomial(5, chance).astype(np.float64)
        drawn = bootstrap_ratios(tops, np.full((60, 4), 5.0), n_resamples=400, seed=sample)
        made = [difference(place, 0) for place in (1, 2, 3)]
        found = estimate_together(drawn, made, confidence=0.9)
        truth = (0.1, 0.0, -0.1)
        held += all(each.low <= t <= each.high for each, t in zip(found, truth, strict=True))
    assert held > 165


def test_what_no_draw_moves_and_what_nothing_counts_in() -> None:
    """Alike everywhere: off by as much as Wilson leaves to two shares at an end. Over nothing there
    is no value; over one cluster there is one, within its bounds."""
    same = np.ones((50, 2))
    (found,) = estimate_together(bootstrap_ratios(same, same), [difference(0, 1)])
    wilson = 1.96**2 / (50 + 1.96**2)
    widened = 2.0096 / 1.96  # t on 49 degrees
    assert (found.value, "no-spread" in found.flags) == (0.0, True)
    assert found.high == pytest.approx(np.sqrt(2) * wilson * widened, rel=0.01)
    nothing = np.stack([np.ones(50), np.zeros(50)], axis=1)
    (found,) = estimate_together(bootstrap_ratios(nothing, nothing), [difference(0, 1)])
    assert (np.isnan(found.value), found.n) == (True, 0)
    one = np.array([[1.0, 0.0]])
    (found,) = estimate_together(bootstrap_ratios(one, np.ones((1, 2))), [difference(0, 1)])
    assert (found.value, found.low, found.high) == (1.0, -1.0, 1.0)
    assert found.made_by == "none"
