"""Rankings on other items: draws are what they say, and every figure has a slow second way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata

from proofstone.errors import BadUsage
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.intervals import group_weights
from proofstone.stats.resampling import (
    Strata,
    _smallest,
    allocate,
    blocks_of_resamples,
    bootstrap_counts,
    generator,
    means_by_resample,
    ranks_of,
    subsample_counts,
)
from proofstone.stats.stability import bootstrap_stability, subsample_stability

Floats = NDArray[np.float64]
KINA_SIZES = [40, 34, 31, 308, 13, 65, 65, 29, 81, 13, 201, 19]


def answers(seed: int, n: int, m: int, samples: int = 4) -> Floats:
    """Unit means of m respondents of falling skill."""
    chances = np.linspace(0.55, 0.15, m)[None, :, None]
    return (np.random.default_rng(seed).random((n, m, samples)) < chances).mean(axis=2)


def test_a_subsample_is_shared_out_by_largest_remainder() -> None:
    """Half of 899 is 449.5, so 450: 20 + 17 + 15.5 + 154 + ... with five halves rounded up."""
    drawn = allocate(KINA_SIZES, 0.5)
    assert drawn.sum() == 450
    assert np.abs(drawn - np.array(KINA_SIZES) / 2).max() < 1
    assert allocate([3, 3], 0.5).tolist() == [2, 1]
    assert allocate([10, 1], 0.01).tolist() == [1, 0]
    assert len(allocate([], 0.5)) == 0


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    rate=st.floats(0.01, 1.0),
    seed=st.integers(0, 99),
)
@settings(max_examples=60)
def test_each_draw_holds_what_was_allocated(sizes: list[int], rate: float, seed: int) -> None:
    """Without replacement: no unit twice, and each stratum has its number."""
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    strata = Strata.of(codes, len(codes))
    counts = subsample_counts(strata, rate, 5, generator(seed))
    assert set(np.unique(counts)) <= {0.0, 1.0}
    held = np.add.reduceat(counts, strata.ends - strata.sizes, axis=1)
    assert (held == allocate(strata.sizes, rate)).all()
    again = bootstrap_counts(strata, 5, generator(seed))
    assert (np.add.reduceat(again, strata.ends - strata.sizes, axis=1) == strata.sizes).all()


def test_every_unit_is_drawn_alike_often() -> None:
    """Inclusion is n/N in each stratum, and pairs n(n - 1)/N(N - 1): simple random sampling."""
    strata = Strata.of(np.repeat([0, 1], [6, 4]), 10)
    counts = subsample_counts(strata, 0.5, 40_000, generator(1))
    together = counts.T @ counts / len(counts)
    assert np.diag(together) == pytest.approx([0.5] * 10, abs=0.01)
    assert together[0, 1:6] == pytest.approx([3 * 2 / (6 * 5)] * 5, abs=0.01)
    assert together[6, 7:] == pytest.approx([2 * 1 / (4 * 3)] * 3, abs=0.01)
    assert together[0, 6:] == pytest.approx([0.25] * 4, abs=0.01)


def test_equal_keys_do_not_spoil_a_draw() -> None:
    """Random keys of 24 bits are equal at times; the number drawn holds all the same."""
    keys = np.array([[0.5, 0.5, 0.5, 0.1], [0.4, 0.3, 0.2, 0.1]], dtype=np.float32)
    assert _smallest(keys, 2).tolist() == [[True, False, False, True], [False, False, True, True]]


def test_many_units_are_drawn_in_blocks() -> None:
    """Of 100,000 units 80 draws are held at a time; all 100 are counted."""
    values = (np.random.default_rng(0).random((100_000, 2)) < [0.6, 0.5]).astype(float)
    assert list(blocks_of_resamples(100_000, 100)) == [80, 20]
    (found,) = subsample_stability(values, rates=[0.5], n_resamples=100)
    assert (found.n_resamples, found.first_alone, found.ranks[0].counts) == (100, 1.0, (100, 0))


def test_a_subsamples_mean_varies_as_cochran_says() -> None:
    """(1 - f) S^2 / n, Cochran, Sampling Techniques (1977), theorem 2.2."""
    values = answers(3, 60, 1)
    counts = subsample_counts(Strata.of(None, 60), 0.7, 20_000, generator(2))
    found = means_by_resample(counts, values)[0].var(ddof=1)
    assert found == pytest.approx((1 - 42 / 60) * values.var(ddof=1) / 42, rel=0.05)


def slow_stability(values: Floats, counts: NDArray[np.float32], k: int) -> dict[str, list[float]]:
    """One draw after the other, by SciPy's tau and rankdata."""
    full = rankdata(-np.round(values.mean(axis=0), 9), method="min")
    top = [m for m in range(len(full)) if full[m] <= k]
    found: dict[str, list[float]] = {"tau": [], "alone": [], "shared": [], "overlap": []}
    for row in counts:
        drawn = np.repeat(values, row.astype(int), axis=0)
        ranks = rankdata(-np.round(drawn.mean(axis=0), 9), method="min")
        found["tau"].append(kendalltau(full[top], ranks[top]).statistic)
        first = set(np.flatnonzero(ranks == 1).tolist())
        leaders = set(np.flatnonzero(full == 1).tolist())
        found["alone"].append(first <= leaders)
        found["shared"].append(bool(first & leaders))
        in_draw = set(np.flatnonzero(ranks <= k).tolist())
        found["overlap"].append(len(in_draw & set(top)) / max(len(in_draw), len(top)))
    return found


