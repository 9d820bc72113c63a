"""Certificates: bounds above the best value, ratios never too high, and the tables."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from small_pools import best_of, drawn, names

from proofstone.errors import BadInput, BadUsage
from proofstone.selection.bounds import greedy_bound, priced, upper_bound
from proofstone.selection.certificate import Concept, Reference, certify, rounded_down
from proofstone.selection.choose import select
from proofstone.selection.greedy import lazy_greedy
from proofstone.selection.objective import coverage


def test_bounds_are_above_the_best_value_by_trying_all() -> None:
    tight = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 9)), int(rng.integers(1, 7))
        pool = drawn(seed, n, m, ties=seed % 2 == 0)
        k = int(rng.integers(0, n + 1))
        best = best_of(pool, k)
        assert best is not None
        rows = lazy_greedy(pool, k)
        assert greedy_bound(pool, k, rows) >= best
        assert greedy_bound(pool, k, rng.permutation(n)[:k].tolist()) >= best
        assert priced(pool, k, rng.random(m) * pool.weights) >= best
        bound = upper_bound(pool, k, rows)
        assert bound.value >= best
        tight += bound.value <= best * (1 + 1e-9)
    assert tight > 200


def test_the_linear_program_is_the_tighter_bound() -> None:
    pool = drawn(4, 60, 40, density=0.3)
    rows = lazy_greedy(pool, 6)
    linear = upper_bound(pool, 6, rows)
    best = select(pool, 6, how="exact").value
    assert linear.by == "linear program"
    assert best <= linear.value < greedy_bound(pool, 6, rows)
    none = upper_bound(pool, 6, rows, seconds=0)
    assert (none.by, none.value) == ("greedy", greedy_bound(pool, 6, rows))


def test_above_a_million_pairs_the_bound_is_greedys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofstone.selection.bounds.PROGRAM_PAIRS", 10)
    pool = drawn(4, 60, 40)
    assert upper_bound(pool, 6, lazy_greedy(pool, 6)).by == "greedy"


@given(st.floats(1e-9, 1), st.floats(1e-9, 1))
def test_ratios_are_never_rounded_up(one: float, other: float) -> None:
    value, bound = sorted([one, other])
    ratio = rounded_down(value, bound)
    assert Fraction(ratio) <= Fraction(value) / Fraction(bound) + Fraction(1, 10**15)
    assert ratio > value / bound - 1.01e-4


def test_a_ratio_of_one_needs_a_reached_bound() -> None:
    assert rounded_down(1, 1) == 1
    assert rounded_down(0.99999999, 1) == 0.9999
    assert rounded_down(0, 0) == 1


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_the_tables_of_a_small_selection(form) -> None:  # type: ignore[no-untyped-def]
    scores = form([[1.0, 0.25, 0, 0.5], [0, 0.75, 0, 0], [0.5, 0, 0, 0.75]])
    pool = coverage(["a", "b", "c"], ["u", "v", "w", "z"], scores, [0.5, 0.25, 0.25, 0])
    made = certify(
        pool,
        select(pool, 1),
        group="law",
        concepts={"tort": ["u", "v"], "deed": ["w"], "unweighted": ["z"]},
        items_about={"tort": ["a", "b"], "will": ["c"]},
    )
    assert (made.group, made.how, made.n_candidates, made.n_references) == ("law", "exact", 3, 4)
    assert made.value == 0.5625
    assert (made.total_weight, made.share) == (1.0, 0.5625)
    assert [(pick.item, pick.gain, pick.value) for pick in made.picks] == [("a", 0.5625, 0.5625)]
    v = Reference("v", 0.25, 0.25, 0.1875, "b", 0.75)
    w = Reference("w", 0.25, 0.0, 0.25, "", 0.0)
    assert made.uncovered == (v, w)
    assert made.next == (w, v)
    assert made.concepts == (
        Concept("deed", 1, 1, 0.25, 0.0, ()),
        Concept("tort", 2, 1, 0.75, 0.75, ("a",)),
        Concept("unweighted", 1, 1, 0.0, 0.0, ()),
        Concept("will", 0, 0, 0.0, 0.0, ()),
    )
    assert made.upper_bound == pytest.approx(0.5625)
    assert 0.9999 <= made.ratio <= 1


def test_a_certificate_is_json_and_the_same_each_time() -> None:
    pool = drawn(7, 40, 30)
    made = [certify(pool, select(pool, 5), concepts={"c": pool.references[:3]}) for _ in range(2)]
    assert made[0] == made[1]
    told = json.loads(json.dumps(asdict(made[0])))
    assert told["picks"][0]["item"] == made[0].picks[0].item
    assert made[0].value <= made[0].upper_bound


def test_a_poor_selection_has_a_low_ratio() -> None:
    pool = coverage(names("q", 3), names("u", 2), np.array([[1, 1], [0.1, 0], [0, 0.1]]))
    good = select(pool, 1)
    poor = certify(pool, replace(good, items=("q001",), gains=(0.05,), value=0.05))
    assert poor.ratio <= 0.05
    assert certify(pool, good).ratio >= 0.9999


def test_an_empty_selection_has_a_certificate() -> None:
    pool = coverage([], [], np.zeros((0, 0)))
    made = certify(pool, select(pool, 0))
    assert (made.value, made.ratio, made.share) == (0, 1, 0)


def test_unknown_names_and_thresholds_are_rejected() -> None:
    pool = drawn(1, 3, 2)
    with pytest.raises(BadInput) as caught:
        certify(pool, select(pool, 1), concepts={"c": ["x", "y"]}, items_about={"d": ["z"]})
    assert [str(problem) for problem in caught.value.problems] == [
        "concept c: 'x' is not a reference",
        "concept c: 'y' is not a reference",
        "concept d: 'z' is not a candidate",
    ]
    with pytest.raises(BadUsage, match=r"threshold 1\.5"):
        certify(pool, select(pool, 1), threshold=1.5)
