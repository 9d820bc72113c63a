"""Prompts from the templates of ``prompts/``, in Chinese for Chinese items, else in English."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from proofstone.engines.choices.options import option_text
from proofstone.engines.choices.roman import roman
from proofstone.methods.encyclo_k.payloads import ComposedQuestion
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.methods.encyclo_k.rendering import gold_letter, letters, render
from proofstone.records import LoadedItem

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["answer_line", "ask_prompt", "template_texts", "worked_answer"]

_LANGUAGES = ("en", "zh")


def ask_prompt(item: LoadedItem, way: str) -> str:
    """What a model is sent: the question, and how its answer must look."""
    composed = isinstance(item.item.payload, ComposedQuestion)
    before, after = _around(way, item.item.language, letters(item), composed=composed)
    return f"{before}{render(item)}{after}"


def answer_line(language: str, choice: str) -> str:
    """The line that states an answer: ``Answer: B``."""
    return f"答案：{choice}" if is_chinese(language) else f"Answer: {choice}"


def worked_answer(item: LoadedItem, way: str) -> str:
    """The reply that a composed item deserves: the answer's line, and for ``cot`` before it what
    is known of each statement, computed from the bank."""
    language = item.item.language
    answer = answer_line(language, gold_letter(item))
    if way != "cot":
        return answer
    payload: ComposedQuestion = item.item.payload
    reasoning = _template("worked", language).render(
        statements=_judged(item),
        asks_correct=payload.asks_correct,
        asked=option_text(payload.options[payload.gold]),
        letter=gold_letter(item),
    )
    return f"{reasoning}\n{answer}"


def template_texts(way: str) -> tuple[str, ...]:
    """The templates that shape the prompts of a way, worked examples included."""
    names = (way, "worked") if way == "cot" else (way,)
    return tuple(_text(name, language) for name in names for language in _LANGUAGES)


@cache
def _around(way: str, language: str, choices: str, *, composed: bool) -> tuple[str, str]:
    """What stands before and behind the question: the same for all questions of a kind, so that a
    template is rendered a few times a run rather than once a question."""
    place = "\0"  # in no question: texts refuse it at import
    listed = _listed(choices, language)
    text = _template(way, language).render(question=place, letters=listed, composed=composed)
    before, _, after = text.partition(place)
    return before, after


def _judged(item: LoadedItem) -> list[dict[str, str | bool]]:
    return [
        {
            "numeral": roman(count),
            "correct": fact.payload.correct,
            "reason": "" if fact.payload.correct else fact.payload.reason.strip(),
        }
        for count, fact in enumerate(item.facts, start=1)
    ]


def _listed(choices: str, language: str) -> str:
    return ("、" if is_chinese(language) else ", ").join(choices)


def _template(name: str, language: str) -> Template:
    return _compiled(name, "zh" if is_chinese(language) else "en")


@cache
def _compiled(name: str, language: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # kept out of the import

    # Prompts are plain text: escaping would put entities into them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_text(name, language))


@cache
def _text(name: str, language: str) -> str:
    file = files(__package__) / "prompts" / f"{name}.{language}.jinja"
    return file.read_text(encoding="utf-8")
