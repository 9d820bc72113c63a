"""When new items are due, and drift between two versions, in scores whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_up import ACCURACY, Row, table_of
from numpy.typing import NDArray
from scipy.stats import norm

from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate
from proofstone.records.scores import Respondent
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.lifetime import judge_strongest
from proofstone.results.sections.parts import Part
from table_texts import rows

Floats = NDArray[np.float64]


def part_of(right: Floats, items: range | None = None) -> Part:
    """``right`` (items, models): shares right; ``items`` are their numbers."""
    n, m = right.shape
    made: list[Row] = [
        (unit, who, 0, "answered", float(right[unit, who])) for who in range(m) for unit in range(n)
    ]
    models = [Respondent(f"lab/{'abcdefghijklmnopqrst'[who]}", "direct") for who in range(m)]
    table = table_of(models, made, n_units=n)
    named = tuple(bytes([place % 256, place // 256]) for place in items or range(n))
    return Part(
        name=f"v{'2' if items and items[0] else '1'}", kind="asked", seed=None, recipe={},
        table=replace(table, items=named), measure=ACCURACY,
    )  # fmt: skip


# ------------------------------------------------------------ the refresh rule


def verdict(right: Floats, **options: float) -> str:
    return perform_analysis("refresh", [part_of(right)], **options).finding.split(":")[0]


def test_a_model_far_above_the_limit_calls_for_new_items() -> None:
    """90 of 100 right is above 70 with any interval; 71 of 100 is near; 40 of 100 is below."""
    for n_right, expected in ((90, "refresh"), (71, "near"), (69, "near"), (40, "keep")):
        right = np.zeros((100, 2))
        right[:n_right, 0], right[:30, 1] = 1, 1
        assert verdict(right) == expected
    assert verdict(right, threshold=20) == "refresh"


def test_the_sentence_has_the_bounds_of_all_models() -> None:
    """b is observed lower than a, but its interval reaches higher: both bounds count."""
    high = Estimate(value=0.6, n=9, low=0.58, high=0.62)
    wide = Estimate(value=0.5, n=9, low=0.3, high=0.75)
    found = judge_strongest([high, wide], 0.7)
    assert (found.leader, found.low, found.high) == (0, 0.58, 0.75)
    assert found.verdict == "near"
    assert judge_strongest([high], 0.7).verdict == "keep"
    assert judge_strongest([high], 0.58).verdict == "near"  # a bound at the limit decides nothing
    assert judge_strongest([high], 0.57).verdict == "refresh"


def test_an_unknown_interval_is_near() -> None:
    unknown = Estimate(value=0.9, n=1, low=np.nan, high=np.nan)
    assert judge_strongest([unknown], 0.7).verdict == "near"


def test_twenty_equal_models_at_the_limit_seldom_call_for_new_items() -> None:
    """Null: true accuracy 70% for all, 200 items. Single intervals would say refresh in a quarter
    or more of draws; together at most in 5 of 100. The interval holds the truth as often."""
    rng = np.random.default_rng(11)
    n_draws = 400
    refreshed = held = single = 0
    for _ in range(n_draws):
        share = (rng.random((200, 20)) < 0.7).mean(axis=0)
        found = judge_strongest(_wilson(share, 200, 1 - 0.05 / 20), 0.7)
        refreshed += found.verdict == "refresh"
        held += found.low <= 0.7 <= found.high
        single += judge_strongest(_wilson(share, 200, 0.95), 0.7).verdict == "refresh"
    assert refreshed / n_draws <= 0.05
    assert held / n_draws >= 0.95
    assert single / n_draws > 0.2


def _wilson(share: Floats, n: int, level: float) -> list[Estimate]:
    z = norm.ppf(0.5 + level / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return [
        Estimate(value=v, n=n, low=c - h, high=c + h)
        for v, c, h in zip(share.tolist(), middle.tolist(), half.tolist(), strict=True)
    ]


def test_the_analysis_widens_intervals_by_the_number_of_models() -> None:
    """The same model alone and among ten: its interval is that of 1 - 0.05 / 10."""
    rng = np.random.default_rng(2)
    right = (rng.random((300, 10)) < 0.6) * 1.0
    alone = perform_analysis("refresh", [part_of(right[:, :1])]).data.marks[0]
    among = next(
        mark for mark in perform_analysis("refresh", [part_of(right)]).data.marks
        if mark.column == "lab/a direct"
    )  # fmt: skip
    ratio = (among.high - among.low) / (alone.high - alone.low)
    assert ratio == pytest.approx(2.807 / 1.960, rel=0.02)  # normal quantiles of 99.5 and 95%


@pytest.mark.parametrize("limit", [0.0, 1.1])
def test_a_limit_outside_is_refused(limit: float) -> None:
    with pytest.raises(BadUsage, match="at most 100%"):
        judge_strongest([Estimate(value=0.5, n=9, low=0.4, high=0.6)], limit)


# ------------------------------------------------------------ drift


def two_versions(
    seed: int, shift: float, *, n: int = 400, m: int = 4, own: float = 0.0
) -> list[Part]:
    """Items 0 to n and n / 4 to 5 n / 4; items of both become easier by ``shift``, the second
    version's own are easier by ``own``."""
    rng = np.random.default_rng(seed)
    kept = n // 4
    ease = rng.uniform(0.2, 0.6, size=(n + kept, 1))
    first = (rng.random((n, m)) < ease[:n]) * 1.0
    later = ease[kept:] + np.where(np.arange(n)[:, None] < n - kept, shift, own)
    second = (rng.random((n, m)) < later) * 1.0
    return [part_of(first), part_of(second, range(kept, n + kept))]


