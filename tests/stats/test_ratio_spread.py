"""F1 over clusters by the delta method: the textbook's derivative, the bootstrap's covariance, and
in simulation ranks that are wrong as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.stats.comparisons import compare_spread
from proofstone.stats.ranks import rank_all, rank_jointly
from proofstone.stats.ratios import (
    bootstrap_ratios,
    bootstrap_ratios_each,
    harmonic_mean,
    harmonic_spread,
    ratio_spread,
)

Floats = NDArray[np.float64]


def f1(sums: Floats) -> float:
    """F1 of [top of P, top of R, bottom of P, bottom of R]."""
    precision, recall = sums[0] / sums[2], sums[1] / sums[3]
    return float(2 * precision * recall / (precision + recall))


def test_a_clusters_share_of_the_error_is_the_derivative_by_its_sums() -> None:
    """What leaving a cluster's residual in adds, by a difference quotient of F1 itself."""
    rng = np.random.default_rng(1)
    bottoms = rng.integers(1, 6, (30, 1, 2)).astype(float)
    tops = rng.binomial(bottoms.astype(int), 0.6).astype(float)
    spread = harmonic_spread(tops, bottoms)
    totals = np.concatenate([tops.sum(axis=0)[0], bottoms.sum(axis=0)[0]])
    assert spread.means[0] == pytest.approx(f1(totals))
    groups = bottoms.sum(axis=0)[0] ** 2 / (bottoms**2).sum(axis=0)[0]
    step = 1e-6
    for cluster in range(3):
        moved = 0.0
        for side in (0, 1):
            more = totals.copy()
            more[side] += step * tops[cluster, 0, side]
            more[side + 2] += step * bottoms[cluster, 0, side]
            moved += (f1(more) - f1(totals)) / step * np.sqrt(groups[side] / (groups[side] - 1))
        assert spread.alone[cluster, 0] == pytest.approx(moved, abs=1e-6)


def test_the_covariance_is_that_of_entities_drawn_again() -> None:
    """The same sums by the bootstrap: F1 of two respondents in each draw of clusters."""
    rng = np.random.default_rng(2)
    n = 150
    ease = rng.normal(size=(n, 1, 1))
    bottoms = rng.integers(0, 5, (n, 2, 2)).astype(float)
    tops = rng.binomial(bottoms.astype(int), 1 / (1 + np.exp(-0.4 - ease))).astype(float)
    drawn = bootstrap_ratios(
        tops.reshape(n, 4), bottoms.reshape(n, 4), n_resamples=20_000, seed=3
    ).draws  # fmt: skip
    by_draw = [harmonic_mean(drawn[:, 2 * who], drawn[:, 2 * who + 1]) for who in (0, 1)]
    wanted = np.cov(by_draw)
    assert harmonic_spread(tops, bottoms).covariance() == pytest.approx(wanted, rel=0.08)


def test_ratios_of_clusters_alike_are_a_plain_mean() -> None:
    """One triple of either direction of each cluster, both the same: F1 is the share of right ones,
    and its variance that of a share over n - 1."""
    right = np.array([1.0] * 30 + [0.0] * 10)
    tops = np.repeat(right[:, None, None], 2, axis=2)
    spread = harmonic_spread(tops, np.ones_like(tops))
    assert spread.means[0] == pytest.approx(30 / 40)
    assert spread.variances()[0] == pytest.approx(0.75 * 0.25 / (40 - 1))
    assert spread.groups == 40


def test_one_ratio_has_the_covariance_of_clusters_drawn_again() -> None:
    rng = np.random.default_rng(7)
    bottoms = rng.integers(0, 5, (150, 2)).astype(float)
    chance = 1 / (1 + np.exp(-rng.normal(size=(150, 1))))
    tops = rng.binomial(bottoms.astype(int), chance).astype(float)
    wanted = np.cov(bootstrap_ratios(tops, bottoms, n_resamples=20_000, seed=3).draws.T)
    assert ratio_spread(tops, bottoms).covariance() == pytest.approx(wanted, rel=0.08)


def test_a_pair_is_the_second_less_the_first_by_the_t_test() -> None:
    rng = np.random.default_rng(9)
    bottoms = rng.integers(1, 5, (80, 2)).astype(float)
    tops = rng.binomial(bottoms.astype(int), [0.4, 0.7]).astype(float)
    spread = ratio_spread(tops, bottoms)
    estimate, p = compare_spread(spread, clusters="entities")
    (pair,) = rank_all(spread).comparisons
    assert estimate.value == pytest.approx(spread.means[1] - spread.means[0])
    assert (estimate.low, estimate.high) == pytest.approx((-pair.high, -pair.low))
    assert (p, estimate.resampled) == (pair.p, "entities")


def test_a_pair_that_is_alike_everywhere_leaves_open_what_so_few_do() -> None:
    """Ten clusters without a difference: more than 1 - 0.025^(1/10) of all unlike them would be
    seen. One cluster says nothing."""
    bottoms = np.full((10, 2), 4.0)
    estimate, p = compare_spread(ratio_spread(bottoms / 2, bottoms), clusters="entities")
    room = 1 - 0.025 ** (1 / 10)
    assert (estimate.value, p) == (0.0, 1.0)
    assert (estimate.low, estimate.high) == pytest.approx((-room, room))
    one, p = compare_spread(ratio_spread(bottoms[:1] / 2, bottoms[:1]), clusters="entities")
    assert (one.low, one.high, p) == (-1.0, 1.0, 1.0)


