"""Asking: prompts compared whole, worked examples that give nothing away, a way's hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from banks_for_tests import Book, ListBank, bank_of
from msgspec.structs import replace

from proofstone.errors import BadUsage
from proofstone.methods.encyclo_k.ask import ask, messages, prepare, settings, worked_answer
from proofstone.methods.encyclo_k.compose import recipe
from proofstone.methods.encyclo_k.method import METHOD
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
    Statement,
    phrasing,
)
from proofstone.methods.encyclo_k.questions import as_choice, render, show
from proofstone.records.calls import Message
from proofstone.records.items import Item, ItemSet, LoadedItem, Oracle, PromptMethod
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.runs import Response

SNAPSHOTS = Path(__file__).parent / "snapshots"
ENGLISH = [
    (True, "Water boils at 100 °C at sea level.", ""),
    (False, "Ice is denser than liquid water.", "Ice floats, so it is less dense."),
    (True, "Steam is water vapour.", ""),
    (False, "Salt lowers the boiling point of water.", ""),
]
CHINESE = [
    (True, "水在标准大气压下的沸点是 100 °C。", ""),
    (False, "冰的密度大于液态水。", "冰浮在水面上，密度较小"),
    (True, "水蒸气是气态的水。", ""),
    (False, "加盐会降低水的沸点。", ""),
]
WORKED_ENGLISH = [
    (False, "Iron is a noble gas.", "Iron is a metal."),
    (True, "Helium is lighter than air.", ""),
]
WORKED_CHINESE = [
    (False, "铁是一种稀有气体。", "铁是金属。"),
    (True, "氦气比空气轻。", ""),
]


def loaded(
    statements: Sequence[tuple[bool, str, str]], language: str, *, asks_correct: bool = True
) -> LoadedItem:
    """A question over these statements with two options; the first of them is gold."""
    facts = tuple(
        Fact(
            id=f"{at} {text}".encode(),
            kind="encyclo_k.statement",
            payload=Statement(text=text, correct=correct, reason=reason),
            language=language,
        )
        for at, (correct, text, reason) in enumerate(statements)
    )
    answer_key = tuple(at for at, one in enumerate(statements) if one[0] == asks_correct)
    others = tuple(at for at, one in enumerate(statements) if one[0] != asks_correct)
    payload = ComposedQuestion(
        asks_correct=asks_correct, template=0, wording=0, options=(answer_key, others), answer_key=0
    )
    item = Item(
        id=bytes(32),
        kind="encyclo_k.composed",
        payload=payload,
        facts=tuple(fact.id for fact in facts),
        language=language,
        stratum=Stratum("Science", "Physics", "Heat", "Heat I"),
        number=5,
    )
    return LoadedItem(item, facts)


QUESTIONS = {
    "en": (loaded(ENGLISH, "en"), loaded(WORKED_ENGLISH, "en", asks_correct=False)),
    "zh": (loaded(CHINESE, "zh-Hans"), loaded(WORKED_CHINESE, "zh-Hans", asks_correct=False)),
}


def single(question: LoadedItem, at: int) -> LoadedItem:
    """One statement of a question as an item of its own."""
    fact = question.facts[at]
    item = replace(
        question.item, kind="encyclo_k.single", payload=SingleStatement(), facts=(fact.id,)
    )
    return LoadedItem(item, (fact,))


IMPORTED = LoadedItem(
    Item(
        kind="encyclo_k.choice",
        payload=ChoiceQuestion(question="What is 2 + 2?", options=("3", "4", "5"), answer_key=1),
        language="en",
    ),
    (),
)


BOOK = Book(Stratum("D", "F", "S", "B"), 60, 60, 60)


def form_of(bank: ListBank, **params: Any) -> ItemSet:
    return ItemSet(
        name="form",
        kind="form",
        method="encyclo_k",
        bank=bank.id,
        seed=11,
        recipe=recipe({"questions": 30, **params}),
    )


class Asked:
    """A call that keeps what it is asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[Message], Oracle | None]] = []

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        self.calls.append((step, list(messages), oracle))
        return Response(text="")


