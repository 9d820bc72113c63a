"""Asking: one call an item, with worked examples where wanted; for a base model in one text.

Worked examples are carried with the method: a set of questions made elsewhere has none to spare.
Those that would give an item's answer away are passed over for it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from proofstone.choices.options import labels
from proofstone.errors import BadUsage
from proofstone.methods.chinese_simpleqa.compose import default_settings, posed_of
from proofstone.methods.chinese_simpleqa.payloads import Closed, ShortAnswer, asked_of, closed_of
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.methods.chinese_simpleqa.templates import (
    BARE,
    PUBLISHED,
    Example,
    ask_prompt,
    choice_example,
    choice_lines,
    choice_prompt,
    examples,
    is_chinese,
    own_prompt_text,
    own_turns,
    shaping_choices,
    shaping_texts,
    stated,
    worked_answer,
    worked_choice,
)
from proofstone.records.calls import Call, Message
from proofstone.records.ids import content_id
from proofstone.records.items import Item, ItemSet, LoadedItem, Oracle, TextForm, Way
from proofstone.records.knowledge import BankReader

WAYS = {
    "direct": "the answer at once, nothing else",
    "recall": "what is known that bears on the question, then the answer",
    "cot": "step by step, then the answer",
    "confidence": "the answer, and how sure the model is of it, from 0 to 100",
    "as-published": "the question alone, as the published code sends it",
}


# The step of the one call says how it was asked, and so how its reply is read.
STEPS = {
    "direct": "answer",
    "recall": "recalled",
    "cot": "reasoned",
    "confidence": "sure",
    "as-published": "bare",
}


# Two examples may have an item's answer, or its question: so many are left for each item.
MOST_SHOTS = 4


_TEXT_VERSION = 1  # raised by every change of the texts for base models


_NEXT_QUESTION = ("\nQuestion:", "\n问题：")


_SIMULATED_SURE = 75


_BOTH_READ = "the answer and the confidence are read from the whole response"


def settings(way: str) -> dict[str, Any]:
    """Default ``max_tokens`` and ``temperature`` of a way. Raises BadUsage for an unknown one."""
    _check_way(way)
    return default_settings(way)


def prepare(way: str, shots: int, item_set: ItemSet, _bank: BankReader | None) -> Way:
    """A way of asking. Raises BadUsage for an unknown one, and for more worked examples than
    there are."""
    _check_way(way)
    if not 0 <= shots <= MOST_SHOTS:
        raise BadUsage(f"there are 0 to {MOST_SHOTS} worked examples, not {shots}")
    if way == PUBLISHED and posed_of(item_set.recipe) != "open":
        raise BadUsage(
            f"{item_set.name} asks over options: the paper prints no prompt for them",
            hint=f"ask {', '.join(name for name in WAYS if name != PUBLISHED)}",
        )
    key = [way, shaping_texts(way), shots]
    if posed_of(item_set.recipe) != "open":
        key.append(shaping_choices(way))
    return Way(
        name=way,
        last_step=STEPS[way],
        prompt_hash=content_id("chinese_simpleqa.prompt", key),
        n_shots=shots,
        text=_text_form(way),
        whole_response=_BOTH_READ if way == "confidence" else "",
    )


async def ask(item: LoadedItem, way: Way, call: Call) -> None:
    """Asks one item with one call."""
    await call(way.last_step, messages(item, way), oracle=oracle(item, way.name))


def messages(item: LoadedItem, way: Way) -> list[Message]:
    """The conversation that an item is asked with: worked examples, then the item."""
    asked, language = asked_of(item), item.item.language
    shown = [_Turn.of(example, item) for example in _examples_for(item.item, asked, way.n_shots)]
    put = closed_of(item) or asked.question
    if way.as_text:
        return [Message("user", _as_text(put, language, shown, way))]
    own = way.own_prompt
    turns = [] if own is None else own_turns(own, put, language, way.name)
    for turn in shown:
        turns.append(Message("user", _prompt(turn.put, language, way)))
        turns.append(Message("assistant", turn.answer(language, way.name)))
    return [*turns, Message("user", _prompt(put, language, way))]


class _Turn(Struct, frozen=True):
    """A worked example as an item is put: openly, or over options."""

    example: Example
    put: str | Closed

    @classmethod
    def of(cls, example: Example, item: LoadedItem) -> _Turn:
        if closed_of(item) is None:
            return cls(example, example.question)
        return cls(example, choice_example(example, item.item.language))

    def answer(self, language: str, way: str) -> str:
        """The reply that it deserves."""
        worked = worked_answer if isinstance(self.put, str) else worked_choice
        return worked(self.example, language, way)


def _prompt(put: str | Closed, language: str, way: Way) -> str:
    if way.own_prompt is not None:
        return own_prompt_text(way.own_prompt, put, language, way.name)
    if isinstance(put, Closed):
        return choice_prompt(put, language, way.name)
    return ask_prompt(put, language, way.name)


def _examples_for(item: Item, asked: ShortAnswer, n: int) -> list[Example]:
    """``n`` examples for an item from a place that its id fixes, none that gives it away."""
    known = examples(item.language)
    answers = {plain_answer(text) for text in asked.answers}
    start = int.from_bytes(item.id[:8], "big") % len(known)
    turned = known[start:] + known[:start]
    question = plain_answer(asked.question)
    fit = [
        example
        for example in turned
        if plain_answer(example.answer) not in answers
        and plain_answer(example.question) != question
    ]
    return fit[:n]


# ---------------------------------------------------------------- base models


def _text_form(way: str) -> TextForm:
    """Where an answer ends: at the head of the next question; a bare answer at the line's end."""
    stop = {"confidence": ("\n\n",)}.get(way, ("\n",) if way in BARE else ())
    return TextForm(stop=(*stop, *_NEXT_QUESTION), version=_TEXT_VERSION)


