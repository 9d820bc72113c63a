"""Prompts and worked examples from files: in Chinese for Chinese questions, else in English."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = [
    "BARE",
    "PUBLISHED",
    "Example",
    "ask_prompt",
    "examples",
    "is_chinese",
    "prompt_file",
    "render_prompt",
    "shaping_texts",
    "stated",
    "worked_answer",
]

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
