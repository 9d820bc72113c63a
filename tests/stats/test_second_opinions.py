"""The same figures by other people's packages: statsmodels, scikit-learn, evalica and ppi_py."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, cohen_kappa_score, roc_auc_score

from proofstone.stats.agreement import (
    Level,
    agreement,
    cohen_kappa,
    correct_judged_rate,
    krippendorff_alpha,
)
from proofstone.stats.calibration import auroc, calibrate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import compare_pair, mcnemar
from proofstone.stats.estimates import mean_estimates, measure_spread
from proofstone.stats.factors import length_effect
from proofstone.stats.intervals import equal_weights, share_interval
from proofstone.stats.multiple_comparisons import benjamini_hochberg, holm
from proofstone.stats.ratios import ratio_spread
from proofstone.stats.scaling import slope_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # theirs, at import
    import evalica
    import ppi_py
    import statsmodels.api as sm
    from statsmodels.stats import contingency_tables, inter_rater, multitest, proportion

Floats = NDArray[np.float64]


def draws(seed: int) -> np.random.Generator:
    return np.random.default_rng([2026, seed])


# ------------------------------------------------------------------ statsmodels


@pytest.mark.parametrize(("right", "n"), [(0, 20), (3, 50), (5, 50), (81, 263), (98, 100), (9, 9)])
def test_shares_have_the_intervals_of_statsmodels(right: int, n: int) -> None:
    method = "beta" if min(right, n - right) < 5 else "wilson"
    low, high = share_interval(np.array([right / n]), np.array([float(n)]), 0.95)
    expected = proportion.proportion_confint(right, n, 0.05, method)
    assert (low[0], high[0]) == pytest.approx(expected, abs=1e-12)
    (found,) = mean_estimates(
        (np.arange(n) < right).astype(float)[:, None],
        equal_weights(n),
        SharedKeys.none(n),
        population="bank",
    )
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


def test_corrected_p_values_are_those_of_statsmodels() -> None:
    p = np.concatenate([draws(1).random(40), draws(2).random(10) / 1_000])
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p) == pytest.approx(multitest.multipletests(p, method="fdr_bh")[1])


def test_mcnemar_is_that_of_statsmodels() -> None:
    rng = draws(3)
    for _ in range(20):
        first, second = (rng.random(80) < 0.7).astype(float), (rng.random(80) < 0.6).astype(float)
        table = [[int(((first == a) & (second == b)).sum()) for b in (1, 0)] for a in (1, 0)]
        expected = contingency_tables.mcnemar(table, exact=True).pvalue
        assert mcnemar(first, second).p == pytest.approx(expected)


def test_a_clustered_mean_has_the_variance_of_statsmodels_ols() -> None:
    """CR0, times G / (G - 1) with Kish's effective number of clusters."""
    rng = draws(4)
    cluster = np.repeat(np.arange(30), rng.integers(1, 7, 30))
    values = 0.4 * rng.random(len(cluster)) + 0.6 * rng.random(30)[cluster]
    n = len(values)
    keys = SharedKeys(n, np.arange(n), cluster)
    found = measure_spread(values[:, None], equal_weights(n), keys, "domain")
    how = {"groups": cluster, "use_correction": False}
    fit = sm.OLS(values, np.ones(n)).fit(cov_type="cluster", cov_kwds=how)
    theirs, groups = float(fit.cov_params()[0, 0]), found.groups
    assert found.variances()[0] == pytest.approx(theirs * groups / (groups - 1), rel=1e-9)


def test_a_pair_on_clusters_of_one_size_is_statsmodels_clustered_t() -> None:
    rng = draws(5)
    cluster = np.repeat(np.arange(40), 3)
    first, second = (rng.random(120) + 0.3 * rng.random(40)[cluster] for _ in range(2))
    keys = SharedKeys(120, np.arange(120), cluster)
    found = compare_pair(first / 2, second / 2, keys, population="domain")
    fit = sm.OLS((first - second) / 2, np.ones(120)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True
    )
    assert found.p == pytest.approx(float(fit.pvalues[0]), rel=1e-6)


def test_a_slope_over_models_is_that_of_statsmodels() -> None:
    rng = draws(6)
    sizes = np.array([0.5, 1.5, 3.0, 7.0, 14.0, 32.0, 72.0])
    scores = 0.3 + 0.1 * np.log10(sizes) + 0.02 * rng.standard_normal(7)
    found = slope_of(sizes, scores).models
    fit = sm.OLS(scores, sm.add_constant(np.log10(sizes))).fit()
    assert found.value == pytest.approx(fit.params[1])
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[1]))


def test_the_effect_of_length_is_that_of_statsmodels() -> None:
    """One reply an item: errors by item are White's, with n / (n - 1)."""
    rng = draws(7)
    tokens, n = np.exp(rng.normal(5, 1, 150)), 150
    scores = np.clip(0.9 - 0.05 * np.log2(tokens) + 0.1 * rng.standard_normal(n), 0, 1)
    found = length_effect(scores, tokens, np.arange(n)).over_items
    fit = sm.OLS(scores, sm.add_constant(np.log2(tokens))).fit(cov_type="HC0")
    assert found.value == pytest.approx(fit.params[1])
    error = (found.high - found.low) / 2
    assert error == pytest.approx(1.976 * fit.bse[1], rel=0.02)


def test_fleiss_and_cohens_kappa_are_those_of_statsmodels() -> None:
    rng = draws(8)
    ratings = rng.integers(0, 3, (60, 4))
    table, _ = inter_rater.aggregate_raters(ratings)
    found = agreement(ratings, "Fleiss kappa")
    assert found.value == pytest.approx(inter_rater.fleiss_kappa(table))
    pair = np.array([[((ratings[:, 0] == a) & (ratings[:, 1] == b)).sum() for b in range(3)]
                     for a in range(3)])  # fmt: skip
    assert cohen_kappa(ratings[:, 0], ratings[:, 1]).value == pytest.approx(
        inter_rater.cohens_kappa(pair).kappa
    )


