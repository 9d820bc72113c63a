"""Sums over pairs that share a key, against a loop over all pairs of units."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.stats import clusters
from proofstone.stats.clusters import SharedKeys, partner_sums

Edges = list[tuple[int, int]]
N = 12


def keys_of(n: int, edges: Edges) -> SharedKeys:
    both = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return SharedKeys(n, both[:, 0].copy(), both[:, 1].copy())


def by_loop(n: int, edges: Edges, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slow second implementation: every ordered pair, by intersecting sets of keys."""
    held = [{key for unit, key in edges if unit == i} for i in range(n)]
    sums = np.zeros_like(columns)
    for i, j in product(range(n), repeat=2):
        if i == j or held[i] & held[j]:
            sums[i] += columns[j]
    return sums


edge_lists = st.lists(st.tuples(st.integers(0, N - 1), st.integers(-3, 9)), max_size=40)


@given(edges=edge_lists, seed=st.integers(0, 99))
@settings(max_examples=150)
def test_partner_sums_equal_the_loop_over_all_pairs(edges: Edges, seed: int) -> None:
    columns = np.random.default_rng(seed).normal(size=(N, 3))
    expected = by_loop(N, edges, columns)
    assert partner_sums(keys_of(N, edges), columns) == pytest.approx(expected)


@given(edges=edge_lists, chosen=st.permutations(range(N)), n_chosen=st.integers(1, N))
@settings(max_examples=100)
def test_a_part_of_the_units_keeps_just_its_own_pairs(
    edges: Edges, chosen: list[int], n_chosen: int
) -> None:
    """Whether the pairs of all units were made before or not."""
    units = np.array(chosen[:n_chosen])
    columns = np.random.default_rng(0).normal(size=(n_chosen, 2))
    place = {unit: i for i, unit in enumerate(units.tolist())}
    expected = by_loop(n_chosen, [(place[u], k) for u, k in edges if u in place], columns)
    fresh, warm = keys_of(N, edges), keys_of(N, edges)
    if edges:
        assert warm.pairs is not None
    for keys in (fresh, warm):
        assert partner_sums(keys.among(units), columns) == pytest.approx(expected)


def test_all_units_in_order_are_the_same_object() -> None:
    keys = keys_of(3, [(0, 1), (1, 1)])
    assert keys.among(np.arange(3)) is keys


def test_units_that_share_nothing_sum_to_themselves() -> None:
    columns = np.ones((4, 1))
    assert partner_sums(SharedKeys.none(4), columns).tolist() == columns.tolist()


def test_more_pairs_than_one_block_holds_give_the_same_sums() -> None:
    """3,000 units, medium keys that are too many for bits: 60 pairs of units a key, 9 keys each."""
    rng = np.random.default_rng(1)
    n = 3_000
    keys = SharedKeys(n, np.repeat(np.arange(n), 30), rng.integers(0, 1_600, n * 30))
    columns = rng.normal(size=(n, 2))
    assert keys.pairs is None, "this test is of the blockwise sums"
    held = np.zeros((n, 1_600))
    held[keys.unit, keys.key] = 1
    assert partner_sums(keys, columns) == pytest.approx(((held @ held.T) > 0) @ columns)


def test_one_key_of_thousands_of_units_needs_little_memory() -> None:
    """All 25 million pairs of 5,000 units share one key; some units share nine others too."""
    rng = np.random.default_rng(2)
    n = 5_000
    unit = np.concatenate([np.repeat(np.arange(n), 9), np.arange(n)])
    key = np.concatenate([rng.integers(0, 43_019, n * 9), np.full(n, -1)])
    columns = rng.normal(size=(n, 4))
    tracemalloc.start()
    sums = partner_sums(SharedKeys(n, unit, key), columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sums == pytest.approx(np.tile(columns.sum(axis=0), (n, 1)))
    assert peak < 100e6


def test_more_heavy_keys_than_bits_still_count_each_pair_once() -> None:
    """100 keys, each held by a fifth of 200 units: 64 as bits, the others as edges."""
    rng = np.random.default_rng(3)
    held = rng.random((200, 100)) < 0.2
    unit, key = np.nonzero(held)
    columns = rng.normal(size=(200, 2))
    shared = (held.astype(float) @ held.T) > 0
    np.fill_diagonal(shared, val=True)
    expected = shared @ columns
    assert partner_sums(SharedKeys(200, unit, key), columns) == pytest.approx(expected)
    assert clusters._MOST_HEAVY == 64


@given(
    held=st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=N),
    seed=st.integers(0, 99),
)
def test_units_of_one_key_each_are_summed_by_group(held: list[int | None], seed: int) -> None:
    """Keys that part the units, some units without any; an edge may be given twice."""
    edges = [(unit, key) for unit, key in enumerate(held) if key is not None]
    columns = np.random.default_rng(seed).normal(size=(len(held), 2))
    keys = keys_of(len(held), [*edges, *edges[:2]])
    assert keys.groups is not None
    assert partner_sums(keys, columns) == pytest.approx(by_loop(len(held), edges, columns))


def test_units_of_two_keys_are_no_groups() -> None:
    """They are summed by pairs."""
    assert keys_of(3, [(0, 0), (0, 1), (1, 1)]).groups is None
