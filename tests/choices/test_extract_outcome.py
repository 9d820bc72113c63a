"""What a reply amounts to, by how it ended, what it says and what was extracted."""

from __future__ import annotations

import pytest

from proofstone.choices.extraction import Extraction
from proofstone.choices.outcomes import read_choice
from proofstone.records.runs import Finish, Response


def _read(text: str = "", **about: object) -> tuple[str, str, tuple[str, ...]]:
    reading = read_choice(Response(text=text, **about), "ABCD", ("iron", "gold", "zinc", "tin"))  # type: ignore[arg-type]
    return reading.outcome, reading.extraction.letter, reading.flags


@pytest.mark.parametrize("finish", ["stop", "", "other", "tool_calls"])
def test_a_choice_answers(finish: Finish) -> None:
    assert _read("The answer is (B).", finish=finish) == ("answered", "B", ())
    assert _read("B", finish=finish) == ("answered", "B", ())
    assert _read("Answer: tin", finish=finish) == ("answered", "D", ())


def test_a_reply_cut_off_behind_its_stated_answer_is_answered_and_flagged() -> None:
    text = "The answer is (B). Now let me explain in"
    assert _read(text, finish="length") == ("answered", "B", ("truncated",))


@pytest.mark.parametrize("text", ["(A) holds. (B)", "B", "iron", "", "Let me think", "Answer: K"])
def test_a_reply_cut_off_without_a_stated_option_is_truncated(text: str) -> None:
    """A letter that merely stands last may have been followed by others."""
    outcome, _, flags = _read(text, finish="length")
    assert (outcome, flags) == ("truncated", ())


def test_an_unclosed_thinking_block_is_truncated_and_never_read() -> None:
    read = _read("The answer is (B).", thinking_unclosed=True, finish="stop")
    assert read == ("truncated", "", ("thinking unclosed",))


def test_a_content_filter_refused_not_the_model() -> None:
    assert _read("Answer: B", finish="content_filter") == ("refused", "", ("by endpoint",))
    both = _read("", finish="content_filter", thinking_unclosed=True)
    assert both == ("refused", "", ("by endpoint",))


def test_the_endpoints_refusal_field_refuses_unless_it_is_blank() -> None:
    assert _read("", refusal="I can't help with that.") == ("refused", "", ())
    assert _read("Answer: B", refusal=" \n") == ("answered", "B", ())


@pytest.mark.parametrize(
    "text",
    [
        "I cannot answer this question.",
        "I can't help with that.",
        "I can’t assist with this request.",
        "I'm sorry, but I can't provide an answer.",
        "I am really sorry, I'm not able to answer that.",
        "Sorry, I cannot discuss this topic.",
        "Unfortunately, I am unable to answer.",
        "As an AI language model, I won't answer.",
        "I apologize, but as a language model, I must decline to answer.",
        "> I will not comply.",
        "抱歉，我无法回答这个问题。",
        "很抱歉，我不能提供答案。",
        "对不起，我无法协助。",
        "作为一个人工智能，我无法回答。",
        "我拒绝回答。",
        "无法回答",
    ],
)
def test_a_text_that_opens_with_a_refusal_and_chooses_nothing_is_refused(text: str) -> None:
    assert _read(text, finish="stop") == ("refused", "", ())


def test_a_refusal_with_a_choice_is_an_answer() -> None:
    text = "I cannot answer with certainty, but the answer is (B)."
    assert _read(text, finish="stop") == ("answered", "B", ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We cannot compare the two masses.",
        "I cannot determine which is right.",
        "The data are thin, so I cannot answer.",
        "这个问题的条件不足，无法回答。",
        "I think this is hard.",
        "Sorry about that.",
    ],
)
def test_other_texts_without_a_choice_are_unparsed(text: str) -> None:
    """A refusal opens the reply in the first person; doubt is not one."""
    assert _read(text, finish="stop") == ("unparsed", "", ())


def test_a_letter_that_is_no_option_is_unparsed_with_the_letter_kept() -> None:
    assert _read("The answer is (K).", finish="stop") == ("unparsed", "K", ("no option",))


def test_several_letters_in_one_statement_are_unparsed() -> None:
    assert _read("The answer is (A, B).", finish="stop") == ("unparsed", "", ("several answers",))


def test_what_was_read_is_kept_beside_the_outcome() -> None:
    reading = read_choice(Response(text="(B)", finish="length"), "ABCD")
    assert reading.extraction == Extraction("B", "bracketed", "last line", True)