@pytest.mark.parametrize(("n", "m", "k", "samples"), [(60, 12, 5, 1), (40, 6, 10, 3), (9, 8, 2, 1)])
@pytest.mark.parametrize("rate", [0.5, 0.9, None])
def test_every_figure_is_that_of_a_loop(
    n: int, m: int, k: int, samples: int, rate: float | None
) -> None:
    """Small samples with many ties, subsampled and bootstrapped (rate None)."""
    values = answers(n, n, m, samples)
    codes = np.arange(n) % 3
    strata = Strata.of(codes, n)
    if rate is None:
        found = bootstrap_stability(values, codes, k=k, n_resamples=80, seed=5)
        counts = bootstrap_counts(strata, 80, generator(5, 1))
    else:
        (found,) = subsample_stability(values, codes, k=k, rates=[rate], n_resamples=80, seed=5)
        counts = subsample_counts(strata, rate, 80, generator(5, round(rate * 1e9)))
    slow = slow_stability(values[strata.order], counts, k)
    assert found.tau.mean == pytest.approx(np.nanmean(slow["tau"]))
    assert found.tau.n == np.isfinite(slow["tau"]).sum()
    assert found.first_alone == pytest.approx(np.mean(slow["alone"]))
    assert found.first_shared == pytest.approx(np.mean(slow["shared"]))
    assert found.overlap.mean == pytest.approx(np.mean(slow["overlap"]))
    assert [sum(each.counts) for each in found.ranks] == [80] * m


def test_a_rank_distribution_is_counted() -> None:
    """Three respondents that never change places, and the record of all that was done."""
    values = np.tile([0.2, 0.9, 0.5], (20, 1))
    (found,) = subsample_stability(values, rates=[0.5], n_resamples=50, k=2, seed=9)
    assert [(each.rank, each.low, each.high, each.mean) for each in found.ranks] == [
        (3, 3, 3, 3.0),
        (1, 1, 1, 1.0),
        (2, 2, 2, 2.0),
    ]
    assert found.ranks[0].counts == (0, 0, 50)
    assert (found.top, found.leaders) == ((1, 2), (1,))
    assert (found.seed, found.n_resamples, found.n_units, found.n_drawn) == (9, 50, 20, 10)
    assert (found.scheme, found.resampled) == ("subsampling without replacement", "items")
    assert (found.tau.mean, found.tau.sd, found.first_alone) == (1.0, 0.0, 1.0)


