"""Whatever table comes, every statistic answers: small, empty, all alike, full of holes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.stats import agreement as stats_agreement
from proofstone.stats import calibration as stats_calibration
from proofstone.stats import clusters as stats_clusters
from proofstone.stats import comparisons as stats_comparisons
from proofstone.stats import estimates as stats_estimates
from proofstone.stats import factors as stats_factors
from proofstone.stats import intervals as stats_intervals
from proofstone.stats import items as stats_items
from proofstone.stats import power as stats_power
from proofstone.stats import ranks as stats_ranks
from proofstone.stats import resampling as stats_resampling
from proofstone.stats import stability as stats

Floats = NDArray[np.float64]

CELLS = st.sampled_from([0.0, 1.0, 0.5, 1 / 3, np.nan])


@st.composite
def tables(draw: st.DrawFn, *, holes: bool = True) -> Floats:
    """Units by respondents, none to six of each; often all alike."""
    n, m = draw(st.integers(0, 6)), draw(st.integers(0, 5))
    cells = CELLS if holes else st.sampled_from([0.0, 1.0, 0.5])
    if draw(st.booleans()):
        return np.full((n, m), draw(cells))
    return np.array(draw(st.lists(cells, min_size=n * m, max_size=n * m))).reshape(n, m)


def codes(values: Floats) -> NDArray[np.int64]:
    return np.arange(len(values)) % 2


STATISTICS: dict[str, Callable[[Floats], object]] = {
    "subsamples": lambda v: stats.subsample_stability(v, codes(v), n_resamples=3, k=9),
    "bootstrap ranks": lambda v: stats.bootstrap_stability(v, n_resamples=3, k=1),
    "weighted ranks": lambda v: stats.bootstrap_stability(
        v, n_resamples=3, weighting=stats_intervals.group_weights(codes(v))
    ),
    "bootstrap": lambda v: stats_resampling.bootstrap_means(
        v, strata=codes(v), clusters=np.arange(len(v)) // 2, n_resamples=5
    ),
    "sign flips": lambda v: stats_comparisons.sign_flip_p(v, codes(v), n_resamples=5),
    "discrimination": lambda v: stats.discriminate(v, codes(v), k=9),
    "shares": lambda v: stats.discriminate_shares(v.T, np.arange(len(v)), k=2),
    "items": lambda v: stats_items.describe_items(
        v, answers=np.full(v.shape, -1), answer_key=np.zeros(len(v), dtype=np.int64)
    ),
    "keys": lambda v: stats_items.describe_keys(
        v, stats_clusters.SharedKeys(len(v), np.arange(len(v)), codes(v)), fewest_units=1
    ),
    "response": lambda v: stats_items.fit_two_parameter(v, most_iterations=3),
    "dimension": lambda v: stats_factors.check_dimension(v, codes(v), n_resamples=3),
    "alpha": lambda v: stats_agreement.krippendorff_alpha(
        np.nan_to_num(v * 2, nan=-1).astype(int), "ordinal", n_resamples=3
    ),
    "AC1": lambda v: stats_agreement.agreement(
        np.nan_to_num(v * 2, nan=-1).astype(int), "Gwet AC1", n_resamples=3
    ),
    "repeats": lambda v: [
        stats_power.pass_at_k(v[:, None, :], 2),
        stats_power.consistency(v[:, None, :]),
        stats_power.surest_at_k(v[:, None, :], v[:, None, :], 2),
        stats_power.majority_at_k(
            v[:, None, :], np.zeros(v[:, None, :].shape, dtype=int), 2, n_resamples=2
        ),
        stats_power.split_variance(v),
        stats_power.chance_correlation(v, v[::-1]),
    ],
}
COLUMNS: dict[str, Callable[[Floats, Floats], object]] = {
    "mcnemar": stats_comparisons.mcnemar,
    "sign flip": lambda a, b: stats_comparisons.sign_flip(a, b, n_resamples=5),
    "calibration": lambda a, b: stats_calibration.calibrate(a, b, binning="equal mass",
    n_resamples=3),
    "length": lambda a, b: stats_factors.length_effect(a, b, np.arange(len(a)) // 2),
    "kappa": lambda a, b: stats_agreement.cohen_kappa(
        np.nan_to_num(a * 2, nan=-1).astype(int), np.nan_to_num(b * 2, nan=-1).astype(int),
        n_resamples=3,
    ),
    "position": lambda a, b: stats_items.position_bias(
        a, np.arange(len(a)) % 3, np.nan_to_num(b * 2, nan=-1).astype(int), np.full(len(a), 3)
    ),
    "judge": lambda a, b: stats_agreement.correct_judged_rate(
        a[~np.isnan(a + b)], b[~np.isnan(a + b)], b[~np.isnan(b)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATISTICS)
@given(values=tables())
@settings(max_examples=40)
def test_any_table_is_answered(name: str, values: Floats) -> None:
    """No error and no warning, which would be one here."""
    before = values.copy()
    STATISTICS[name](values)
    assert np.array_equal(values, before, equal_nan=True), "what came in is left as it was"


@pytest.mark.parametrize("name", COLUMNS)
@given(values=tables())
@settings(max_examples=40)
def test_any_two_columns_are_answered(name: str, values: Floats) -> None:
    if values.shape[1] >= 2:
        COLUMNS[name](values[:, 0], values[:, 1])


@given(values=tables(holes=False))
@settings(max_examples=60)
def test_any_whole_table_is_ranked(values: Floats) -> None:
    n, m = values.shape
    if n and m:
        keys = stats_clusters.SharedKeys(n, np.arange(n), codes(values))
        spread = stats_estimates.measure_spread(
            values, stats_intervals.equal_weights(n), keys, "bank"
        )
        joint = stats_ranks.rank_jointly(spread, n_resamples=20)
        assert all(1 <= each.low <= each.high <= m for each in joint.intervals)
        assert stats_ranks.top_group(joint.better)
        tiers = stats_ranks.tiers(joint.better)
        assert [place for low, high in tiers for place in range(low, high + 1)] == list(range(m))
        stats_power.separations(spread)
        stats_power.resolution_after(spread)
