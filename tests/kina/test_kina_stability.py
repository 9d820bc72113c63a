"""What KINA's Table 3 implies for its Tables 4 and 13, by simulation and by a normal approximation.

Table 3 has accuracies by discipline, not by item. Scores by item are simulated with these
accuracies, the repeatability that Table 13 implies, and a correlation of models over items that the
paper does not print.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, kendalltau, norm

from proofstone.stats.stability import subsample_stability

DATA = Path(__file__).parents[2] / "docs" / "data"
RATES = (0.5, 0.7, 0.9)
SIZES = np.array([40, 34, 31, 308, 13, 65, 65, 29, 81, 13, 201, 19])
REPEATABILITY = 0.75  # 1 - 0.25, below
PRINTED_TAU, PRINTED_FIRST = (0.89, 0.93, 0.97), (0.94, 0.98, 1.00)  # Table 4

Floats = NDArray[np.float64]


def table(name: str) -> list[list[str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:43]


def accuracies() -> tuple[Floats, Floats]:
    """ALL and the accuracies by discipline of the 42 models, as shares."""
    cells = np.array([[float(cell) for cell in row[1:]] for row in table("kina-table-3.csv")]) / 100
    return cells[:, 0], cells[:, 1:]


def simulated(latent: float, seed: int) -> Floats:
    """Means of four samples of 899 items by the top ten models: (items, models)."""
    rng = np.random.default_rng(seed)
    top = accuracies()[1][:10]
    p = np.repeat(top, SIZES, axis=1).T
    tied = rng.standard_normal((len(p), 1)) * np.sqrt(latent)
    u = norm.cdf(tied + rng.standard_normal(p.shape) * np.sqrt(1 - latent))
    strength = (1 - REPEATABILITY) / REPEATABILITY
    return rng.binomial(4, beta.ppf(u, p * strength, (1 - p) * strength)) / 4


def by_simulation(latent: float, n_sets: int = 25) -> tuple[Floats, float]:
    """Kendall's tau of the top ten by rate, and the mean correlation of two models."""
    strata = np.repeat(np.arange(12), SIZES)
    taus, correlations = [], []
    for seed in range(n_sets):
        values = simulated(latent, seed)
        found = subsample_stability(values, strata, rates=RATES, n_resamples=200, seed=seed)
        taus.append([each.tau.mean for each in found])
        correlations.append(np.corrcoef(values.T)[np.triu_indices(10, 1)].mean())
    return np.mean(taus, axis=0), float(np.mean(correlations))


def by_normal_means(correlation: float, n: int = 1500) -> tuple[Floats, Floats]:
    """Tau and retention of the first rank: normal subsample means around the printed accuracies."""
    rng = np.random.default_rng(1)
    every, cells = accuracies()
    means, p = every[:10], cells[:10]
    share = REPEATABILITY + (1 - REPEATABILITY) / 4  # of p (1 - p), in a mean of four
    sd = np.sqrt((p * (1 - p) * share) @ SIZES / SIZES.sum())
    covariance = np.outer(sd, sd) * (correlation + (1 - correlation) * np.eye(10))
    taus, firsts = [], []
    for rate in RATES:
        drawn = rng.multivariate_normal(means, covariance * (1 - rate) / rate / SIZES.sum(), size=n)
        taus.append(np.mean([kendalltau(means, each).statistic for each in drawn]))
        firsts.append(np.mean(drawn.argmax(axis=1) == 0))
    return np.array(taus), np.array(firsts)


def test_table_13_is_a_quarter_of_what_fresh_answers_would_vary() -> None:
    """Answers sampled afresh would give 1.51 points on average; Table 13 prints 0.70."""
    _, p = accuracies()
    fresh = 100 * np.sqrt((p * (1 - p)) @ SIZES) / SIZES.sum()
    printed = np.array([float(row[2]) for row in table("kina-table-13.csv")])
    assert fresh.mean() == pytest.approx(1.51, abs=0.005)
    assert printed.mean() == pytest.approx(0.70, abs=0.005)
    assert (printed**2).mean() / (fresh**2).mean() == pytest.approx(0.25, abs=0.005)


@pytest.mark.parametrize(
    ("latent", "correlation", "tau", "first"),
    [
        (0.0, 0.0, (0.84, 0.90, 0.96), (0.93, 0.99, 1.00)),
        (0.5, 0.37, (0.88, 0.93, 0.97), (0.98, 1.00, 1.00)),
        (0.8, 0.63, (0.91, 0.95, 0.98), (0.995, 1.00, 1.00)),
    ],
)
def test_what_table_3_implies_for_table_4(
    latent: float, correlation: float, tau: tuple[float, ...], first: tuple[float, ...]
) -> None:
    """Simulated leaders change from set to set, so retention is of the normal means alone."""
    taus, firsts = by_normal_means(correlation)
    assert taus == pytest.approx(tau, abs=0.01)
    assert firsts == pytest.approx(first, abs=0.012)
    simulated_taus, held = by_simulation(latent)
    assert held == pytest.approx(correlation, abs=0.02)
    assert simulated_taus == pytest.approx(taus, abs=0.03)


def test_printed_taus_follow_from_correlated_models_and_the_printed_retention_does_not() -> None:
    taus, firsts = by_normal_means(0.37)
    assert taus == pytest.approx(PRINTED_TAU, abs=0.02)
    assert firsts[0] > PRINTED_FIRST[0] + 0.03
    assert by_normal_means(0.0)[1] == pytest.approx(PRINTED_FIRST, abs=0.02)
