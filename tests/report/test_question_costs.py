"""``--analysis cost``: costs of single questions, where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from test_model_sets import part_of

from proofstone.errors import BadUsage
from proofstone.page.figure import can_draw, draw
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import Part, ResponseLengths
from table_texts import rows

NAN = float("nan")


def part_with(*usd: Sequence[float], samples: int = 1) -> Part:
    """A part whose models have these costs by question and sample."""
    m, n = len(usd), len(usd[0]) // samples
    part = part_of(np.ones((n, m, samples)))
    table = part.table
    costs = np.array(usd).reshape(m, n, samples)
    unknown = np.full(len(table.unit), NAN)
    return replace(part, lengths=ResponseLengths(
        unit=table.unit, respondent=table.respondent, sample=table.sample, completion=unknown,
        reasoning=unknown, cost=costs[table.respondent, table.unit, table.sample],
    ))  # fmt: skip


def test_quantiles_and_the_dearest_tenth() -> None:
    """Costs 1 to 20: the median is 10, 90% cost at most 18, and 19 + 20 of 210 are the tenth."""
    analysis = perform_analysis("cost", [part_with(range(1, 21), [0.5] * 20)])
    first, second = rows(analysis)
    assert first[:2] == ("lab/a direct", "20")
    assert [float(cell) for cell in first[2:6]] == [10, 18, 20, 210]
    assert first[6] == "18.6%"
    assert [float(cell) for cell in second[2:6]] == [0.5, 0.5, 0.5, 10]
    assert analysis.finding == (
        "The median question costs 0.5 USD with lab/b direct and 10 USD with lab/a direct."
    )
    (figure,) = analysis.figures
    own = [mark for mark in figure.marks if mark.row == "lab/a direct"]
    assert [(mark.x, mark.value) for mark in own if mark.value in (0, 0.5, 1)] == [
        (1, 0), (10, 0.5), (20, 1),
    ]  # fmt: skip
    if can_draw():
        assert "USD per question" in draw(figure, "svg")


def test_samples_of_a_question_are_averaged() -> None:
    (row,) = rows(perform_analysis("cost", [part_with([1, 3, 5, 5], samples=2)]))
    assert [float(cell) for cell in row[1:6]] == [2, 2, 5, 5, 7]


def test_models_without_a_price_are_named() -> None:
    analysis = perform_analysis("cost", [part_with([1, 2], [1, NAN])])
    assert len(rows(analysis)) == 1
    assert "Left out, without a price: lab/b direct." in analysis.notes
    with pytest.raises(BadUsage, match="no model has a price"):
        perform_analysis("cost", [part_with([1, NAN])])
    with pytest.raises(BadUsage, match="no model has a price"):
        perform_analysis("cost", [part_of(np.ones((3, 1, 1)))])


def test_free_questions_have_no_share_and_no_figure() -> None:
    analysis = perform_analysis("cost", [part_with([0, 0, 0])])
    (row,) = rows(analysis)
    assert [float(cell) for cell in row[2:6]] == [0, 0, 0, 0]
    assert row[6] == "\N{EM DASH}"
    assert analysis.figures == ()
    assert analysis.finding == "The median question costs 0 USD."
