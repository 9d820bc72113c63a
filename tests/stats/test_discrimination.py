"""KINA's Table 7 from its Table 3, and how much of its ranges chance would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import studentized_range

from proofstone.errors import BadUsage
from proofstone.records.runs import Assumed
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.intervals import expected_range, range_p
from proofstone.stats.stability import discriminate, discriminate_shares, top_k

Floats = NDArray[np.float64]
KINA_SIZES = np.array([40, 34, 31, 308, 13, 65, 65, 29, 81, 13, 201, 19])
# The ten highest of KINA's Table 3 by ALL: Agronomy, Economics, Education, Engineering, History,
# Law, Literature and Arts, Management, Medicine, Philosophy, Science, Sociology.
KINA_TOP = np.array([
    [46.25, 50.74, 52.42, 53.17, 36.54, 54.23, 65.00, 62.93, 49.69, 25.00, 52.99, 61.84],
    [61.88, 52.21, 52.42, 51.06, 15.38, 44.62, 58.46, 49.14, 41.98, 36.54, 51.06, 43.42],
    [45.62, 44.12, 41.13, 50.49, 42.31, 50.77, 58.08, 41.38, 37.04, 30.77, 52.11, 42.11],
    [56.88, 44.85, 37.90, 44.97, 25.00, 50.77, 32.69, 41.38, 41.67, 30.77, 50.50, 39.47],
    [50.62, 47.06, 35.48, 42.69, 19.23, 47.69, 45.77, 56.03, 38.58, 21.15, 47.01, 42.11],
    [55.62, 43.38, 30.65, 44.32, 21.15, 37.31, 42.69, 43.97, 33.64, 19.23, 50.50, 25.00],
    [48.75, 41.18, 29.84, 42.13, 11.54, 43.08, 36.92, 43.97, 34.57, 30.77, 47.14, 39.47],
    [48.75, 39.71, 42.74, 38.88, 28.85, 50.00, 41.15, 42.24, 32.41, 15.38, 43.53, 25.00],
    [47.50, 34.56, 38.71, 41.72, 30.77, 38.85, 37.69, 30.17, 30.25, 36.54, 43.16, 28.95],
    [43.75, 35.29, 47.58, 40.26, 28.85, 39.62, 35.77, 39.66, 31.48, 19.23, 44.15, 23.68],
]) / 100  # fmt: skip
KINA_ALL = np.array([53.17, 49.92, 48.55, 44.99, 43.91, 42.99, 41.49, 40.24, 39.52, 39.35]) / 100
# KINA's Table 7: mean, SD, CV, maximum, minimum, range.
KINA_TABLE_7 = np.array([
    [50.56, 5.47, 10.81, 61.88, 43.75, 18.13], [43.31, 5.57, 12.85, 52.21, 34.56, 17.65],
    [40.89, 7.64, 18.69, 52.42, 29.84, 22.58], [44.97, 4.67, 10.39, 53.17, 38.88, 14.29],
    [25.96, 8.99, 34.63, 42.31, 11.54, 30.77], [45.69, 5.56, 12.16, 54.23, 37.31, 16.92],
    [45.42, 10.61, 23.37, 65.00, 32.69, 32.31], [45.09, 8.63, 19.14, 62.93, 30.17, 32.76],
    [37.13, 5.69, 15.34, 49.69, 30.25, 19.44], [26.54, 7.19, 27.08, 36.54, 15.38, 21.16],
    [48.21, 3.50, 7.27, 52.99, 43.16, 9.83], [37.10, 11.19, 30.17, 61.84, 23.68, 38.16],
])  # fmt: skip
SCIENCE = 10


def test_kinas_table_7_follows_from_its_table_3() -> None:
    """All 72 cells to the rounding of the printed ones, but Science's SD and CV: 3.51 and 7.28
    follow where 3.50 and 7.27 are printed."""
    found = discriminate_shares(KINA_TOP, KINA_SIZES, KINA_ALL)
    cells = np.array(
        [(100 * d.mean, 100 * d.sd, d.cv, 100 * d.high, 100 * d.low, 100 * d.range) for d in found]
    )
    expected = KINA_TABLE_7.copy()
    expected[SCIENCE, 1:3] = 3.51, 7.28
    assert np.abs(cells - expected).max() < 0.0075
    assert [d.n_units for d in found] == KINA_SIZES.tolist()


def test_chance_alone_gives_the_small_disciplines_most_of_their_range() -> None:
    """What the paper warns of: ten equal models of 26% on 13 items, each asked once, range over
    3.078 * sqrt(0.26 * 0.74 / 13) = 37 points; History shows 31."""
    found = discriminate_shares(KINA_TOP, KINA_SIZES, KINA_ALL)
    history, science = found[4], found[SCIENCE]
    p = history.mean
    assert history.range_by_chance == pytest.approx(3.0775 * np.sqrt(p * (1 - p) / 13), rel=1e-4)
    assert history.range_by_chance > history.range
    assert (history.share_by_chance, history.sd_corrected) == (1.0, 0.0)
    assert science.n_units == 201
    less = discriminate_shares(
        KINA_TOP, KINA_SIZES, KINA_ALL, samples=4, assumed=Assumed(correlation=0.5)
    )
    assert less[4].noise < history.noise


def test_the_overall_mean_is_weighted_by_items() -> None:
    """Without ALL the order is by all items: the same ten, in the same order."""
    given_all = discriminate_shares(KINA_TOP, KINA_SIZES, KINA_ALL, k=3)
    found = discriminate_shares(KINA_TOP, KINA_SIZES, k=3)
    assert [d.mean for d in found] == [d.mean for d in given_all]


def test_tippetts_mean_ranges() -> None:
    """Tippett (1925), table 10: 1.12838 of two, 2.32593 of five, 3.07751 of ten, 5.01519 of a
    hundred."""
    assert [round(expected_range(k), 5) for k in (2, 5, 10, 100)] == [
        1.12838, 2.32593, 3.07751, 5.01519,
    ]  # fmt: skip
    assert expected_range(1) == 0.0


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("width", [0.0, 1.0, 3.5, 8.0])
def test_the_range_is_the_studentized_one_on_infinite_degrees(k: int, width: float) -> None:
    expected = studentized_range.sf(width, k, np.inf) if width else 1.0
    assert range_p(width, k) == pytest.approx(expected, abs=1e-6)


def equal_skill(seed: int, n: int, k: int) -> Floats:
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1))
    return (rng.random((n, k)) < 1 / (1 + np.exp(-1.5 * ease))).astype(float)


def test_the_range_by_chance_is_that_of_shuffled_respondents() -> None:
    """Equal skill, items of unequal ease: labels shuffled within each item give the same range,
    which independent binomials would overstate."""
    n, k = 120, 8
    values = equal_skill(5, n, k)
    (found,) = discriminate(values, np.zeros(n, dtype=int), k=k)
    rng = np.random.default_rng(1)
    ranges = [np.ptp(rng.permuted(values, axis=1).mean(axis=0)) for _ in range(2_000)]
    assert found.range_by_chance == pytest.approx(np.mean(ranges), rel=0.03)
    (apart,) = discriminate_shares(values.mean(axis=0)[:, None], np.array([n]), k=k)
    assert apart.range_by_chance > 1.1 * found.range_by_chance
    assert found.p == pytest.approx(np.mean(np.array(ranges) >= found.range - 1e-9), abs=0.06)


def test_equal_respondents_are_seldom_told_apart() -> None:
    """p below 0.05 in about one of twenty strata of respondents that are all alike."""
    values = np.concatenate([equal_skill(seed, 60, 6) for seed in range(300)])
    found = discriminate(values, np.repeat(np.arange(300), 60), k=6)
    assert 0.02 <= np.mean([d.p < 0.05 for d in found]) <= 0.08
    observed = np.mean([d.sd**2 for d in found])
    noise = np.mean([d.noise**2 * 5 / 6 for d in found])
    assert noise == pytest.approx(observed, rel=0.1)


def test_a_real_spread_is_recovered() -> None:
    """Accuracies 0.2, 0.4, 0.6 and 0.8 on 400 items: SD sqrt(0.05) is left after correction."""
    rng = np.random.default_rng(2)
    values = (rng.random((400, 4)) < [0.2, 0.4, 0.6, 0.8]).astype(float)
    (found,) = discriminate(values, np.zeros(400, dtype=int))
    assert found.sd_corrected == pytest.approx(np.sqrt(0.05), abs=0.02)
    assert found.sd_corrected < found.sd
    assert (found.best, found.worst, found.k) == (3, 0, 4)
    assert found.p < 1e-6


def test_shared_facts_make_a_range_less_telling() -> None:
    values = np.repeat(equal_skill(3, 60, 5), 4, axis=0)
    keys = SharedKeys(240, np.arange(240), np.arange(240) // 4)
    strata = np.zeros(240, dtype=int)
    (shared,) = discriminate(values, strata, keys=keys)
    (naive,) = discriminate(values, strata, keys=keys, population="bank")
    assert shared.noise == pytest.approx(2 * naive.noise, rel=0.02)


def test_missing_cells_leave_their_items_out() -> None:
    values = np.random.default_rng(0).random((60, 3))
    values[:10, 1] = np.nan
    first, second = discriminate(values, np.repeat([7, 9], 30), k=3)
    assert (first.stratum, first.n_units, second.n_units) == (7, 20, 30)
    assert "few-groups" in first.flags


@pytest.mark.parametrize(
    "values",
    [np.empty((0, 3)), np.empty((4, 0)), np.ones((1, 3)), np.ones((6, 3)), np.full((4, 2), np.nan),
     np.ones((5, 1)), np.zeros((5, 2))],
)  # fmt: skip
def test_degenerate_strata_are_answered(values: Floats) -> None:
    for found in discriminate(values, np.zeros(len(values), dtype=int)):
        assert found.k <= values.shape[1]
        if found.n_units:
            assert found.range == 0.0
            assert np.isnan(found.p) or found.p == 1.0


def test_an_empty_stratum_of_shares_is_answered() -> None:
    found = discriminate_shares(np.array([[0.5, np.nan], [0.7, np.nan]]), np.array([10, 0]))
    assert found[1].flags == ("no-scores",)
    assert found[0].range == pytest.approx(0.2)


def test_without_spread_by_chance_any_range_is_real() -> None:
    """One respondent right and one wrong on every item: sampling moves neither. p is a sign
    test's: of 60 items hardly ever, of two in half of all cases."""
    (found,) = discriminate(np.tile([1.0, 0.0], (60, 1)), np.zeros(60, dtype=int))
    assert (found.noise, found.p, found.sd_corrected) == (0.0, pytest.approx(2 * 0.5**60), 0.5)
    (two,) = discriminate(np.tile([1.0, 0.0], (2, 1)), np.zeros(2, dtype=int))
    assert two.p == 2 * 0.5**2