def text_of(turns: Sequence[Message]) -> str:
    return "\n".join(f"[{turn.role}]\n{turn.content}\n" for turn in turns)


def prompt_method_of(name: str, *shots: LoadedItem) -> PromptMethod:
    return PromptMethod(
        name=name, last_step="answer", prompt_hash=b"", shots=tuple(shots), n_shots=len(shots)
    )


# ---------------------------------------------------------------- prompts, whole


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("prompt_method", ["direct", "cot", "as-published"])
def test_a_prompt_is_exactly_this(prompt_method: str, language: str) -> None:
    """What people would read, and models do: compared as text. Whoever means to change it writes
    the new text into the snapshot and raises ``rendering.RENDERING`` or changes a template."""
    question, _ = QUESTIONS[language]
    expected = (SNAPSHOTS / f"{prompt_method}.{language}.txt").read_text(encoding="utf-8")
    assert text_of(messages(question, prompt_method_of(prompt_method))) == expected


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("prompt_method", ["direct", "cot"])
def test_a_prompt_with_two_worked_examples_is_exactly_this(
    prompt_method: str, language: str
) -> None:
    question, worked = QUESTIONS[language]
    other = replace(worked.item, payload=replace(worked.item.payload, answer_key=0, wording=3))
    shots = (worked, LoadedItem(other, worked.facts))
    expected = (SNAPSHOTS / f"{prompt_method}.2-shot.{language}.txt").read_text(encoding="utf-8")
    assert text_of(messages(question, prompt_method_of(prompt_method, *shots))) == expected


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("prompt_method", ["direct", "cot"])
def test_a_text_for_a_base_model_is_exactly_this(prompt_method: str, language: str) -> None:
    """One user message: two blocks with their answers, and the item's up to where its own begins.
    Whoever means to change it raises the version in ``text_prompts``."""
    question, worked = QUESTIONS[language]
    other = replace(worked.item, payload=replace(worked.item.payload, answer_key=0, wording=3))
    shots = (worked, LoadedItem(other, worked.facts))
    expected = (SNAPSHOTS / f"{prompt_method}.text.{language}.txt").read_text(encoding="utf-8")
    (message,) = messages(question, replace(prompt_method_of(prompt_method, *shots), as_text=True))
    assert f"{message.content}<here it goes on>\n" == expected
    assert message.role == "user"


@pytest.mark.parametrize("prompt_method", ["direct", "cot"])
def test_a_text_ends_where_the_next_question_would_begin(prompt_method: str) -> None:
    """Every block but the last holds an answer that no stop sequence cuts short."""
    for question, worked in QUESTIONS.values():
        shots = replace(prompt_method_of(prompt_method, worked, worked), as_text=True)
        (message,) = messages(question, shots)
        stop = prepare(prompt_method, 0, form_of(bank_of([BOOK])), None).text.stop
        assert any(text in message.content for text in stop)
        (alone,) = messages(question, replace(prompt_method_of(prompt_method), as_text=True))
        assert message.content.endswith(alone.content)
        assert not any(text in worked_answer(worked, prompt_method) for text in stop)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("prompt_method", ["direct", "cot"])
def test_a_prompt_about_a_single_statement_is_exactly_this(
    prompt_method: str, language: str
) -> None:
    """With a false statement and a true one as worked examples."""
    question, worked = QUESTIONS[language]
    asked, *shots = [single(question, 1), single(worked, 0), single(worked, 1)]
    expected = (SNAPSHOTS / f"statement.{prompt_method}.2-shot.{language}.txt").read_text(
        encoding="utf-8"
    )
    assert text_of(messages(asked, prompt_method_of(prompt_method, *shots))) == expected


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("prompt_method", ["verdicts", "verdicts-cot"])
def test_a_prompt_for_a_verdict_on_each_statement_is_exactly_this(
    prompt_method: str, language: str
) -> None:
    question, worked = QUESTIONS[language]
    expected = (SNAPSHOTS / f"{prompt_method}.1-shot.{language}.txt").read_text(encoding="utf-8")
    assert text_of(messages(question, prompt_method_of(prompt_method, worked))) == expected


