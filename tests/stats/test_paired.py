"""A pair on the same units: its interval, and how many units would decide against a bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import compare_pair, units_to_pass


def columns(both: int, rises: int, falls: int, neither: int):
    first = [1.0] * both + [0.0] * rises + [1.0] * falls + [0.0] * neither
    second = [1.0] * both + [1.0] * rises + [0.0] * falls + [0.0] * neither
    return np.array(first), np.array(second), SharedKeys.none(len(first))


def test_the_interval_is_no_narrower_than_either() -> None:
    """The counts of Bentur et al. (2009; 1, 1, 7, 12 of 21 children): a t interval, and Bonett and
    Price's with one more child in each discordant cell; each end is the outer one."""
    found = compare_pair(*columns(1, 7, 1, 12), population="bank")
    assert found.estimate.value == pytest.approx((7 - 1) / 21)
    wald = (8 - 2) / 23, 1.959964 * math.sqrt((8 / 23 + 2 / 23 - (6 / 23) ** 2) / 23)
    spread = math.sqrt((8 - 21 * (6 / 21) ** 2) / 20 / 21)
    t = 2.0859634
    assert found.estimate.low == pytest.approx(min(wald[0] - wald[1], 6 / 21 - t * spread))
    assert found.estimate.high == pytest.approx(max(wald[0] + wald[1], 6 / 21 + t * spread))
    assert (found.rises, found.falls, found.level) == (7, 1, 13)


def test_units_that_are_all_alike_leave_room_for_those_not_seen() -> None:
    """100 ties: were 3.6% of all units unlike, one of 100 would be, with 97.5%."""
    found = compare_pair(*columns(60, 0, 0, 40), population="bank")
    share = 1 - 0.025 ** (1 / 100)
    assert (found.estimate.low, found.estimate.high) == (
        pytest.approx(-share),
        pytest.approx(share),
    )
    assert found.estimate.made_by == "the same difference on all units"
    assert found.p == 1.0
    assert round(share, 3) == 0.036


def test_all_risen_may_all_have_risen_by_luck() -> None:
    """Three units, all of them won: the difference is 1, and may be little."""
    found = compare_pair(*columns(0, 3, 0, 0), population="bank")
    assert (found.estimate.value, found.estimate.high) == (1.0, 1.0)
    assert found.estimate.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 3)))


@pytest.mark.parametrize(("n", "flag"), [(0, "no-scores"), (1, "one-group"), (49, "few-groups")])
def test_too_few_units_are_flagged(n: int, flag: str) -> None:
    """None has no difference; one bounds nothing."""
    found = compare_pair(*columns(n, 0, 0, 0))
    assert found.estimate.flags == (flag,)
    if n == 1:
        assert (found.estimate.low, found.estimate.high) == (-1.0, 1.0)
    if n == 0:
        assert math.isnan(found.estimate.value)


def test_units_of_one_cluster_count_once() -> None:
    """Ten clusters of ten alike units: the interval is that of ten units."""
    first, second, _keys = columns(10, 0, 0, 0)
    alone = compare_pair(first, second, SharedKeys.none(10))
    clusters = SharedKeys(100, np.arange(100), np.arange(100) // 10)
    together = compare_pair(np.repeat(first, 10), np.repeat(second, 10), clusters)
    assert together.estimate.low == pytest.approx(alone.estimate.low)


def test_shares_have_the_t_interval() -> None:
    """Means over samples are no counts, so only the clustered t applies."""
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 5, (2, 60)) / 4
    found = compare_pair(first, second, SharedKeys.none(60), population="bank")
    error = (second - first).std(ddof=1) / math.sqrt(60)
    assert found.standard_error == pytest.approx(error)
    assert found.estimate.made_by == "clustered t on 59.0 degrees"


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_swapping_the_two_mirrors_the_interval(a: int, b: int, c: int, d: int) -> None:
    """B minus A is the negative of A minus B, interval and p too; the value lies within."""
    first, second, keys = columns(a, b, c, d)
    there, back = compare_pair(first, second, keys), compare_pair(second, first, keys)
    assert there.p == pytest.approx(back.p)
    if a + b + c + d:
        assert there.estimate.low == pytest.approx(-back.estimate.high)
        low, high = there.estimate.low - 1e-12, there.estimate.high + 1e-12
        assert there.estimate.low >= -1.0
        assert low <= there.estimate.value <= high