def test_many_are_drawn_together_as_one_by_one() -> None:
    """Those of as many clusters share their draws; others have their own."""
    rng = np.random.default_rng(8)
    pairs = []
    for n, k in ((20, 2), (20, 3), (12, 2), (0, 1)):
        bottoms = rng.integers(1, 5, (n, k)).astype(float)
        pairs.append((rng.binomial(bottoms.astype(int), 0.5).astype(float), bottoms))
    for (tops, bottoms), found in zip(pairs, bootstrap_ratios_each(pairs, seed=5), strict=True):
        alone = bootstrap_ratios(tops, bottoms, seed=5)
        assert found.draws == pytest.approx(alone.draws)
        assert found.values == pytest.approx(alone.values, nan_ok=True)
        assert found.made_by == alone.made_by


def test_what_counts_nowhere_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    bottoms = rng.integers(1, 4, (20, 3, 2)).astype(float)
    tops = rng.binomial(bottoms.astype(int), 0.5).astype(float)
    with_nothing = [np.concatenate([each, np.zeros((5, 3, 2))]) for each in (tops, bottoms)]
    wanted = harmonic_spread(tops, bottoms).covariance()
    assert (harmonic_spread(*with_nothing).covariance() == wanted).all()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_wrong_or_all_right_has_no_spread(share: float) -> None:
    bottoms = np.ones((10, 2, 2))
    spread = harmonic_spread(bottoms * share, bottoms)
    assert spread.means.tolist() == [share, share]
    assert rank_jointly(spread, n_resamples=100).better.sum() == 0


def test_one_cluster_resolves_nothing() -> None:
    bottoms = np.full((1, 2, 2), 50.0)
    tops = bottoms * np.array([[[0.9], [0.1]]])
    assert rank_jointly(harmonic_spread(tops, bottoms), n_resamples=100).better.sum() == 0


def test_one_that_speaks_of_a_single_cluster_hides_nobody_else() -> None:
    """Its own rank stays open; the two others differ by far in sixty clusters."""
    rng = np.random.default_rng(6)
    bottoms = np.full((60, 3, 2), 5.0)
    bottoms[1:, 2, 0] = 0.0
    tops = rng.binomial(bottoms.astype(int), np.array([[[0.8], [0.4], [0.5]]])).astype(float)
    spread = harmonic_spread(tops, bottoms)
    assert spread.own_groups is not None
    assert spread.own_groups.tolist() == [60.0, 60.0, 1.0]
    joint = rank_jointly(spread, n_resamples=500)
    assert [(each.low, each.high) for each in joint.intervals] == [(1, 2), (2, 3), (1, 3)]


def sampled(
    rng: np.random.Generator, n_entities: int, skill: Floats, most: int
) -> tuple[Floats, Floats]:
    """Sums of a sample as the paper draws it: of every model other triples of each entity in
    precision, the same in recall; entities differ in ease, by model and for all."""
    models = len(skill)
    ease = rng.normal(size=(n_entities, 1, 2)) + 0.6 * rng.normal(size=(n_entities, models, 2))
    bottoms = rng.integers(0, most, (n_entities, models, 2))
    bottoms[:, :, 1] = bottoms[:, :1, 1]
    shift = np.array([0.5, -1.0])  # more is right than is covered
    chance = 1 / (1 + np.exp(-(skill[None, :, None] + shift + ease)))
    return rng.binomial(bottoms, chance).astype(float), bottoms.astype(float)


def truth(skill: Floats) -> Floats:
    """F1 of each model over all entities there could be."""
    tops, bottoms = sampled(np.random.default_rng(99), 400_000, skill, 6)
    return harmonic_spread(tops, bottoms).means


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_entities", "most", "spoken_of"), [(15, 40, 15), (60, 9, 60), (200, 6, 200), (200, 6, 4)]
)
def test_models_of_one_skill_are_told_apart_five_times_in_a_hundred(
    n_entities: int, most: int, spoken_of: int
) -> None:
    """Six models, so that any claim is false: at most 5 in 100, and the error of 1,000 draws. The
    first may speak of a few entities alone."""
    rng, claims, draws = np.random.default_rng(41), 0, 1_000
    for draw in range(draws):
        tops, bottoms = sampled(rng, n_entities, np.zeros(6), most)
        tops[spoken_of:, 0, 0] = bottoms[spoken_of:, 0, 0] = 0.0
        if not bottoms[:, 0, 0].any():
            continue
        joint = rank_jointly(harmonic_spread(tops, bottoms), n_resamples=500, seed=draw)
        claims += bool(joint.better.any())
    assert claims / draws <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / draws), claims / draws


@pytest.mark.slow
@pytest.mark.parametrize(("n_entities", "most"), [(15, 40), (200, 6)])
def test_rank_intervals_hold_all_true_ranks_at_once(n_entities: int, most: int) -> None:
    """Six models of different skill: 95 in 100 samples no interval misses its model's rank."""
    skill = np.array([0.9, 0.6, 0.55, 0.2, 0.0, -0.6])
    ranks = 1 + (truth(skill)[None, :] > truth(skill)[:, None]).sum(axis=1)
    rng, held, draws, told = np.random.default_rng(42), 0, 1_000, 0
    for draw in range(draws):
        tops, bottoms = sampled(rng, n_entities, skill, most)
        joint = rank_jointly(harmonic_spread(tops, bottoms), n_resamples=500, seed=draw)
        held += all(
            each.low <= rank <= each.high for each, rank in zip(joint.intervals, ranks, strict=True)
        )
        told += int(joint.better.sum())
    assert held / draws >= 0.95 - 2.6 * np.sqrt(0.05 * 0.95 / draws), held / draws
    assert told > 0
