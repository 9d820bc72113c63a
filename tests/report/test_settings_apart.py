"""True or false as a leaderboard shows it: separate ranks, chance level, and bias of verdicts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from made_up import ACCURACY, table_of

from proofstone.records.runs import Measure, Scale
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.board_text import Leaderboard, render_terminal
from proofstone.results.rankings import leaderboard

SHARES = Scale(name="Shares", what="a score is a share", chance=0.5)
SAID_TRUE = Measure(
    name="said_true",
    of="judged",
    unit="part",
    counts={"answered": "value"},
    answer_keys=("true", "false"),
    says="true",
    denominator="verdicts",
    label="says true",
)
OF_TRUE = Measure(
    name="of_true",
    of="judged",
    unit="part",
    counts={"answered": "value", "unparsed": 0.0},
    answer_keys=("true",),
    denominator="true statements",
    label="of true",
)
ASKED = (Respondent("m", "choose"), Respondent("m", "judge", scale=SHARES))
# Two questions, asked twice: to be chosen from five options, and judged in parts.
HEADLINE = table_of(
    ASKED,
    [
        (0, 0, 0, "answered", 1.0), (1, 0, 0, "answered", 0.0),
        (0, 1, 0, "answered", 0.75), (1, 1, 0, "answered", 0.5),
    ],
    n_units=2,
    keys=[(0, 0), (0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (1, 6), (1, 7)],
)  # fmt: skip


def judged(said: list[str | None], truth: list[str]) -> ScoreTable:
    """The parts that the second respondent judged; None: no verdict."""
    rows = [
        (at, 1, 0, "unparsed" if one is None else "answered", None if one is None else one == right)
        for at, (one, right) in enumerate(zip(said, truth, strict=True))
    ]
    table = table_of(ASKED, rows, n_units=len(said))  # type: ignore[arg-type]
    answers = ("", "false", "true")
    return dataclasses.replace(
        table,
        answers=answers,
        answer=np.array([answers.index(one or "") for one in said], dtype=np.int32),
        answer_keys=("false", "true"),
        answer_key=np.array([("false", "true").index(right) for right in truth], dtype=np.int32),
        n_options=np.full(len(said), 2, dtype=np.int32),
    )


PARTS = judged(
    ["true", "true", "false", None, "true", "false", "true", "true"],
    ["true", "false", "false", "true", "true", "true", "false", "true"],
)


def board() -> Leaderboard:
    measures = (ACCURACY, SAID_TRUE, OF_TRUE)
    return leaderboard(HEADLINE, measures, "accuracy", more={"judged": PARTS})


def test_another_scale_is_ranked_apart_against_its_own_chance() -> None:
    choose, judge = board().standings
    assert (choose.scale, choose.chance) == (None, 0.2)
    assert (judge.scale, judge.chance) == (SHARES, 0.5)
    assert [row.prompt_method for row in choose.ranked] == ["choose"]
    assert [row.prompt_method for row in judge.ranked] == ["judge"]
    assert judge.ranked[0].estimate.value == (0.75 + 0.5) / 2


def test_how_verdicts_lean_stands_beside_them_with_its_denominators() -> None:
    """Seven verdicts, five of them "true"; of five true statements three were judged right."""
    choose, judge = board().standings
    others = {other.name: other for other in judge.ranked[0].others}
    assert others["said_true"].estimate.value == pytest.approx(5 / 7)
    assert others["said_true"].estimate.n == 7
    assert others["of_true"].estimate.value == pytest.approx(3 / 5)
    assert (others["of_true"].label, others["of_true"].denominator) == (
        "of true",
        "true statements",
    )
    assert choose.ranked[0].others == ()


def test_a_share_may_be_worth_as_many_answers_as_its_question_has_statements() -> None:
    """Eight statements in two questions: n_eff is at most 8, that of a choice at most 2."""
    choose, judge = board().standings
    assert choose.ranked[0].bank.effective_n == pytest.approx(2)
    # 2 / 1 * p (1 - p) over the variance of the mean, (1 / 8) ** 2
    assert judge.ranked[0].bank.effective_n == min(8, 2 * 0.625 * 0.375 / (1 / 8) ** 2)


def test_breakdowns_by_position_are_of_choices_alone() -> None:
    choose, judge = board().standings
    assert "answer key position" in [part.by for part in choose.breakdowns]
    assert "answer key position" not in [part.by for part in judge.breakdowns]


def test_by_truth_where_the_right_answers_are_no_letters() -> None:
    alone = Measure(name="verdict", of="judged", counts=OF_TRUE.counts, denominator="statements")
    (_none, group) = leaderboard(PARTS, [alone], "verdict").standings
    table = dataclasses.replace(PARTS, respondents=(Respondent("n", "x"), Respondent("m", "y")))
    (plain,) = leaderboard(table, [alone], "verdict").standings
    (part,) = [part for part in plain.breakdowns if part.by == "truth"]
    assert [(one.name, one.n) for one in part.groups] == [("false", 3), ("true", 5)]
    assert group.scale == SHARES


def test_the_terminal_says_that_they_are_apart_and_shows_the_columns() -> None:
    assert render_terminal(board(), width=110) == (
        "model          n  accuracy          truncated  unparsed\n"
        "m      choose  2  50.0 [1.3, 98.7]       0.0%      0.0%\n"
        "Chance lies inside the interval: this result does not show knowledge. Chance is 20.0%.\n"
        "Shares, ranked separately: a score is a share.\n"
        "model         n  accuracy           says true  of true  truncated  unparsed\n"
        "m      judge  2  62.5 [0.0, 100.0]      71.4%    60.0%       0.0%      0.0%\n"
        "Chance lies inside the interval: this result does not show knowledge. Chance is 50.0%.\n"
        "95% intervals for the domain of this item bank; each item counts the same (all replies)\n"
    )
