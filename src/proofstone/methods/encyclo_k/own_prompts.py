"""Prompts by a person's own template: what it may use, what it must show, and how it is filled in.

Worked examples are put by the same template, and their answers stay the method's; what is read of
a reply stays the same too, so a template should ask for an answer in the form that the method's
prompts ask for (docs/prompts.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from proofstone.engines.choices.roman import roman
from proofstone.engines.templates import Turns, read_turns
from proofstone.errors import BadInput
from proofstone.methods.encyclo_k.payloads import ComposedQuestion
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.methods.encyclo_k.recipe import is_composed
from proofstone.methods.encyclo_k.rendering import (
    asks_for_all,
    letters,
    option_texts,
    render,
    sentence,
    stem,
)
from proofstone.methods.encyclo_k.tasks import Task, is_stepwise, task_of, task_of_set
from proofstone.records import ItemSet, LoadedItem, Message, OwnPrompt

__all__ = ["VARIABLES", "check_prompt", "own_prompt_text", "own_turns"]

VARIABLES: Mapping[str, str] = {
    "question": "the whole question as the method puts it: sentence, statements, options",
    "stem": "the question without its options: sentence and numbered statements",
    "sentence": "the sentence that asks, alone",
    "statements": "the statements in order, each with .numeral (i, ii, ...) and .text; none where "
    "the form was imported",
    "options": "the options in order, each with .letter and .text; none where verdicts are asked",
    "asks": "correct or incorrect: which statements the question asks for; empty where it was "
    "imported or verdicts are asked",
    "sentence_number": "the number of the sentence, from 0, to choose one of a list of your own by",
    "wording_number": "the number of its word for correct or incorrect, from 0",
    "several": "whether several options are right and all of them are asked for",
    "letters": "the options' letters in one text: A, B, C",
    "count": "how many statements there are",
    "language": "the question's language, such as en or zh",
    "task": "choice (of an option), statement (one verdict) or verdicts (one on each statement)",
    "way": "the way of asking, such as direct or cot",
    "stepwise": "whether the way asks for reasoning before the answer",
}

_Shown = tuple[tuple[str, ...], ...]  # sets of variables, one of which must be used whole
_COMPOSED: _Shown = (
    ("question",),
    ("stem", "options"),
    ("sentence", "statements", "options"),
    ("asks", "statements", "options"),
)
_IMPORTED: _Shown = (("question",), ("stem", "options"))
_JUDGED: _Shown = (("question",), ("stem",), ("statements",))


def check_prompt(prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
    """Raises BadInput with every problem of the template, or where it leaves out what a model must
    see in this way: statements, or the options to choose from."""
    task = task_of_set(item_set, way)
    uses = _turns(prompt).asks.uses
    enough = _JUDGED if task != "choice" else _COMPOSED
    if not is_composed(item_set):
        enough = _IMPORTED
    if not any(uses.issuperset(needed) for needed in enough):
        ways = ", or ".join(_together(needed) for needed in enough)
        raise BadInput(
            f"the template {prompt.name} does not show the whole question: for {way} it must use "
            f"{ways}",
            hint=f"it uses {', '.join(sorted(uses)) or 'nothing of the question'}; see "
            "docs/prompts.md",
        )


def own_prompt_text(prompt: OwnPrompt, item: LoadedItem, way: str) -> str:
    """What a model is sent of an item. Raises BadInput where the template fails on it."""
    return _turns(prompt).asks.render(_values(item, way))


def own_turns(prompt: OwnPrompt, item: LoadedItem, way: str) -> list[Message]:
    """The template's turns before the one that asks: system message, few-shot examples."""
    turns = _turns(prompt)
    return turns.messages_before(_values(item, way)) if turns.before else []


def _values(item: LoadedItem, way: str) -> dict[str, Any]:
    task = task_of(item.item, way)
    language = item.item.language
    choices = letters(item) if task == "choice" else ""
    return {
        "question": render(item, task),
        "stem": stem(item, task),
        "sentence": sentence(item, task),
        **_worded(item, task),
        "statements": [
            {"numeral": roman(count), "text": fact.payload.text}
            for count, fact in enumerate(item.facts, start=1)
        ],
        "options": _options(item, task, choices),
        "several": asks_for_all(item),
        "letters": ("、" if is_chinese(language) else ", ").join(choices),
        "count": len(item.facts),
        "language": language,
        "task": task,
        "way": way,
        "stepwise": is_stepwise(way),
    }


def _worded(item: LoadedItem, task: Task) -> dict[str, Any]:
    """What a template needs to put the question by sentences of its own."""
    payload = item.item.payload
    if task != "choice" or not isinstance(payload, ComposedQuestion):
        return {"asks": "", "sentence_number": 0, "wording_number": 0}
    return {
        "asks": "correct" if payload.asks_correct else "incorrect",
        "sentence_number": payload.template,
        "wording_number": payload.wording,
    }


def _options(item: LoadedItem, task: Task, choices: str) -> list[dict[str, str]]:
    if task != "choice":
        return []
    return [
        {"letter": letter, "text": text}
        for letter, text in zip(choices, option_texts(item), strict=True)
    ]


def _together(needed: tuple[str, ...]) -> str:
    *others, last = needed
    return f"{', '.join(others)} and {last}" if others else last


@lru_cache(maxsize=16)
def _turns(prompt: OwnPrompt) -> Turns:
    return read_turns(prompt.text, prompt.name, VARIABLES)
