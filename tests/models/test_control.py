"""The control of simple completions: what counts as right, what is recorded, what is said of it."""

from __future__ import annotations

import pytest

from proofstone.errors import CallFailed
from proofstone.models.check import (
    ControlAnswer,
    ControlPrompt,
    ask_control,
    control_prompts,
    summarise_control,
)
from proofstone.records.calls import Message
from proofstone.records.runs import Response, Usage

PARIS = ControlPrompt("The capital of France is", ("Paris",))


async def reply_to(prompt: ControlPrompt, text: str) -> ControlAnswer:
    async def ask(messages: tuple[Message, ...]) -> Response:
        assert messages == (Message("user", prompt.text),)
        return Response(text=text, usage=Usage(prompt=10, completion=4), mean_logprob=-0.5)

    (answer,) = await ask_control(ask, [prompt])
    return answer


@pytest.mark.parametrize(
    ("accepted", "text", "is_right"),
    [
        ("Paris", "The capital of France is PARIS.", True),
        ("Paris", "**Paris**, of course", True),
        ("Paris", "_Paris_", True),
        ("Paris", "The Parisian capital", False),
        ("Paris", "", False),
        ("20", "10 + 10 = 20.", True),
        ("20", "10 + 10 = 200", False),
        ("2", "等于2。", True),
        ("2", "1+1=12", False),
        ("北京", "中国的首都是北京。", True),
        ("北京", "上海", False),
    ],
)
async def test_a_reply_is_right_by_a_whole_word(accepted: str, text: str, is_right: bool) -> None:
    answer = await reply_to(ControlPrompt("?", ("zzz", accepted)), text)
    assert answer.is_right is is_right


async def test_an_answer_keeps_what_came() -> None:
    assert await reply_to(PARIS, "It is Paris.") == ControlAnswer(
        prompt=PARIS.text,
        language="en",
        response="It is Paris.",
        is_right=True,
        prompt_tokens=10,
        completion_tokens=4,
        mean_logprob=-0.5,
    )


async def test_a_failed_call_is_an_error_and_no_wrong_answer() -> None:
    async def ask(_messages: tuple[Message, ...]) -> Response:
        raise CallFailed("overloaded", "busy")

    answers = await ask_control(ask, [PARIS])
    assert answers == (ControlAnswer(prompt=PARIS.text, language="en", error="overloaded"),)
    assert summarise_control(answers) == (
        "0 of 1 simple completions correct; no token counts reported; "
        "no log-probabilities reported; 1 failed"
    )


async def test_the_packaged_prompts_are_asked_in_order() -> None:
    async def ask(_messages: tuple[Message, ...]) -> Response:
        return Response(text="no idea")

    answers = await ask_control(ask)
    assert [answer.prompt for answer in answers] == [prompt.text for prompt in control_prompts()]
    assert not any(answer.is_right for answer in answers)


async def test_no_packaged_prompt_holds_its_own_answer() -> None:
    """So a reply that only repeats the prompt is never right."""
    for prompt in control_prompts():
        answer = await reply_to(prompt, prompt.text)
        assert not answer.is_right, prompt.text


def test_there_are_english_and_chinese_prompts() -> None:
    languages = [prompt.language for prompt in control_prompts()]
    assert (languages.count("en"), languages.count("zh")) == (10, 2)


def test_the_summary_weighs_by_tokens() -> None:
    """Mean over 6 + 2 tokens: (6 * -0.5 + 2 * -1.5) / 8 = -0.75."""
    answers = [
        ControlAnswer(
            prompt="a",
            language="en",
            response="x",
            is_right=True,
            prompt_tokens=10,
            completion_tokens=6,
            mean_logprob=-0.5,
        ),
        ControlAnswer(
            prompt="b",
            language="en",
            prompt_tokens=11,
            completion_tokens=2,
            mean_logprob=-1.5,
        ),
    ]
    assert summarise_control(answers) == (
        "1 of 2 simple completions correct; 8 tokens generated from 21; "
        "mean log-probability of a token -0.75; 1 empty"
    )


def test_nothing_asked_is_said_so() -> None:
    assert summarise_control([]) == "no simple completion was asked"
