"""A panel on the items that it admits, against the truth of simulated chances."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from made_up import ACCURACY, Row, table_of
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.scores import Respondent
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import Part

Floats = NDArray[np.float64]
PANEL = tuple("abc")


def part_of(right: Floats) -> Part:  # (items, models, samples)
    n, m, k = right.shape
    made: list[Row] = [
        (unit, who, sample, "answered", float(right[unit, who, sample]))
        for unit, who, sample in product(range(n), range(m), range(k))
    ]
    models = [Respondent("abcdefg"[who], "direct") for who in range(m)]
    table = table_of(models, made, n_units=n)
    return Part(name="form", kind="asked", seed=None, recipe={}, table=table, measure=ACCURACY)


def chances(seed: int, n: int, m: int = 5) -> Floats:
    rng = np.random.default_rng(seed)
    return 1 / (1 + np.exp(-(1.5 * rng.normal(size=(n, 1)) + rng.normal(size=(n, m)))))


def truth(chance: Floats) -> tuple[Floats, Floats]:
    """By all eight outcomes of three models, two of which have to be wrong: each model's accuracy
    on admitted items in the answers that filtered, and in new ones."""
    p = chance[:, :3]
    admitted, same = np.zeros(len(p)), np.zeros((len(p), 3))
    for outcome in product((0, 1), repeat=3):
        if sum(outcome) <= 1:
            weight = np.prod(np.where(outcome, p, 1 - p), axis=1)
            admitted += weight
            same += weight[:, None] * np.array(outcome)
    return same.sum(axis=0) / admitted.sum(), admitted @ chance / admitted.sum()


def test_held_out_answers_are_unbiased_and_those_that_filtered_are_low() -> None:
    """20,000 items with known chances: both accuracies within three standard errors of theirs."""
    chance = chances(1, 20_000)
    rng = np.random.default_rng(2)
    right = (rng.random((*chance.shape, 4)) < chance[:, :, None]) * 1.0
    same, new = truth(chance)
    analysis = perform_analysis("panel", [part_of(right)], panel=PANEL)
    (whole, *each) = analysis.tables[0].rows
    assert whole[2].value == pytest.approx(same.mean(), abs=0.006)
    assert whole[3].value == pytest.approx(new[:3].mean(), abs=0.006)
    assert same.mean() < new[:3].mean() - 0.05  # the bias is worth estimating
    assert whole[4].value == pytest.approx(whole[3].value - whole[2].value)
    for place, row in enumerate(each[:3]):
        assert row[2].value == pytest.approx(same[place], abs=0.01)
        assert row[3].value == pytest.approx(new[place], abs=0.01)
    others = {row[0]: row for row in each[3:]}
    assert others["d direct"][2] is None
    assert others["d direct"][3].value == pytest.approx(new[3], abs=0.01)
    assert others["other models"][1].value == pytest.approx(chance[:, 3:].mean(), abs=0.01)


def test_intervals_hold_the_truth() -> None:
    """200 draws of 200 items from a domain: held-out accuracy and bias, 90 to 99 times in 100."""
    same, new = truth(chances(0, 200_000))
    held = biased = 0
    for seed in range(200):
        chance = chances(1_000 + seed, 200)
        right = np.random.default_rng(seed).random((*chance.shape, 2)) < chance[:, :, None]
        whole = perform_analysis("panel", [part_of(right * 1.0)], panel=PANEL).tables[0].rows[0]
        held += whole[3].low <= new[:3].mean() <= whole[3].high
        biased += whole[4].low <= (new[:3] - same).mean() <= whole[4].high
    assert 180 <= held <= 198
    assert 180 <= biased <= 198


def test_answers_without_sampling_error_have_no_bias() -> None:
    """Null: each model gives the same answer in every sample."""
    once = (np.random.default_rng(3).random((300, 5, 1)) < 0.5) * 1.0
    (whole, *_) = perform_analysis(
        "panel", [part_of(np.repeat(once, 3, axis=2))], panel=PANEL
    ).tables[0].rows  # fmt: skip
    assert whole[4].value == 0.0
    assert np.isnan(whole[4].low)  # nothing varied, so nothing bounds it
    assert whole[2].value == pytest.approx(whole[3].value)


def test_the_rule_counts_the_wrong_ones() -> None:
    """Two items: all three wrong in one, one of three in the other; ties of the rule are met."""
    right = np.zeros((2, 4, 2))
    right[1, :2] = 1
    part = part_of(right)
    said = perform_analysis("panel", [part], panel=PANEL).finding
    assert said.startswith("The panel admits 50.0% of the items.")
    said = perform_analysis("panel", [part], panel=PANEL, least_wrong=1).finding
    assert said.startswith("The panel admits 100.0% of the items.")


def test_what_cannot_be_estimated_is_refused() -> None:
    right = np.ones((10, 4, 2))
    with pytest.raises(BadUsage, match="no panel is named"):
        perform_analysis("panel", [part_of(right)])
    with pytest.raises(BadUsage, match="admits none"):
        perform_analysis("panel", [part_of(right)], panel=PANEL)
    with pytest.raises(BadUsage, match="two samples or more"):
        perform_analysis("panel", [part_of(right[:, :, :1])], panel=PANEL)
    with pytest.raises(BadUsage, match="'z' is no complete model here"):
        perform_analysis("panel", [part_of(right)], panel=("a", "z"))
    with pytest.raises(BadUsage, match="must be 1 to 3, got 4"):
        perform_analysis("panel", [part_of(right)], panel=PANEL, least_wrong=4)


def test_the_sentence_has_the_numbers_of_a_second_count() -> None:
    """Two samples, so each is held out from the other."""
    chance = chances(5, 400)
    right = (np.random.default_rng(6).random((400, 5, 2)) < chance[:, :, None]) * 1.0
    admitted = (right[:, :3] == 0).sum(axis=1) >= 2
    panel, others = right[:, :3].mean(axis=1), right[:, 3:].mean(axis=(1, 2))
    same, other = panel[admitted].mean(), panel[:, ::-1][admitted].mean()
    outside = (others[:, None] * admitted).sum() / admitted.sum()
    said = perform_analysis("panel", [part_of(right)], panel=PANEL).finding
    assert said.startswith(
        f"The panel admits {100 * admitted.mean():.1f}% of the items. On these its accuracy is "
        f"{100 * same:.1f} by the answers that filtered and {100 * other:.1f} by held-out answers: "
        f"+{100 * (other - same):.1f} ["
    )
    assert said.endswith(
        f"The accuracy of other models is {100 * others.mean():.1f} on all items and "
        f"{100 * outside:.1f} on the admitted ones."
    )


def test_a_panel_alone_has_no_sentence_on_others() -> None:
    right = np.zeros((10, 3, 2))
    right[:4] = 1
    said = perform_analysis("panel", [part_of(right)], panel=PANEL).finding
    assert said == (
        "The panel admits 60.0% of the items. On these its accuracy is 0.0 by the answers that "
        "filtered and 0.0 by held-out answers: 0.0 — points."
    )