def test_changes_are_those_of_a_second_count() -> None:
    parts = two_versions(1, 0.2)
    analysis = perform_analysis("drift", parts)
    first, second = (part.block(list(part.complete))[1] for part in parts)
    means = (second[:300] - first[100:]).mean(axis=1)
    change = analysis.data.marks[0]
    assert change.value == pytest.approx(means.mean())
    error = means.std(ddof=1) / np.sqrt(300)
    assert (change.high - change.low) / 2 == pytest.approx(1.97 * error, rel=0.03)
    assert analysis.finding.endswith("points: they have become easier.")
    (whole, *each) = analysis.tables[0].rows
    assert whole[4].value == pytest.approx(first[:100].mean() - first[100:].mean())
    assert whole[5].value == pytest.approx(second[300:].mean() - second[:300].mean())
    assert [row[3].value for row in each] == pytest.approx(
        (second[:300] - first[100:]).mean(axis=0).tolist()
    )
    assert (
        "300 items are in both versions, 100 in the first alone and 100 in the second alone."
        in (analysis.notes[0])
    )


def test_harder_items_are_called_so_and_new_easy_ones_are_not_drift() -> None:
    assert perform_analysis("drift", two_versions(2, -0.2)).finding.endswith("become harder.")
    easy = perform_analysis("drift", two_versions(3, 0.0, own=0.35))
    assert easy.finding.endswith("no drift is resolved.")
    assert easy.tables[0].rows[0][5].low > 0.0


def test_null_data_show_no_drift() -> None:
    """Nothing changed: at most about 5 of 100 draws resolve a drift."""
    drawn = [perform_analysis("drift", two_versions(seed, 0.0, n=80)) for seed in range(150)]
    found = sum(not each.finding.endswith("no drift is resolved.") for each in drawn)
    assert found <= 15  # 7.5 expected; 16 or more has a probability of 0.4%


def test_the_same_responses_are_no_measurement() -> None:
    """Cached responses are equal on every item: the sentence and the note say so."""
    (old, _) = two_versions(4, 0.0)
    analysis = perform_analysis("drift", [old, old])
    assert analysis.finding == "4 models score the same on each of the 400 items of both versions."
    assert any("--replicate" in note for note in analysis.notes)
    assert rows(analysis)[0][-2:] == ("—", "—")


def test_order_of_items_does_not_matter() -> None:
    old, new = two_versions(6, 0.1)
    first = perform_analysis("drift", [old, new])
    right = new.block(list(new.complete))[1]
    turned = part_of(right[::-1], range(499, 99, -1))
    second = perform_analysis("drift", [old, turned])
    assert second.data.marks[0].value == pytest.approx(first.data.marks[0].value)
    assert second.data.marks[0].low == pytest.approx(first.data.marks[0].low)


def test_one_model_has_one_row() -> None:
    analysis = perform_analysis("drift", two_versions(7, 0.0, m=1))
    assert [row[0] for row in rows(analysis)] == ["lab/a direct"]


def test_versions_without_a_common_item_or_a_third_are_refused() -> None:
    old, new = two_versions(5, 0.0)
    with pytest.raises(BadUsage, match="two versions, got 3 forms"):
        perform_analysis("drift", [old, new, old])
    far = part_of(np.ones((10, 4)), range(900, 910))
    with pytest.raises(BadUsage, match="no item in common"):
        perform_analysis("drift", [old, far])
