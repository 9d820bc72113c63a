"""A benchmark filtered by what one model failed is harder for that model than for others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.stats.agreement import filter_bias
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import measure_contrasts

Floats = NDArray[np.float64]
NONE = SharedKeys.none
OWN = np.array([True, False, False])


def two_around(mean: float, error: float) -> Floats:
    """Two values whose mean has that standard error."""
    return np.array([mean - error, mean + error])


def test_card_and_kruegers_difference_of_differences() -> None:
    """Card and Krueger (1994), table 3, row 3: full-time jobs changed by -2.16 (1.25) in
    Pennsylvania and by 0.59 (0.54) in New Jersey; the difference is 2.76 (1.36)."""
    nothing = np.full(2, np.nan)
    before = np.concatenate([two_around(-2.16, 1.25), nothing])[:, None]
    after = np.concatenate([nothing, two_around(0.59, 0.54)])[:, None]
    found = measure_contrasts(before, after, NONE(4), "bank")
    assert found.values[0] == pytest.approx(2.76, abs=0.011)
    assert np.sqrt(found.variances()[0]) == pytest.approx(1.36, abs=0.005)


def asked(seed: int, n: int, m: int, cost: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Items kept where a first answer of model 0 was wrong, and answers given afresh. ``cost``: how
    much of what model 0 does not know lies with itself, and not with the item."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1)) + cost * rng.normal(size=(n, m))
    chance = 1 / (1 + np.exp(-ease))
    kept = rng.random(n) > chance[:, 0]
    return (rng.random((n, m)) < chance).astype(float), kept


def test_it_is_the_mean_lead_on_filtered_items_less_that_on_the_others() -> None:
    values, kept = asked(1, 400, 3, 1.0)
    found = filter_bias(values, kept, ~kept, OWN, NONE(400))
    lead = values[:, 0] - values[:, 1:].mean(axis=1)
    expected = lead[kept].mean() - lead[~kept].mean()
    assert found.bias.value == pytest.approx(expected)
    assert found.own.value - found.others.value == pytest.approx(expected)
    variance = lead[kept].var(ddof=1) / kept.sum() + lead[~kept].var(ddof=1) / (~kept).sum()
    quantile = (found.bias.high - found.bias.low) / 2 / np.sqrt(variance)
    assert 1.96 < quantile < 1.98
    assert (found.n_filtered, found.n_unfiltered) == (kept.sum(), (~kept).sum())
    assert (found.n_own, found.n_others) == (1, 2)


def test_what_the_filters_model_alone_fails_is_held_against_it() -> None:
    values, kept = asked(2, 3_000, 3, 1.5)
    rest = np.arange(3_000) < 1_000  # a sample of all items, filtered or not
    found = filter_bias(values, kept, rest, OWN, NONE(3_000))
    assert found.bias.high < 0.0
    assert found.own.value < found.others.value < 0.0
    fair, kept = asked(3, 3_000, 3, 0.0)
    assert filter_bias(fair, kept, rest, OWN, NONE(3_000)).p > 0.05


def test_clusters_widen_it() -> None:
    values, kept = asked(4, 100, 3, 1.0)
    values, kept = np.repeat(values, 4, axis=0), np.repeat(kept, 4)
    keys = SharedKeys(400, np.arange(400), np.arange(400) // 4)
    shared, alone = (filter_bias(values, kept, ~kept, OWN, keys, population=e).bias
                     for e in ("domain", "bank"))  # fmt: skip
    assert shared.high - shared.low == pytest.approx(2 * (alone.high - alone.low), rel=0.05)


def test_no_other_model_no_bias() -> None:
    values = np.ones((4, 2))
    some = np.array([True, True, False, False])
    for own in ([True, True], [False, False]):
        with pytest.raises(BadUsage, match="one other"):
            filter_bias(values, some, ~some, np.array(own), NONE(4))


@pytest.mark.parametrize("fill", [0.0, 1.0, np.nan])
@pytest.mark.parametrize("n", [0, 1, 6])
def test_degenerate_samples_are_answered(fill: float, n: int) -> None:
    values = np.full((n, 3), fill)
    kept = np.arange(n) % 2 == 0
    for unfiltered in (~kept, np.zeros(n, dtype=bool)):
        found = filter_bias(values, kept, unfiltered, OWN, NONE(n))
        assert np.isnan(found.bias.value) or found.bias.low <= found.bias.value <= found.bias.high
        assert found.p == 1.0


@pytest.mark.slow
def test_intervals_hold_the_bias() -> None:
    """2,000 samples of 600 items in clusters of three: 93 to 97 times in 100."""
    rng = np.random.default_rng(5)
    keys = SharedKeys(600, np.arange(600), np.arange(600) // 3)

    def sample(n_clusters: int) -> tuple[Floats, NDArray[np.bool_]]:
        ease = np.repeat(rng.normal(size=(n_clusters, 3)), 3, axis=0)
        chance = 1 / (1 + np.exp(-ease - rng.normal(size=(3 * n_clusters, 1))))
        kept = rng.random(3 * n_clusters) > chance[:, 0]
        return (rng.random((3 * n_clusters, 3)) < chance).astype(float), kept

    values, kept = sample(300_000)
    lead = values[:, 0] - values[:, 1:].mean(axis=1)
    truth = lead[kept].mean() - lead.mean()
    held = []
    for _ in range(2_000):
        values, kept = sample(200)
        # The unfiltered sample is all of them, the filtered ones among them.
        found = filter_bias(values, kept, np.ones(600, dtype=bool), OWN, keys)
        held.append(found.bias.low <= truth <= found.bias.high)
    assert 0.93 <= np.mean(held) <= 0.97
