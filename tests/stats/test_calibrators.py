"""Calibrators agree with other implementations, see no label that they score, and are reliable."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, special
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from proofstone.stats.calibrators import (
    How,
    Labels,
    fit,
    folds_of,
    isotonic_knots,
    logistic_weights,
    lower_quantiles,
    out_of_fold,
    resampled,
)

Floats = NDArray[np.float64]


def sample(n: int, seed: int = 0, width: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width))
    chance = special.expit(x @ np.array([1.5, -1.0, 0.0])[:width] + 0.3)
    return x, (rng.random(n) < chance).astype(np.float64)


def labels_of(y: Floats) -> Labels:
    rows = np.arange(len(y))
    return Labels(rows, rows, y)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0])
def test_logistic_weights_are_those_of_another_implementation(penalty: float) -> None:
    """With the two labels that hold the intercept, and whole counts as weights."""
    x, y = sample(80)
    counts = np.random.default_rng(1).integers(0, 4, size=(3, 80)).astype(np.float64)
    found = logistic_weights(x, y, counts, penalty)
    for row, weight in zip(found, counts, strict=True):
        model = LogisticRegression(C=1 / penalty, tol=1e-12, max_iter=1000)
        model.fit(
            np.vstack([x, np.zeros((2, 3))]), np.r_[y, 1, 0], sample_weight=np.r_[weight, 0.5, 0.5]
        )
        assert row == pytest.approx(np.r_[model.intercept_, model.coef_[0]], abs=1e-5)


def test_labels_that_a_feature_separates_have_finite_weights() -> None:
    x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    one_kind = logistic_weights(x, np.ones(4), np.ones((1, 4)), 1.0)
    separated = logistic_weights(x, np.array([0.0, 0, 1, 1]), np.ones((1, 4)), 1e-6)
    assert np.isfinite(one_kind).all()
    assert np.isfinite(separated).all()
    assert special.expit(separated[0, 0] + separated[0, 1] * 2) > 0.99


def test_isotonic_knots_are_those_of_another_implementation() -> None:
    rng = np.random.default_rng(2)
    x, y = np.round(rng.random(60), 1), (rng.random(60) < 0.5).astype(np.float64)
    counts = rng.integers(0, 3, 60).astype(np.float64)
    knots, chances = isotonic_knots(x, y, counts)
    other = IsotonicRegression().fit(x[counts > 0], y[counts > 0], sample_weight=counts[counts > 0])
    assert chances == pytest.approx(other.predict(knots))
    assert isotonic_knots(x, y, np.zeros(60))[1].tolist() == [0.5]


@pytest.mark.parametrize("how", ["logistic", "isotonic"])
def test_a_label_does_not_change_its_own_probability(how: How) -> None:
    x, y = sample(60, width=1)
    changed = y.copy()
    changed[7] = 1 - changed[7]
    rows = np.arange(60)
    one = Labels(rows, rows, y)
    folds = folds_of(one, 0)
    first = fit(how, x, one, n_resamples=5)
    # The same folds with the other label: only models of other folds may change.
    second = fit(how, x, Labels(rows, rows, changed), n_resamples=5)
    if folds.tolist() == folds_of(Labels(rows, rows, changed), 0).tolist():
        assert first.values(x, rows)[7] == second.values(x, rows)[7]
    unseen = first.values(x, np.full(60, -1))
    assert unseen.tolist() != first.values(x, rows).tolist()


def test_labels_of_a_unit_are_in_one_fold_and_resampled_together() -> None:
    units = np.array([3, 3, 5, 8, 8, 9, 11, 12])
    labels = Labels(np.arange(8), units, np.array([1.0, 0, 1, 0, 1, 1, 0, 0]))
    folds = folds_of(labels, 0)
    counts = resampled(labels, 200, 0)
    assert len(folds) == 6
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 1
    assert counts.shape == (201, 6)
    assert counts[0].tolist() == [1.0] * 6
    assert counts.sum(axis=1).tolist() == [6.0] * 201
    assert counts[1:].mean(axis=0) == pytest.approx(np.ones(6), abs=0.25)


def test_probabilities_are_reliable_and_intervals_hold_the_truth() -> None:
    """The known chance of a new unit is above the 10% quantile about nine times in ten."""
    above = []
    for seed in range(40):
        x, y = sample(150, seed)
        fitted = fit("logistic", x, labels_of(y), n_resamples=200, seed=seed)
        new = np.random.default_rng(1000 + seed).normal(size=(50, 3))
        chance = special.expit(new @ np.array([1.5, -1.0, 0.0]) + 0.3)
        low = lower_quantiles(fitted, new, np.full(50, -1), [0.1])[0]
        above.append(float((chance >= low).mean()))
    assert 0.82 <= float(np.mean(above)) <= 0.96


def test_out_of_fold_probabilities_of_labels_by_chance_do_not_help() -> None:
    """Labels that do not depend on the features: the Brier score is not below that of the rate."""
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(100, 3)), (rng.random(100) < 0.4).astype(np.float64)
        labels = labels_of(y)
        held = out_of_fold(fit("logistic", x, labels, n_resamples=1, seed=seed), x, labels)
        gains.append(y.mean() * (1 - y.mean()) - float(((held - y) ** 2).mean()))
    assert float(np.mean(gains)) < 0


@pytest.mark.parametrize("how", ["logistic", "isotonic"])
def test_quantiles_in_blocks_are_those_of_all_replicates(
    how: How, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = sample(50, width=1)
    rows = np.arange(50)
    fitted = fit(how, x, labels_of(y), n_resamples=30)
    assert fitted.n_resamples == 30
    whole = np.vstack(list(fitted.replicates(x, rows)))
    monkeypatch.setattr("proofstone.stats.calibrators._BLOCK", 100)
    assert np.vstack(list(fitted.replicates(x, rows))) == pytest.approx(whole)
    found = lower_quantiles(fitted, x, rows, [0.1, 0.5])
    assert found == pytest.approx(np.quantile(whole, [0.1, 0.5], axis=0))


def test_isotonic_regression_takes_one_feature() -> None:
    x, y = sample(20)
    with pytest.raises(ValueError, match="one score, got 3"):
        fit("isotonic", x, labels_of(y))


def test_steps_that_overshoot_are_halved_until_the_loss_falls() -> None:
    """Features of any scale, hardly held: no other search finds a lower loss."""
    rng = np.random.default_rng(0)
    for _case in range(60):
        n = int(rng.integers(3, 12))
        x = rng.normal(size=(n, 2)) * 10 ** rng.uniform(0, 4)
        y = (rng.random(n) < 0.3).astype(np.float64)
        penalty = 10 ** rng.uniform(-9, 0)
        counts = rng.integers(0, 60, size=(1, n)).astype(np.float64)
        found = logistic_weights(x, y, counts, penalty)[0]

        def loss(
            beta: Floats, x: Floats = x, y: Floats = y, w: Floats = counts[0], p: float = penalty
        ) -> float:
            margin = beta[0] + x @ beta[1:]
            held = np.logaddexp(0, beta[0]) - 0.5 * beta[0]
            data = w @ (np.logaddexp(0, margin) - y * margin)
            return float(data + held + 0.5 * p * (beta[1:] ** 2).sum())

        other = optimize.minimize(loss, np.zeros(3), method="Nelder-Mead", options={"maxiter": 600})
        again = optimize.minimize(loss, found, method="Nelder-Mead", options={"maxiter": 600})
        assert loss(found) <= min(other.fun, again.fun) * (1 + 1e-6) + 1e-6
