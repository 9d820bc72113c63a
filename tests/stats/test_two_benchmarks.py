"""Two benchmarks of the same models: agreement, what noise hides of it, and who moved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from proofstone.errors import BadUsage
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import BootstrapMeans, bootstrap_means, bootstrap_shares
from proofstone.stats.factors import disattenuate
from proofstone.stats.ranks import rank_agreement, rank_moves, spearman, tau_b
from proofstone.stats.stability import measure_reliability, split_half

Floats = NDArray[np.float64]
NONE = SharedKeys.none

# Shrout and Fleiss (1979), table 2: six targets (here respondents) rated by four judges (units).
RATINGS = np.array([
    [9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7],
], dtype=float)  # fmt: skip


def answered(seed: int, n: int, skill: Floats) -> Floats:
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1))
    return (rng.random((n, len(skill))) < 1 / (1 + np.exp(-ease - skill))).astype(float)


def drawn(values: Floats, stream: int = 0, n_resamples: int = 500) -> BootstrapMeans:
    return bootstrap_means(values, NONE(len(values)), n_resamples=n_resamples, stream=stream)


def exactly(means: list[float], n_resamples: int = 200) -> BootstrapMeans:
    """Means without any noise."""
    own = np.array(means)
    return BootstrapMeans(own, np.tile(own[:, None], n_resamples), 1, "items", "by hand", "these")


def test_spearmans_rho_of_a_textbook() -> None:
    """IQ and hours of television of ten people (Wikipedia's worked example): -29/165."""
    iq = np.array([106.0, 100, 86, 101, 99, 103, 97, 113, 112, 110])
    hours = np.array([7.0, 27, 2, 50, 28, 29, 20, 12, 6, 17])
    assert spearman(iq, hours) == pytest.approx(-29 / 165)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
@settings(max_examples=60)
def test_both_coefficients_are_scipys_with_ties(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    tau, rho = rank_agreement(exactly(x.tolist()), exactly(y.tolist()), n_resamples=50)
    alike = len(set(x)) == 1 or len(set(y)) == 1
    expected = (np.nan, np.nan) if alike else (
        stats.kendalltau(x, y).statistic, stats.spearmanr(x, y).statistic)  # fmt: skip
    assert (tau.models.value, rho.models.value) == pytest.approx(expected, nan_ok=True)
    assert tau.items.value == pytest.approx(tau_b(x, y), nan_ok=True)


def test_a_draw_of_models_is_counted_as_if_they_were_written_out() -> None:
    """The slow way: every draw's models written out, doubles and all, through scipy."""
    rng = np.random.default_rng(1)
    x, y = rng.random(7), rng.random(7)
    tau, rho = rank_agreement(exactly(x.tolist()), exactly(y.tolist()), n_resamples=300, seed=4)
    from proofstone.stats.ranks import models_drawn  # noqa: PLC0415

    taus, rhos = [], []
    for counts in models_drawn(7, 300, 4).astype(int):
        a, b = np.repeat(x, counts), np.repeat(y, counts)
        taus.append(stats.kendalltau(a, b).statistic)
        rhos.append(stats.spearmanr(a, b).statistic)
    for found, slow in ((tau.models, taus), (rho.models, rhos)):
        low, high = np.nanquantile(slow, [0.025, 0.975])
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
        assert found.resampled == "models"


def test_items_are_drawn_again_and_each_interval_says_what_it_is_of() -> None:
    skill = np.linspace(-1, 1, 8)
    first, second = drawn(answered(1, 100, skill), 0), drawn(answered(2, 100, skill), 1)
    tau, _rho = rank_agreement(first, second)
    alike = drawn(answered(1, 100, 0 * skill), 0), drawn(answered(2, 100, 0 * skill), 1)
    for found in rank_agreement(*alike):  # the percentiles and their mirror, both
        own = found.items
        assert own.low > -1
        assert own.high == pytest.approx(min(2 * own.value - own.low, 1.0))
    assert tau.items.low < tau.items.value <= tau.items.high <= 1.0
    assert (tau.items.resampled, tau.items.n) == ("items", 100)
    assert tau.items.population == "these models, on items like these"
    assert tau.models.population == "models like these, on these items"
    assert "order-hidden" in tau.items.flags
    (sharp, _) = rank_agreement(exactly([0.1, 0.5, 0.9]), exactly([0.2, 0.4, 0.8]))
    assert sharp.items.flags == ()
    assert sharp.models.flags == ("too-few-models",)
    assert (sharp.models.low, sharp.models.high) == (-1.0, 1.0)


def test_hoyts_reliability_of_shrout_and_fleiss() -> None:
    """Shrout and Fleiss (1979), table 4: ICC(3, 4) = 0.91, which is Cronbach's alpha."""
    found = measure_reliability(RATINGS, NONE(4), population="bank")
    assert found.value == pytest.approx(0.91, abs=0.005)
    alpha = 4 / 3 * (1 - RATINGS.var(axis=1, ddof=1).sum() / RATINGS.sum(axis=0).var(ddof=1))
    assert found.value == pytest.approx(alpha)


def test_halves_give_about_the_same_reliability() -> None:
    values = answered(3, 200, np.random.default_rng(0).normal(0, 0.5, 30))
    found = measure_reliability(values, NONE(200), population="bank")
    assert split_half(values) == pytest.approx(found.value, abs=0.03)
    by_draws = drawn(values, n_resamples=4_000).noise()
    assert np.sqrt(by_draws) == pytest.approx(found.noise, rel=0.03)


def test_halves_of_two_models_agree_or_are_left_out() -> None:
    assert split_half(answered(3, 200, np.array([-1.0, 1.0]))) == pytest.approx(1.0)


def test_shared_facts_lower_the_reliability() -> None:
    values = np.repeat(answered(4, 50, np.linspace(-1, 1, 10)), 4, axis=0)
    keys = SharedKeys(200, np.arange(200), np.arange(200) // 4)
    alone = measure_reliability(values, keys, population="bank")
    shared = measure_reliability(values, keys, population="domain")
    assert shared.noise == pytest.approx(2 * alone.noise, rel=0.02)
    assert shared.value < alone.value


def test_spearmans_correction_by_hand() -> None:
    """An observed correlation over the root of both reliabilities, as of 1904."""
    rng = np.random.default_rng(5)
    skill = rng.normal(0, 0.6, 25)
    values = answered(6, 80, skill), answered(7, 80, skill)
    first, second = (drawn(v, k, 3_000) for k, v in enumerate(values))
    found = disattenuate(first, second)
    reliable = [1 - each.noise() / each.means.var(ddof=1) for each in (first, second)]
    r = np.corrcoef(first.means, second.means)[0, 1]
    assert found.observed == pytest.approx(r)
    assert found.reliability == pytest.approx(tuple(reliable))
    assert found.models.value == pytest.approx(r / np.sqrt(reliable[0] * reliable[1]))
    alphas = [measure_reliability(v, NONE(80), population="bank").value for v in values]
    assert found.models.value == pytest.approx(r / np.sqrt(alphas[0] * alphas[1]), rel=0.02)
    assert found.models.value == pytest.approx(1.0, abs=0.1)
    assert found.observed < 0.93


def test_without_noise_nothing_is_corrected() -> None:
    x, y = [0.1, 0.4, 0.2, 0.8, 0.6], [0.2, 0.3, 0.1, 0.9, 0.4]
    found = disattenuate(exactly(x), exactly(y))
    assert found.reliability == (1.0, 1.0)
    assert found.models.value == found.observed == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_a_benchmark_of_luck_alone_cannot_be_corrected() -> None:
    rng = np.random.default_rng(6)
    luck = drawn((rng.random((60, 12)) < 0.5).astype(float))
    skilled = drawn(answered(8, 60, np.linspace(-1, 1, 12)), 1)
    found = disattenuate(luck, skilled)
    assert found.reliability[0] < 0.1
    assert np.isnan(found.models.value)


def test_the_model_that_moved_is_found_and_the_others_are_not() -> None:
    """Twelve models of the same skills on both, but for one that falls from the top."""
    skill = np.linspace(-1.2, 1.2, 12)
    other = skill.copy()
    other[11] = -0.2
    first, second = drawn(answered(9, 800, skill), 0), drawn(answered(10, 800, other), 1)
    moves = rank_moves(first, second)
    assert [m.model for m in moves if m.moved] == [11]
    assert moves[11].rank_first == 1
    assert moves[11].move <= moves[11].high < 0
    assert moves[11].shift.high < 0.0


def test_a_harder_benchmark_of_the_same_order_moves_nobody() -> None:
    skill = np.linspace(-1, 1, 10)
    first, second = drawn(answered(11, 500, skill), 0), drawn(answered(12, 500, skill - 1.5), 1)
    assert not any(m.moved for m in rank_moves(first, second))


@given(seed=st.integers(0, 200))
@settings(max_examples=15, deadline=None)
def test_exchanged_the_moves_are_the_other_way(seed: int) -> None:
    skill = np.random.default_rng(seed).normal(size=6)
    first, second = drawn(answered(seed, 60, skill), 0), drawn(answered(seed + 1, 60, skill), 1)
    there, back = rank_moves(first, second), rank_moves(second, first)
    for one, other in zip(there, back, strict=True):
        assert one.move == -other.move
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
        if one.shift.value == one.shift.value and abs(one.shift.value) > 1e-9:
            assert one.shift.value * other.shift.value < 0.0
        assert one.rank_first - one.move == one.rank_second


def test_the_line_is_passing_and_babloks() -> None:
    """Slopes written out pair by pair: their median, moved by the number below -1."""
    rng = np.random.default_rng(20)
    x = rng.random(9)
    y = 0.8 * x + rng.normal(0, 0.1, 9)
    x, y = x / _pairwise_spread(x), y / _pairwise_spread(y)
    slopes = sorted((y[i] - y[j]) / (x[i] - x[j]) for i in range(9) for j in range(i))
    below = sum(slope < -1 for slope in slopes)
    n = len(slopes)
    slope = (slopes[(n - 1) // 2 + below] + slopes[n // 2 + below]) / 2
    expected = y - slope * x - np.median(y - slope * x)
    moves = rank_moves(exactly(x.tolist()), exactly(y.tolist()))
    assert [m.shift.value for m in moves] == pytest.approx(expected.tolist())


def _pairwise_spread(values: Floats) -> float:
    return float(np.median([abs(a - b) for k, a in enumerate(values) for b in values[:k]]))


def test_clusters_are_drawn_whole_and_overlapping_facts_by_their_covariance() -> None:
    """Both ways give the same noise on facts that do not overlap."""
    values = np.repeat(answered(13, 150, np.linspace(-1, 1, 5)), 3, axis=0)
    places = np.arange(450)
    apart = SharedKeys(450, places, places // 3)
    # One more key that ties two clusters in a chain: now they overlap.
    chain = SharedKeys(450, np.append(places, [2, 3]), np.append(places // 3, [999, 999]))
    whole, normal = (bootstrap_means(values, keys, n_resamples=4_000) for keys in (apart, chain))
    assert whole.resampled == "clusters of items"
    assert normal.resampled == "clusters"
    assert whole.noise() == pytest.approx(normal.noise(), rel=0.1)
    assert whole.means == pytest.approx(normal.means)
    alone = bootstrap_means(values, apart, population="bank", n_resamples=4_000)
    assert whole.noise() == pytest.approx(3 * alone.noise(), rel=0.1)


def test_many_items_are_drawn_by_the_normal_law() -> None:
    """From 5,000 on: the same noise as items drawn again, named for what it is."""
    values = answered(18, 5_000, np.linspace(-1, 1, 4))
    by_law, by_items = drawn(values, n_resamples=1_500), drawn(values[:4_999], n_resamples=1_500)
    assert by_law.made_by.startswith("normal approximation to the means")
    assert by_items.made_by.startswith("bootstrap")
    assert by_law.noise() == pytest.approx(by_items.noise(), rel=0.1)


def test_strata_hold_their_number_of_items() -> None:
    """A stratum right for all and one wrong for all: within strata no draw moves."""
    values = np.repeat([[1.0, 1.0], [0.0, 0.0]], 20, axis=0)
    found = bootstrap_means(values, NONE(40), strata=np.repeat([0, 1], 20), n_resamples=50)
    assert np.unique(found.drawn).tolist() == [0.5]
    assert found.resampled == "items within strata"


def test_draws_are_those_of_their_seed_and_stream() -> None:
    values = answered(14, 50, np.zeros(3))
    again = [bootstrap_means(values, NONE(50), n_resamples=20, stream=s).drawn for s in (0, 0, 1)]
    assert (again[0] == again[1]).all()
    assert not (again[0] == again[2]).all()


def test_shares_alone_vary_as_a_binomial_does() -> None:
    found = bootstrap_shares(np.array([0.2, 0.5]), 400, n_resamples=20_000)
    assert found.drawn.std(axis=1) == pytest.approx(np.sqrt([0.16 / 400, 0.25 / 400]), rel=0.03)
    unknown = bootstrap_shares(np.array([0.2, 0.5, 0.7]), 0)
    tau, _ = rank_agreement(unknown, found_of_three())
    assert tau.models.value == 1.0
    assert np.isnan(tau.items.low)


def found_of_three() -> BootstrapMeans:
    return bootstrap_shares(np.array([0.1, 0.2, 0.3]), 100)


@pytest.mark.parametrize(
    "values",
    [np.empty((0, 3)), np.ones((1, 3)), np.ones((9, 1)), np.zeros((9, 4)), np.ones((9, 4)),
     np.full((5, 2), np.nan), np.empty((5, 0)),
     np.array([[1.0, np.nan, 0.0], [np.nan, 1.0, 0.0], [1.0, 1.0, np.nan]])],
)  # fmt: skip
@pytest.mark.parametrize("shares", ["none", "apart", "chain"])
def test_degenerate_benchmarks_are_answered(values: Floats, shares: str) -> None:
    n, m = values.shape
    own, following = np.arange(n), np.arange(1, n + 1)
    keys = {
        "none": NONE(n),
        "apart": SharedKeys(n, own, own // 2),
        "chain": SharedKeys(n, np.concatenate([own, own]), np.concatenate([own, following])),
    }[shares]
    first = bootstrap_means(values, keys, n_resamples=30)
    second = drawn(answered(15, 30, np.linspace(-1, 1, m)), 1, 30)
    for found in rank_agreement(first, second, n_resamples=30):
        assert np.isnan(found.models.value) or -1 <= found.models.value <= 1
    disattenuate(first, second, n_resamples=30)
    assert len(rank_moves(first, second)) <= m
    measure_reliability(values, keys)
    split_half(values, n_splits=5)


def test_benchmarks_of_other_models_are_refused() -> None:
    with pytest.raises(BadUsage, match="got 3 and 2"):
        rank_agreement(exactly([0.1, 0.2, 0.3]), exactly([0.1, 0.2]))


@pytest.mark.slow
def test_coverage_over_items_and_false_moves() -> None:
    """2,000 pairs of benchmarks of 200 items and ten models, whose skills correlate by 0.7: both
    intervals over items hold 93 to 97.5 times in 100. With the same skills on both, a move is
    claimed of any model at most 6 times; with one that fell, of any other at most 6 times too."""
    rng = np.random.default_rng(16)
    ease = np.random.default_rng(17).normal(size=(2_000, 1))
    held, wrong = [], []
    for seed in range(2_000):
        own, new = rng.normal(0, 0.6, (2, 10))
        other = 0.7 * own + np.sqrt(1 - 0.7**2) * new
        true = [(1 / (1 + np.exp(-ease - skill))).mean(axis=0) for skill in (own, other)]
        made = [drawn(answered(3 * seed + k, 200, s), k, 300) for k, s in enumerate((own, other))]
        _tau, rho = rank_agreement(made[0], made[1], n_resamples=2)
        freed = disattenuate(made[0], made[1], n_resamples=2)
        r, s = np.corrcoef(true)[0, 1], spearman(true[0], true[1])
        held.append(
            [rho.items.low <= s <= rho.items.high, freed.items.low <= r <= freed.items.high]
        )
        same = drawn(answered(3 * seed + 2, 200, own), 1, 300)
        fallen = own.copy()
        fallen[own.argmax()] -= 1.5
        fell = drawn(answered(3 * seed + 2, 200, fallen), 1, 300)
        others = [m.moved for m in rank_moves(made[0], fell) if m.model != own.argmax()]
        wrong.append([any(m.moved for m in rank_moves(made[0], same)), any(others)])
    assert (np.mean(held, axis=0) >= 0.93).all()
    assert (np.mean(held, axis=0) <= 0.975).all()
    assert (np.mean(wrong, axis=0) <= 0.06).all()
