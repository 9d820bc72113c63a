"""Questions as text: as a model is asked, and as a person reads them with the answer marked."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.choices.letters import labels
from proofstone.engines.choices.options import option_text
from proofstone.engines.choices.roman import roman
from proofstone.identity import short
from proofstone.methods.encyclo_k.judging import judging
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
)
from proofstone.methods.encyclo_k.phrasing import phrasing
from proofstone.methods.encyclo_k.tasks import Task
from proofstone.records import Fact, LoadedItem

__all__ = [
    "RENDERING",
    "as_choice",
    "asks_for_all",
    "gold_letter",
    "letters",
    "option_texts",
    "query",
    "render",
    "sentence",
    "show",
    "statement_as_choice",
    "stem",
]

RENDERING = 1  # raised by every change of a rendered text; enters the hash of the prompts


def letters(item: LoadedItem) -> str:
    """The letters of an item's options: ``"ABCD"``."""
    return labels(len(item.item.payload.options))


def gold_letter(item: LoadedItem) -> str:
    """The letter of the right option, or of all right ones: ``"A, C"``."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return ", ".join(letters(item)[place] for place in payload.golds)
    return letters(item)[payload.gold]


def asks_for_all(item: LoadedItem) -> bool:
    """Whether several options are right and all of them are asked for."""
    payload = item.item.payload
    return isinstance(payload, ChoiceQuestion) and bool(payload.also)


def option_texts(item: LoadedItem) -> tuple[str, ...]:
    """What each option says, without its letter."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload.options
    return tuple(map(option_text, payload.options))


def render(item: LoadedItem, task: Task = "choice") -> str:
    """The question with its statements, and options where one is to be chosen, in the item's
    language."""
    if task != "choice":
        return stem(item, task)
    heading = phrasing(item.item.language).options
    options = zip(letters(item), option_texts(item), strict=True)
    lines = [stem(item), "", heading, *[f"{letter}) {text}" for letter, text in options]]
    return "\n".join(lines)


def stem(item: LoadedItem, task: Task = "choice") -> str:
    """The question with its statements and without options."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload.question
    if task == "statement":
        return f"{sentence(item, task)}\n\n{item.facts[0].payload.text}"
    return "\n".join([sentence(item, task), "", *_numbered(item.facts)])


def sentence(item: LoadedItem, task: Task = "choice") -> str:
    """What is asked, without the statements that it is asked of; of a question that was made
    elsewhere all of it."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload.question
    if task == "choice":
        return _asked(item, payload)
    words = judging(item.item.language)
    return words.statement if task == "statement" else words.each


def as_choice(item: LoadedItem) -> ChoiceQuestion:
    """A question with its texts, which stands without a bank."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return payload
    return ChoiceQuestion(question=stem(item), options=option_texts(item), gold=payload.gold)


def statement_as_choice(text: str, language: str, *, correct: bool) -> ChoiceQuestion:
    """A single statement as a question between its two verdicts, which stands without a bank."""
    words = judging(language)
    return ChoiceQuestion(
        question=f"{words.statement}\n\n{text}",
        options=(words.true, words.false),
        gold=0 if correct else 1,
    )


def query(item: LoadedItem) -> str:
    """What to search for: the statements alone, without what is asked of them; of a question that
    was made elsewhere its words and options."""
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return "\n".join([payload.question, *payload.options])
    return "\n".join(fact.payload.text for fact in item.facts)


def show(item: LoadedItem) -> str:
    """The item with its right option marked, and the truth of each statement and its reason."""
    if isinstance(item.item.payload, SingleStatement):
        return "\n".join([_heading(item), "", *_shown_statement("", item.facts[0])])
    return "\n".join([_heading(item), "", *_shown_question(item), "", *_marked_options(item)])


def _asked(item: LoadedItem, payload: ComposedQuestion) -> str:
    phrases = phrasing(item.item.language)
    return phrases.ask(payload.template, payload.wording, correct=payload.asks_correct)


def _numbered(facts: Sequence[Fact]) -> list[str]:
    return [f"{roman(count)}. {fact.payload.text}" for count, fact in enumerate(facts, start=1)]


def _heading(item: LoadedItem) -> str:
    stratum = item.item.stratum
    path = [stratum.discipline, stratum.field, stratum.subfield, stratum.book]
    place = " / ".join(filter(None, path))
    parts = [f"item {short(item.item.id)}", f"number {item.item.number}", place, item.item.language]
    return "  ".join(filter(None, parts))


def _shown_question(item: LoadedItem) -> list[str]:
    payload: ComposedQuestion | ChoiceQuestion = item.item.payload
    if isinstance(payload, ChoiceQuestion):
        return [payload.question]
    lines = [_asked(item, payload), ""]
    for count, fact in enumerate(item.facts, start=1):
        lines += _shown_statement(f"{roman(count)}. ", fact)
    return lines


def _shown_statement(numeral: str, fact: Fact) -> list[str]:
    """A statement with its truth, and the reason where it is false."""
    lines = [f"  {'true ' if fact.payload.correct else 'false'}  {numeral}{fact.payload.text}"]
    if not fact.payload.correct and fact.payload.reason:
        lines.append(f"         because: {fact.payload.reason}")
    return lines


def _marked_options(item: LoadedItem) -> list[str]:
    gold = gold_letter(item)
    return [
        f"{'->' if letter in gold else '  '} {letter}) {text}"
        for letter, text in zip(letters(item), option_texts(item), strict=True)
    ]
