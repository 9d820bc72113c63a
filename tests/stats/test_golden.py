"""One table through every statistic, against a file: nothing moves unseen.

`python tests/stats/test_golden.py` writes the file again; look at its difference before keeping it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from proofstone.records.ids import Draws
from proofstone.stats import agreement as stats_agreement
from proofstone.stats import calibration as stats_calibration
from proofstone.stats import clusters as stats
from proofstone.stats import comparisons as stats_comparisons
from proofstone.stats import estimates as stats_estimates
from proofstone.stats import factors as stats_factors
from proofstone.stats import intervals as stats_intervals
from proofstone.stats import items as stats_items
from proofstone.stats import power as stats_power
from proofstone.stats import ranks as stats_ranks
from proofstone.stats import resampling as stats_resampling
from proofstone.stats import stability as stats_stability

GOLDEN = Path(__file__).parent / "golden.json"
N_ITEMS, N_MODELS, N_SAMPLES = 60, 5, 3


def table() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Scores (items, models, samples) by our own draws, which never change."""
    draws = Draws(7, 0, "golden")
    scores = np.empty((N_ITEMS, N_MODELS, N_SAMPLES))
    for item in range(N_ITEMS):
        ease = draws.uniform()
        for model in range(N_MODELS):
            chance = 0.6 * ease + 0.4 * (1 - model / N_MODELS)
            scores[item, model] = [draws.uniform() < chance for _ in range(N_SAMPLES)]
    return scores


def everything() -> dict[str, Any]:
    """Each statistic's record, by name."""
    scores = table()
    values = scores.mean(axis=2)
    strata = np.arange(N_ITEMS) % 3
    keys = stats.SharedKeys(N_ITEMS, np.arange(N_ITEMS), np.arange(N_ITEMS) // 4)
    weights = stats_intervals.equal_weights(N_ITEMS)
    spread = stats_estimates.measure_spread(values, weights, keys, "domain")
    ranking, joint = stats_ranks.rank_all(spread), stats_ranks.rank_jointly(spread, n_resamples=500)
    answers = np.where(scores == 1.0, 0, 1 + np.arange(N_ITEMS)[:, None, None] % 3)
    confidence = (values[:, 0] + 1.0) / 2.5
    response = stats_items.fit_two_parameter(values)
    found = {
        "means": stats_estimates.mean_estimates(values, weights, keys, population="domain"),
        "bootstrap": stats_resampling.bootstrap_means(
            values, clusters=np.arange(N_ITEMS) // 4, n_resamples=200
        ),
        "comparisons": ranking.comparisons,
        "joint": [joint.p.tolist(), joint.intervals],
        "stability": stats_stability.subsample_stability(values, strata, k=3, n_resamples=100),
        "resampled": stats_stability.bootstrap_stability(values, strata, k=3, n_resamples=100),
        "resolution": stats_power.resolution_after(spread),
        "planned": stats_power.resolution_before(N_ITEMS, stats_power.Assumed(), samples=N_SAMPLES),
        "separations": stats_power.separations(spread),
        "mcnemar": stats_comparisons.mcnemar(scores[:, 0, 0], scores[:, 4, 0]),
        "sign flip": stats_comparisons.sign_flip(values[:, 0], values[:, 4], n_resamples=500),
        "split": stats_power.split_variance(scores[:, 0]),
        "pass at 2": stats_power.pass_at_k(scores, 2).mean(axis=0).tolist(),
        "majority": stats_power.majority_scores(scores, answers).mean(axis=0).tolist(),
        "discrimination": stats_stability.discriminate(values, strata, k=3, keys=keys),
        "items": stats_items.describe_items(values)[:5],
        "keys": stats_items.describe_keys(values, keys)[:5],
        "response": [response.slope[:5].tolist(), response.skill.tolist()],
        "dimension": stats_factors.check_dimension(values, strata, n_resamples=100),
        "agreement": stats_agreement.krippendorff_alpha(answers[:, 0], n_resamples=100),
        "calibration": stats_calibration.calibrate(confidence, scores[:, 0, 0], n_resamples=100),
        "judged": stats_agreement.correct_judged_rate(
            scores[:20, 0, 0], scores[:20, 0, 1], scores[20:, 0, 1]
        ),
    }
    return {name: msgspec.to_builtins(record) for name, record in found.items()}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All numbers and texts with where they stand."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}/{name}")
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from leaves(inner, f"{path}/{place}")
    else:
        yield path, value


def test_nothing_moved() -> None:
    golden = dict(leaves(json.loads(GOLDEN.read_text(encoding="utf-8"))))
    found = dict(leaves(everything()))
    assert list(found) == list(golden)
    for path, value in found.items():
        if isinstance(value, float):
            assert value == pytest.approx(golden[path], rel=1e-6, abs=1e-9, nan_ok=True), path
        else:
            assert value == golden[path], path


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(everything(), indent=1) + "\n", encoding="utf-8")
