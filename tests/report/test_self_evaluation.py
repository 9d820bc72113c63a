"""Contestants that had work in the items are marked, and shown without what they touched."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from made_up import MEASURES, right_of, table_of

from proofstone.records.knowledge import RoleName
from proofstone.records.scores import HeldRole, Respondent, ScoreTable
from proofstone.results.board import SelfEvaluationRole
from proofstone.results.board_text import Leaderboard, render_terminal, to_json
from proofstone.results.page import render_page
from proofstone.results.page_parts import PageData, Provenance
from proofstone.results.rankings import leaderboard

ROLES: tuple[RoleName, ...] = ("wrote", "perturbed", "checked", "filtered", "judged")


def held(role: RoleName, model: str, units: range) -> HeldRole:
    return HeldRole(role, model, np.array(units, dtype=np.int32))


def table(*, second_right: int = 20) -> ScoreTable:
    """40 items: the first is right on 0-29; ``lab/writer`` touched 0-9 and 5-14, so 15."""
    respondents = [
        Respondent("lab/writer", "direct", roles_held=((0, True), (1, False))),
        Respondent("lab/other", "direct"),
    ]
    rows = right_of(40, 30, 0) + right_of(40, second_right, 1)
    roles = (
        held("wrote", "writer", range(10)),
        held("perturbed", "writer-mini", range(5, 15)),
        held("checked", "somebody", range(40)),
    )
    return replace(table_of(respondents, rows, n_units=40), roles=roles)


def board_of(scores: ScoreTable, **options: str) -> Leaderboard:
    return leaderboard(scores, MEASURES, "accuracy", **options)  # type: ignore[arg-type]


def test_the_second_figure_rests_on_the_untouched_items_alone() -> None:
    """15 of 40 touched; right on 30, of which 15 touched: 15 of the other 25."""
    first, second = board_of(table()).standings[0].ranked
    assert first.self_evaluation is not None
    assert second.self_evaluation is None
    assert first.estimate.value == pytest.approx(30 / 40)
    assert first.self_evaluation.n_self_evaluated == 15
    assert first.self_evaluation.untouched.value == pytest.approx((30 - 15) / 25)
    assert first.self_evaluation.untouched.n == 25
    assert first.self_evaluation.untouched.low < 15 / 25 < first.self_evaluation.untouched.high
    assert first.self_evaluation.roles == (
        SelfEvaluationRole(role="wrote", model="writer", is_itself=True, n_items=10),
        SelfEvaluationRole(role="perturbed", model="writer-mini", is_itself=False, n_items=10),
    )


def test_its_rank_there_is_among_all_on_those_items() -> None:
    """Ahead by 30 to 20 of 40 everywhere; on items 15-39 by 15 to 5 of 25, or behind 15 to 25."""
    first = board_of(table()).standings[0].ranked[0]
    assert first.rank is not None
    assert (first.rank.low, first.rank.high) == (1, 1)
    assert first.self_evaluation is not None
    assert first.self_evaluation.rank is not None
    assert (first.self_evaluation.rank.low, first.self_evaluation.rank.high) == (1, 1)
    behind = board_of(table(second_right=40)).standings[0].ranked[1]
    assert behind.name == "lab/writer"
    assert behind.self_evaluation is not None
    assert behind.self_evaluation.rank is not None
    assert (behind.self_evaluation.rank.low, behind.self_evaluation.rank.high) == (2, 2)


@pytest.mark.parametrize("role", ROLES)
def test_each_of_the_five_roles_marks(role: RoleName) -> None:
    respondent = Respondent("lab/judge", "direct", roles_held=((0, True),))
    scores = table_of([respondent], right_of(4, 2, 0), n_units=4)
    scores = replace(scores, roles=(held(role, "judge", range(1)),))
    text = render_terminal(board_of(scores))
    assert f"* lab/judge: {role} 1 of the 4 items; on the other 3: 33.3 [" in text
    assert "lab/judge*  direct" in text


def test_who_touched_everything_has_nothing_left() -> None:
    """No figure is made up: n 0, no value, no rank; JSON says null."""
    respondent = Respondent("lab/all", "direct", roles_held=((0, True),))
    scores = table_of([respondent], right_of(4, 2, 0), n_units=4)
    scores = replace(scores, roles=(held("wrote", "all", range(4)),))
    board = board_of(scores)
    self_evaluation = board.standings[0].ranked[0].self_evaluation
    assert self_evaluation is not None
    assert (
        self_evaluation.untouched.n,
        math.isnan(self_evaluation.untouched.value),
        self_evaluation.rank,
    ) == (0, True, None)
    said = "* lab/all: wrote 4 of the 4 items; no item is unaffected"
    assert said in render_terminal(board)
    assert '"untouched": {' in to_json(board)


def test_a_hand_in_items_that_are_not_compared_marks_nothing() -> None:
    """The role is in item 3, which the other respondent has no reply to: three are compared."""
    one = Respondent("lab/one", "direct", roles_held=((0, True),))
    rows = right_of(4, 2, 0) + right_of(3, 2, 1)
    rows.append((3, 1, 0, "refused", None))  # not among what was attempted
    scores = table_of([one, Respondent("lab/two", "direct")], rows, n_units=4)
    scores = replace(scores, roles=(held("wrote", "one", range(3, 4)),))
    attempted = leaderboard(scores, MEASURES, "accuracy of attempted")
    assert all(row.self_evaluation is None for row in attempted.standings[0].ranked)


def test_an_incomplete_respondent_is_marked_without_a_rank() -> None:
    one = Respondent("lab/one", "direct", roles_held=((0, True),))
    scores = table_of([one], right_of(3, 2, 0), n_units=4, expected=[4])
    scores = replace(scores, roles=(held("wrote", "one", range(2)),))
    (row,) = board_of(scores).standings[0].incomplete
    assert row.self_evaluation is not None
    assert (
        row.self_evaluation.n_self_evaluated,
        row.self_evaluation.untouched.n,
        row.self_evaluation.rank,
    ) == (2, 1, None)
    assert "lab/one*" in render_terminal(board_of(scores))


def test_several_of_a_family_are_named_each() -> None:
    respondent = Respondent("lab/big-7b", "cot", roles_held=((0, False), (1, False), (2, False)))
    scores = table_of([respondent], right_of(6, 3, 0), n_units=6)
    roles = (
        held("wrote", "big-70b", range(2)),
        held("judged", "big-70b", range(1)),
        held("filtered", "big-1b", range(3)),
    )
    text = render_terminal(board_of(replace(scores, roles=roles)))
    assert (
        "* lab/big-7b: its family's big-70b wrote 2 and judged 1 and its family's big-1b "
        "filtered 3 of the 6 items; on the other 3: 0.0 [" in text
    )


def test_groups_keep_their_level_without_the_touched_items() -> None:
    """By discipline: Science (items 0-2) right on 2 of 3, History (3) on 0 of 1. Without item 0,
    right: (1/2 + 0/1) / 2."""
    one = Respondent("lab/one", "direct", roles_held=((0, True),))
    kinds = ["Science"] * 3 + ["History"]
    scores = table_of([one], right_of(4, 2, 0), n_units=4, discipline=kinds)
    scores = replace(scores, roles=(held("wrote", "one", range(1)),))
    (row,) = board_of(scores, level="discipline").standings[0].ranked
    assert row.self_evaluation is not None
    assert row.self_evaluation.untouched.value == pytest.approx((1 / 2 + 0) / 2)


def test_the_page_marks_the_name_and_leads_to_the_table() -> None:
    page = render_page(
        PageData(
            title="t", board=board_of(table()), provenance=Provenance(version="1", made_at="now")
        )
    )
    said = "wrote 10 and its family&#39;s writer-mini perturbed 10"
    on = "of the 40 items; on the other 25: 60.0"
    assert f'lab/writer<a href="#self-evaluation" title="{said} {on}' in page
    assert '<details id="self-evaluation"><summary>Self-evaluation (1)</summary>' in page
    assert f'<td class="wrap">{said}</td>' in page
    assert "lab/other<a" not in page
