"""Simulated respondents: what they draw, what it depends on, and the body that they reply with."""

from __future__ import annotations

from math import sqrt

import pytest

from proofstone.errors import BadUsage
from proofstone.models.names import parse_model_name
from proofstone.models.responses import read_response
from proofstone.models.simulator import NO_ANSWER, SimulatedModel, simulated_model
from proofstone.records.calls import Attempt, Message, ModelRequest
from proofstone.records.items import Oracle

CHOICES = ("A", "B", "C", "D", "E")
ORACLE = Oracle(answer_key="C", choices=CHOICES, response="The answer is {choice}.")


def model(text: str) -> SimulatedModel:
    return simulated_model(parse_model_name(text))


def request(key: str, *, sample: int = 0, **changes: object) -> ModelRequest:
    fields = {
        "messages": (Message("user", "Which?"),),
        "prompt": b'[{"content":"Which?","role":"user"}]',
        "prompt_hash": b"\0" * 32,
        "sample": sample,
        "oracle": ORACLE,
        "draw_key": key,
    }
    return ModelRequest(**{**fields, **changes})  # type: ignore[arg-type]


async def attempt(respondent: SimulatedModel, asked: ModelRequest) -> Attempt:
    return await respondent.collect(await respondent.submit(asked))


async def responses(name: str, n: int = 2000) -> list[str]:
    respondent = model(name)
    attempts = [await attempt(respondent, request(f"item {i}")) for i in range(n)]
    return [one.response.text for one in attempts if one.response]


def near(share: float, expected: float, n: int = 2000) -> bool:
    """Within four standard errors; the draws are fixed, so this never flickers."""
    return abs(share - expected) <= 4 * sqrt(expected * (1 - expected) / n) + 1e-12


def answer(letter: str) -> str:
    return f"The answer is {letter}."


@pytest.mark.parametrize(
    ("query", "answer_key", "first", "missing"),
    [
        # The share of gold is that of the module's docstring, on five choices.
        ("", 0.5 + 0.5 / 5, 0.5 / 5, 0.0),
        ("?ability=1", 1.0, 0.0, 0.0),
        ("?ability=0", 1 / 5, 1 / 5, 0.0),
        ("?ability=0&bias=1", 0.0, 1.0, 0.0),
        ("?ability=0.7&bias=0.2", 0.7 + 0.3 * 0.8 / 5, 0.3 * (0.2 + 0.8 / 5), 0.0),
        ("?miss=1", 0.0, 0.0, 1.0),
        ("?ability=0.5&miss=0.1", 0.9 * (0.5 + 0.5 / 5), 0.9 * 0.5 / 5, 0.1),
    ],
)
async def test_shares_are_those_of_the_character(
    query: str, answer_key: float, first: float, missing: float
) -> None:
    """Over many items, right, first-choice and missing answers come as often as asked for."""
    texts = await responses("sim/ann" + query)
    assert len(texts) == 2000
    assert near(texts.count(answer("C")) / 2000, answer_key)
    assert near(texts.count(answer("A")) / 2000, first)
    assert near(texts.count(NO_ANSWER) / 2000, missing)


async def test_of_several_answers_each_is_drawn_by_itself() -> None:
    """Two parts, one true and one false: right, and missing, as often as asked for; a part without
    an answer has no line."""
    parts = tuple(
        Oracle(answer_key=answer_key, choices=("T", "F"), response=f"{name}: {{choice}}")
        for name, answer_key in (("i", "T"), ("ii", "F"))
    )
    respondent = model("sim/ann?ability=0.6&bias=1&miss=0.2")
    asked = [request(f"{n}", oracle=Oracle("", (), parts=parts)) for n in range(2000)]
    texts = [
        one.response.text for one in [await attempt(respondent, r) for r in asked] if one.response
    ]
    lines = [line for text in texts for line in text.split("\n")]
    assert near(lines.count("i: T") / 2000, 0.8)
    assert near(lines.count("ii: F") / 2000, 0.8 * 0.6)
    assert near(lines.count("ii: T") / 2000, 0.8 * 0.4)
    assert near(texts.count(NO_ANSWER) / 2000, 0.2 * 0.2)


async def test_guesses_are_uniform_over_all_choices() -> None:
    texts = await responses("sim/ann?ability=0")
    assert all(near(texts.count(answer(letter)) / 2000, 1 / 5) for letter in CHOICES)