def test_ties_of_shares_are_exact() -> None:
    """Thirds: 1/3 + 1/3 + 1/3 is 1 in every order of summation."""
    values = np.array([[1 / 3, 1.0], [1 / 3, 0.0], [1 / 3, 0.0], [2 / 3, 2 / 3]])
    means = means_by_resample(np.ones((1, 4), dtype=np.float32), values)
    assert means[0, 0] == means[1, 0]
    assert ranks_of(means).tolist() == [[1], [1]]


def test_any_values_tie_up_to_rounding() -> None:
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in their last bit."""
    rng = np.random.default_rng(0)
    column = rng.random(200)
    values = np.stack([column, rng.permutation(column)], axis=1)
    assert ranks_of(means_by_resample(np.ones((1, 200), dtype=np.float32), values)).max() == 1
    # Shares, but together of more than 64 answers.
    shares = np.array([[1 / 63, 1 / 64], [1 / 64, 1 / 63]])
    assert ranks_of(means_by_resample(np.ones((1, 2), dtype=np.float32), shares)).max() == 1


def test_a_missing_cell_is_left_out_of_a_mean() -> None:
    values = np.array([[1.0, np.nan], [0.0, 1.0], [np.nan, np.nan]])
    means = means_by_resample(np.ones((1, 3), dtype=np.float32), values)
    assert means[:, 0].tolist() == [0.5, 1.0]


def test_weights_weigh_and_zero_leaves_out() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    means = means_by_resample(np.ones((1, 3), dtype=np.float32), values, np.array([0.0, 3.0, 1.0]))
    assert means[:, 0].tolist() == [0.25, 0.75]
    nothing = means_by_resample(np.ones((1, 3), dtype=np.float32), values, np.zeros(3))
    assert np.isnan(nothing).all()


@pytest.mark.parametrize(
    "values",
    [
        np.empty((0, 3)),
        np.empty((5, 0)),
        np.ones((1, 4)),
        np.zeros((6, 3)),
        np.full((4, 2), np.nan),
        np.array([[1.0]]),
        np.array([[1.0, np.nan], [np.nan, 0.0]]),
    ],
)
def test_degenerate_input_is_answered(values: Floats) -> None:
    """No unit, no respondent, one of each, all alike, nothing there: figures or NaN, no error."""
    codes = np.arange(len(values))
    (found,) = subsample_stability(values, codes, rates=[0.5], n_resamples=7, k=50)
    again = bootstrap_stability(values, codes, n_resamples=7, k=50)
    for each in (found, again):
        assert len(each.ranks) == values.shape[1]
        assert each.tau.n in {0, *range(1, 8)}
    if values.shape[1] and not np.nan_to_num(values).any():
        assert (found.first_alone, found.tau.n) == (1.0, 0)  # all lead, and no order is left


def test_the_same_seed_gives_the_same_draws_whatever_else_is_asked() -> None:
    values = answers(1, 50, 5)
    one = subsample_stability(values, rates=[0.7], n_resamples=30, seed=3)[0]
    assert one == subsample_stability(values, rates=[0.5, 0.7], n_resamples=30, seed=3)[1]
    assert one != subsample_stability(values, rates=[0.7], n_resamples=30, seed=4)[0]


@given(seed=st.integers(0, 500), order=st.permutations(range(5)))
@settings(max_examples=30)
def test_the_order_of_respondents_does_not_matter(seed: int, order: list[int]) -> None:
    values = answers(seed, 30, 5)
    (before,) = subsample_stability(values, rates=[0.5], n_resamples=20, k=3)
    (after,) = subsample_stability(values[:, order], rates=[0.5], n_resamples=20, k=3)
    assert after.first_shared == before.first_shared
    assert after.tau.mean == pytest.approx(before.tau.mean, nan_ok=True)
    assert [each.counts for each in after.ranks] == [before.ranks[place].counts for place in order]


def test_half_of_the_items_vary_like_a_fresh_sample() -> None:
    """(1 - r) / r is 1 at a half: the tau of half the items is near the bootstrap's."""
    values = answers(8, 899, 42)
    half, most = subsample_stability(values, rates=[0.5, 0.9])
    drawn = bootstrap_stability(values)
    assert (half.variance_share, drawn.variance_share) == (1.0, 1.0)
    assert most.variance_share == pytest.approx(0.1 / 0.9)
    assert half.tau.mean == pytest.approx(drawn.tau.mean, abs=0.02)
    assert most.tau.mean > half.tau.mean


