"""What is stored: a short question with its one answer, made elsewhere or resting on a fact."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from proofstone.records import Item, LoadedItem

__all__ = [
    "ANSWER_TYPES",
    "AnswerType",
    "AskedPair",
    "Pair",
    "ShortAnswer",
    "ShortQuestion",
    "asked_of",
    "is_of_pair",
]

# Empty where nobody said.
AnswerType = Literal["", "date", "number", "person", "place", "organisation", "other"]
ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)


class ShortAnswer(Struct, frozen=True, gc=False, kw_only=True):
    """A question that has one right answer, and other ways to say that very answer.

    ``tolerance`` is how far a number may lie from the answer and still be it, 0 unless the question
    states one. ``urls`` are pages that say so.
    """

    question: str
    answer: str
    aliases: tuple[str, ...] = ()
    answer_type: AnswerType = ""
    tolerance: float = 0.0
    urls: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[str, ...]:
        """The reference and its aliases."""
        return (self.answer, *self.aliases)


class ShortQuestion(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.question"):
    """An item made elsewhere, with all its texts."""


class Pair(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.pair"):
    """A fact: a question with its answer, as a bank keeps it."""


class AskedPair(Struct, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.asked"):
    """An item that asks its one fact as it stands; all there is to say stands in the fact."""


def asked_of(loaded: LoadedItem) -> ShortAnswer:
    """What an item asks."""
    payload: ShortQuestion | AskedPair = loaded.item.payload
    if isinstance(payload, ShortQuestion):
        return payload
    (fact,) = loaded.facts
    pair: Pair = fact.payload
    return pair


def is_of_pair(item: Item) -> bool:
    """Whether an item rests on a fact of a bank."""
    return isinstance(item.payload, AskedPair)
