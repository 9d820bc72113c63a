"""Prompts from the templates of ``prompts/``, in Chinese for Chinese items, else in English."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from proofstone.engines.choices.roman import roman
from proofstone.methods.encyclo_k.payloads import ComposedQuestion
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.methods.encyclo_k.rendering import asks_for_all, letters, render
from proofstone.methods.encyclo_k.tasks import PUBLISHED, Task, is_stepwise, task_of
from proofstone.records import LoadedItem

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["ask_prompt", "render_template", "template_bytes", "template_texts"]

_LANGUAGES = ("en", "zh")
_ASKED: dict[Task, tuple[str, str]] = {  # the templates that ask at once, and step by step
    "choice": ("direct", "cot"),
    "statement": ("statement_direct", "statement_cot"),
    "verdicts": ("verdicts", "verdicts_cot"),
}
_WORKED: dict[Task, str] = {
    "choice": "worked",
    "statement": "statement_worked",
    "verdicts": "verdicts_worked",
}


def ask_prompt(item: LoadedItem, way: str) -> str:
    """What a model is sent: the question, and how its answer must look."""
    task = task_of(item.item, way)
    name, language = _asking(task, way), item.item.language
    if asks_for_all(item):
        name = "several_cot" if is_stepwise(way) or way == PUBLISHED else "several"
    if task == "choice":
        composed = isinstance(item.item.payload, ComposedQuestion)
        before, after = _around_options(name, language, letters(item), composed=composed)
    else:
        before, after = _around_statements(name, language, len(item.facts))
    return f"{before}{render(item, task)}{after}"


def template_texts(task: Task, way: str) -> tuple[str, ...]:
    """The templates that shape the prompts of a task and way, worked examples included."""
    name = _asking(task, way)
    names = (name, _WORKED[task]) if is_stepwise(way) else (name,)
    return tuple(_text(name, language) for name in names for language in _LANGUAGES)


def template_bytes(name: str) -> bytes:
    """A template of ``prompts/`` in all languages, for what hashes it."""
    return "\0".join(_text(name, language) for language in _LANGUAGES).encode()


def render_template(name: str, language: str, **values: Any) -> str:
    """A template of ``prompts/`` in this language with its values."""
    return _template(name, language).render(values)


def _asking(task: Task, way: str) -> str:
    if task == "choice" and way == PUBLISHED:
        return "as_published"
    return _ASKED[task][is_stepwise(way)]


_PLACE = "\0"  # in no question: texts refuse it at import


@cache
def _around_options(name: str, language: str, choices: str, *, composed: bool) -> tuple[str, str]:
    """What stands before and behind the question: the same for all questions of a kind, so that a
    template is rendered a few times a run rather than once a question."""
    listed = ("、" if is_chinese(language) else ", ").join(choices)
    text = render_template(name, language, question=_PLACE, letters=listed, composed=composed)
    before, _, after = text.partition(_PLACE)
    return before, after


@cache
def _around_statements(name: str, language: str, count: int) -> tuple[str, str]:
    """The same for statements to be judged, by how many they are."""
    text = render_template(name, language, question=_PLACE, count=count, last=roman(count))
    before, _, after = text.partition(_PLACE)
    return before, after


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
