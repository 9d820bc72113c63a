"""Prompts and worked examples from files: in Chinese for Chinese questions, else in English."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from proofstone.choices.options import labels
from proofstone.errors import BadInput
from proofstone.method import OwnPrompts
from proofstone.methods.chinese_simpleqa.compose import posed_of
from proofstone.methods.chinese_simpleqa.payloads import Closed, asked_of, closed_of
from proofstone.records.calls import Message
from proofstone.records.ids import Draws
from proofstone.records.items import ItemSet, LoadedItem, OwnPrompt
from proofstone.texts.templates import Turns, read_turns

if TYPE_CHECKING:
    from jinja2 import Template


_LANGUAGES = ("en", "zh")


PUBLISHED = "as-published"


BARE = frozenset({"direct", PUBLISHED})  # the whole reply is the answer


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """A worked example, as each way of asking shows it: what may be recalled before the answer, the
    steps to it, how sure one is of it (0 to 100)."""

    question: str
    answer: str
    recall: str
    steps: str
    confidence: int


def is_chinese(language: str) -> bool:
    """Whether a language code is of Chinese."""
    return language.partition("-")[0] == "zh"


def ask_prompt(question: str, language: str, way: str) -> str:
    """What a model is sent of a question."""
    return render_prompt(way, language, question=question)


def render_prompt(name: str, language: str, **values: Any) -> str:
    """A template of ``prompts/`` filled in; ``language`` as its code alone is one of the values."""
    code = language.partition("-")[0]
    return _compiled(name, _known(language)).render(language=code, **values)


def prompt_file(name: str, language: str) -> str:
    """The text of a template in one of the languages that there are, en or zh."""
    return _text(f"prompts/{name}.{language}.jinja")


def worked_answer(example: Example, language: str, way: str) -> str:
    """The reply that an example deserves in a way of asking."""
    before = {"recall": example.recall, "cot": example.steps}.get(way, "")
    return stated(example.answer, language, way, before=before, sure=example.confidence)


def stated(answer: str, language: str, way: str, *, before: str = "", sure: int) -> str:
    """An answer in the form that a way asks for, behind what comes ``before`` it; ``sure`` (0 to
    100) is said where the way asks for it."""
    if way in BARE:
        return answer
    lines = [before] if before else []
    lines.append(f"答案：{answer}" if is_chinese(language) else f"Answer: {answer}")
    if way == "confidence":
        head = "把握：" if is_chinese(language) else "Confidence: "
        lines.append(f"{head}{sure}")
    return "\n".join(lines)


def shaping_texts(way: str) -> tuple[str, ...]:
    """All that shapes the prompts of a way: its templates, and the examples."""
    templates = [prompt_file(way, language) for language in _LANGUAGES]
    return (*templates, *(_text(_examples_file(language)) for language in _LANGUAGES))


@cache
def examples(language: str) -> tuple[Example, ...]:
    """The worked examples for questions in this language."""
    data = tomllib.loads(_text(_examples_file(_known(language))))
    return tuple(msgspec.convert(data["example"], list[Example]))


def _known(language: str) -> str:
    return "zh" if is_chinese(language) else "en"


def _examples_file(language: str) -> str:
    return f"examples.{language}.toml"


@cache
def _compiled(way: str, language: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # kept out of the import

    # Prompts are plain text: escaping would put entities into them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_text(f"prompts/{way}.{language}.jinja"))


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


# A question over its options as each way of asking puts it, and what a reply to it states.


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


# Prompts by a person's own template: in any language, and in any words.

VARIABLES: Mapping[str, str] = {
    "question": "the question",
    "options": "the options in order, each with .letter and .text; none where the form is open",
    "letters": "the options' letters in one text: A, B, C",
    "language": "the question's language, such as en or zh",
    "way": "the way of asking, such as direct or cot",
}


def check_prompt(prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
    """Raises BadInput with every problem of the template, or where it leaves out the question, or
    the options of a form that asks over options."""
    uses = _turns(prompt).asks.uses
    needed = ("question",) if posed_of(item_set.recipe) == "open" else ("question", "options")
    if not uses.issuperset(needed):
        must = " and ".join(needed)
        raise BadInput(
            f"the template {prompt.name} does not show what {way} asks: it must use {must}",
            hint=f"it uses {', '.join(sorted(uses)) or 'nothing of the question'}; see "
            "docs/prompts.md",
        )


PROMPTS = OwnPrompts(variables=VARIABLES, check=check_prompt)


def own_prompt_text(prompt: OwnPrompt, put: str | Closed, language: str, way: str) -> str:
    """What a model is sent of a question, open or over options. Raises BadInput where the template
    fails on it."""
    return _turns(prompt).asks.render(_values(put, language, way))


def own_turns(prompt: OwnPrompt, put: str | Closed, language: str, way: str) -> list[Message]:
    """The template's turns before the one that asks: system message, few-shot examples."""
    turns = _turns(prompt)
    return turns.messages_before(_values(put, language, way)) if turns.before else []


def _values(put: str | Closed, language: str, way: str) -> dict[str, Any]:
    values: dict[str, Any] = {"question": put, "options": [], "letters": ""}
    if isinstance(put, Closed):
        values = choice_values(put, language)
    return {**values, "language": language, "way": way}


@lru_cache(maxsize=16)
def _turns(prompt: OwnPrompt) -> Turns:
    return read_turns(prompt.text, prompt.name, VARIABLES)


# Items as they are searched by, and as people read them.


def query(item: LoadedItem) -> str:
    """What to search for: the question as it stands, with its options where it shows them."""
    closed = closed_of(item)
    return asked_of(item).question if closed is None else choice_lines(closed)


def show(item: LoadedItem) -> str:
    """The question, and its answer with the aliases behind a mark; over options all of them, the
    right one marked."""
    closed = closed_of(item)
    if closed is not None:
        return marked_lines(closed)
    asked = asked_of(item)
    return "\n".join([asked.question, *(f"* {answer}" for answer in asked.answers)])
