"""Agreement coefficients: published examples, scikit-learn's and slow second ways."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from proofstone.errors import BadUsage
from proofstone.stats.agreement import agreement, cohen_kappa, krippendorff_alpha

Ratings = NDArray[np.int64]

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers,
# twelve units, 0 for no rating.
KRIPPENDORFF = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]).T - 1  # fmt: skip
# Fleiss (1971), table 1: thirty patients, six psychiatrists, five diagnoses.
FLEISS = np.array([
    [0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0], [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0], [1, 1, 0, 4, 0], [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1],
    [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0], [0, 2, 0, 4, 0], [1, 0, 2, 0, 3],
    [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0], [1, 0, 0, 4, 1],
    [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6],
])  # fmt: skip


def ratings_of(counts: Ratings) -> Ratings:
    """Ratings in any order with these counts of categories a unit."""
    return np.array([np.repeat(np.arange(counts.shape[1]), row) for row in counts])


def pair_of(table: list[list[int]]) -> tuple[Ratings, Ratings]:
    """Two raters' codes with this table."""
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    first, second = np.array(cells).T
    return first, second


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_example(level: str, alpha: float) -> None:
    """0.743, 0.815 and 0.849, with one unit that a single observer rated left out."""
    found = krippendorff_alpha(KRIPPENDORFF, level)  # type: ignore[arg-type]
    assert round(found.value, 3) == alpha
    assert found.n == 11
    assert found.low < found.value < found.high <= 1.0


def test_fleiss_psychiatrists() -> None:
    """kappa 0.430 of thirty patients (Fleiss 1971, page 380)."""
    found = agreement(ratings_of(FLEISS), "Fleiss kappa")
    assert round(found.value, 2) == 0.43
    assert agreement(ratings_of(FLEISS), "observed agreement").value == pytest.approx(
        0.5556, abs=2e-4
    )


def test_gwets_ac1_on_the_paradox() -> None:
    """80, 10, 5, 5 of a hundred: 0.85 agree. Kappa expects 0.9 * 0.85 + 0.1 * 0.15 of it by chance;
    AC1 (Gwet 2008, equation 8) expects 2 p (1 - p) at p = 0.875."""
    first, second = pair_of([[80, 10], [5, 5]])
    both = np.column_stack([first, second])
    chance = 2 * 0.875 * 0.125
    assert agreement(both, "Gwet AC1").value == pytest.approx((0.85 - chance) / (1 - chance))
    by_chance = 0.9 * 0.85 + 0.1 * 0.15
    assert cohen_kappa(first, second).value == pytest.approx((0.85 - by_chance) / (1 - by_chance))


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights: str) -> None:
    """Fleiss, Cohen and Everitt (1969), table 1, in counts of 200: kappa 0.429, standard error
    near 0.054; and both weighted ones."""
    first, second = pair_of([[106, 10, 4], [22, 28, 10], [2, 12, 6]])
    found = cohen_kappa(first, second, weights=weights)  # type: ignore[arg-type]
    expected = cohen_kappa_score(first, second, weights=None if weights == "none" else weights)
    assert found.value == pytest.approx(expected)
    if weights == "none":
        assert round(found.value, 3) == 0.429
        assert found.low == pytest.approx(0.429 - 1.96 * 0.054, abs=0.02)
        assert found.high == pytest.approx(0.429 + 1.96 * 0.054, abs=0.02)


def slow_alpha(ratings: Ratings, level: str) -> float:
    """Alpha by walking over all pairs of values, within units and over all."""
    units = [[int(r) for r in row if r >= 0] for row in ratings]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    counts = {v: values.count(v) for v in values}

    def distance(a: int, b: int) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((a - b) ** 2)
        low, high = sorted((a, b))
        between = sum(n for v, n in counts.items() if low <= v <= high)
        return float((between - (counts[low] + counts[high]) / 2) ** 2)

    seen = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2))
    chance = sum(distance(a, b) for a, b in permutations(values, 2)) / max(len(values) - 1, 1)
    return 1 - seen / chance if chance else float("nan")


matrices = st.lists(st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=1, max_size=8)


@given(matrices, st.sampled_from(["nominal", "ordinal", "interval"]))
@settings(max_examples=80)
def test_alpha_is_that_of_all_pairs(rows: list[list[int]], level: str) -> None:
    ratings = np.array(rows)
    found = krippendorff_alpha(ratings, level, n_resamples=5).value  # type: ignore[arg-type]
    assert found == pytest.approx(slow_alpha(ratings, level), nan_ok=True)


