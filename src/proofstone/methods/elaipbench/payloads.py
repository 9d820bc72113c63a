"""Define stored payloads: a question over a document, and the item that asks it."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Literal, get_args

from msgspec import Struct

from proofstone.choices.options import labels
from proofstone.method import ShownOptions
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact, Span

QuestionType = Literal["single", "multiple"]


Difficulty = Literal["", "easy", "moderate", "hard"]


DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)


# Who made a question; one that a model wrote is marked so for good.
Origin = Literal["", "person", "model"]


WHOLE = -1  # in place of an option: evidence of the question as a whole


# Sizes of the correct set of a multiple-answer question (section 3.2.1, guideline 7).
SEVERAL = (2, 3)


class Evidence(Struct, frozen=True, gc=False):
    """The verbatim evidence on one option (its index; ``WHOLE`` for the question)."""

    option: int
    spans: tuple[Span, ...]


class PaperQuestion(Struct, frozen=True, gc=False, kw_only=True, tag="elaipbench.question"):
    """A fact: a question over its source, with its options and the indexes of the correct ones.

    ``title`` and ``year`` are those of the document. ``difficulty`` is by the person who answered
    with the document: easy (correct in time), moderate (correct but too late) or hard (incorrect).
    """

    question: str
    options: tuple[str, ...]
    answer_key: tuple[int, ...]
    question_type: QuestionType
    evidence: tuple[Evidence, ...] = ()
    difficulty: Difficulty = ""
    title: str = ""
    year: int | None = None
    written_by: Origin = ""


class AskedQuestion(Struct, frozen=True, gc=False, kw_only=True, tag="elaipbench.asked"):
    """An item that asks its one fact; ``order`` are the places of the options as shown."""

    order: tuple[int, ...]


class Shown(Struct, frozen=True):
    """A question with its options in the order shown, and the letters of the correct ones."""

    question: str
    options: tuple[str, ...]
    right: tuple[str, ...]
    question_type: QuestionType

    @property
    def letters(self) -> str:
        """The letters of all options."""
        return labels(len(self.options))

    @property
    def admissible(self) -> list[tuple[str, ...]]:
        """All sets of letters that the question admits as an answer."""
        return [each for size in sizes(self) for each in combinations(self.letters, size)]

    @property
    def n_admissible(self) -> int:
        """How many sets the question admits: chance under strict scoring is 1 of them."""
        return sum(comb(len(self.options), size) for size in sizes(self))


def sizes(shown: Shown) -> tuple[int, ...]:
    """The numbers of options that an answer may have, as its prompt says."""
    if shown.question_type == "single":
        return (1,)
    return tuple(size for size in SEVERAL if size < len(shown.options))


def question_of(item: LoadedItem) -> PaperQuestion:
    """Return the question that an item asks."""
    (fact,) = item.facts
    payload: PaperQuestion = fact.payload
    return payload


def shown_of(item: LoadedItem) -> Shown:
    """Return an item's question as it is shown."""
    question = question_of(item)
    asked: AskedQuestion = item.item.payload
    letters = labels(len(asked.order))
    right = tuple(
        letter
        for letter, place in zip(letters, asked.order, strict=True)
        if place in question.answer_key
    )
    options = tuple(question.options[place] for place in asked.order)
    return Shown(question.question, options, right, question.question_type)


def options_shown(item: LoadedItem) -> ShownOptions:
    """Return the options of a question, and the places of the correct ones."""
    shown = shown_of(item)
    right = tuple(shown.letters.index(letter) for letter in shown.right)
    return ShownOptions(shown.options, right, several=shown.question_type == "multiple")


def evidence(fact: Fact) -> tuple[Span, ...]:
    """Return the evidence of a question, on all its options, in reading order, each span once."""
    payload: PaperQuestion = fact.payload
    spans = {span for each in payload.evidence for span in each.spans}
    return tuple(sorted(spans, key=lambda span: (span.page or 0, span.start, span.end)))
