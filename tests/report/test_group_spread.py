"""``--analysis spread``: scores over groups, in tables whose groups are known."""

from __future__ import annotations

import numpy as np
import pytest
from test_model_sets import part_of

from proofstone.errors import BadUsage
from proofstone.page.figure import can_draw, described, draw
from proofstone.results.sections.catalogue import perform_analysis
from table_texts import rows

TOPICS = [f"topic {n}" for n in range(10) for _ in range(12)]


def scores(*, apart: bool) -> np.ndarray:
    """Two models of 120 items; the first knows even topics and not odd ones if ``apart``."""
    rng = np.random.default_rng(1)
    even = np.array([int(topic.split()[1]) % 2 == 0 for topic in TOPICS])
    first = np.where(even, 0.95, 0.25) if apart else np.full(120, 0.6)
    return (rng.random((120, 2)) < np.column_stack([first, np.full(120, 0.4)]))[:, :, None] * 1.0


def test_differences_between_groups_are_found_for_the_model_that_has_them() -> None:
    right = scores(apart=True)
    analysis = perform_analysis("spread", [part_of(right, TOPICS)])
    assert analysis.finding == (
        "Scores differ significantly more between the 10 groups than by random assignment of items "
        "(Holm-adjusted) for lab/a direct."
    )
    first, second = rows(analysis)
    means = right[:, :, 0].reshape(10, 12, 2).mean(axis=1)
    for row, own in ((first, means[:, 0]), (second, means[:, 1])):
        assert row[1] == "10"
        assert [float(x) for x in row[2:7]] == pytest.approx(
            [100 * x for x in (own.mean(), np.median(own), own.min(), own.max(), own.std(ddof=1))],
            abs=0.06,
        )
    assert float(first[8]) > 25
    assert float(second[9]) >= 0.05


def test_nothing_is_found_where_nothing_is() -> None:
    analysis = perform_analysis("spread", [part_of(scores(apart=False), TOPICS)])
    assert analysis.finding == (
        "No model's scores differ significantly more between the 10 groups than by random "
        "assignment of items (Holm-adjusted)."
    )


def test_ridge_lines_are_drawn_with_eight_groups() -> None:
    (figure,) = perform_analysis("spread", [part_of(scores(apart=True), TOPICS)]).figures
    assert figure.kind == "ridges"
    assert described(figure).startswith("Ridge lines: Spread of scores over groups by discipline")
    assert len(figure.marks) == 20
    if can_draw():
        assert "lab/a direct" in draw(figure, "svg")
    few = ["Law"] * 40 + ["Art"] * 40 + ["Tax"] * 40
    assert perform_analysis("spread", [part_of(scores(apart=True), few)]).figures == ()


def test_groups_of_one_item_are_left_out_and_named() -> None:
    topics = ["Law"] * 50 + ["Art"] * 40 + ["Tax"] * 29 + ["Sea"]
    analysis = perform_analysis("spread", [part_of(scores(apart=False), topics)])
    assert rows(analysis)[0][1] == "3"
    assert "Left out: 1 group of one item." in analysis.notes


def test_too_few_groups_and_unknown_levels_are_refused() -> None:
    part = part_of(scores(apart=False), ["Law"] * 119 + ["Art"])
    with pytest.raises(BadUsage, match="needs 2 groups with 2 items or more, got 1") as caught:
        perform_analysis("spread", [part])
    assert caught.value.hint == "groups are known by: discipline, field"
    with pytest.raises(BadUsage, match="have no level 'era'"):
        perform_analysis("spread", [part], level="era")
