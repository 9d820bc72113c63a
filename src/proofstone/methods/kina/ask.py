"""Prompt models: one call per item, without examples (section 5: zero-shot, step by step).

The words are our own; the last line of a response names the chosen letter, as in appendix F.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofstone.choices import likelihood
from proofstone.errors import BadUsage
from proofstone.method import OwnPrompts, check_prompt_method, read_defaults
from proofstone.methods.kina.payloads import STEMS_VERSION, letters_of, question_of
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
    "cot": "step by step, then the letter",
    "direct": "the letter only, without reasoning",
    **likelihood.PROMPT_METHODS,
}


_TEMPLATES = {"cot": "cot", "direct": "direct", likelihood.LETTER: "letter"}


_PROMPTS = Prompts(__package__)


_TEXT_VERSION = 1  # incremented with every change of the texts for base models


def settings(prompt_method: str) -> dict[str, Any]:
    """Return the default settings of a prompting method. Raises BadUsage for an unknown one."""
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if prompt_method in likelihood.VARIANTS:
        return likelihood.settings(prompt_method)
    return dict(read_defaults(__package__)["settings"][prompt_method])


def prepare(
    prompt_method: str, shots: int, _item_set: ItemSet, _bank: BankReader | None
) -> PromptMethod:
    """Prepare a prompting method. Raises BadUsage for an unknown one, and for few-shot examples."""
    check_prompt_method(prompt_method, PROMPT_METHODS)
    if shots:
        raise BadUsage("kina asks without examples, got --shots")
    name = _TEMPLATES.get(prompt_method)
    key = [prompt_method, STEMS_VERSION, _PROMPTS.texts(name) if name else ""]
    is_scored = prompt_method in likelihood.VARIANTS
    stop = () if is_scored else ("\nQuestion:", "\n问题：")
    return PromptMethod(
        name=prompt_method,
        last_step=likelihood.STEP if is_scored else STEP,
        prompt_hash=content_id("kina.prompt", key),
        text=TextForm(stop=stop, version=_TEXT_VERSION),
        whole_response=likelihood.NOT_READ if is_scored else "",
        likelihood=likelihood.VARIANTS.get(prompt_method, ""),
    )


async def ask(item: LoadedItem, prompt_method: PromptMethod, call: Call) -> None:
    """Prompt for one item: one call, or one per option where options are scored."""
    asked, oracle = messages(item, prompt_method), oracle_of(item)
    if not prompt_method.likelihood:
        await call(prompt_method.last_step, asked, oracle=oracle)
        return
    is_text = prompt_method.likelihood == "text"
    chinese = is_chinese(item.item.language)
    options = question_of(item).options if is_text else oracle.choices
    texts = [likelihood.as_continuation(each, chinese=chinese) for each in options]
    await likelihood.ask_options(prompt_method, call, asked, texts, oracle)


def oracle_of(item: LoadedItem) -> Oracle:
    """Return what simulated models know of an item."""
    question = question_of(item)
    letters = letters_of(question)
    return Oracle(
        answer_key=letters[question.answer_key],
        choices=tuple(letters),
        response="答案：{choice}" if is_chinese(item.item.language) else "Answer: {choice}",
    )


def messages(item: LoadedItem, prompt_method: PromptMethod) -> list[Message]:
    """Return the prompt of one item, without an option to score."""
    values = _values(item, prompt_method.name)
    if prompt_method.own_prompt is not None:
        turns = turns_of(prompt_method.own_prompt, VARIABLES)
        return [*turns.messages_before(values), Message("user", turns.asks.render(values))]
    return [Message("user", _text(item, prompt_method, values))]


def _text(item: LoadedItem, prompt_method: PromptMethod, values: Mapping[str, Any]) -> str:
    language = item.item.language
    chinese = is_chinese(language)
    if prompt_method.likelihood and prompt_method.as_text:
        is_text = prompt_method.likelihood == "text"
        return likelihood.open_block(
            shown(item, options=not is_text), is_text=is_text, chinese=chinese
        )
    name = _TEMPLATES.get(prompt_method.name, "direct")
    wanted = ("question", "statements", "options", "letters")
    text = _PROMPTS.render(name, language, **{key: values[key] for key in wanted})
    return f"{text}\n\n{'答案：' if chinese else 'Answer:'}" if prompt_method.as_text else text


def shown(item: LoadedItem, *, options: bool = True) -> str:
    """Return a question as text: its stem, its statements and, unless left out, its options."""
    question = question_of(item)
    lines = [question.stem]
    lines += [f"{number}. {text}" for number, text in enumerate(question.statements, start=1)]
    if options:
        pairs = zip(letters_of(question), question.options, strict=True)
        lines += [f"{letter}. {text}" for letter, text in pairs]
    return "\n".join(lines)


def query(item: LoadedItem) -> str:
    """Return the stem and the statements, without options, as a search query."""
    return shown(item, options=False)


def show(item: LoadedItem) -> str:
    """Return a question for display, its correct option marked."""
    question = question_of(item)
    marked = [
        f"{'*' if place == question.answer_key else ' '} {letter}. {text}"
        for place, (letter, text) in enumerate(
            zip(letters_of(question), question.options, strict=True)
        )
    ]
    return "\n".join([shown(item, options=False), *marked])


# Prompts from a user's template, in any language.

VARIABLES: Mapping[str, str] = {
    "question": "the stem of the question",
    "statements": "its statements in order, each with .number and .text; none in a standard one",
    "options": "the options in order, each with .letter and .text",
    "letters": "letters of the options as one text: ABCDEFGHIJ",
    "kind": "combination or standard",
    "language": "language of the question, such as en or zh",
    "prompt_method": "prompting method, such as cot or direct",
}


def check_prompt(prompt: OwnPrompt, prompt_method: str, _item_set: ItemSet) -> None:
    """Raise BadInput with every problem of a template, which must show the whole question."""
    options = () if prompt_method == likelihood.OPTION else ("options",)
    enough = ("question", "statements", *options)
    check_shown(prompt, VARIABLES, [enough], f"required by {prompt_method}:")


PROMPTS = OwnPrompts(variables=VARIABLES, check=check_prompt)


def _values(item: LoadedItem, prompt_method: str) -> dict[str, Any]:
    question = question_of(item)
    letters = letters_of(question)
    return {
        "question": question.stem,
        "statements": [
            {"number": number, "text": text}
            for number, text in enumerate(question.statements, start=1)
        ],
        "options": [
            {"letter": letter, "text": text}
            for letter, text in zip(letters, question.options, strict=True)
        ],
        "letters": letters,
        "kind": question.kind,
        "language": item.item.language,
        "prompt_method": prompt_method,
    }