@pytest.mark.parametrize(
    ("prompt_method", "ends"),
    [
        ("verdicts", "Verdicts:"),
        ("verdicts-cot", "Reasoning:"),
    ],
)
def test_a_base_model_goes_on_where_the_verdicts_begin(prompt_method: str, ends: str) -> None:
    question, worked = QUESTIONS["en"]
    (message,) = messages(question, replace(prompt_method_of(prompt_method, worked), as_text=True))
    assert message.content.endswith(f"iv. Salt lowers the boiling point of water.\n{ends}")
    assert "\ni: False\nii: True\n\nQuestion: " in message.content


def test_a_base_model_goes_on_where_a_single_verdict_begins() -> None:
    question, worked = (single(one, 0) for one in QUESTIONS["en"])
    (message,) = messages(question, replace(prompt_method_of("direct", worked), as_text=True))
    assert message.content.endswith("Water boils at 100 °C at sea level.\nAnswer:")


async def test_verdicts_are_asked_in_a_step_of_their_own_with_an_oracle_a_statement() -> None:
    """By the step the scorer knows that a reply holds verdicts."""
    item, call = QUESTIONS["en"][0], Asked()
    prompt_method = prepare("verdicts", 0, form_of(bank_of([BOOK])), None)
    await ask(item, prompt_method, call)
    parts = tuple(
        Oracle(answer_key, ("True", "False"), f"{numeral}: {{choice}}")
        for answer_key, numeral in [
            ("True", "i"),
            ("False", "ii"),
            ("True", "iii"),
            ("False", "iv"),
        ]
    )
    assert call.calls == [("verdicts", messages(item, prompt_method), Oracle("", (), parts=parts))]


def test_verdicts_are_refused_of_what_has_no_statements_of_its_own() -> None:
    imported = ItemSet(name="made elsewhere", kind="imported", method="encyclo_k")
    with pytest.raises(BadUsage, match="made elsewhere was imported"):
        prepare("verdicts", 0, imported, None)
    alone = ItemSet(name="alone", kind="form", method="encyclo_k", recipe={"setting": "statements"})
    with pytest.raises(BadUsage, match="alone holds single statements"):
        prepare("verdicts-cot", 0, alone, None)
    assert prepare("direct", 0, alone, None).last_step == "answer"


def test_an_imported_question_is_asked_with_its_own_texts() -> None:
    (turn,) = messages(IMPORTED, prompt_method_of("cot"))
    assert turn.content == (
        "What is 2 + 2?\n\nOptions:\nA) 3\nB) 4\nC) 5\n\n"
        "Exactly one option is right. Think step by step: weigh the options one by one and say "
        "what speaks for or against each. End your reply with a line in this form, where X is "
        "one of A, B, C:\nAnswer: X"
    )


@pytest.mark.parametrize(
    ("item", "answer_key", "choices", "response"),
    [
        (QUESTIONS["en"][0], "A", ("A", "B"), "Answer: {choice}"),
        (QUESTIONS["zh"][0], "A", ("A", "B"), "答案：{choice}"),
        (IMPORTED, "B", ("A", "B", "C"), "Answer: {choice}"),
        (single(QUESTIONS["en"][0], 1), "False", ("True", "False"), "Answer: {choice}"),
        (single(QUESTIONS["zh"][0], 0), "正确", ("正确", "错误"), "答案：{choice}"),
    ],
)
async def test_an_item_is_asked_once_with_an_oracle(
    item: LoadedItem, answer_key: str, choices: tuple[str, ...], response: str
) -> None:
    """The step is the one that finishes the item; the oracle is for simulated respondents."""
    call, prompt_method = Asked(), prompt_method_of("direct")
    await ask(item, prompt_method, call)
    assert call.calls == [
        ("answer", messages(item, prompt_method), Oracle(answer_key, choices, response))
    ]