@given(matrices)
@settings(max_examples=60)
def test_observed_agreement_is_that_of_all_pairs(rows: list[list[int]]) -> None:
    shares = []
    for row in rows:
        pairs = list(combinations([r for r in row if r >= 0], 2))
        if pairs:
            shares.append(np.mean([a == b for a, b in pairs]))
    found = agreement(np.array(rows), "observed agreement", n_resamples=5).value
    assert found == pytest.approx(np.mean(shares) if shares else np.nan, nan_ok=True)


@given(matrices, st.permutations(range(3)), st.permutations(range(4)))
@settings(max_examples=40)
def test_raters_and_names_of_categories_do_not_matter(
    rows: list[list[int]], order: list[int], names: list[int]
) -> None:
    ratings = np.array(rows)
    renamed = np.where(ratings >= 0, np.array(names)[ratings], -1)[:, order]
    for kind in ("Fleiss kappa", "Gwet AC1"):
        first = agreement(ratings, kind, n_categories=4, n_resamples=5).value
        second = agreement(renamed, kind, n_categories=4, n_resamples=5).value
        assert first == pytest.approx(second, nan_ok=True)
        assert np.isnan(first) or first <= 1.0 + 1e-12


def test_perfect_agreement_is_one_and_nothing_is_nan() -> None:
    same = np.array([[0, 0], [1, 1], [2, 2]])
    assert agreement(same, "Fleiss kappa").value == 1.0
    assert cohen_kappa(same[:, 0], same[:, 1]).value == 1.0
    one_category = np.zeros((5, 2), dtype=int)
    assert np.isnan(agreement(one_category, "Fleiss kappa").value)
    assert agreement(one_category, "Gwet AC1", n_categories=2).value == 1.0
    assert np.isnan(krippendorff_alpha(one_category).value)
    for nothing in (np.empty((0, 2), dtype=int), np.full((3, 2), -1)):
        found = agreement(nothing, "Gwet AC1")
        assert (found.n, found.flags, found.made_by) == (0, ("no-scores",), "none")
        assert krippendorff_alpha(nothing).flags == ("no-scores",)
        assert cohen_kappa(nothing[:, 0], nothing[:, 1]).flags == ("no-scores",)


def test_clusters_are_drawn_whole() -> None:
    """Each unit copied four times: the interval of the single units, by clusters."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 80)
    second = np.where(rng.random(80) < 0.6, first, rng.integers(0, 3, 80))
    both = np.column_stack([first, second])
    copied, clusters = np.repeat(both, 4, axis=0), np.repeat(np.arange(80), 4)
    once = agreement(both, "Fleiss kappa", seed=2)
    again = agreement(copied, "Fleiss kappa", clusters=clusters, seed=2)
    assert (again.low, again.high) == pytest.approx((once.low, once.high))
    assert (again.resampled, again.effective_n) == ("clusters", 80)
    kappa = cohen_kappa(copied[:, 0], copied[:, 1], clusters=clusters)
    alpha = krippendorff_alpha(copied, clusters=clusters)
    assert kappa.effective_n == alpha.effective_n == 80


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(BadUsage, match="ratio"):
        krippendorff_alpha(KRIPPENDORFF, "ratio")  # type: ignore[arg-type]
    assert krippendorff_alpha(KRIPPENDORFF[:1]).flags == ("one-group",)


@pytest.mark.slow
def test_intervals_of_agreement_hold_the_truth() -> None:
    """2,000 samples of 80 units by two raters who agree on 0.7 beyond chance by the model."""
    rng, held = np.random.default_rng(5), {"Fleiss kappa": 0, "Gwet AC1": 0, "alpha": 0}
    n, draws = 80, 2_000
    for seed in range(draws):
        truth = rng.integers(0, 2, n)
        rated = [np.where(rng.random(n) < 0.85, truth, 1 - truth) for _ in range(2)]
        both = np.column_stack(rated)
        # Both balanced: pairs agree on 0.85^2 + 0.15^2 = 0.745, chance on half.
        kappa = (0.745 - 0.5) / 0.5
        for name in ("Fleiss kappa", "Gwet AC1"):
            found = agreement(both, name, n_resamples=500, seed=seed)  # type: ignore[arg-type]
            held[name] += found.low <= kappa <= found.high
        alpha = krippendorff_alpha(both, n_resamples=500, seed=seed)
        held["alpha"] += alpha.low <= kappa <= alpha.high
    assert all(0.93 <= number / draws <= 0.97 for number in held.values()), held
