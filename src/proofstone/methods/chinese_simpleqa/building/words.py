"""The prompts of building, in Chinese for Chinese texts, else in English."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from proofstone.engines.judging import WordedQuestions, fence
from proofstone.identity import digest
from proofstone.methods.chinese_simpleqa.building.criteria import Scope
from proofstone.methods.chinese_simpleqa.prompting import is_chinese

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["QUESTIONS", "block", "prompt_digest", "questions_for", "render"]

_NAMES = {
    "passage": "文字",
    "question": "问题",
    "answer": "答案",
    "known question": "已有的问题",
}

# What judges are asked, and of each the label that keeps a row.
QUESTIONS = WordedQuestions(
    __package__,
    {
        "knowledge": "enough",
        "criteria": "meets",
        "category": "meets",
        "evidence": "supported",
        "alias": "same",
        "source": "none",
        "rewritten": "sound",
        "sensitive": "harmless",
        "type": "other",
        "grade": "INCORRECT",
        "opened": "same",
        "distractor": "wrong",
    },
)
_PRIVATE = WordedQuestions(__package__, QUESTIONS.keeps, "private_questions")


def questions_for(scope: Scope) -> WordedQuestions:
    """The questions about knowledge, criteria, category, evidence and sensitive content as they are
    put of public knowledge, or of private documents."""
    return _PRIVATE if scope.is_private else QUESTIONS


def render(name: str, language: str, **values: Any) -> str:
    """A prompt of ``prompts/`` in this language with its values."""
    code = language.partition("-")[0]
    return _template(name, "zh" if is_chinese(language) else "en").render(language=code, **values)


def block(name: str, text: str, language: str) -> str:
    """A text set apart in a prompt under its name in the prompt's language."""
    shown = _NAMES[name] if is_chinese(language) else name
    return fence(shown, text, language)


def prompt_digest(name: str) -> str:
    """What a step depends on that sends this prompt."""
    return digest("\0".join(_text(name, language) for language in ("en", "zh")).encode()).hex()


@cache
def _template(name: str, language: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # kept out of the import

    # Prompts are plain text: escaping would put entities into them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_text(name, language))


@cache
def _text(name: str, language: str) -> str:
    return (files(__package__) / f"prompts/{name}.{language}.jinja").read_text(encoding="utf-8")
