"""What a test can resolve, before and after: against G*Power's example and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from proofstone.records.runs import Assumed
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.power import (
    resolution_after,
    resolution_before,
    separations,
    units_for,
)
from proofstone.stats.ranks import rank_all


def spread_of(values: np.ndarray, keys: SharedKeys | None = None):  # type: ignore[no-untyped-def]
    n = len(values)
    return measure_spread(values, equal_weights(n), keys or SharedKeys.none(n), "domain")


def test_a_paired_t_test_of_half_a_standard_deviation_needs_34_pairs() -> None:
    """Cohen's d of 0.5, two-sided 5%, power 80%: 34 pairs (Faul et al. 2007, G*Power 3; the
    non-central t gives 33.4). The rule here gives 33.4 by t quantiles."""
    assumed = Assumed(accuracy=0.5, repeatability=1.0, correlation=0.0)
    deviation = np.sqrt(assumed.unit_variance(1))
    assert units_for(0.5 * deviation, assumed) == pytest.approx(33.4, abs=0.2)


def test_power_at_the_resolution_is_what_was_asked() -> None:
    """The non-central t at the smallest difference gives 80%."""
    found = resolution_before(100, Assumed())
    shift = found.difference / found.standard_error
    bound = stats.t.ppf(0.975, 99)
    power = stats.nct.sf(bound, 99, shift) + stats.nct.cdf(-bound, 99, shift)
    assert power == pytest.approx(0.8, abs=0.005)


def test_assumptions_add_up_to_the_variance_of_a_difference() -> None:
    """2 * 1/4 * (0.7 * (1 - 0.5) + 0.3 / 4) of one unit with four samples, times 2 by design."""
    found = resolution_before(50, Assumed(design_effect=2.0), samples=4)
    assert found.standard_error == pytest.approx(np.sqrt(2 * 0.25 * (0.35 + 0.075) * 2 / 50))
    assert found.groups == 25


@given(
    accuracy=st.floats(0.05, 0.95),
    correlation=st.floats(0.0, 0.95),
    samples=st.integers(1, 8),
    design=st.floats(1.0, 5.0),
    difference=st.floats(0.005, 0.1),
)
def test_the_number_needed_resolves_the_difference(
    accuracy: float, correlation: float, samples: int, design: float, difference: float
) -> None:
    """`units_for` and `resolution_before` are each other's inverse where there are enough."""
    assumed = Assumed(accuracy=accuracy, correlation=correlation, design_effect=design)
    n = units_for(difference, assumed, samples=samples)
    if n / design > 4:
        found = resolution_before(round(n), assumed, samples=samples)
        assert found.difference == pytest.approx(difference, rel=0.15 if n < 50 else 0.03)


def test_a_separated_pair_needs_fewer_and_a_close_one_more() -> None:
    """``times`` is the square of (t + t) standard errors over the difference, seen at n = 400."""
    rng = np.random.default_rng(6)
    spread = spread_of((rng.random((400, 3)) < [0.8, 0.6, 0.59]).astype(float))
    far, close = separations(spread)
    assert far.times < 1 < close.times
    expected = ((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * close.standard_error) ** 2
    assert close.times == pytest.approx(expected / close.difference**2, rel=0.02)
    assert close.needed == pytest.approx(400 * close.times)
    first, second = rank_all(spread).comparisons[0], separations(spread, [(0, 1)])[0]
    assert first.difference == second.difference


def test_like_respondents_are_never_separated() -> None:
    spread = spread_of(np.tile(np.array([[1.0], [0.0]]), (10, 2)))
    (pair,) = separations(spread)
    assert (pair.needed, pair.times) == (np.inf, np.inf)
    assert units_for(0.0, Assumed()) == np.inf
    assert resolution_after(spread).difference == 0.0


def test_too_few_groups_plan_nothing() -> None:
    keys = SharedKeys(8, np.arange(8), np.zeros(8, dtype=np.int64))
    values = np.random.default_rng(0).random((8, 2))
    assert np.isnan(resolution_after(spread_of(values, keys)).difference)
    assert np.isnan(separations(spread_of(values, keys))[0].needed)
    assert np.isnan(resolution_before(0, Assumed()).difference)
    assert np.isnan(resolution_before(1, Assumed()).difference)


def test_one_respondent_has_no_neighbour() -> None:
    spread = spread_of(np.random.default_rng(0).random((8, 1)))
    assert separations(spread) == ()
    assert np.isnan(resolution_after(spread).difference)


def test_a_constant_difference_still_wants_three_groups() -> None:
    (pair,) = separations(spread_of(np.tile([1.0, 0.0], (30, 1))))
    assert pair.needed == pytest.approx(3)


def test_shared_facts_cost_resolution() -> None:
    """Each item copied four times under one key resolves what the single items do."""
    single = (np.random.default_rng(4).random((60, 2)) < [0.75, 0.5]).astype(float)
    keys = SharedKeys(240, np.arange(240), np.arange(240) % 60)
    once, copied = spread_of(single), spread_of(np.tile(single, (4, 1)), keys)
    assert resolution_after(copied).difference == pytest.approx(resolution_after(once).difference)
    assert separations(copied)[0].needed == pytest.approx(4 * separations(once)[0].needed)


@pytest.mark.slow
def test_the_difference_it_names_is_found_four_times_in_five() -> None:
    """2,000 tests of 300 items whose true difference is the one that `resolution_before` names."""
    rng = np.random.default_rng(7)
    n, assumed = 300, Assumed(accuracy=0.6, repeatability=1.0, correlation=0.0)
    gap = resolution_before(n, assumed).difference
    found = 0
    for _ in range(2_000):
        values = (rng.random((n, 2)) < [0.6 + gap / 2, 0.6 - gap / 2]).astype(float)
        found += rank_all(spread_of(values)).comparisons[0].p < 0.05
    assert 0.77 <= found / 2_000 <= 0.83