@pytest.mark.parametrize(
    "wrong", [{"rates": [0.0]}, {"rates": [1.5]}, {"k": 0}, {"n_resamples": 0}], ids=str
)
def test_what_cannot_be_drawn_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadUsage):
        subsample_stability(np.ones((3, 2)), **wrong)  # type: ignore[arg-type]


def test_items_that_share_a_key_are_drawn_together() -> None:
    """Each item four times under one key: the leader stays first as often as without copies. With
    items drawn apart it would stay first more often."""
    once = (np.random.default_rng(0).random((60, 3)) < [0.55, 0.5, 0.5]).astype(np.float64)
    copied = np.repeat(once, 4, axis=0)
    keys = SharedKeys(240, np.arange(240), np.arange(240) // 4)
    whole = bootstrap_stability(once)
    together, apart = bootstrap_stability(copied, keys=keys), bootstrap_stability(copied)
    assert (together.resampled, apart.resampled) == ("clusters", "items")
    assert together.n_drawn == 240
    assert together.first_alone == pytest.approx(whole.first_alone, abs=0.03)
    assert abs(apart.first_alone - whole.first_alone) > 0.1
    (half,) = subsample_stability(copied, rates=[0.5], keys=keys)
    assert (half.resampled, half.n_drawn) == ("clusters", 120)


def test_overlapping_clusters_are_drawn_by_their_covariance() -> None:
    """One more key ties two clusters in a chain; the normal law shows the same noise."""
    once = (np.random.default_rng(0).random((60, 3)) < [0.55, 0.5, 0.5]).astype(np.float64)
    copied = np.repeat(once, 4, axis=0)
    places = np.arange(240)
    apart = SharedKeys(240, places, places // 4)
    chain = SharedKeys(240, np.append(places, [3, 4]), np.append(places // 4, [999, 999]))
    first, second = (bootstrap_stability(copied, keys=keys) for keys in (apart, chain))
    assert second.resampled == "means by their clustered covariance"
    assert second.first_alone == pytest.approx(first.first_alone, abs=0.06)


def test_clusters_within_strata_and_across_them() -> None:
    """Clusters are drawn within strata only where none lies in two."""
    values = np.random.default_rng(1).random((40, 2))
    keys = SharedKeys(40, np.arange(40), np.arange(40) // 2)
    within = bootstrap_stability(values, np.arange(40) // 20, keys=keys, n_resamples=5)
    across = bootstrap_stability(values, np.arange(40) % 2, keys=keys, n_resamples=5)
    assert (within.resampled, across.resampled) == ("clusters within strata", "clusters")


def test_a_weighted_ranking_is_resampled_with_its_weights() -> None:
    """By group means a leads, 0.9 + 0.1 against 0.4 + 0.5; with 10 and 90 items b does."""
    strata = np.repeat([0, 1], [10, 90])
    values = np.column_stack([np.where(strata == 0, 0.9, 0.1), np.where(strata == 0, 0.4, 0.5)])
    by_group = bootstrap_stability(values, strata, n_resamples=5, weighting=group_weights(strata))
    assert by_group.leaders == (0,)
    assert bootstrap_stability(values, strata, n_resamples=5).leaders == (1,)


@given(seed=st.integers(0, 10_000), m=st.integers(1, 7))
def test_a_rank_is_one_more_than_those_ahead(seed: int, m: int) -> None:
    """Equal means share a rank; one without a mean stands below all that have one."""
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 4, (m, 5)) / 4
    means[rng.random(means.shape) < 0.2] = np.nan
    standing = np.where(np.isnan(means), -1.0, means)
    expected = [
        [1 + sum(other > own for other in column) for own in column] for column in standing.T
    ]
    assert ranks_of(means).T.tolist() == expected
