"""What ten times the parameters are worth, and whether scores level off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import curve_fit

from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.scaling import compare_slopes, fit_bend, mixture_gap, slope_of

Floats = NDArray[np.float64]

# KINA's Table 3 (ALL, in points) for the dense models of Figure 3, by billions of parameters.
QWEN3 = np.array([0.6, 1.7, 4, 8, 14, 32]), np.array([14.49, 18.33, 21.50, 22.27, 26.00, 27.41])
QWEN35 = np.array([0.8, 2, 4, 9, 27]), np.array([16.66, 20.52, 28.50, 30.09, 39.35])
# Its mixtures Qwen3.5-35B-A3B, 122B-A10B and 397B-A17B.
MIXTURES = {"total": [35, 122, 397], "active": [3, 10, 17]}
MIXTURE_SCORES = [35.43, 38.88, 42.99]


def test_kinas_two_scaling_slopes() -> None:
    """Section 5.5 prints 7.6 and 14.8 points a decade; 7.56 and 14.81 follow from its Table 3."""
    old, new = slope_of(*QWEN3), slope_of(*QWEN35)
    assert [round(s.models.value, 2) for s in (old, new)] == [7.56, 14.81]
    assert (old.weighting, old.n_models, new.n_models) == ("equal", 6, 5)
    assert old.decades == pytest.approx(np.log10(32 / 0.6))
    # What the paper does not print: both intervals, and that the difference is more than noise.
    assert (round(new.models.low, 1), round(new.models.high, 1)) == (10.0, 19.6)
    (difference,) = compare_slopes([old, new])
    assert difference.difference.value == pytest.approx(7.56 - 14.81, abs=0.01)
    assert difference.p_holm == pytest.approx(0.012, abs=0.001)


def test_kinas_families_cannot_tell_saturation() -> None:
    """The paper sees mild saturation; six and five dense models cannot tell it from a line."""
    for sizes, scores in (QWEN3, QWEN35):
        found = fit_bend(np.log10(sizes), scores)
        assert found.shape == "inconclusive"
        assert found.low < 0.0 < found.high


def test_kinas_mixtures_stand_above_dense_models_on_active_parameters_alone() -> None:
    """The paper says so of active parameters; on total ones they do not."""
    sizes, scores = QWEN35
    mixed = np.arange(8) >= 5
    found = {
        basis: mixture_gap(
            np.concatenate([sizes, own]),
            np.concatenate([scores, MIXTURE_SCORES]),
            mixed,
            basis=basis,
        )
        for basis, own in MIXTURES.items()
    }
    assert found["active"].gap.low > 0.0
    assert found["total"].gap.value < 0.0 < found["total"].gap.high
    assert (found["total"].n_dense, found["total"].n_mixtures) == (5, 3)


@given(seed=st.integers(0, 1_000), n=st.integers(3, 12))
@settings(max_examples=30)
def test_the_line_is_scipys(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    sizes, scores = 10 ** rng.uniform(-1, 3, n), rng.random(n)
    found, expected = slope_of(sizes, scores), stats.linregress(np.log10(sizes), scores)
    assert found.models.value == pytest.approx(expected.slope)
    assert found.at_one == pytest.approx(expected.intercept)
    assert found.r_squared == pytest.approx(expected.rvalue**2)
    half = stats.t.ppf(0.975, n - 2) * expected.stderr
    assert found.models.high - found.models.value == pytest.approx(half)


def test_weights_are_those_of_polyfit() -> None:
    rng = np.random.default_rng(1)
    x, y, w = rng.random(7), rng.random(7), rng.uniform(0.5, 4, 7)
    found = slope_of(10**x, y, weights=w)
    expected, covariance = np.polyfit(x, y, 1, w=np.sqrt(w), cov=True)
    assert [found.models.value, found.at_one] == pytest.approx(expected.tolist())
    error = (found.models.high - found.models.value) / stats.t.ppf(0.975, 5)
    assert error == pytest.approx(np.sqrt(covariance[0, 0]))
    assert found.weighting == "given"


def test_the_gap_is_that_of_two_parallel_lines_by_hand() -> None:
    """Dense 10 + 5 x, mixtures 12 + 5 x: a gap of 2, whatever the sizes."""
    x = np.array([0.0, 1, 2, 1.5, 2.5])
    mixed = np.array([False, False, False, True, True])
    found = mixture_gap(10**x, 10 + 5 * x + 2 * mixed, mixed, basis="total")
    assert found.gap.value == pytest.approx(2.0)
    flat = mixture_gap(10**x, np.where(mixed, 1.0, 0.0), mixed, basis="active")
    assert flat.gap.value == pytest.approx(1.0)
    assert flat.p < 1e-9
    curve_alone = fit_bend(x, 1 - np.exp(-0.37 * x))
    assert curve_alone.shape == "saturating"


def test_over_items_the_slope_moves_as_its_models_means_do() -> None:
    """The same items drawn again 4,000 times: the slope's spread is the interval's."""
    rng = np.random.default_rng(2)
    sizes = np.array([1.0, 4, 16, 64])
    chances = np.clip(np.linspace(0.3, 0.6, 4) + rng.normal(0, 0.2, (300, 1)), 0.02, 0.98)
    values = (rng.random((300, 4)) < chances).astype(float)
    spread = measure_spread(values, equal_weights(300), SharedKeys.none(300), "bank")
    found = slope_of(
        sizes, spread.means, covariance=spread.covariance(), groups=spread.groups, n_units=300
    )
    assert found.items is not None
    row = (np.log10(sizes) - np.log10(sizes).mean()) / (4 * np.log10(sizes).var())
    drawn = [row @ values[rng.integers(0, 300, 300)].mean(axis=0) for _ in range(4_000)]
    half = stats.t.ppf(0.975, 299) * np.std(drawn)
    assert found.items.high - found.items.value == pytest.approx(half, rel=0.05)
    assert (found.items.n, found.items.resampled) == (300, "items")
    assert found.models.resampled == "models"


def test_loblolly_pines_level_off_as_published() -> None:
    """Heights of the pines of seed 329 (R's Loblolly; Kung 1986): R's own example of the asymptotic
    model gives the ceiling 94.1282 and the log rate -3.2176."""
    age = np.array([3.0, 5, 10, 15, 20, 25])
    height = np.array([3.93, 9.34, 26.08, 37.79, 48.31, 56.43])
    found = fit_bend(age, height)
    assert found.ceiling == pytest.approx(94.1282, abs=1e-3)
    assert np.log(found.bend / 22) == pytest.approx(-3.2176, abs=1e-4)
    assert found.slope_ratio == pytest.approx(np.exp(-22 * np.exp(-3.2176)), abs=1e-4)
    assert found.shape == "saturating"
    assert found.p < 0.01


def curve(x: Floats, a: float, s: float, b: float) -> Floats:
    return a + s * (1 - np.exp(-b * x)) / b


def test_the_f_test_and_aicc_are_those_of_an_independent_fit() -> None:
    rng = np.random.default_rng(3)
    x = np.linspace(0, 3, 15)
    y = curve(x, 0.2, 0.3, 0.9) + rng.normal(0, 0.02, 15)
    found = fit_bend(x, y)
    (_, _, b), _ = curve_fit(curve, x, y, p0=[0.2, 0.3, 0.5])
    bent = float(((y - curve(x, *curve_fit(curve, x, y, p0=[0.2, 0.3, 0.5])[0])) ** 2).sum())
    line = float(((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2).sum())
    assert found.bend == pytest.approx(3 * b, rel=1e-3)
    assert found.f == pytest.approx((line - bent) / (bent / 12), rel=1e-4)
    assert found.p == pytest.approx(stats.f.sf(found.f, 1, 12))
    assert found.aicc_line == pytest.approx(15 * np.log(line / 15) + 6 + 24 / 11)
    assert found.aicc_bent == pytest.approx(15 * np.log(bent / 15) + 8 + 40 / 10)


def test_a_line_with_little_noise_is_called_one_and_other_shapes_by_their_names() -> None:
    x = np.linspace(0, 2, 12)
    noise = np.random.default_rng(4).normal(0, 0.002, 12)
    assert fit_bend(x, 0.1 + 0.2 * x + noise).shape == "log-linear"
    assert fit_bend(x, curve(x, 0.1, 0.4, 1.5) + noise).shape == "saturating"
    assert fit_bend(x, curve(x, 0.1, 0.05, -1.5) + noise).shape == "accelerating"


@given(seed=st.integers(0, 500), shift=st.floats(-3, 3), scale=st.floats(0.1, 10))
@settings(max_examples=30)
def test_units_do_not_change_the_shape(seed: int, shift: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random(8), rng.random(8)
    one, other = fit_bend(x, y), fit_bend(scale * x + shift, 3 * y - 1)
    assert one.bend == pytest.approx(other.bend, abs=1e-3)
    assert one.shape == other.shape
    assert one.low <= one.bend <= one.high


@pytest.mark.parametrize(
    ("sizes", "scores"),
    [([], []), ([7], [0.5]), ([7, 7, 7], [0.2, 0.5, 0.4]), ([7, 70], [0.2, 0.5]),
     ([1, 10, 100, 1000], [0.5] * 4), ([0, 7, np.nan], [0.1, 0.2, 0.3]),
     ([1, 2, 3, 4], [np.nan] * 4), ([1, 10, 100, 1000], [0.1, 0.2, 0.3, 0.4])],
)  # fmt: skip
def test_degenerate_families_are_answered(sizes: list[float], scores: list[float]) -> None:
    x, y = np.array(sizes, dtype=float), np.array(scores, dtype=float)
    m = len(x)
    slope = slope_of(x, y, covariance=np.eye(m) * 1e-4, groups=100.0)
    bend = fit_bend(np.log10(np.where(x > 0, x, np.nan)), y)
    gap = mixture_gap(x, y, np.zeros(m, dtype=bool), basis="total")
    assert np.isnan(gap.gap.value)
    assert bend.low <= bend.high
    if slope.n_models < 3:
        assert np.isnan(slope.models.low)
        assert slope.models.flags == ("too-few-models",)
        assert compare_slopes([slope, slope]) == ()
        assert bend.shape == "inconclusive"


def test_models_that_lie_on_the_line_have_no_doubt_left() -> None:
    x = np.array([1.0, 10, 100, 1000])
    found = slope_of(x, np.array([0.1, 0.2, 0.3, 0.4]))
    assert found.models.value == pytest.approx(0.1)
    assert found.r_squared == pytest.approx(1.0)
    nothing = mixture_gap(x, np.zeros(4), x > 50, basis="total")
    assert (nothing.gap.value, nothing.p) == (0.0, 1.0)


def test_slopes_without_any_error_differ_or_are_the_same() -> None:
    found = slope_of(*QWEN3)
    sure = replace(found, models=replace(found.models, low=0.1, high=0.1, value=0.1))
    steeper = replace(found, models=replace(found.models, low=0.2, high=0.2, value=0.2))
    assert [each.p for each in compare_slopes((sure, sure, steeper))] == [1.0, 0.0, 0.0]


def test_six_points_have_a_criterion_for_the_bend_and_five_none() -> None:
    x, noise = np.arange(6.0), np.array([0.1, -0.1, 0.05, 0.1, -0.1, 0.0])
    assert np.isfinite(fit_bend(x, x + noise).aicc_bent)
    assert np.isnan(fit_bend(x[:5], x[:5] + noise[:5]).aicc_bent)


def test_independent_items_without_number_give_the_normal_interval() -> None:
    """Two models a decade apart, each with variance 0.0001: the slope's is 0.0002."""
    found = slope_of(np.array([1.0, 10]), np.array([0.2, 0.3]), covariance=np.eye(2) * 1e-4)
    assert found.items is not None
    assert found.items.high - found.items.value == pytest.approx(1.959964 * np.sqrt(2e-4))


@pytest.mark.slow
def test_intervals_of_the_bend_and_of_the_slope_hold_the_truth() -> None:
    """2,000 families of eight models about a curve that levels off, with noise of a tenth of its
    rise: both hold 93 to 97 times in 100; of lines, 5 in 100 are called bent."""
    rng = np.random.default_rng(5)
    x = np.array([0.0, 0.3, 0.6, 1.0, 1.3, 1.6, 2.0, 2.3])
    bent, straight, slopes = [], [], []
    for _ in range(2_000):
        noise = rng.normal(0, 0.03, 8)
        found = fit_bend(x, curve(x, 0.2, 0.3, 0.8) + noise)
        bent.append(found.low <= 0.8 * 2.3 <= found.high)
        straight.append(fit_bend(x, 0.2 + 0.15 * x + noise).p < 0.05)
        slope = slope_of(10**x, 0.2 + 0.15 * x + noise).models
        slopes.append(slope.low <= 0.15 <= slope.high)
    assert 0.93 <= np.mean(bent) <= 0.97
    assert 0.93 <= np.mean(slopes) <= 0.97
    assert 0.035 <= np.mean(straight) <= 0.065
