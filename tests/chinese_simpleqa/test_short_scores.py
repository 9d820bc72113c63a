"""Scores of short questions: by rule, by judge, by choice, or none at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proofstone.choices import likelihood
from proofstone.methods.chinese_simpleqa.ask import STEPS
from proofstone.methods.chinese_simpleqa.payloads import AskedChoice, Choice, Pair, ShortQuestion
from proofstone.methods.chinese_simpleqa.sameness import BY_RULE, GRADED, SURE
from proofstone.methods.chinese_simpleqa.score import answer_key, score, units
from proofstone.records.items import Item, LoadedItem, Unit
from proofstone.records.knowledge import Fact
from proofstone.records.runs import Response, Score
from proofstone.records.verdicts import JudgeQuestion, JudgeVote, PanelVerdict

OPEN = LoadedItem(
    Item(
        id=b"item",
        kind="chinese_simpleqa.question",
        payload=ShortQuestion(question="Which river runs through Ulm?", answer="Danube"),
        language="en",
    ),
    (),
)
CHOICE = LoadedItem(
    Item(
        id=b"choice",
        kind="chinese_simpleqa.asked_choice",
        payload=AskedChoice(order=(0, 1)),
        language="en",
    ),
    (
        Fact(
            id=b"metal",
            kind="chinese_simpleqa.choice",
            payload=Choice(question="Which is liquid?", options=("tin", "mercury"), answer_key=1),
        ),
    ),
)


class Panel:
    """A judge that says what it is told to, and keeps what it was asked."""

    def __init__(self, verdict: PanelVerdict) -> None:
        self.verdict = verdict
        self.asked: list[JudgeQuestion] = []

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict:
        self.asked.append(question)
        return self.verdict


def decided(label: str, **about: Any) -> PanelVerdict:
    return PanelVerdict(state="decided", label=label, **about)


def unit(item: LoadedItem, text: str, prompt_method: str = "direct", **about: Any) -> Unit:
    (one,) = units(item, {STEPS[prompt_method]: Response(text=text, **about)}, 0)
    return one


def scored(one: Unit, judge: Panel | None = None) -> dict[str, Score]:
    return {found.measure: found for found in asyncio.run(score([one], judge))}


def graded(item: LoadedItem, text: str, prompt_method: str = "direct", **about: Any) -> Score:
    return scored(unit(item, text, prompt_method, **about))[GRADED]


def test_a_question_is_one_unit_that_depends_on_its_fact() -> None:
    assert unit(OPEN, "x").clusters == (("item", b"item"),)
    fact = Fact(id=b"fact", kind="chinese_simpleqa.pair", payload=Pair(question="?", answer="x"))
    resting = LoadedItem(OPEN.item, (fact,))
    assert unit(resting, "x").clusters == (("fact", b"fact"),)
    assert units(OPEN, {}, 0) == ()
    assert answer_key(unit(OPEN, "x")) == ("", 0)
    assert answer_key(unit(CHOICE, "x")) == ("B", 2)


def test_the_reference_itself_is_settled_by_rule() -> None:
    found = scored(unit(OPEN, "Danube"))
    assert (found[GRADED].outcome, found[GRADED].value) == ("answered", 1.0)
    assert found[GRADED].basis.startswith("rule: ")
    assert found[BY_RULE].value == 1.0
    assert SURE not in found


def test_another_reply_waits_for_a_judge() -> None:
    assert scored(unit(OPEN, "The Rhine")) == {}


@pytest.mark.parametrize(
    ("verdict", "outcome", "value", "basis"),
    [
        (decided("CORRECT"), "answered", 1.0, "judge"),
        (decided("INCORRECT"), "answered", 0.0, "judge"),
        (
            decided("INCORRECT", by_rule=True),
            "answered",
            0.0,
            "judge, by the tie rule",
        ),
        (decided("NOT_ATTEMPTED"), "refused", None, "judge"),
        (PanelVerdict(state="no_quorum"), "unparsed", None, "judge: no quorum"),
    ],
)
def test_a_judges_label_is_the_grade(
    verdict: PanelVerdict, outcome: str, value: float | None, basis: str
) -> None:
    panel = Panel(verdict)
    found = scored(unit(OPEN, "The Rhine"), panel)
    assert (found[GRADED].outcome, found[GRADED].value, found[GRADED].basis) == (
        outcome,
        value,
        basis,
    )
    assert (found[GRADED].verdict, found[BY_RULE].value) == (verdict, 0.0)
    assert len(panel.asked) == 1


def test_judges_that_were_not_heard_leave_a_reply_waiting() -> None:
    """Unless those that were heard decide without them."""
    lost = (JudgeVote(judge="m", state="failed"),)
    for verdict in (
        PanelVerdict(state="no_quorum", judge_votes=lost),
        decided("CORRECT", by_rule=True, judge_votes=lost),
    ):
        assert scored(unit(OPEN, "The Rhine"), Panel(verdict)) == {}
    heard = decided("CORRECT", judge_votes=lost)
    assert scored(unit(OPEN, "The Rhine"), Panel(heard))[GRADED].value == 1.0


@pytest.mark.parametrize(
    ("text", "prompt_method", "about", "outcome", "flags"),
    [
        ("", "direct", {}, "refused", ()),
        ("", "direct", {"finish": "length"}, "truncated", ()),
        ("It may be the", "cot", {"finish": "length"}, "truncated", ("no-answer-line",)),
        ("x", "direct", {"finish": "content_filter"}, "refused", ("by endpoint",)),
        ("x", "direct", {"thinking_unclosed": True}, "truncated", ("thinking unclosed",)),
    ],
)
def test_a_reply_without_an_answer_has_no_value(
    text: str, prompt_method: str, about: dict[str, Any], outcome: str, flags: tuple[str, ...]
) -> None:
    found = graded(OPEN, text, prompt_method, **about)
    assert (found.outcome, found.value, found.basis, found.flags) == (
        outcome,
        None,
        "no answer",
        flags,
    )


def test_a_cut_reply_with_its_answer_is_graded_and_flagged() -> None:
    assert graded(OPEN, "Danube", finish="length").flags == ("truncated",)


def test_a_stated_confidence_is_a_score_of_its_own() -> None:
    found = scored(unit(OPEN, "Danube\nConfidence: 80%", "confidence"))
    assert found[SURE].value == 0.8
    assert found[GRADED].value == 1.0


def test_what_a_stated_format_found_is_the_answer() -> None:
    """Without the line that the way asks for, which is then not missed."""
    found = graded(OPEN, "Danube", "cot", is_extracted=True)
    assert (found.value, found.flags) == (1.0, ())


def test_of_options_the_chosen_one_counts() -> None:
    right, wrong = graded(CHOICE, "B"), graded(CHOICE, "The answer is A.")
    assert (right.value, right.answer, right.basis) == (1.0, "B", "choice: bare")
    assert (wrong.value, wrong.answer, wrong.basis) == (0.0, "A", "choice: marked")
    none = scored(unit(CHOICE, "Hard to say."))
    assert (none[GRADED].outcome, none[GRADED].value, none[GRADED].basis) == (
        "unparsed",
        None,
        "no choice",
    )
    assert none[BY_RULE].value == 0.0


def test_of_options_a_stated_confidence_is_no_part_of_the_choice() -> None:
    found = scored(unit(CHOICE, "Answer: B\nConfidence: 60%", "confidence"))
    assert (found[GRADED].answer, found[SURE].value) == ("B", 0.6)


def test_a_long_answer_is_kept_in_part() -> None:
    panel = Panel(decided("INCORRECT"))
    kept = scored(unit(OPEN, "The  Rhine " * 60), panel)[GRADED].answer
    assert len(kept) == 200
    assert kept.startswith("The Rhine The")
    assert kept.endswith("...")


def scored_options(item: LoadedItem) -> Unit:
    (one,) = units(item, {likelihood.STEP: Response(text="B", next_tokens=(("B", -0.1),))}, 0)
    return one


def test_scored_options_are_graded_by_rule_and_no_judge_is_asked() -> None:
    panel = Panel(decided("incorrect"))
    found = scored(scored_options(CHOICE), panel)
    assert (found[GRADED].value, found[GRADED].answer, found[BY_RULE].value) == (1.0, "B", 1.0)
    assert panel.asked == []


def test_an_open_question_has_no_options_to_score() -> None:
    assert scored(scored_options(OPEN)) == {}


def test_likelihoods_and_generated_answers_are_not_scored_together() -> None:
    with pytest.raises(ValueError, match="all likelihoods, or none"):
        asyncio.run(score([scored_options(CHOICE), unit(CHOICE, "B")], None))
