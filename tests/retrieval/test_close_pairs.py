"""All pairs near each other, by a glance at a part of each vector, against every two compared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.search.near_duplicates import NearPair, close_pairs

Floats = NDArray[np.float64]


def unit(rows: Floats) -> Floats:
    made: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


def near_each_other(n: int, dimensions: int, seed: int = 1) -> Floats:
    """Half of the vectors are near one of the other half: cosines of 0.7 to 0.99."""
    rng = np.random.default_rng(seed)
    first = unit(rng.normal(size=(n, dimensions)))
    away = rng.normal(size=(n, dimensions))
    away = unit(away - (away * first).sum(axis=1, keepdims=True) * first)
    cosine = rng.uniform(0.7, 0.99, (n, 1))
    return np.concatenate([first, cosine * first + np.sqrt(1 - cosine**2) * away])


def every_two(vectors: Floats, least: float) -> set[tuple[int, int]]:
    near = np.triu(vectors @ vectors.T, 1)
    return {(int(one), int(other)) for one, other in np.argwhere(near >= least)}


def test_pairs_are_those_of_every_two_compared() -> None:
    """Over the border of a block, by both glances; their cosines are exact."""
    vectors = near_each_other(1500, 300)
    found = close_pairs(vectors)
    assert {(pair.one, pair.other) for pair in found} == every_two(vectors, 0.8)
    assert len(found) > 800
    for pair in found[::50]:
        assert pair.near == pytest.approx(vectors[pair.one] @ vectors[pair.other], abs=1e-5)


def test_what_is_near_along_one_axis_is_found() -> None:
    """Vectors that differ in a few dimensions alone: only a rotation shows it to a glance."""
    rng = np.random.default_rng(2)
    vectors = np.zeros((600, 400))
    vectors[:, 392:] = rng.normal(size=(600, 8))
    vectors = unit(vectors)
    expected = every_two(vectors, 0.8)
    found = {(pair.one, pair.other) for pair in close_pairs(vectors)}
    assert len(expected) > 500
    assert len(found & expected) >= 0.999 * len(expected)


@given(st.integers(0, 40), st.integers(1, 90), st.integers(0, 9))
def test_small_sets_of_any_width(n: int, dimensions: int, seed: int) -> None:
    vectors = near_each_other(n, dimensions, seed) if dimensions > 1 else np.ones((n, 1))
    found = {(pair.one, pair.other) for pair in close_pairs(vectors)}
    sure = every_two(vectors, 0.8 + 1e-6)
    assert sure <= found <= every_two(vectors, 0.8 - 1e-6)


def test_equals_are_near() -> None:
    vectors = np.repeat(near_each_other(1, 128)[:1], 3, axis=0)
    assert close_pairs(vectors) == [
        NearPair(one, other, pytest.approx(1.0)) for one, other in [(0, 1), (0, 2), (1, 2)]
    ]
