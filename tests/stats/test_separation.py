"""How far groups of texts stand apart among their nearest neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.check.semantic_map import groups_apart
from proofstone.errors import BadUsage
from proofstone.stats.clusters import SharedKeys


def _unit(angles: list[float]) -> NDArray[np.float64]:
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _each(n: int) -> SharedKeys:
    return SharedKeys(n, np.arange(n), np.arange(n))


def test_groups_in_two_corners_are_wholly_apart() -> None:
    vectors = _unit([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    found = groups_apart(
        vectors, np.array([0, 0, 0, 1, 1, 1]), ("a", "b"),
        shared=SharedKeys.none(6), clusters=_each(6), k=2,
    )  # fmt: skip
    assert found.agreement.value == 1.0
    assert found.chance == pytest.approx(2 / 5)  # 2 of the 5 others are of one's group
    assert found.index.value == pytest.approx((1 - 2 / 5) / (1 - 2 / 5))
    assert [(g.name, g.n, g.agreement) for g in found.groups] == [("a", 3, 1.0), ("b", 3, 1.0)]


def test_groups_that_alternate_avoid_their_own() -> None:
    vectors = _unit([0.0, 0.1, 1.0, 1.1, 2.0, 2.1])
    found = groups_apart(
        vectors, np.array([0, 1, 0, 1, 0, 1]), ("a", "b"),
        shared=SharedKeys.none(6), clusters=_each(6), k=1,
    )  # fmt: skip
    assert found.agreement.value == 0.0
    assert found.index.value == pytest.approx((0 - 2 / 5) / (1 - 2 / 5))


def test_texts_that_share_a_statement_are_no_neighbours() -> None:
    vectors = _unit([0.0, 0.01, 0.5, 0.52])
    shared = SharedKeys(4, np.array([0, 1, 2, 3]), np.array([7, 7, 8, 8]))
    found = groups_apart(
        vectors, np.array([0, 0, 1, 1]), ("a", "b"), shared=shared, clusters=_each(4), k=1
    )
    assert (found.agreement.value, found.chance) == (0.0, 0.0)


def test_mixed_groups_are_at_chance_within_the_interval() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((400, 12))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    group = rng.integers(0, 4, 400)
    source = rng.integers(0, 80, 400)
    found = groups_apart(
        vectors, group, ("a", "b", "c", "d"), shared=SharedKeys.none(400),
        clusters=SharedKeys(400, np.arange(400), source),
    )  # fmt: skip
    assert found.index.low < 0.0 < found.index.high
    assert found.n == 400


def test_one_group_cannot_stand_apart() -> None:
    with pytest.raises(BadUsage, match="two groups"):
        groups_apart(
            _unit([0.0, 1.0]),
            np.array([0, 0]),
            ("a",),
            shared=SharedKeys.none(2),
            clusters=_each(2),
        )
