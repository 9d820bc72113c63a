"""Statements told apart by the questions that hold them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.items import KEY_FLAGS, describe_keys

Floats = NDArray[np.float64]


def composed(seed: int, n_keys: int = 300, n: int = 900, m: int = 30) -> tuple[Floats, SharedKeys]:
    """Questions of nine statements each by respondents of rising skill; the statements 0 to 4 are
    wrong in the bank: their questions are missed by whoever knows them."""
    rng = np.random.default_rng(seed)
    facts = rng.random((n, n_keys)).argpartition(9, axis=1)[:, :9]
    keys = SharedKeys(n, np.repeat(np.arange(n), 9), facts.ravel().astype(np.int64))
    skill = np.linspace(-1.5, 1.5, m)
    is_wrong = (facts < 5).any(axis=1)
    chance = 1 / (1 + np.exp(-skill - rng.normal(size=(n, 1)) * 0.7))
    chance = np.where(is_wrong[:, None], 0.25 - 0.08 * skill, chance)
    return (rng.random((n, m)) < chance).astype(float), keys


def test_by_hand() -> None:
    """Key 7 is held by units 0 and 1, on which the two respondents score 1, 0 and 0, 0; over all
    four units they score 3/4 and 1/4."""
    values = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    keys = SharedKeys(4, np.array([0, 1, 1, 3]), np.array([7, 7, 7, 9]))
    (found,) = describe_keys(values, keys)
    assert (found.key, found.n_units, found.mean) == (7, 2, 1 / 4)
    assert found.lift == pytest.approx((1 - 3 / 4 + 0 - 1 / 4 + 0 - 3 / 4 + 0 - 1 / 4) / 4)
    assert found.discrimination == pytest.approx(1.0)
    both = describe_keys(values, keys, fewest_units=1)
    assert [each.key for each in both] == [7, 9]


def test_wrong_statements_are_found() -> None:
    found = describe_keys(*composed(1))
    accused = {each.key for each in found if "probably-wrong" in each.flags}
    assert accused >= {0, 1, 2, 3, 4}
    assert len(accused) <= 7
    assert all(each.lift < 0 for each in found if each.flags)


def test_a_bank_without_wrong_ones_accuses_few() -> None:
    rng = np.random.default_rng(2)
    n, m = 900, 30
    facts = rng.random((n, 300)).argpartition(9, axis=1)[:, :9]
    keys = SharedKeys(n, np.repeat(np.arange(n), 9), facts.ravel().astype(np.int64))
    values = (rng.random((n, m)) < np.linspace(0.2, 0.8, m)).astype(float)
    assert sum(bool(each.flags) for each in describe_keys(values, keys)) <= 2


def test_missing_cells_do_not_make_a_unit_easy() -> None:
    """A unit that only the strong respondent was asked is held against that one's level."""
    rng = np.random.default_rng(3)
    values = (rng.random((400, 2)) < [0.9, 0.1]).astype(float)
    values[:40, 1] = np.nan
    keys = SharedKeys(400, np.arange(400), np.arange(400) // 40)
    first = describe_keys(values, keys)[0]
    assert first.mean > 0.8
    assert abs(first.lift) < 0.15


@pytest.mark.parametrize(
    "values", [np.empty((0, 2)), np.full((3, 2), np.nan), np.ones((3, 2)), np.empty((3, 0))]
)
def test_degenerate_tables_are_answered(values: Floats) -> None:
    n = len(values)
    keys = SharedKeys(n, np.arange(n), np.zeros(n, dtype=np.int64))
    found = describe_keys(values, keys)
    assert len(found) == (1 if n else 0)
    assert all(each.flags == () and np.isnan(each.p) for each in found)
    assert describe_keys(values, SharedKeys.none(n)) == ()


def test_every_flag_has_its_sentence() -> None:
    assert set(KEY_FLAGS) == {"harder-than-the-rest", "weak-beat-strong", "probably-wrong"}
