"""Stated confidence: decompositions that add up, scikit-learn's figures, bins by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, roc_auc_score

from proofstone.stats.calibration import Binning, auroc, calibrate, risk_coverage

Floats = NDArray[np.float64]


def stated(seed: int, n: int, shift: float = 0.0) -> tuple[Floats, Floats]:
    """Confidences, and answers that are right as often as stated less ``shift``."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    return confidence, (rng.random(n) < confidence - shift).astype(float)


def test_two_bins_by_hand() -> None:
    """0.2 and 0.4 with one right of two, 0.9 three times with two right.

    ECE = 2/5 |0.3 - 1/2| + 3/5 |0.9 - 2/3|, over-confidence 3.3/5 - 3/5.
    """
    confidence = np.array([0.2, 0.4, 0.9, 0.9, 0.9])
    scores = np.array([1.0, 0, 1, 1, 0])
    found = calibrate(confidence, scores, n_bins=2, n_resamples=50)
    assert found.ece.value == pytest.approx(2 / 5 * 0.2 + 3 / 5 * (0.9 - 2 / 3))
    assert found.over_confidence.value == pytest.approx(3.3 / 5 - 3 / 5)
    first, second = found.bins
    assert (first.start, first.end, first.n, first.accuracy) == (0.0, 0.5, 2, 0.5)
    assert (second.confidence, second.accuracy) == pytest.approx((0.9, 2 / 3))
    assert second.low < 2 / 3 < second.high
    assert (found.n, found.n_resamples, found.seed, found.binning) == (5, 50, 0, "equal width")


def test_murphys_decomposition_of_repeated_forecasts() -> None:
    """Where a bin holds one confidence only, Brier = reliability - resolution + uncertainty."""
    confidence = np.repeat([0.1, 0.5, 0.9], [10, 20, 30])
    scores = np.concatenate([np.arange(10) < 2, np.arange(20) < 10, np.arange(30) < 24]) * 1.0
    found = calibrate(confidence, scores, n_resamples=20)
    assert found.reliability.value == pytest.approx((10 * 0.1**2 + 30 * 0.1**2) / 60)
    assert found.resolution.value == pytest.approx((10 * 0.4**2 + 20 * 0.1**2 + 30 * 0.2**2) / 60)
    assert found.uncertainty.value == pytest.approx(0.6 * 0.4)
    assert found.within_bins.value == pytest.approx(0.0, abs=1e-12)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30),
    st.sampled_from(["equal width", "equal mass"]),
    st.integers(1, 12),
)
@settings(max_examples=60)
def test_parts_add_up_and_bins_hold_all(
    units: list[tuple[float, bool]], binning: Binning, n_bins: int
) -> None:
    confidence, scores = np.array(units, dtype=float).T
    found = calibrate(confidence, scores, binning=binning, n_bins=n_bins, n_resamples=3)
    total = found.reliability.value - found.resolution.value
    total += found.uncertainty.value + found.within_bins.value
    assert found.brier.value == pytest.approx(total)
    assert found.brier.value == pytest.approx(brier_score_loss(scores, confidence, pos_label=1))
    assert sum(each.n for each in found.bins) == len(units)
    assert all(each.start - 1e-9 <= each.confidence <= each.end + 1e-9 for each in found.bins)
    assert 0.0 <= found.ece.value <= 1.0
    if 0 < scores.sum() < len(scores):
        assert found.auroc.value == pytest.approx(roc_auc_score(scores, confidence))
    else:
        assert np.isnan(found.auroc.value)


def test_bins_are_those_of_scikit_learn() -> None:
    confidence, scores = stated(1, 400)
    found = calibrate(confidence, scores, n_resamples=2)
    right, sure = calibration_curve(scores, confidence, n_bins=10)
    assert [each.accuracy for each in found.bins] == pytest.approx(right.tolist())
    assert [each.confidence for each in found.bins] == pytest.approx(sure.tolist())


def test_equal_mass_holds_equally_many() -> None:
    confidence, scores = stated(2, 400)
    found = calibrate(confidence, scores, binning="equal mass", n_bins=8, n_resamples=2)
    assert {each.n for each in found.bins} <= {49, 50, 51}
    alike = calibrate(np.full(30, 0.8), np.ones(30), binning="equal mass", n_resamples=2)
    assert [(each.n, each.start, each.end) for each in alike.bins] == [(30, 0.8, 0.8)]


def test_a_calibrated_respondent_shows_the_ece_of_chance() -> None:
    """200 units: the ECE is far from 0 though nothing is wrong, and near what chance gives."""
    found = [calibrate(*stated(seed, 200), n_resamples=200) for seed in range(20)]
    ece = np.mean([each.ece.value for each in found])
    assert ece > 0.05
    assert ece == pytest.approx(np.mean([each.ece_by_chance for each in found]), rel=0.1)
    boastful = calibrate(*stated(3, 2_000, shift=0.2))
    assert boastful.over_confidence.low > 0.1
    assert boastful.ece.value > 2 * boastful.ece_by_chance


def test_risk_falls_where_confidence_sorts() -> None:
    """Four units, the surer two right: risk 0, 0, 1/3, 1/2 at coverage 1/4 to 1; ties together."""
    curve = risk_coverage(np.array([0.9, 0.8, 0.4, 0.1]), np.array([1.0, 1, 0, 0]))
    assert curve.coverage[0].tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curve.risk[0] == pytest.approx([0, 0, 1 / 3, 1 / 2])
    assert curve.area[0] == pytest.approx((1 / 3 + 1 / 2) / 4)
    tied = risk_coverage(np.full(4, 0.5), np.array([1.0, 1, 0, 0]))
    assert (tied.risk[0].tolist(), tied.area[0]) == ([0.5], 0.5)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 3)), max_size=12))
def test_weights_are_copies(units: list[tuple[int, bool, int]]) -> None:
    """A unit of weight 3 is the unit three times, for the curve's area and for the AUROC."""
    table = np.array(units, dtype=float).reshape(-1, 3)
    confidence, scores, number = table.T
    copied = np.repeat(table, number.astype(int), axis=0)
    by_weight = (auroc(confidence, scores, number[None])[0],
                 risk_coverage(confidence, scores, number[None]).area[0])  # fmt: skip
    by_copy = (auroc(copied[:, 0], copied[:, 1])[0],
               risk_coverage(copied[:, 0], copied[:, 1]).area[0])  # fmt: skip
    assert by_weight == pytest.approx(by_copy, nan_ok=True)


@pytest.mark.parametrize("binning", ["equal width", "equal mass"])
def test_nothing_stated_is_nothing_said(binning: Binning) -> None:
    found = calibrate(np.array([np.nan, 0.5]), np.array([1.0, np.nan]), binning=binning)
    assert (found.n, found.left_out, found.bins) == (0, 2, ())
    assert np.isnan(
        [found.ece.value, found.brier.value, found.auroc.low, found.risk_area.value]
    ).all()
    one = calibrate(np.array([0.7]), np.array([1.0]), binning=binning, n_resamples=4)
    assert one.brier.value == pytest.approx(0.09)
    assert np.isnan(one.auroc.value)
