"""Judges are asked in the form their endpoint takes, re-asked so often and no oftener."""

from __future__ import annotations

import asyncio
import json

import pytest

from judging.scripted_judge import ScriptedJudge, in_turn
from proofstone.errors import BadUsage
from proofstone.judging.panel import JudgingRules, Panel
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelRules

QUESTION = JudgeQuestion(
    task="Is it so?",
    labels=(Label("yes", "it is"), Label("no", "it is not")),
    exhibits=(Exhibit("text", "so it is"),),
)


def judge(name: str, *responses: str | None, takes_schema: bool = False) -> ScriptedJudge:
    return ScriptedJudge(name, in_turn(*responses), takes_schema=takes_schema)


def test_a_judge_with_schemas_is_asked_for_an_object() -> None:
    one = judge("a", json.dumps({"reason": "clear", "label": "yes"}), takes_schema=True)
    verdict = asyncio.run(Panel([one]).decide(QUESTION))
    assert (verdict.label, verdict.judge_votes[0].reason) == ("yes", "clear")
    assert one.schemas[0] is not None
    assert one.schemas[0]["properties"]["label"]["enum"] == ["yes", "no"]


def test_what_cannot_be_read_is_asked_again_so_often_and_then_stays_unparsed() -> None:
    late = judge("late", "hm", "Clear.\nLabel: yes")
    never = judge("never", "hm")
    panel = Panel([late, never], asking=JudgingRules(reasks=2))
    verdict = asyncio.run(panel.decide(QUESTION))
    assert [judge_vote.state for judge_vote in verdict.judge_votes] == ["voted", "unparsed"]
    assert (late.reasks, never.reasks) == ([0, 1], [0, 1, 2])
    assert verdict.judge_votes[1].trouble == "no_label"
    assert verdict.votes() == {"yes": 1}


def test_a_failed_judge_is_no_vote() -> None:
    panel = Panel([judge("a", None), judge("b", "Label: no")], rules=PanelRules(quorum=2))
    verdict = asyncio.run(panel.decide(QUESTION))
    assert (verdict.state, verdict.label) == ("no_quorum", "")
    assert (verdict.judge_votes[0].state, verdict.judge_votes[0].trouble) == (
        "failed",
        "overloaded",
    )


def test_a_judge_who_always_takes_the_first_label_is_split_over_two_orders() -> None:
    first = ScriptedJudge(
        "first",
        lambda messages: "Label: " + messages[1].text.split("- ")[1].partition(":")[0],
        takes_schema=False,
    )
    verdict = asyncio.run(Panel([first], asking=JudgingRules(orders=2)).decide(QUESTION))
    assert (verdict.state, verdict.judge_votes[0].state) == ("no_quorum", "split")
    assert [heard.label for heard in verdict.judge_votes[0].heard] == ["yes", "no"]


def test_panels_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadUsage, match="a panel needs a judge"):
        Panel([])
    with pytest.raises(BadUsage, match="duplicate judge a"):
        Panel([judge("a", ""), judge("a", "")])
    with pytest.raises(BadUsage, match="a quorum of 2 is not possible with 1"):
        Panel([judge("a", "")], rules=PanelRules(quorum=2))
    with pytest.raises(BadUsage, match="votes and orders must be 1 or more, reasks 0 or more"):
        Panel([judge("a", "")], asking=JudgingRules(reasks=-1))


def test_questions_that_cannot_be_are_refused() -> None:
    same = JudgeQuestion(task="?", labels=(Label("yes", ""), Label("Yes", "")), exhibits=())
    with pytest.raises(BadUsage, match="two or more different words"):
        asyncio.run(Panel([judge("a", "")]).decide(same))
    panel = Panel([judge("a", "")], rules=PanelRules(tie="maybe"))
    with pytest.raises(BadUsage, match="is not one of"):
        asyncio.run(panel.decide(QUESTION))
