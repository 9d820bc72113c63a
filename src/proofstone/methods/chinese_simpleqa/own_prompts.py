"""Prompts by a person's own template: in any language, and in any words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from proofstone.engines.templates import Turns, read_turns
from proofstone.errors import BadInput
from proofstone.methods.chinese_simpleqa.choice_prompts import choice_values
from proofstone.methods.chinese_simpleqa.compose import posed_of
from proofstone.methods.chinese_simpleqa.payloads import Closed
from proofstone.records import ItemSet, Message, OwnPrompt

__all__ = ["VARIABLES", "check_prompt", "own_prompt_text", "own_turns"]

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