def _as_text(put: str | Closed, language: str, shown: list[_Turn], way: Way) -> str:
    """Blocks of question and answer, the last answer open."""
    blocks = [
        f"{_head(turn.put, language, way)}\n"
        f"{_opening(language, way.name, turn.answer(language, way.name))}"
        for turn in shown
    ]
    opening = _opening(language, way.name, "").rstrip()
    own = [] if way.own_prompt is None else own_turns(way.own_prompt, put, language, way.name)
    texts = [turn.text for turn in own]
    return "\n\n".join([*texts, *blocks, f"{_head(put, language, way)}\n{opening}"])


def _head(put: str | Closed, language: str, way: Way) -> str:
    if way.own_prompt is not None:
        return own_prompt_text(way.own_prompt, put, language, way.name)
    text = choice_lines(put) if isinstance(put, Closed) else put
    return f"问题：{text}" if is_chinese(language) else f"Question: {text}"


def _opening(language: str, way: str, answer: str) -> str:
    """How an answer begins in a text: with its label, or with that of the reasoning before it."""
    chinese = is_chinese(language)
    label = "答案：" if chinese else "Answer: "
    if way in {"recall", "cot"}:
        label = "分析：" if chinese else "Reasoning: "
    return label + answer.removeprefix(label)


# ---------------------------------------------------------------- simulated respondents


def oracle(item: LoadedItem, way: str) -> Oracle:
    """What a simulated respondent may look at: the answer, and one that is surely wrong."""
    asked, language = asked_of(item), item.item.language
    closed = closed_of(item)
    if closed is not None:
        letters = labels(len(closed.options))
        form = "confidence" if way == "confidence" else "cot"  # a line with the letter
        reply = stated("{choice}", language, form, sure=_SIMULATED_SURE)
        return Oracle(gold=letters[closed.gold], choices=tuple(letters), reply=reply)
    taken = {plain_answer(text) for text in asked.answers}
    known = ("亚特兰蒂斯", "乌托邦") if is_chinese(language) else ("Atlantis", "Utopia")
    wrong = next(name for name in known if plain_answer(name) not in taken)
    reply = stated("{choice}", language, way, sure=_SIMULATED_SURE)
    return Oracle(gold=asked.answer, choices=(wrong,), reply=reply)


def _check_way(way: str) -> None:
    if way not in WAYS:
        raise BadUsage(f"no way of asking is named {way!r}; there is {', '.join(WAYS)}")