def test_top_k_is_of_the_highest() -> None:
    assert top_k(np.array([0.2, np.nan, 0.9, 0.9]), 3).tolist() == [2, 3, 0]
    with pytest.raises(BadUsage):
        top_k(np.ones(3), 0)


@given(seed=st.integers(0, 100), order=st.permutations(range(5)))
@settings(max_examples=20)
def test_the_order_of_respondents_does_not_matter(seed: int, order: list[int]) -> None:
    values = np.random.default_rng(seed).random((40, 5))
    (before,) = discriminate(values, np.zeros(40, dtype=int))
    (after,) = discriminate(values[:, order], np.zeros(40, dtype=int))
    assert (before.sd, before.p, before.noise) == pytest.approx((after.sd, after.p, after.noise))
    assert order[after.best] == before.best


@pytest.mark.parametrize(("width", "k", "degrees"), [(3.5, 10, 18), (4.5, 10, 9), (3.0, 3, 2),
                                                     (5.0, 4, 60), (20.0, 30, 3)])  # fmt: skip
def test_the_range_on_finite_degrees_is_scipys(width: float, k: int, degrees: float) -> None:
    """And passed more often than where the standard deviation is known."""
    expected = studentized_range.sf(width, k, degrees)
    assert range_p(width, k, degrees) == pytest.approx(expected, abs=1e-6)
    assert range_p(width, k, degrees) > range_p(width, k)
