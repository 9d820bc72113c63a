"""Answers that depend on each other, against double loops over pairs and against copies.

Copies of an answer say nothing new: with every answer three times, as answers of one item or as
items of one key, every interval is that of the answers once.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.stats.agreement import correct_judged_rate
from proofstone.stats.calibration import (
    Binned,
    area_parts,
    auroc,
    auroc_parts,
    calibrate,
    risk_coverage,
)
from proofstone.stats.clusters import Dependence, SharedKeys
from proofstone.stats.factors import check_dimension
from proofstone.stats.items import position_bias

Floats = NDArray[np.float64]
COPIES = 3


@st.composite
def dependent(draw: st.DrawFn) -> tuple[Dependence, Floats]:
    """Up to nine answers of up to five units, which hold up to two of four keys; two columns."""
    n, n_units = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    unit = draw(st.lists(st.integers(0, n_units - 1), min_size=n, max_size=n))
    edges = draw(st.lists(st.tuples(st.integers(0, n_units - 1), st.integers(0, 3)), max_size=8))
    held = np.array(edges, dtype=np.int64).reshape(-1, 2)
    numbers = st.floats(-2, 2).map(lambda x: round(x, 3))
    parts = np.array(draw(st.lists(numbers, min_size=2 * n, max_size=2 * n))).reshape(n, 2)
    keys = SharedKeys(n_units, held[:, 0], held[:, 1])
    return Dependence.of(n, np.array(unit), keys), parts


def depend(found: Dependence) -> NDArray[np.bool_]:
    """Which answers depend on which, by a loop over pairs."""
    keys = [set(found.keys.key[found.keys.unit == unit].tolist()) for unit in found.unit.tolist()]
    n = len(keys)
    return np.array(
        [
            [found.unit[i] == found.unit[j] or bool(keys[i] & keys[j]) for j in range(n)]
            for i in range(n)
        ]
    )


@given(dependent())
@settings(max_examples=60)
def test_the_covariance_is_the_sum_over_pairs_that_share(given_: tuple[Dependence, Floats]) -> None:
    found, parts = given_
    pairs, n = depend(found), len(parts)
    groups = n**2 / pairs.sum()
    assert found.groups == pytest.approx(groups)
    assert found.is_shared == (pairs.sum() > n)
    expected = parts.T @ pairs @ parts
    factor = groups / (groups - 1) if groups >= 2 else 1.0
    moments = found.moments(parts)
    assert moments.covariance == pytest.approx(factor * expected, abs=1e-9)
    root = moments.root()
    assert (np.diag(root @ root.T) <= moments.variances() + 1e-9).all()


@given(dependent())
@settings(max_examples=60)
def test_a_share_without_dependence_is_wilsons_and_never_leaves_0_to_1(
    given_: tuple[Dependence, Floats],
) -> None:
    found, parts = given_
    right = (parts[:, 0] > 0).astype(float)
    member = np.column_stack([np.ones(len(right)), parts[:, 1] > 0]).astype(float)
    means, ends = found.shares(member, right, 0.95)
    low, high = ends.low, ends.high
    known = ~np.isnan(means)
    assert (low[known] >= 0).all()
    assert (low[known] <= means[known] + 1e-12).all()
    assert (high[known] >= means[known] - 1e-12).all()
    assert np.isnan(means[1]) == (member[:, 1].sum() == 0)


def test_a_share_of_copies_is_the_share_once() -> None:
    """20 units of three copies each: the effective size is 19 * 60 / 59, t on 19 degrees."""
    right = (np.arange(20) < 13).astype(float)
    found = Dependence.of(60, np.repeat(np.arange(20), COPIES))
    means, ends = found.shares(np.ones((60, 1)), np.repeat(right, COPIES), 0.95)
    assert [means[0], found.groups] == pytest.approx([13 / 20, 20])
    t = 2.0930240544082634  # of 19 degrees
    p, n = 13 / 20, 19 * 60 / 59
    middle = (p + t**2 / (2 * n)) / (1 + t**2 / n)
    half = t * np.sqrt(p * (1 - p) / n + t**2 / (4 * n**2)) / (1 + t**2 / n)
    assert [ends.low[0], ends.high[0]] == pytest.approx([middle - half, middle + half])


def stated(seed: int, n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    confidence = rng.integers(0, 20, n) / 20 + 0.025
    return confidence, (rng.random(n) < confidence - 0.1).astype(float)


@pytest.mark.parametrize(
    ("figure", "parts"),
    [
        (auroc, auroc_parts),
        (lambda c, y, w: risk_coverage(c, y, w).area, area_parts),
    ],
    ids=["auroc", "area"],
)
def test_parts_are_the_change_by_a_little_more_weight(
    figure: Callable[[Floats, Floats, Floats], Floats], parts: Callable[[Floats, Floats], Floats]
) -> None:
    """The infinitesimal jackknife, by differences."""
    confidence, scores = stated(1, 40)
    little = 1e-6
    weights = np.ones((41, 40))
    weights[1:] += little * np.eye(40)
    values = figure(confidence, scores, weights)
    slopes = (values[1:] - values[0]) / little
    assert parts(confidence, scores) == pytest.approx(slopes, abs=1e-5)


def test_what_binning_leaves_changes_by_its_parts() -> None:
    """The jackknife: leaving one of 400 answers out moves it by its part, to the second order."""
    confidence, scores = stated(2, 400)
    member = (np.minimum(confidence * 4, 3).astype(int)[:, None] == np.arange(4)).astype(float)
    edges = np.linspace(0, 1, 5)
    whole = Binned(confidence, scores, member, edges[:-1], edges[1:])
    value, parts = whole.parts().within_bins, whole.within_parts()
    for one in range(0, 400, 37):
        kept = np.arange(400) != one
        less = Binned(confidence[kept], scores[kept], member[kept], edges[:-1], edges[1:])
        assert value - less.parts().within_bins == pytest.approx(parts[one], abs=5e-5)


@pytest.mark.parametrize("shared", ["item", "key"])
def test_copies_of_answers_leave_calibration_as_it_was(shared: str) -> None:
    """Of 80 answers, and of three copies of each: the same groups and the same intervals."""
    confidence, scores = stated(3, 80)
    once = calibrate(confidence, scores, n_resamples=4_000)
    many = np.repeat(np.arange(80), COPIES)
    if shared == "item":
        thrice = calibrate(confidence[many], scores[many], unit=many, n_resamples=4_000)
    else:
        keys = SharedKeys(240, np.arange(240), many)
        thrice = calibrate(
            confidence[many], scores[many], unit=np.arange(240), keys=keys, n_resamples=4_000
        )
    assert thrice.groups == pytest.approx(once.groups)
    for name in ("over_confidence", "brier", "uncertainty", "within_bins", "auroc", "risk_area"):
        first, second = getattr(once, name), getattr(thrice, name)
        assert msgspec.to_builtins(second) == pytest.approx(msgspec.to_builtins(first)), name
    for name in ("ece", "reliability", "resolution"):  # the test of 0 draws in another way
        first, second = getattr(once, name), getattr(thrice, name)
        assert msgspec.to_builtins(second) == pytest.approx(msgspec.to_builtins(first), abs=0.01), (
            name
        )
    assert thrice.ece_by_chance == pytest.approx(once.ece_by_chance, rel=0.15)
    naive = calibrate(confidence[many], scores[many], n_resamples=2)
    assert all(a.low <= b.low for a, b in zip(thrice.bins, naive.bins, strict=True))
    assert naive.over_confidence.low > thrice.over_confidence.low


def test_copies_of_records_leave_a_judged_rate_as_it_was() -> None:
    """40 labels and 100 more judged; all thrice."""
    rng = np.random.default_rng(4)
    people = (rng.random(140) < 0.6).astype(float)
    judge = np.where(rng.random(140) < 0.2, 1 - people, people)
    once = correct_judged_rate(people[:40], judge[:40], judge[40:])
    same, rest = np.repeat(np.arange(40), COPIES), np.repeat(np.arange(40, 140), COPIES)
    thrice = correct_judged_rate(
        people[same], judge[same], judge[rest], unit=np.concatenate([same, rest])
    )
    assert thrice.trust == pytest.approx(once.trust)
    assert (thrice.corrected.low, thrice.corrected.high) == pytest.approx(
        (once.corrected.low, once.corrected.high)
    )
    assert thrice.corrected.effective_n == pytest.approx(40)
    alone = correct_judged_rate(people[same], judge[same], judge[rest])
    assert alone.corrected.high - alone.corrected.low < 0.7 * (
        once.corrected.high - once.corrected.low
    )


def test_copies_of_replies_leave_positions_as_they_were() -> None:
    """Three copies treble Pearson's chi-square, and its design effect is three: p stays, but for
    what a covariance from 300 groups leaves open."""
    rng = np.random.default_rng(5)
    answer_key, chosen = rng.integers(0, 4, 300), rng.choice(4, 300, p=[0.31, 0.23, 0.23, 0.23])
    k, scores = np.full(300, 4), (answer_key == chosen).astype(float)
    once = position_bias(scores, answer_key, chosen, k)
    many = np.repeat(np.arange(300), COPIES)
    thrice = position_bias(scores[many], answer_key[many], chosen[many], k[many], unit=many)
    for name in ("accuracy", "choice", "error"):
        first, second = getattr(once, name), getattr(thrice, name)
        assert second.chi_square == pytest.approx(COPIES * first.chi_square), name
        assert second.design == pytest.approx(COPIES, rel=0.1), name
        assert np.sqrt(second.p) == pytest.approx(np.sqrt(first.p), rel=0.25), name
    assert [once.groups, thrice.groups] == pytest.approx([300, 300])


def profiles(rng: np.random.Generator, n: int, own: float) -> Floats:
    """Three respondents on n units of four strata by turns, the first ``own`` better in one."""
    chance = np.full((n, 3), 0.5)
    chance[np.arange(n) % 4 == 0, 0] += own
    return (rng.random((n, 3)) < chance).astype(float)


def test_whole_groups_are_exchanged_where_they_lie_in_one_stratum() -> None:
    """60 groups of five copies: the law of 60 items, so nearly the same p; items alone would find
    five times as much."""
    values = profiles(np.random.default_rng(6), 60, 0.2)
    strata, many = np.arange(60) % 4, np.repeat(np.arange(60), 5)
    once = check_dimension(values, strata, n_resamples=999)
    keys = SharedKeys(300, np.arange(300), many)
    grouped = check_dimension(values[many], strata[many], keys=keys, n_resamples=999)
    assert (once.chance, grouped.chance) == ("items", "groups")
    assert grouped.groups == pytest.approx(60)
    assert grouped.interaction == pytest.approx(once.interaction)
    assert grouped.by_chance == pytest.approx(once.by_chance, rel=0.05)
    assert grouped.p == pytest.approx(once.p, abs=0.05)
    assert check_dimension(values[many], strata[many], n_resamples=999).p < grouped.p


def test_overlapping_keys_leave_nothing_to_exchange() -> None:
    """A ring of 200 items, each sharing with both neighbours: moments by a loop over pairs."""
    n = 200
    values = profiles(np.random.default_rng(7), n, 0.1)
    strata = np.arange(n) % 4
    unit = np.repeat(np.arange(n), 2)
    keys = SharedKeys(n, unit, (unit + np.tile([0, 1], n)) % n)
    found = check_dimension(values, strata, keys=keys)
    assert (found.chance, found.n_resamples) == ("shared pairs", 0)
    left = values - values.mean(axis=0)
    left = left - left.mean(axis=1, keepdims=True)
    inside = (strata[:, None] == np.arange(4)) / 50 - 1 / n
    parts = (inside[:, :, None] * left[:, None, :]).reshape(n, 12) * np.sqrt(50 / n / 3)
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    pairs = (np.minimum(apart, n - apart) <= 1).astype(float)
    groups = n / 3
    covariance = groups / (groups - 1) * parts.T @ pairs @ parts
    assert found.groups == pytest.approx(groups)
    assert found.by_chance == pytest.approx(np.sqrt(np.trace(covariance)))
    sums = parts.sum(axis=0)
    assert found.interaction == pytest.approx(np.sqrt((sums**2).sum()))
    strange = SharedKeys(n, np.arange(n), np.arange(n) // 2)
    assert check_dimension(values, strata, keys=strange).chance == "shared pairs"
