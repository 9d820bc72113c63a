"""Quotas and duplicate limits: kept always, best by the exact program, conflicts explained."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_pools import best_of, drawn, names

from proofstone.errors import BadInput, BadUsage, QuotasConflict
from proofstone.selection.choose import How, select
from proofstone.selection.limits import (
    AtMost,
    Limit,
    Quota,
    best_kept,
    conflict,
    limits_of,
    sized,
    violated,
)
from proofstone.selection.objective import Coverage, coverage


def cases(seed: int, n: int) -> tuple[int, list[Quota], list[AtMost]]:
    """Random sizes, two quotas and duplicate groups; about half can be kept."""
    rng = np.random.default_rng(seed)
    items = names("q", n)
    quotas = []
    for name, groups in (("discipline", "ABC"), ("type", "xy")):
        of = dict(zip(items, rng.choice(list(groups), n).tolist(), strict=True))
        least = rng.integers(0, 3, len(groups))
        most = least + rng.integers(0, 4, len(groups))
        bounds = {
            group: (int(low), int(high))
            for group, low, high in zip(groups, least, most, strict=True)
        }
        quotas.append(Quota(name, of, bounds))
    duplicates = [
        AtMost(rng.choice(items, 3, replace=False).tolist(), int(rng.integers(1, 3)))
        for _ in range(int(rng.integers(0, 4)))
    ]
    return int(rng.integers(0, n // 2 + 1)), quotas, duplicates


def keeps(items: tuple[str, ...], quotas: list[Quota], duplicates: list[AtMost]) -> bool:
    """A second reading of what the limits say."""
    for quota in quotas:
        counts = Counter(quota.groups[item] for item in items)
        if any(not low <= counts[group] <= high for group, (low, high) in quota.bounds.items()):
            return False
    return all(len(set(items) & set(one.items)) <= one.most for one in duplicates)


@pytest.mark.parametrize("how", ["greedy", "exact"])
def test_limits_are_kept_or_shown_to_conflict(how: How) -> None:
    kept = conflicting = repaired = 0
    for seed in range(150):
        pool = drawn(seed, 10, 6, ties=seed % 3 == 0)
        k, quotas, duplicates = cases(seed, 10)
        best = best_of(
            pool,
            k,
            lambda rows: keeps(tuple(pool.items[row] for row in rows), quotas, duplicates),  # noqa: B023
        )
        try:
            chosen = select(pool, k, quotas=quotas, duplicates=duplicates, how=how)
        except QuotasConflict:
            assert best is None
            conflicting += 1
            continue
        kept += 1
        repaired += chosen.how == "greedy with repair"
        assert best is not None
        assert len(chosen.items) == len(set(chosen.items)) == k
        assert keeps(chosen.items, quotas, duplicates)
        assert chosen.value <= best + 1e-12
        if how == "exact":
            assert chosen.value == pytest.approx(best, abs=1e-9)
    assert kept > 20
    assert conflicting > 20
    assert repaired > 3 or how == "exact"


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_larger_pools_keep_limits_and_do_not_depend_on_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random((80, 30)) * (rng.random((80, 30)) < 0.3)
    items = names("q", 80)
    _, quotas, _ = cases(seed, 80)
    bounds = {"A": (3, 6), "B": (2, 5), "C": (0, 4)}
    quotas = [Quota("discipline", quotas[0].groups, bounds), quotas[1]]
    quotas[1] = Quota("type", quotas[1].groups, {"x": (5, 12), "y": (4, 12)})
    pairs = [AtMost(rng.choice(items, 2, replace=False).tolist()) for _ in range(40)]
    one = select(
        coverage(items, names("u", 30), scores), 12, quotas=quotas, duplicates=pairs, how="greedy"
    )
    assert keeps(one.items, quotas, pairs)
    rows = rng.permutation(80)
    mixed = coverage([items[row] for row in rows], names("u", 30), scores[rows])
    assert one == select(mixed, 12, quotas=quotas, duplicates=pairs, how="greedy")


def test_conflicts_are_irreducible() -> None:
    """The set conflicts, and each part that lacks one limit does not."""
    sizes = Counter[int]()
    for seed in range(250):
        pool = drawn(seed, 10, 2)
        k, quotas, duplicates = cases(seed, 10)
        limits = [sized(10, k), *limits_of(pool, quotas, duplicates)]
        if best_kept(10, limits, np.zeros(10)) is not None:
            continue
        found = conflict(10, limits)
        assert best_of(pool, k) is not None
        assert not any_kept(pool, found)
        for left in found:
            assert any_kept(pool, [one for one in found if one is not left])
        sizes[len(found)] += 1
    assert sum(sizes.values()) > 30
    assert len(sizes) > 2


def any_kept(pool: Coverage, limits: list[Limit]) -> bool:
    """Whether any set of items keeps the limits, by trying all."""
    n = len(pool.items)
    counts = np.array([[bits >> row & 1 for row in range(n)] for bits in range(1 << n)])
    kept = np.ones(1 << n, dtype=bool)
    for limit in limits:
        total = counts[:, list(limit.rows)].sum(axis=1)
        kept &= (total >= limit.least) & (total <= limit.most)
    return bool(kept.any())


def test_a_conflict_is_told_with_names_and_numbers() -> None:
    pool = drawn(1, 6, 3)
    field = Quota("field", dict.fromkeys(pool.items, "law") | {"q000": "art"}, {"law": (3, 6)})
    other = Quota("type", dict.fromkeys(pool.items, "case"), {"case": (0, 6)})
    with pytest.raises(QuotasConflict) as caught:
        select(pool, 3, quotas=[field, other], duplicates=[AtMost(pool.items[1:], 2)])
    assert str(caught.value) == (
        "No selection keeps these limits together:\n"
        "  field law: at least 3, and 5 candidates\n"
        "  duplicates (q001, q002, q003, ...): at most 2 of 5 candidates\n"
        "  Change any one of them; without it the others can be kept."
    )


def test_invalid_limits_are_stated_together() -> None:
    pool = drawn(1, 2, 1)
    with pytest.raises(BadInput) as caught:
        select(
            pool,
            1,
            quotas=[Quota("field", {"q000": "law"}, {"law": (2, 1), "art": (-1, 1)})],
            duplicates=[AtMost(["q000", "other"], -1)],
        )
    assert [str(problem) for problem in caught.value.problems] == [
        "quota field: 'q001' has no group",
        "field art: -1 to 1 is not a range of counts",
        "field law: 2 to 1 is not a range of counts",
        "duplicate limit 1: 'other' is not a candidate",
        "duplicate limit 1: at most -1 is below 0",
    ]


def test_a_group_without_candidates_conflicts_if_it_needs_some() -> None:
    pool = drawn(1, 3, 2)
    groups = dict.fromkeys(pool.items, "law")
    with pytest.raises(QuotasConflict, match="field art: at least 1, and 0 candidates"):
        select(pool, 2, quotas=[Quota("field", groups, {"art": (1, 2)})])
    assert len(select(pool, 2, quotas=[Quota("field", groups, {"art": (0, 2)})]).items) == 2


def test_an_undecided_program_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are not said to conflict because time ran out."""
    monkeypatch.setattr("proofstone.selection.limits.SECONDS", 0.0)
    rng = np.random.default_rng(0)
    limits = [
        Limit(f"l{at}", tuple(sorted(rng.choice(60, 20, replace=False).tolist())), 7, 7)
        for at in range(12)
    ]
    with pytest.raises(BadUsage, match="No selection within the quotas was found") as caught:
        best_kept(60, limits, rng.random(60))
    assert not isinstance(caught.value, QuotasConflict)


def test_what_is_violated() -> None:
    limits = [Limit("a", (0, 1), 1, 1), Limit("b", (1, 2), 0, 1)]
    assert violated(limits, [1]) == []
    assert violated(limits, [1, 2]) == [limits[1]]
    assert violated(limits, [0, 1, 2]) == limits
