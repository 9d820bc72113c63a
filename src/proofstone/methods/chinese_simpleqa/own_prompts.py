"""Prompts by a person's own template: in any language, and in any words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from proofstone.engines.templates import Template, read_template
from proofstone.errors import BadInput
from proofstone.methods.chinese_simpleqa.choice_prompts import choice_values
from proofstone.methods.chinese_simpleqa.compose import posed_of
from proofstone.methods.chinese_simpleqa.payloads import Closed
from proofstone.records import ItemSet, OwnPrompt

__all__ = ["VARIABLES", "check_prompt", "own_prompt_text"]

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
    uses = _template(prompt).uses
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
    values: dict[str, Any] = {"question": put, "options": [], "letters": ""}
    if isinstance(put, Closed):
        values = choice_values(put, language)
    return _template(prompt).render({**values, "language": language, "way": way})


@lru_cache(maxsize=16)
def _template(prompt: OwnPrompt) -> Template:
    return read_template(prompt.text, prompt.name, VARIABLES)