async def test_the_same_request_draws_the_same_reply() -> None:
    """In any order and in another object: the draws hang on name, item and sample alone."""
    first = [(await attempt(model("sim/ann"), request(f"{i}"))).raw for i in range(50)]
    again = [(await attempt(model("sim/ann"), request(f"{i}"))).raw for i in reversed(range(50))]
    assert first == again[::-1]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("sim/bob", {}),
        ("sim/ann?ability=0.51", {}),
        ("sim/ann", {"sample": 1}),
        ("sim/ann", {"reask": 1}),
        ("sim/ann", {"replicate": "second"}),
    ],
)
async def test_another_respondent_or_sample_draws_anew(
    name: str, changes: dict[str, object]
) -> None:
    """About half of 100 replies differ: independent draws, not shifted ones."""
    plain, other = model("sim/ann"), model(name)
    pairs = [
        (await attempt(plain, request(f"{i}")), await attempt(other, request(f"{i}", **changes)))
        for i in range(100)
    ]
    differing = sum(
        a.response.text != b.response.text for a, b in pairs if a.response and b.response
    )
    assert 30 <= differing <= 90


async def test_the_prompt_changes_nothing() -> None:
    """It sees the oracle and the key alone, so two ways of asking get one answer."""
    other = (Message("user", "Something else altogether"),)
    one = await attempt(model("sim/ann"), request("k"))
    two = await attempt(model("sim/ann"), request("k", messages=other))
    assert one.raw == two.raw


async def test_golden_replies() -> None:
    """Draws enter stored results, so they never change: these were written down once."""
    texts = [
        t.removeprefix("The answer is ")[0] for t in await responses("sim/ann?ability=0.3", 12)
    ]
    assert "".join(texts) == "DDAEAACCACCC"


async def test_the_body_is_a_chat_completion() -> None:
    """The stored body alone gives the same reply through the reader of all bodies."""
    respondent = model("sim/ann?ability=1")
    made = await attempt(respondent, request("k"))
    assert read_response(respondent.wire, made.raw) == made.response
    assert read_response("openai-chat", made.raw) == made.response
    assert made.response is not None
    assert made.response.text == answer("C")
    assert made.response.finish == "stop"
    assert made.response.model == "ann?ability=1.0"
    assert made.response.usage.prompt == len(request("k").prompt) // 4 + 1
    assert made.response.usage.completion == len(answer("C")) // 4 + 1


async def test_without_an_oracle_it_fails_for_good() -> None:
    made = await attempt(model("sim/ann"), request("k", oracle=None))
    assert made.response is None
    assert made.raw == b""
    assert "only questions with a known answer key" in made.detail


async def test_without_choices_a_guess_is_the_gold() -> None:
    """A question with no choices to guess from has only its right answer to say."""
    made = await attempt(
        model("sim/ann?ability=0"), request("k", oracle=Oracle(answer_key="Paris", choices=()))
    )
    assert made.response is not None
    assert made.response.text == "Paris"


def test_two_spellings_are_one_respondent() -> None:
    """Its own name holds the parameters in one order, without those that are usual anyway."""
    assert model("sim/ann?bias=0.20&ability=0.5").name == "sim/ann?bias=0.2"
    assert model("sim/ann?bias=.2&ability=.7").name == model("sim/ann?ability=0.7&bias=0.2").name
    assert model("sim/ann?").name == "sim/ann"
    assert model("sim/ann").reported_as == "ann"


def test_it_is_marked_as_simulated_and_sends_no_setting() -> None:
    respondent = model("sim/ann")
    assert respondent.simulated
    assert respondent.sent_settings({"temperature": 0, "max_tokens": 8}) == (
        {},
        ("max_tokens", "temperature"),
    )


def test_every_bad_parameter_is_named() -> None:
    with pytest.raises(BadUsage) as caught:
        model("sim/ann?ability=1.5&luck=1&bias=x&miss=nan&miss=0&ability=")
    message = str(caught.value)
    assert "ability: expected a number from 0 to 1, got '1.5'" in message
    assert "unknown parameter 'luck'" in message
    assert "bias: expected a number from 0 to 1, got 'x'" in message
    assert "miss: expected a number from 0 to 1, got 'nan'" in message
    assert "miss is given twice" in message
    assert "expected ability, bias, miss" in message


def test_a_name_must_stand_before_the_query() -> None:
    with pytest.raises(BadUsage, match="a name is missing before"):
        model("sim/?ability=1")


async def test_closing_it_is_harmless() -> None:
    await model("sim/ann").close()