# ---------------------------------------------------------------- for people


def test_an_item_is_shown_with_its_answer_and_each_statements_truth() -> None:
    assert show(QUESTIONS["en"][0]) == (
        "item 00000000  number 5  Science / Physics / Heat / Heat I  en\n"
        "\n"
        "Read the numbered statements. Which of them are true?\n"
        "\n"
        "  true   i. Water boils at 100 °C at sea level.\n"
        "  false  ii. Ice is denser than liquid water.\n"
        "         because: Ice floats, so it is less dense.\n"
        "  true   iii. Steam is water vapour.\n"
        "  false  iv. Salt lowers the boiling point of water.\n"
        "\n"
        "-> A) i, iii\n"
        "   B) ii, iv"
    )


def test_a_single_statement_is_shown_with_its_truth() -> None:
    assert show(single(QUESTIONS["en"][0], 1)) == (
        "item 00000000  number 5  Science / Physics / Heat / Heat I  en\n"
        "\n"
        "  false  Ice is denser than liquid water.\n"
        "         because: Ice floats, so it is less dense."
    )


def test_an_imported_item_is_shown_with_its_answer() -> None:
    assert show(IMPORTED).splitlines()[1:] == [
        "",
        "What is 2 + 2?",
        "",
        "   A) 3",
        "-> B) 4",
        "   C) 5",
    ]


def test_a_composed_question_stands_alone_as_a_choice() -> None:
    """With its texts written out it renders to the same text without any statement."""
    question, _ = QUESTIONS["en"]
    alone = LoadedItem(replace(question.item, payload=as_choice(question), facts=()), ())
    assert render(alone) == render(question)
    assert as_choice(alone) is alone.item.payload


# ---------------------------------------------------------------- phrases


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_are_enough_phrases_and_no_two_alike(language: str) -> None:
    """At least 13 templates and 10 wordings a polarity; correct and incorrect ones in pairs."""
    phrases = phrasing(language)
    assert len(set(phrases.templates)) == len(phrases.templates) >= 13
    assert len(phrases.correct) == len(phrases.incorrect) >= 10
    assert len({*phrases.correct, *phrases.incorrect}) == 2 * len(phrases.correct)
    assert all(template.count("{wording}") == 1 for template in phrases.templates)
    for correct in (True, False):
        asked = {
            phrases.ask(template, wording, correct=correct)
            for template in range(len(phrases.templates))
            for wording in range(len(phrases.correct))
        }
        assert len(asked) == len(phrases.templates) * len(phrases.correct)


@pytest.mark.parametrize(("language", "chinese"), [("zh", 1), ("zh-Hant", 1), ("fr", 0), ("", 0)])
def test_every_other_language_is_asked_in_english(language: str, chinese: int) -> None:
    assert phrasing(language).options == ("选项：" if chinese else "Options:")


# ---------------------------------------------------------------- ways


@pytest.mark.parametrize("prompt_method", ["direct", "cot"])
def test_defaults_leave_room_to_answer(prompt_method: str) -> None:
    """Temperature 0, and more tokens where reasoning is asked for."""
    assert settings(prompt_method) == {
        "max_tokens": {"direct": 1024, "cot": 4096}[prompt_method],
        "temperature": 0.0,
    }
    assert prompt_method in METHOD.prompt_methods


def test_unknown_ways_and_numbers_of_shots_are_refused() -> None:
    form = form_of(bank_of([BOOK]))
    with pytest.raises(BadUsage, match=r"unknown prompting method 'shout'\n.*: direct, cot"):
        prepare("shout", 0, form, None)
    with pytest.raises(BadUsage, match="shout"):
        settings("shout")
    with pytest.raises(BadUsage, match="must be 0 or more, got -1"):
        prepare("direct", -1, form, None)
    with pytest.raises(BadUsage, match="has no bank for few-shot examples"):
        prepare("direct", 2, form, None)


# ---------------------------------------------------------------- worked examples