def test_ties_pass_a_bound_once_there_are_enough() -> None:
    """A bound of -2 points with nothing but ties: log(0.025) / log(0.98) = 182.6 units."""
    needed = units_to_pass(*columns(50, 0, 0, 0), -0.02)
    assert needed == math.ceil(math.log(0.025) / math.log(0.98)) == 183
    assert units_to_pass(*columns(36, 0, 0, 4), -0.02) == 183, "some wrong on both sides"
    enough = compare_pair(*columns(183, 0, 0, 0), population="bank")
    short = compare_pair(*columns(182, 0, 0, 0), population="bank")
    assert enough.estimate.low > -0.02 > short.estimate.low


def test_a_difference_on_the_bound_is_never_decided() -> None:
    """One unit of 50 lost, and a bound of -2 points."""
    assert math.isinf(units_to_pass(*columns(40, 0, 1, 9), -1 / 50))


def test_the_number_of_units_decides_with_the_power_asked() -> None:
    """Simulated at that number: the interval lies above the bound in 80% of 400 draws."""
    rates = 0.05, 0.05
    first, second, keys = columns(450, 25, 25, 0)
    n = int(units_to_pass(first, second, keys, -0.03, population="bank"))
    rng, passed = np.random.default_rng(7), 0
    for _ in range(400):
        rises, falls = rng.multinomial(n, [*rates, 1 - sum(rates)])[:2]
        found = compare_pair(*columns(n - rises - falls, rises, falls, 0), population="bank")
        passed += found.estimate.low > -0.03
    assert 0.74 < passed / 400 < 0.86


@pytest.mark.slow
@pytest.mark.parametrize("unlike", [0.002, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("n", [50, 200, 1000])
def test_the_interval_holds_the_truth(n: int, unlike: float) -> None:
    """4,000 draws with as many rises as falls: it misses on the dangerous side, above 0, in at
    most 3%, however few units are unlike."""
    rng, missed = np.random.default_rng(n), 0
    for rises, falls, level in rng.multinomial(n, [unlike / 2, unlike / 2, 1 - unlike], 4000):
        found = compare_pair(*columns(level, rises, falls, 0), population="bank")
        missed += found.estimate.low > 0
    assert missed / 4000 < 0.03


def test_no_units_and_one_need_an_unknown_number() -> None:
    """There is nothing to reckon with."""
    assert math.isnan(units_to_pass(*columns(0, 0, 0, 0), -0.02))
    assert math.isnan(units_to_pass(*columns(1, 0, 0, 0), -0.02))


def test_alike_units_below_the_bound() -> None:
    """All lost, or all won: the room to the bound, as the share that may be unlike."""
    room = math.log(1 - 0.98 / 2)
    assert units_to_pass(*columns(0, 0, 50, 0), -0.02) == math.ceil(math.log(0.025) / room)
    room = math.log(1 - 1.02 / 2)
    assert units_to_pass(*columns(0, 50, 0, 0), -0.02) == math.ceil(math.log(0.025) / room)


def test_a_bound_that_no_difference_can_pass_asks_for_the_fewest_units() -> None:
    """Nothing falls by more than all: room for units not seen is no matter, and farther off is no
    easier."""
    all_rise = columns(0, 5, 0, 0)
    needed = [units_to_pass(*all_rise, bound) for bound in (-1.5, -1.0, 0.0)]
    assert needed[0] == needed[1] < needed[2]
