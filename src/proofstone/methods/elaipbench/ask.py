"""Prompt models: one call per item, without examples; its document is put before the question.

A box marks the answer, as in the paper; the words are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofstone.choices import likelihood
from proofstone.choices.extraction import joined
from proofstone.errors import BadUsage
from proofstone.method import OwnPrompts, check_prompt_method, read_defaults
from proofstone.methods.elaipbench.payloads import question_of, shown_of
from proofstone.records.calls import Call, Message
from proofstone.records.ids import content_id
from proofstone.records.items import (
    ItemSet,
    LoadedItem,
    Oracle,
    OwnPrompt,
    PromptMethod,
    TextForm,
)
from proofstone.records.knowledge import BankReader
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import Prompts, check_shown, turns_of

STEP = "answer"


PROMPT_METHODS = {
    "direct": "the letters only, without reasoning",
    "cot": "chain of thought, then the letters",
    "reasoning": "the prompt of direct, with room for a model that reasons unasked",
    likelihood.OPTION: "no generation: the texts of each admissible set of options are scored "
    "after the question; the highest mean log-probability per token is the answer",
}


_TEMPLATES = {"direct": "direct", "cot": "cot", "reasoning": "direct"}


_PROMPTS = Prompts(__package__)


_TEXT_VERSION = 1  # incremented with every change of the texts for base models


def settings(prompt_method: str) -> dict[str, Any]:
    """Return the default ``max_tokens`` and ``temperature`` of a prompting method (section A.5).

    Raises BadUsage for an unknown one.
    """
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if prompt_method == likelihood.OPTION:
        return likelihood.settings(prompt_method)
    return dict(read_defaults(__package__)["settings"][prompt_method])


def prepare(
    prompt_method: str, shots: int, _item_set: ItemSet, _bank: BankReader | None
) -> PromptMethod:
    """Prepare a prompting method. Raises BadUsage for an unknown one, and for few-shot examples."""
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if shots:
        raise BadUsage("questions on documents are asked without examples, got --shots")
    is_scored = prompt_method == likelihood.OPTION
    key = [prompt_method, "" if is_scored else _PROMPTS.texts(_TEMPLATES[prompt_method])]
    return PromptMethod(
        name=prompt_method,
        last_step=likelihood.STEP if is_scored else STEP,
        prompt_hash=content_id("elaipbench.prompt", key),
        text=TextForm(stop=() if is_scored else ("\nQuestion:", "\n问题："), version=_TEXT_VERSION),
        whole_response=likelihood.NOT_READ if is_scored else "",
        likelihood=likelihood.VARIANTS.get(prompt_method, ""),
    )


async def ask(item: LoadedItem, prompt_method: PromptMethod, call: Call) -> None:
    """Prompt for one item: one call, or one per admissible set of options to score."""
    asked, oracle = messages(item, prompt_method), oracle_of(item)
    if not prompt_method.likelihood:
        await call(prompt_method.last_step, asked, oracle=oracle)
        return
    texts = _continuations(item)
    await likelihood.ask_options(prompt_method, call, asked, texts, oracle)


def _continuations(item: LoadedItem) -> list[str]:
    """The texts of each admissible set: its options in order, joined by a semicolon."""
    shown = shown_of(item)
    text_of = dict(zip(shown.letters, shown.options, strict=True))
    chinese = is_chinese(item.item.language)
    between = "；" if chinese else "; "
    return [
        likelihood.as_continuation(between.join(text_of[each] for each in letters), chinese=chinese)
        for letters in shown.admissible
    ]


def oracle_of(item: LoadedItem) -> Oracle:
    """Return what simulated models know of an item."""
    shown = shown_of(item)
    return Oracle(
        answer_key=joined(shown.right),
        choices=tuple(joined(each) for each in shown.admissible),
        response="\\boxed{{choice}}",
    )


def messages(item: LoadedItem, prompt_method: PromptMethod) -> list[Message]:
    """Return the prompt of one item, without its texts."""
    values = _values(item, prompt_method.name)
    language = item.item.language
    if prompt_method.likelihood:
        asked = likelihood.open_block(
            shown_of(item).question, is_text=True, chinese=is_chinese(language)
        )
        return [Message("user", asked)]
    if prompt_method.own_prompt is not None:
        turns = turns_of(prompt_method.own_prompt, VARIABLES)
        return [*turns.messages_before(values), Message("user", turns.asks.render(values))]
    del values["language"], values["prompt_method"]
    text = _PROMPTS.render(_TEMPLATES[prompt_method.name], language, **values)
    if prompt_method.as_text:
        text = f"{text}\n\n{'答案：' if is_chinese(language) else 'Answer: '}"
    return [Message("user", text)]


def query(item: LoadedItem) -> str:
    """Return the question alone (section A.7.1)."""
    return shown_of(item).question


def web_query(item: LoadedItem) -> str:
    """Return the question and the title of its document (section A.7.1)."""
    return f"{shown_of(item).question} {question_of(item).title}".strip()


def show(item: LoadedItem) -> str:
    """Return a question for display, its correct options marked."""
    shown = shown_of(item)
    lines = [
        f"{'*' if letter in shown.right else ' '} {letter}. {text}"
        for letter, text in zip(shown.letters, shown.options, strict=True)
    ]
    return "\n".join([shown.question, *lines])


# Prompts from a user's template, in any language.

VARIABLES: Mapping[str, str] = {
    "question": "the question",
    "options": "the options in order, each with .letter and .text",
    "letters": "letters of the options as one text: A, B, C, D",
    "several": "true if two or three options are correct, false if one is",
    "language": "language of the question, such as en or zh",
    "prompt_method": "prompting method, such as direct or cot",
}


def check_prompt(prompt: OwnPrompt, prompt_method: str, _item_set: ItemSet) -> None:
    """Raise BadInput with every problem of a template, which must show question and options."""
    check_shown(prompt, VARIABLES, [("question", "options")], f"required by {prompt_method}:")


PROMPTS = OwnPrompts(variables=VARIABLES, check=check_prompt)


def _values(item: LoadedItem, prompt_method: str) -> dict[str, Any]:
    shown, language = shown_of(item), item.item.language
    return {
        "question": shown.question,
        "options": [
            {"letter": letter, "text": text}
            for letter, text in zip(shown.letters, shown.options, strict=True)
        ],
        "letters": ("、" if is_chinese(language) else ", ").join(shown.letters),
        "several": shown.question_type == "multiple",
        "language": language,
        "prompt_method": prompt_method,
    }
