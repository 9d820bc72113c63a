"""Prompts by a person's own template: in any language, and in any words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from proofstone.engines.templates import Template, read_template
from proofstone.errors import BadInput
from proofstone.records import ItemSet, OwnPrompt

__all__ = ["VARIABLES", "check_prompt", "own_prompt_text"]

VARIABLES: Mapping[str, str] = {
    "question": "the question",
    "language": "the question's language, such as en or zh",
    "way": "the way of asking, such as direct or cot",
}


def check_prompt(prompt: OwnPrompt, way: str, _item_set: ItemSet) -> None:
    """Raises BadInput with every problem of the template, or where it leaves out the question."""
    uses = _template(prompt).uses
    if "question" not in uses:
        raise BadInput(
            f"the template {prompt.name} does not show what {way} asks: it must use question",
            hint=f"it uses {', '.join(sorted(uses)) or 'nothing of the question'}; see "
            "docs/prompts.md",
        )


def own_prompt_text(prompt: OwnPrompt, question: str, language: str, way: str) -> str:
    """What a model is sent of a question. Raises BadInput where the template fails on it."""
    values = {"question": question, "language": language, "way": way}
    return _template(prompt).render(values)


@lru_cache(maxsize=16)
def _template(prompt: OwnPrompt) -> Template:
    return read_template(prompt.text, prompt.name, VARIABLES)
