"""Whether another judge changes the order of models: by more than the items' noise, or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_up import ACCURACY, right_of, table_of

from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.judges import compare_judges
from proofstone.results.sections.parts import Part

N = 200


def graded(name: str, *rights: int) -> Part:
    """A judge's part: how many of the first of 200 replies of each model it finds right."""
    rows = [row for place, right in enumerate(rights) for row in right_of(N, right, place)]
    models = [Respondent(f"lab/{'abc'[place]}", "direct") for place in range(len(rights))]
    table: ScoreTable = table_of(models, rows, n_units=N, n_options=0)
    return Part(
        name=name, kind="x", seed=0, recipe={}, table=table, measure=ACCURACY, population="bank"
    )


def test_an_order_that_both_tell_apart_the_other_way_is_a_reversal() -> None:
    """160 and 40 of 200 by one, 40 and 160 by the other."""
    pair = compare_judges(graded("one", 160, 40), graded("two", 40, 160))
    assert pair is not None
    assert pair.order is not None
    assert (pair.order.n_pairs, pair.order.n_swapped, pair.order.n_reversed) == (1, 1, 1)
    assert pair.order.tau.value == -1.0
    analysis = perform_analysis("judges", [graded("one", 160, 40), graded("two", 40, 160)])
    assert analysis.finding.endswith(
        "The ranking of models depends on the judge: two models differ significantly in "
        "opposite orders by one / two."
    )


def test_an_order_that_the_data_leave_open_is_none() -> None:
    """Two questions of 200 between them, one way and the other."""
    analysis = perform_analysis("judges", [graded("one", 101, 99), graded("two", 99, 101)])
    assert analysis.finding.endswith(
        "Orders of models differ once, none significantly: no two models differ significantly "
        "in opposite orders."
    )


def test_only_replies_that_a_judge_was_asked_about_count_for_agreement() -> None:
    """The last 50 of 200: the judges differ on 10 of these. The others a rule settled."""
    asked = np.arange(N) >= 150
    first, second = (
        replace(graded(name, right), judged=asked) for name, right in (("one", 170), ("two", 160))
    )
    pair = compare_judges(first, second)
    assert pair is not None
    assert (pair.agree.n, pair.agree.value) == (50, 40 / 50)
    assert pair.changes[0].by_measure["accuracy"].value == pytest.approx(-10 / N)
    assert pair.order is None


def test_judges_who_were_asked_nothing_agree_on_nothing() -> None:
    """A rule settled all replies: no share and no kappa is told of."""
    nothing = np.zeros(N, dtype=bool)
    parts = [replace(graded(name, 170), judged=nothing) for name in ("one", "two")]
    analysis = perform_analysis("judges", parts)
    assert analysis.finding == (
        "No response that a judge was asked about has two labels. No pair of models changes order "
        "between judges."
    )
