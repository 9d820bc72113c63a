"""Whether a reply calls a statement true or false: the rules, one reply a line."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_extract_adversarial import BUDGET_S, CHARACTERS, REPEATED

from proofstone.choices.extraction import Extraction
from proofstone.choices.outcomes import read_verdict
from proofstone.choices.verdicts import extract_verdict
from proofstone.records.runs import Finish, Response

STATED = [
    # English, marked
    ("Answer: True", "true"),
    ("Answer: False", "false"),
    ("**Answer:** False", "false"),
    ("answer - right", "true"),
    ("Answer: wrong", "false"),
    ("Answer: F", "false"),
    ("Answer: (T)", "true"),
    ("The answer is false.", "false"),
    ("The answer is: **Incorrect**.", "false"),
    ("The correct answer is True.", "true"),
    ("The answer to the question is False", "false"),
    ("The answer is not 'True'.", "false"),
    ("Answer: not false", "true"),
    ("Answer: Not entirely correct", "false"),
    ("Answer: False (the year is 1815)", "false"),
    ("Answer: True, as the year is 1815.", "true"),
    ("Verdict: FALSE", "false"),
    ("My verdict is that the statement is true.", "true"),
    ("Final Answer: Correct", "true"),
    ("\\boxed{False}", "false"),
    ("$\\boxed{\\text{True}}$", "true"),
    ('{"answer": false}', "false"),
    ('{"verdict": "True"}', "true"),
    ("Answer:\n\nFalse\n\nReason: it is Lima.", "false"),
    ("Answer: False\n\nThe statement that iron is a metal is true, but the year is not.", "false"),
    ("Answer: True\nWait. The year is 1815.\nAnswer: False", "false"),
    ("Answer: True\n\nFalse", "false"),
    ("Answer: True or False?\nAnswer: True", "true"),
    # Chinese, marked
    ("答案：正确", "true"),
    ("答案：错误。", "false"),
    ("答案：是", "true"),
    ("答案：对的", "true"),
    ("答案：不对", "false"),
    ("答案是：正确", "true"),
    ("正确答案是错误", "false"),
    ("判断：错误，因为首都是利马。", "false"),
    ("判断结果为正确", "true"),
    ("结论：该陈述错误", "false"),
    ("陈述：铁是金属。\n答案：正确", "true"),
    # bare
    ("True", "true"),
    ("False.", "false"),
    ("**True**", "true"),
    ("`false`", "false"),
    ("T", "true"),
    ("Yes.", "true"),
    ("No", "false"),
    ("正确", "true"),
    ("错误。", "false"),
    ("对", "true"),
    ("错", "false"),
    ("否", "false"),
    ("不正确", "false"),
    ("没有错误", "true"),
    ("✓", "true"),
    ("❌", "false"),
    ("It is false.", "false"),
    ("False. The capital is Lima.", "false"),
    ("True, because gold has number 79.", "true"),
    ("The statement says that gold is Ag. Gold is Au. False.", "false"),
    ("True or false? False.", "false"),
    ("该陈述是否正确？不正确。", "false"),
    # conclusions
    ("The statement is not correct.", "false"),
    ("The statement isn't true.", "false"),
    ("The year is wrong, so the statement is false.", "false"),
    ("An error makes the statement incorrect.", "false"),
    ("Therefore, it is correct.", "true"),
    ("This is incorrect.", "false"),
    ("The statement is true.\nBut no: the statement is false, since gold is Au.", "false"),
    ("因此该陈述是错误的。", "false"),
    ("所以这一说法不正确。", "false"),
    ("这句话是对的。", "true"),
]
BOTH = [
    "Answer: True or False",
    "Answer: True/False",
    "True/False",
    "Answer: Partly true",
    "Verdict: the claim is mostly true",
    "该陈述部分正确。",
    "答案：正确或错误",
    "True\n\nFalse",
    "False. On reflection, the statement is true.",
    "No, the statement is correct.",
    "Answer: No, the statement is correct.",
    "The claim is false. And again: the claim is true.\nThat is all I know.",
]
NEITHER = [
    "",
    "Statement: Iron is a metal.",
    "Answer: X",
    "Answer: unknown",
    "Answer: no longer valid",
    "I have no opinion.",
    "Let me see whether the statement is true.",
    "If the statement is true, then gold is Au.",
    "The statement would be true if the year were 1815.",
    "It is true that iron is a metal.",
    "True, iron is a metal, but the year is another.",
    "Right, let us think. Gold has number 79.",
    "判断这个陈述是否正确",
    "如果该陈述是正确的，那么金是金属",
    "对于这个问题，需要回忆首都。",
]


def test_an_answer_within_a_sentence_states_no_verdict() -> None:
    assert extract_verdict("no answer true").letter == ""


@pytest.mark.parametrize(("text", "verdict"), STATED, ids=[text for text, _ in STATED])
def test_a_verdict_is_read(text: str, verdict: str) -> None:
    found = extract_verdict(text)
    assert (found.letter, found.is_option) == (verdict, True)
    assert found.tier
    assert found.scope


@pytest.mark.parametrize("text", BOTH)
def test_what_says_both_says_neither(text: str) -> None:
    """A tier without a letter: unparsed, flagged."""
    found = extract_verdict(text)
    assert (found.letter, found.is_option) == ("", False)
    assert found.tier
    reading = read_verdict(Response(text=text))
    assert (reading.outcome, reading.flags) == ("unparsed", ("several answers",))


@pytest.mark.parametrize("text", NEITHER)
def test_what_says_nothing_is_unparsed(text: str) -> None:
    assert extract_verdict(text) == Extraction("", "", "", False)


@pytest.mark.parametrize(
    ("text", "finish", "outcome", "flags"),
    [
        ("Answer: False", "stop", "answered", ()),
        ("Answer: False", "length", "answered", ("truncated",)),
        ("The statement says", "length", "truncated", ()),
        ("True", "length", "truncated", ()),
        ("", "content_filter", "refused", ("by endpoint",)),
        ("I'm sorry, but I cannot answer that.", "stop", "refused", ()),
        ("抱歉，我无法回答这个问题。", "stop", "refused", ()),
        ("Gold has number 79.", "stop", "unparsed", ()),
    ],
)
def test_the_outcome_is_decided_as_for_options(
    text: str, finish: Finish, outcome: str, flags: tuple[str, ...]
) -> None:
    """A bare word in a reply that was cut off may be the beginning of more."""
    reading = read_verdict(Response(text=text, finish=finish))
    assert (reading.outcome, reading.flags) == (outcome, flags)


def test_thinking_that_never_ends_is_not_read() -> None:
    reading = read_verdict(Response(text="Answer: True", thinking_unclosed=True))
    assert (reading.outcome, reading.flags) == ("truncated", ("thinking unclosed",))


@given(st.text(), st.sampled_from(["True", "False"]))
def test_the_asked_for_last_line_decides_whatever_stands_before(before: str, said: str) -> None:
    """The form that the prompt asks for is read behind any text."""
    assert extract_verdict(f"{before}\nAnswer: {said}").letter == said.lower()


@given(st.text())
def test_any_text_is_read_without_error(text: str) -> None:
    found = extract_verdict(text)
    assert found.is_option == (found.letter in {"true", "false"})


MORE = (
    "answer: True or ", "verdict ", "the statement is ", "the statement that ", "so it is ",
    "答案是", "陈述是", "不正确", "True ", "True\n", "not a ", "True, but ", "answer not ",
    "partly ", "✓", "|", "该陈述完全", "。", "; ", "answer to the ", "answer for a ",
    "i: True\n", "it isn't ",
)  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED + MORE, ids=repr)
def test_a_million_characters_of_anything_are_read_at_once(piece: str) -> None:
    text = (piece * (CHARACTERS // len(piece) + 1))[:CHARACTERS]
    assert min(_taken(text) for _ in range(2)) < BUDGET_S


@pytest.mark.parametrize("space", [" ", "*", ".", "\n", "("])
def test_one_long_stretch_is_read_at_once(space: str) -> None:
    for text in (f"answer{space * CHARACTERS}True", f"True{space * CHARACTERS}", "x" * CHARACTERS):
        assert min(_taken(text) for _ in range(2)) < BUDGET_S


def _taken(text: str) -> float:
    start = process_time()
    extract_verdict(text)
    return process_time() - start
