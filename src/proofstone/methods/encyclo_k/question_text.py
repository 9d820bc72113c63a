"""Questions as text: as a model is asked, and as a person reads them with the answer marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from proofstone.choices.options import labels, option_text, roman
from proofstone.errors import BadUsage
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
    judging,
)
from proofstone.methods.encyclo_k.recipe import is_composed, is_of_statements
from proofstone.methods.encyclo_k.wordings import phrasing
from proofstone.records.ids import short
from proofstone.records.items import Item, ItemSet, LoadedItem
from proofstone.records.knowledge import Fact

# What an item asked in a way puts before a model: options to choose from, or verdicts to give.
#
# The paper's three settings: a question's options (``choice``), a single statement (``statement``),
# and each statement of a question (``verdicts``). The ways are the user's names for the last two
# steps: at once or step by step, and, of a question, options or verdicts.

Task: TypeAlias = Literal["choice", "statement", "verdicts"]


STEP = "answer"


PUBLISHED = "as-published"  # the request of the paper's appendix A.3


VERDICTS = "verdicts"  # the step that asks for several verdicts; by it the scorer knows them


WAYS = {
    "direct": "the answer at once, nothing else",
    "cot": "step by step, then the answer",
    "as-published": "the paper's request in our words: each statement and option analyzed, "
    "then the answer line",
    "verdicts": "true or false of each statement of a question, at once",
    "verdicts-cot": "step by step, then true or false of each statement of a question",
}


_OF_VERDICTS = frozenset({"verdicts", "verdicts-cot"})


def is_stepwise(way: str) -> bool:
    """Whether a way asks for reasoning before the answer."""
    return way in {"cot", PUBLISHED, "verdicts-cot"}


def last_step(way: str) -> str:
    """The step whose reply is scored."""
    return VERDICTS if way in _OF_VERDICTS else STEP


def task_of(item: Item, way: str) -> Task:
    """What an item is asked for in a way."""
    if isinstance(item.payload, SingleStatement):
        return "statement"
    return "verdicts" if way in _OF_VERDICTS else "choice"


def task_of_set(item_set: ItemSet, way: str) -> Task:
    """The same for all items of a set. Raises BadUsage for a way that does not fit them."""
    if way not in WAYS:
        raise BadUsage(f"no way of asking is named {way!r}; there is {', '.join(WAYS)}")
    if is_of_statements(item_set.recipe):
        if way in _OF_VERDICTS:
            raise BadUsage(
                f"{item_set.name} holds single statements: {way} is a way of asking questions "
                "composed of several",
                hint="ask direct or cot; each statement then gets its verdict from a call",
            )
        if way == PUBLISHED:
            raise BadUsage(
                f"{item_set.name} holds single statements: the paper prints no prompt for them",
                hint="ask direct or cot",
            )
        return "statement"
    if way in _OF_VERDICTS and not is_composed(item_set):
        raise BadUsage(
            f"{item_set.name} was imported: what its questions are made of, and so which verdict "
            "is right, is not known",
            hint=f"{way} takes a form built from a bank: proofstone build form BANK",
        )
    return "verdicts" if way in _OF_VERDICTS else "choice"


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
