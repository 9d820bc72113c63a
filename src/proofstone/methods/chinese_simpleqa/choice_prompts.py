"""A question over its options as each way of asking puts it, and what a reply to it states."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from proofstone.draws import Draws
from proofstone.engines.choices import labels
from proofstone.methods.chinese_simpleqa.payloads import Closed
from proofstone.methods.chinese_simpleqa.prompting import (
    Example,
    examples,
    is_chinese,
    prompt_file,
    render_prompt,
    stated,
)

__all__ = [
    "choice_example",
    "choice_lines",
    "choice_prompt",
    "choice_values",
    "marked_lines",
    "shaping_choices",
    "worked_choice",
]

_LANGUAGES = ("en", "zh")


def choice_prompt(closed: Closed, language: str, way: str) -> str:
    """What a model is sent of a question over options."""
    return render_prompt(f"choose_{way}", language, **choice_values(closed, language))


def choice_values(closed: Closed, language: str) -> dict[str, Any]:
    """What a template may show of it: the question, its options with their letters, all letters."""
    letters = labels(len(closed.options))
    return {
        "question": closed.question,
        "options": [
            {"letter": letter, "text": text}
            for letter, text in zip(letters, closed.options, strict=True)
        ],
        "letters": ("、" if is_chinese(language) else ", ").join(letters),
    }


def choice_lines(closed: Closed) -> str:
    """The question and its options, one a line, as a text for a base model shows them."""
    return "\n".join([closed.question, *_lettered(closed)])


def marked_lines(closed: Closed) -> str:
    """The same as a person reads it, the right option behind a mark."""
    marked = [
        f"{'*' if place == closed.gold else ' '} {line}"
        for place, line in enumerate(_lettered(closed))
    ]
    return "\n".join([closed.question, *marked])


def _lettered(closed: Closed) -> list[str]:
    letters = labels(len(closed.options))
    return [f"{letter}. {text}" for letter, text in zip(letters, closed.options, strict=True)]


def choice_example(example: Example, language: str) -> Closed:
    """A worked example with its options, the right one at a place that the example fixes."""
    place = examples(language).index(example)
    wrong = _wrong(language)[place]
    options = Draws(0, place, "options of an example").shuffled((example.answer, *wrong))
    return Closed(
        question=example.question, options=tuple(options), gold=options.index(example.answer)
    )


def worked_choice(example: Example, language: str, way: str) -> str:
    """The reply that an example deserves over its options."""
    letter = labels(26)[choice_example(example, language).gold]
    before = {"recall": example.recall, "cot": example.steps}.get(way, "")
    if way == "direct":
        return f"答案：{letter}" if is_chinese(language) else f"Answer: {letter}"
    return stated(letter, language, way, before=before, sure=example.confidence)


def shaping_choices(way: str) -> tuple[str, ...]:
    """All that shapes the prompts over options besides what shapes the open ones."""
    templates = [prompt_file(f"choose_{way}", language) for language in _LANGUAGES]
    return (*templates, *map(_examples_text, _LANGUAGES))


@cache
def _wrong(language: str) -> list[list[str]]:
    data = tomllib.loads(_examples_text("zh" if is_chinese(language) else "en"))
    wrong: list[list[str]] = data["wrong"]
    return wrong


@cache
def _examples_text(language: str) -> str:
    name = f"example_options.{language}.toml"
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
