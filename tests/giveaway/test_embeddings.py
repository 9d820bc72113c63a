"""What embeddings tell: nested choice of penalty, named companions, intervals that know chance."""

from __future__ import annotations

import numpy as np
import pytest

from proofstone.check.artifacts import (
    Area,
    FeatureTable,
    area_within,
    audit_artifact,
    companions,
    cross_ridge,
    folds_by_source,
    principal_columns,
    swapped_areas,
    widened,
)


def drawn(seed: int, shift: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """20 sources of 20 texts in 30 dimensions; the second kind lies higher in the first two."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(20), 20)
    is_second = np.tile(np.arange(20) % 2 == 1, 20)
    values = rng.normal(size=(400, 30)) + 0.3 * rng.normal(size=(20, 30))[source]
    values[:, :2] += shift * is_second[:, None]
    return values, is_second, source


def test_ridge_scores_are_least_squares_on_the_other_folds() -> None:
    """With one penalty: (S + penalty * mean variance * I)^-1 (m2 - m1) of the training folds, S the
    covariance around the middle of both kinds."""
    values, is_second, source = drawn(1, 0.5)
    fold = folds_by_source(source)
    told = cross_ridge(values, is_second, fold, penalties=(0.5,))
    held = fold == 2
    train, kind = values[~held], is_second[~held]
    first, second = train[~kind].mean(axis=0), train[kind].mean(axis=0)
    centred = train - (first + second) / 2
    halves = [centred[which].T @ centred[which] / which.sum() for which in (~kind, kind)]
    spread = (halves[0] + halves[1]) / 2
    scale = np.trace(spread) / 30
    weights = np.linalg.solve(spread + 0.5 * scale * np.eye(30), second - first)
    assert told.scores[held] == pytest.approx(values[held] @ weights)


def test_the_penalty_is_chosen_without_the_fold_that_is_scored() -> None:
    """Another text's kind in the fold that is scored changes no score of that fold."""
    values, is_second, source = drawn(2, 0.3)
    fold = folds_by_source(source)
    held = fold == 1
    other = is_second.copy()
    other[held] = ~other[held]
    one, two = (cross_ridge(values, kinds, fold).scores[held] for kinds in (is_second, other))
    assert one == pytest.approx(two)


def test_what_embeddings_tell_is_found_and_what_goes_with_it_named() -> None:
    values, is_second, source = drawn(3, 1.0)
    length = values[:, 0] * 10 + 50
    noise = np.random.default_rng(5).normal(size=400)
    counted = FeatureTable(("length", "commas"), np.stack([length, noise], axis=1))
    found = audit_artifact({"signs": counted}, is_second, source, embeddings=values)
    assert list(found.areas) == ["signs", "embeddings", "all"]
    assert found.areas["embeddings"].low > 0.5
    assert [each.name for each in found.companions] == ["length"]
    assert found.companions[0].correlation > 0.4


def test_what_goes_with_nothing_counted_has_no_name() -> None:
    values, is_second, source = drawn(4, 1.0)
    fold = folds_by_source(source)
    counted = FeatureTable(("length",), np.random.default_rng(6).normal(size=(400, 1)))
    assert companions(cross_ridge(values, is_second, fold).scores, fold, counted) == ()


def test_components_are_those_of_the_singular_values() -> None:
    values, _is_second, _source = drawn(7, 0.0)
    found = principal_columns(values, 5)
    sizes = np.linalg.svd(values - values.mean(axis=0), compute_uv=False)[:5]
    assert np.linalg.norm(found.values, axis=0) == pytest.approx(sizes)


def test_swapped_kinds_are_told_apart_by_chance_alone() -> None:
    """However strong the signal, areas with the kinds swapped lie around 0.5."""
    values, is_second, source = drawn(8, 1.0)
    fold = folds_by_source(source)
    areas = swapped_areas(values, is_second, source, fold, penalty=10.0, n=100)
    assert areas.mean() == pytest.approx(0.5, abs=0.03)
    assert 0.01 < areas.std() < 0.15


def test_an_interval_is_widened_and_never_narrowed() -> None:
    """20 sources: t of 19 degrees is 2.093; 0.6 +- 2.093 * 0.02 leaves [0.55, 0.65] as it is."""
    area = Area(0.6, 0.55, 0.65, 100, 20)
    assert (widened(area, 0.02).low, widened(area, 0.02).high) == (0.55, 0.65)
    assert widened(area, 0.05).low == pytest.approx(0.6 - 2.093 * 0.05, abs=1e-4)
    assert widened(area, float("nan")) == area


@pytest.mark.slow
def test_intervals_hold_a_half_where_nothing_tells() -> None:
    """The 95% interval of 30 books of 40 texts, books with tendencies of their own: 200 times."""
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(1000 + seed)
        source = np.repeat(np.arange(30), 40)
        second = np.tile(np.arange(40) % 2 == 1, 30)
        values = rng.normal(size=(1200, 10)) + 0.3 * rng.normal(size=(30, 10))[source]
        values[second] += (0.3 * rng.normal(size=(30, 10)))[source[second]]
        area = audit_artifact({"a": FeatureTable(tuple("abcdefghij"), values)}, second, source)
        held += area.areas["a"].low <= 0.5 <= area.areas["a"].high
    assert held >= 186  # 95% is 190, SD 3.1


def test_an_area_of_one_fold_s_scores_needs_no_chance() -> None:
    values, is_second, source = drawn(9, 0.0)
    area = area_within(values[:, 0], is_second, np.zeros(400, dtype=np.int64), source)
    assert np.isnan(area.by_chance)
