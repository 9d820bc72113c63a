"""Asking short questions: prompts compared whole, examples that give nothing away, replies read."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from proofstone.choices.likelihood import VARIANTS
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.chinese_simpleqa.ask import PROMPT_METHODS, messages, prepare
from proofstone.methods.chinese_simpleqa.method import METHOD
from proofstone.methods.chinese_simpleqa.payloads import ShortQuestion
from proofstone.methods.chinese_simpleqa.sameness import ReadAnswer, grade_question, read_answer
from proofstone.records.calls import Message
from proofstone.records.items import Item, ItemSet, LoadedItem, OwnPrompt

OPEN = [prompt_method for prompt_method in PROMPT_METHODS if prompt_method not in VARIANTS]
SNAPSHOTS = Path(__file__).parent / "snapshots"
FORM = ItemSet(name="f", kind="imported", method="chinese_simpleqa")
QUESTIONS = {
    "en": ("Which metal is liquid at room temperature?", "mercury"),
    "zh": ("常温下呈液态的金属是什么？", "汞"),
    "fr": ("Quel métal est liquide à température ambiante ?", "le mercure"),
}


def loaded(language: str, **changes: object) -> LoadedItem:
    question, answer = QUESTIONS[language]
    payload = replace(ShortQuestion(question=question, answer=answer), **changes)
    kind = "chinese_simpleqa.question"
    return LoadedItem(Item(id=bytes(32), kind=kind, payload=payload, language=language), ())


def written(turns: list[Message]) -> str:
    return "\n".join(f"--- {turn.role}\n{turn.text}" for turn in turns) + "\n"


@pytest.mark.parametrize("language", QUESTIONS)
@pytest.mark.parametrize("prompt_method", OPEN)
def test_prompts_are_as_they_were_read(prompt_method: str, language: str) -> None:
    chat = prepare(prompt_method, 0, FORM, None)
    shots = prepare(prompt_method, 2, FORM, None)
    found = [
        written(messages(loaded(language), chat)),
        written(messages(loaded(language), shots)),
        written(messages(loaded(language), replace(shots, as_text=True))),
    ]
    text = "=== two examples\n".join(found[:2]) + "=== as one text\n" + found[2]
    assert text == (SNAPSHOTS / f"{prompt_method}.{language}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_judge_is_asked_in_these_words(language: str) -> None:
    asked = loaded(language, aliases=("Hg",), tolerance=0.5).item.payload
    question = grade_question("I would say mercury.", asked, language)
    parts = [question.task, *(f"{label.name}: {label.meaning}" for label in question.labels)]
    parts += [f"[{exhibit.name}] {exhibit.text}" for exhibit in question.exhibits]
    expected = (SNAPSHOTS / f"grade.{language}.txt").read_text(encoding="utf-8")
    assert "\n".join(parts) + "\n" == expected


def test_no_example_has_the_answer_or_the_question() -> None:
    """Whatever the place from which they are counted."""
    prompt_method = prepare("direct", 4, FORM, None)
    for first in range(6):
        asked = loaded("en", answer="Fe", question="In which city does the Eiffel Tower stand?")
        asked = LoadedItem(replace(asked.item, id=bytes([0] * 7 + [first])), ())
        text = written(messages(asked, prompt_method)[:-1])
        assert len(messages(asked, prompt_method)) == 2 * 4 + 1
        assert "iron" not in text
        assert "Eiffel" not in text


def test_ways_and_examples_that_there_are_not_are_refused() -> None:
    with pytest.raises(BadUsage, match="direct, recall, cot, confidence"):
        prepare("guess", 0, FORM, None)
    with pytest.raises(BadUsage, match="must be 0 to 4, got 5"):
        prepare("direct", 5, FORM, None)


def test_all_that_shapes_a_prompt_is_in_its_hash() -> None:
    made = {
        prepare(prompt_method, shots, FORM, None).prompt_hash
        for prompt_method in OPEN
        for shots in (0, 2)
    }
    assert len(made) == 2 * len(OPEN)


def test_a_template_of_ones_own_asks_in_any_language() -> None:
    own = OwnPrompt("kurz.jinja", "Antworte kurz ({{ language }}): {{ question }}")
    METHOD.prompts.check(own, "direct", FORM)
    prompt_method = replace(prepare("direct", 0, FORM, None), own_prompt=own)
    (turn,) = messages(loaded("fr"), prompt_method)
    assert turn.text == f"Antworte kurz (fr): {QUESTIONS['fr'][0]}"
    with pytest.raises(BadInput, match="it must use question"):
        METHOD.prompts.check(OwnPrompt("x", "{{ prompt_method }}"), "direct", FORM)


@pytest.mark.parametrize(
    ("prompt_method", "text", "read"),
    [
        ("direct", "Answer: Hg", ReadAnswer("Answer: Hg")),
        ("cot", "It melts at -39.\nAnswer: mercury", ReadAnswer("mercury")),
        ("cot", "想一想。\n**答案：** 汞", ReadAnswer("汞")),
        ("recall", "Answer: mercury\nOr lead?", ReadAnswer("mercury\nOr lead?")),
        ("cot", "Answer: lead\nNo.\nAnswer: mercury", ReadAnswer(
            "Answer: lead\nNo.\nAnswer: mercury", flags=("several-answers",))),
        ("cot", "It is mercury.", ReadAnswer(
            "It is mercury.", is_stated=False, flags=("no-answer-line",))),
        ("confidence", "Answer: mercury\nConfidence: 85", ReadAnswer("mercury\n", sure=0.85)),
        ("confidence", "答案：汞\n把握：100%", ReadAnswer("汞\n", sure=1.0)),
        ("confidence", "mercury\nConfidence: 85/100.", ReadAnswer("mercury\n", sure=0.85)),
        ("confidence", "mercury", ReadAnswer("mercury", flags=("no-confidence",))),
        ("confidence", "Answer: x\nConfidence: 130", ReadAnswer("x\n", flags=("no-confidence",))),
        ("confidence", "Answer: x\nConfidence: 10\nConfidence: 20", ReadAnswer(
            "x\n\n", flags=("no-confidence",))),
        ("confidence", "Answer: x\nConfidence: rather high", ReadAnswer(
            "x\n", flags=("no-confidence",))),
    ],
)  # fmt: skip
def test_what_of_a_reply_is_the_answer(prompt_method: str, text: str, read: ReadAnswer) -> None:
    assert read_answer(text, prompt_method) == read
