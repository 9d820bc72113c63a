"""A panel's ranking, and without each judge: cell by cell as one question at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadUsage
from proofstone.judging.panel import PanelStanding, decide_cells, leave_each_out
from proofstone.judging.verdicts import decide, without
from proofstone.records.verdicts import JudgeVote, PanelRules

LABELS = ("right", "wrong", "open")
JUDGES = ("a", "b", "c")

CELLS = st.lists(
    st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=8
)  # fmt: skip


def judge_votes(votes: list[int]) -> list[JudgeVote]:
    return [
        JudgeVote(judge=judge, state="voted", label=LABELS[code])
        if code >= 0
        else JudgeVote(judge=judge, state="unparsed")
        for judge, code in zip(JUDGES, votes, strict=True)
    ]


@given(CELLS, st.integers(1, 3), st.sampled_from(["most", "half", "all"]), st.integers(-1, 2))
def test_cells_are_decided_as_questions_are(
    cells: list[list[int]], quorum: int, majority: str, tie: int
) -> None:
    """With all judges and without each, against the slow way by ballots."""
    name = LABELS[tie] if tie >= 0 else ""
    rules = PanelRules(quorum=quorum, majority=majority, tie=name)  # type: ignore[arg-type]
    slow = [decide(judge_votes(votes), rules) for votes in cells]
    codes = decide_cells(np.array(cells), 3, rules, tie)
    assert [LABELS[c] if c >= 0 else "" for c in codes.tolist()] == [v.label for v in slow]
    ranking = leave_each_out(np.array([cells]), (1.0, 0.0, 0.0), JUDGES, rules, tie)
    for left_out in ranking.without:
        then = [without(verdict, left_out.judge) for verdict in slow]
        assert left_out.otherwise == sum(
            one.label != other.label for one, other in zip(slow, then, strict=True)
        )
        assert left_out.standings[0].n == sum(bool(each.label) for each in then)


def marks(text: str) -> list[list[int]]:
    """Items apart by spaces, a letter a judge: r right, w wrong, - none."""
    return [["rw".find(letter) for letter in item] for item in text.split()]


def test_a_ranking_that_one_judge_makes_turns_without_it() -> None:
    """By all three x leads with 3/4 to 2/4. Without c its first two items are tied and decided no
    more: 1/2 is left of x, 2/2 of y."""
    x, y = marks("rwr rwr wwr rrr"), marks("rww rww rrw rrw")
    ranking = leave_each_out(np.array([x, y]), (1.0, 0.0), JUDGES, PanelRules())
    assert ranking.standings == (PanelStanding(3 / 4, 4, 1, 1), PanelStanding(2 / 4, 4, 2, 2))
    without_c = ranking.without[2]
    assert without_c.standings == (PanelStanding(1 / 2, 2, 2, 2), PanelStanding(2 / 2, 2, 1, 1))
    assert (without_c.otherwise, without_c.moved) == (2 + 2, (0, 1))
    assert without_c.reversed_pairs == ((0, 1),)


def test_a_contestant_of_whom_nothing_is_decided_has_no_rank() -> None:
    votes = np.array([marks("rrr"), marks("---")])
    first, second = leave_each_out(votes, (1.0, 0.0), JUDGES, PanelRules()).standings
    assert first == PanelStanding(1.0, 1, 1, 1)
    assert math.isnan(second.score)
    assert (second.n, second.best, second.worst) == (0, 0, 0)


def test_ties_are_ties_and_move_nobody() -> None:
    """Of three equals each has the ranks 1 to 3; where one then leads, the ranks still overlap."""
    votes = np.array([marks("rrr wwr"), marks("rrr www"), marks("rrr www")])
    ranking = leave_each_out(votes, (1.0, 0.0), JUDGES, PanelRules(majority="most"))
    assert {(each.best, each.worst) for each in ranking.standings} == {(1, 3)}
    assert all(each.moved == () for each in ranking.without)


def test_one_judge_cannot_be_left_out() -> None:
    with pytest.raises(BadUsage, match="needs two or more, got 1"):
        leave_each_out(np.zeros((1, 1, 1), dtype=np.int64), (1.0, 0.0), ("a",), PanelRules())
    with pytest.raises(BadUsage, match="the quorum of a panel must be 1 or more, got"):
        decide_cells(np.zeros((1, 2), dtype=np.int64), 2, PanelRules(quorum=0))
