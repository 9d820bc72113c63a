"""What outcomes count as, means over samples, AVG@k, bounds and chance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proofstone.errors import BadInput, BadUsage
from proofstone.records.runs import FLAGS, OUTCOMES, Estimate, Outcome
from proofstone.stats.estimates import counted_values, outcome_code, unit_means
from proofstone.stats.intervals import bound_incomplete, chance_level, interval_against
from proofstone.stats.power import average_at_k

NAN = math.nan


def codes(*outcomes: Outcome) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    return np.array([OUTCOMES.index(outcome) for outcome in outcomes], dtype=np.int8)


def test_each_outcome_counts_as_the_table_says() -> None:
    outcome = codes("answered", "refused", "unparsed", "truncated", "failed", "answered")
    value = np.array([1.0, NAN, NAN, NAN, NAN, 0.5])
    counted = counted_values(
        {"answered": "value", "refused": None, "unparsed": 0.0, "truncated": 0.25}, outcome, value
    )
    assert counted.tolist() == pytest.approx([1.0, NAN, 0.0, 0.25, NAN, 0.5], nan_ok=True)


def test_an_outcome_that_is_not_named_is_left_out() -> None:
    assert np.isnan(counted_values({}, codes("answered"), np.array([1.0]))).all()


def test_a_measure_that_counts_failures_is_refused() -> None:
    with pytest.raises(BadUsage, match="an API error has no score"):
        counted_values({"failed": 0.0}, codes("failed"), np.array([NAN]))


def test_a_missing_value_is_named_and_not_dropped() -> None:
    with pytest.raises(BadInput) as caught:
        counted_values({"answered": "value"}, codes("refused", "answered"), np.array([NAN, NAN]))
    assert [problem.where for problem in caught.value.problems] == ["score 1"]


def test_the_mean_over_samples_is_the_unit() -> None:
    """Unit 0 of respondent 1: (1 + 0) / 2; unit 1 has one counted sample; unit 2 none."""
    means = unit_means(
        np.array([0, 0, 1, 1, 0]),
        np.array([1, 1, 1, 1, 0]),
        np.array([1.0, 0.0, NAN, 1.0, 0.25]),
        n_units=3,
        n_respondents=2,
    )
    assert means.ravel().tolist() == pytest.approx([0.25, 0.5, NAN, 1.0, NAN, NAN], nan_ok=True)


def test_codes_follow_the_records() -> None:
    assert [outcome_code(outcome) for outcome in OUTCOMES] == list(range(len(OUTCOMES)))


def test_every_flag_has_its_sentence() -> None:
    assert all(text and text[0].islower() for text in FLAGS.values())


# ------------------------------------------------------------ AVG@k, bounds, chance


def test_avg_at_k_is_the_mean_of_sample_means_with_k_minus_one() -> None:
    """Samples 40, 60 and 50 of 100: mean 50, SD sqrt((10**2 + 10**2 + 0) / 2) = 10."""
    sample = np.repeat([3, 1, 2], 100)
    counted = np.concatenate([np.arange(100) < k for k in (50, 40, 60)]).astype(float)
    found = average_at_k(sample, counted)
    assert (found.k, found.by_sample) == (3, (0.4, 0.6, 0.5))
    assert found.mean == pytest.approx((0.4 + 0.6 + 0.5) / 3)
    assert found.sd == pytest.approx(math.sqrt((0.1**2 + 0.1**2 + 0) / 2))


def test_avg_at_one_has_no_spread_and_none_has_nothing() -> None:
    one = average_at_k(np.array([0, 0]), np.array([1.0, NAN]))
    assert (one.k, one.mean) == (1, 1.0)
    assert math.isnan(one.sd)
    none = average_at_k(np.array([0]), np.array([NAN]))
    assert (none.k, none.by_sample) == (0, ())
    assert math.isnan(none.mean)


def test_bounds_count_what_is_missing_as_wrong_then_as_right() -> None:
    """12 right of 30 there, 10 not there: 12 / 40 to 22 / 40; one score is not counted."""
    counted = np.array([1.0] * 12 + [0.0] * 18 + [NAN])
    found = bound_incomplete(counted, 10)
    assert (found.low, found.high, found.counted, found.missing) == (12 / 40, 22 / 40, 30, 10)
    assert math.isnan(bound_incomplete(np.empty(0), 0).low)


def test_chance_is_the_weighted_mean_of_one_in_n_options() -> None:
    assert chance_level(np.array([4, 5]), np.array([0.5, 0.5])) == (1 / 4 + 1 / 5) / 2
    assert math.isnan(chance_level(np.array([4, 0]), np.array([0.5, 0.5])))
    assert math.isnan(chance_level(np.array([], dtype=np.int32), np.array([])))


@pytest.mark.parametrize(
    ("low", "high", "place"),
    [
        (0.3, 0.5, "above"),
        (0.2, 0.5, "inside"),
        (0.0, 0.2, "inside"),
        (0.0, 0.1, "below"),
        (NAN, NAN, "unknown"),
    ],
)
def test_an_interval_lies_above_below_or_around_chance(low: float, high: float, place: str) -> None:
    assert interval_against(0.2, Estimate(value=0.2, n=9, low=low, high=high)) == place


def test_without_a_chance_level_nothing_is_claimed() -> None:
    assert interval_against(NAN, Estimate(value=0.2, n=9, low=0.1, high=0.3)) == "unknown"