def test_the_linearised_ratio_is_statsmodels_weighted_mean() -> None:
    """Precision over entities: a mean of ratios weighted by what each entity counts."""
    rng = draws(9)
    bottoms = rng.integers(1, 9, (80, 1)).astype(float)
    tops = rng.binomial(bottoms.astype(int), 0.6).astype(float)
    found = ratio_spread(tops, bottoms)
    weights = bottoms[:, 0]
    fit = sm.WLS(tops[:, 0] / weights, np.ones(80), weights=weights).fit(cov_type="HC0")
    groups = weights.sum() ** 2 / (weights**2).sum()
    assert found.means[0] == pytest.approx(fit.params[0])
    assert found.variances()[0] == pytest.approx(
        float(fit.bse[0]) ** 2 * groups / (groups - 1), rel=1e-9
    )


# ------------------------------------------------------------------ scikit-learn


def test_calibration_is_that_of_scikit_learn() -> None:
    rng = draws(10)
    stated = np.round(rng.random(400), 2)
    right = (rng.random(400) < stated**1.3).astype(float)
    found = calibrate(stated, right)
    assert found.brier.value == pytest.approx(brier_score_loss(right, stated))
    assert found.auroc.value == pytest.approx(roc_auc_score(right, stated))
    assert auroc(stated, right)[0] == pytest.approx(roc_auc_score(right, stated))


def test_weighted_kappa_is_that_of_scikit_learn() -> None:
    rng = draws(11)
    first = rng.integers(0, 4, 90)
    second = np.clip(first + rng.integers(-1, 2, 90), 0, 3)
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(first, second, weights=weights)
        assert cohen_kappa(first, second, weights=weights).value == pytest.approx(expected)


def test_the_direction_of_overconfidence_is_that_of_an_isotonic_fit() -> None:
    """Stated 20 points too high everywhere: both say so, and by as much."""
    rng = draws(12)
    stated = rng.uniform(0.3, 0.95, 4_000)
    right = (rng.random(4_000) < stated - 0.2).astype(float)
    found = calibrate(stated, right)
    fitted = IsotonicRegression(out_of_bounds="clip").fit(stated, right).predict(stated)
    assert found.over_confidence.value == pytest.approx(float((stated - fitted).mean()), abs=1e-9)
    assert found.ece.value == pytest.approx(float(np.abs(stated - fitted).mean()), abs=0.02)


# ------------------------------------------------------------------ evalica

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), examples A, B and C.
BINARY = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]).T
NOMINAL = np.array([
    [0, 0, 1, 1, 3, 2, 2, 2, 4, 4, 3, 3], [0, 0, 1, 1, 3, 2, 2, 2, 4, 4, 3, 3]
]).T  # fmt: skip


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_that_of_evalica(level: Level) -> None:
    rng = draws(13)
    truth = rng.integers(1, 6, (40, 1))
    ratings = np.clip(truth + rng.integers(-1, 2, (40, 4)), 1, 5).astype(float)
    ratings[rng.random(ratings.shape) < 0.2] = np.nan
    codes = np.where(np.isnan(ratings), -1, np.nan_to_num(ratings) - 1).astype(np.int64)
    expected = evalica.alpha(evalica.pd.DataFrame(ratings.T), distance=level)
    assert krippendorff_alpha(codes, level).value == pytest.approx(expected.alpha, abs=1e-9)


def test_alpha_of_krippendorffs_example_of_two_observers_and_two_values() -> None:
    """Example A of Krippendorff (2011): 0.095."""
    assert round(krippendorff_alpha(BINARY).value, 3) == 0.095


def test_alpha_of_full_agreement_is_one_by_both() -> None:
    frame = evalica.pd.DataFrame(NOMINAL.T.astype(float))
    assert krippendorff_alpha(NOMINAL).value == pytest.approx(evalica.alpha(frame).alpha) == 1.0


# ------------------------------------------------------------------ ppi_py


@pytest.mark.parametrize("bias", [0.0, 0.15])
def test_a_corrected_rate_is_that_of_ppi_py(bias: float) -> None:
    """The same point at the same trust, and standard errors that differ by n / (n - 1) alone."""
    rng = draws(14)
    truth = (rng.random(2_300) < 0.4).astype(float)
    heard = np.where(rng.random(2_300) < 0.15 + bias, 1.0 - truth, truth)
    people, same, elsewhere = truth[:300], heard[:300], heard[300:]
    found = correct_judged_rate(people, same, elsewhere)
    point = ppi_py.ppi_mean_pointestimate(people, same, elsewhere, lam=found.trust)
    assert found.corrected.value == pytest.approx(float(np.squeeze(point)))
    low, high = (
        float(np.squeeze(end))
        for end in ppi_py.ppi_mean_ci(people, same, elsewhere, alpha=0.05, lam=found.trust)
    )
    assert found.corrected.high - found.corrected.low == pytest.approx(high - low, rel=0.02)
    tuned = ppi_py.ppi_mean_pointestimate(people, same, elsewhere)
    assert found.corrected.value == pytest.approx(float(np.squeeze(tuned)), abs=0.003)


def test_people_alone_are_the_classical_interval_of_ppi_py() -> None:
    people = (draws(15).random(400) < 0.3).astype(float)
    found = correct_judged_rate(people, np.zeros(400), np.zeros(800)).people_only
    low, high = ppi_py.classical_mean_ci(people, alpha=0.05)
    assert (found.low, found.high) == pytest.approx((float(low), float(high)), abs=1e-3)
