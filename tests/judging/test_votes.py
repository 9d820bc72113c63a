"""Quorum, majority, ties: what ballots come to."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadUsage
from proofstone.judging.verdicts import decide, judge_accounts, without
from proofstone.records.verdicts import Heard, JudgeVote, PanelRules, PanelVerdict, VoteState

STATES: dict[str, VoteState] = {"u": "unparsed", "f": "failed", "s": "split"}


def judge_votes(votes: str) -> list[JudgeVote]:
    """y and n are votes; u, f and s are none."""
    return [
        JudgeVote(
            judge=f"j{place}",
            state=STATES.get(vote, "voted"),
            label="" if vote in STATES else vote,
        )
        for place, vote in enumerate(votes)
    ]


RULES = [
    ("yyn", PanelRules(), "decided", "y"),
    ("yn", PanelRules(), "tied", ""),
    ("yn", PanelRules(tie="n"), "decided", "n"),
    ("yyu", PanelRules(majority="all"), "decided", "y"),
    ("yyn", PanelRules(majority="all"), "tied", ""),
    ("yynzz", PanelRules(), "tied", ""),
    ("yynz", PanelRules(), "tied", ""),
    ("yynz", PanelRules(majority="most"), "decided", "y"),
    ("yynn", PanelRules(majority="most"), "tied", ""),
    ("yyf", PanelRules(quorum=3), "no_quorum", ""),
    ("yyfu", PanelRules(quorum=2), "decided", "y"),
    ("fus", PanelRules(tie="n"), "no_quorum", ""),
    ("", PanelRules(), "no_quorum", ""),
]


@pytest.mark.parametrize(("votes", "rules", "state", "label"), RULES)
def test_what_votes_come_to(votes: str, rules: PanelRules, state: str, label: str) -> None:
    verdict = decide(judge_votes(votes), rules)
    assert (verdict.state, verdict.label) == (state, label)
    assert verdict.by_rule == (bool(label) and label == rules.tie)


@given(
    st.text("ynzfus", min_size=1, max_size=5),
    st.sampled_from(["most", "half", "all"]),
    st.integers(1, 3),
)
def test_the_order_of_ballots_means_nothing_and_silence_is_no_vote(
    votes: str, majority: str, quorum: int
) -> None:
    rules = PanelRules(quorum=quorum, majority=majority)  # type: ignore[arg-type]
    labels = {decide(order, rules).label for order in permutations(judge_votes(votes))}
    assert len(labels) == 1
    spoken = "".join(vote for vote in votes if vote not in STATES)
    assert labels == {decide(judge_votes(spoken), rules).label}


def test_a_quorum_of_none_is_refused() -> None:
    with pytest.raises(BadUsage, match="the quorum of a panel must be 1 or more, got 0"):
        decide(judge_votes("y"), PanelRules(quorum=0))


def test_leaving_a_judge_out_decides_by_the_others() -> None:
    rules = PanelRules(quorum=3)
    verdict = decide(judge_votes("yyn"), rules)
    assert verdict.label == "y"
    assert without(verdict, "j2").label == "y"
    assert without(verdict, "j0").state == "tied"


def test_accounts_tell_what_each_judge_did() -> None:
    turned = JudgeVote(
        judge="a",
        state="split",
        heard=(
            Heard(order=0, trouble="no_label"),
            Heard(order=0, reask=1, label="y", listed_at=0),
            Heard(order=1, label="n", listed_at=0),
        ),
    )
    steady = JudgeVote(
        judge="a",
        state="voted",
        label="y",
        heard=(Heard(order=0, label="y", listed_at=0), Heard(order=1, label="y", listed_at=1)),
    )
    other = JudgeVote(judge="b", state="voted", label="n", heard=(Heard(order=0, label="n"),))
    verdicts = [
        PanelVerdict(state="decided", label="n", judge_votes=(turned, other)),
        PanelVerdict(state="decided", label="n", judge_votes=(steady, other)),
    ]
    first, second = judge_accounts(verdicts)
    assert (first.judge, first.n, first.voted, first.split, first.reasked) == ("a", 2, 1, 1, 1)
    assert (first.in_orders, first.turned, first.by_place) == (2, 1, (3, 1))
    assert (first.with_panel, first.against_panel) == (0, 1)
    assert (second.judge, second.with_panel, second.in_orders) == ("b", 2, 0)
