"""What is stored: a short question with its one answer, made elsewhere or resting on a fact; and
one over options, among which the answer is (appendix C)."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from proofstone.records import Fact, LoadedItem

__all__ = [
    "ANSWER_TYPES",
    "AnswerType",
    "AskedChoice",
    "AskedPair",
    "Choice",
    "Closed",
    "Pair",
    "Posed",
    "ShortAnswer",
    "ShortQuestion",
    "Twin",
    "TwinMade",
    "asked_of",
    "closed_of",
    "closed_of_fact",
    "short_of",
]

# Empty where nobody said.
AnswerType = Literal["", "date", "number", "person", "place", "organisation", "other"]
ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)
# How a question is put: openly, or over its options as they stood or in an order drawn by the seed.
Posed = Literal["open", "original", "shuffled"]
# How a twin came by its second form: the open one from options, or options for an open one.
TwinMade = Literal["", "converted", "generated"]


class ShortAnswer(Struct, frozen=True, gc=False, kw_only=True):
    """A question that has one right answer, and other ways to say that very answer.

    ``tolerance`` is how far a number may lie from the answer and still be it, 0 unless the question
    states one. ``urls`` are pages that say so. ``valid_at`` is the date at which the document that
    says so is valid, where one is stated (left out of the bytes else).
    """

    question: str
    answer: str
    aliases: tuple[str, ...] = ()
    answer_type: AnswerType = ""
    tolerance: float = 0.0
    urls: tuple[str, ...] = ()
    valid_at: str | UnsetType = UNSET

    @property
    def validity(self) -> str:
        """``valid_at``, empty where none is stated."""
        return "" if isinstance(self.valid_at, UnsetType) else self.valid_at

    @property
    def answers(self) -> tuple[str, ...]:
        """The reference and its aliases."""
        return (self.answer, *self.aliases)


class ShortQuestion(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.question"):
    """An item made elsewhere, with all its texts."""


class Pair(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.pair"):
    """A fact: a question with its answer, as a bank keeps it."""


class Closed(Struct, frozen=True, gc=False, kw_only=True):
    """A question over ``options``, in their order, of which the one at ``gold`` is right."""

    question: str
    options: tuple[str, ...]
    gold: int

    @property
    def right(self) -> str:
        """The right option's text."""
        return self.options[self.gold]


class Choice(Closed, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.choice"):
    """A fact: a multiple-choice question as it stands in the set that it comes from."""


class Twin(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.twin"):
    """A fact: one question in two forms, open, and ``closed_question`` over ``options``, of which
    the one at ``gold`` is right. ``origin`` is the fact that it was made from: the choice that was
    ``converted``, or the pair that options were ``generated`` for."""

    closed_question: str
    options: tuple[str, ...]
    gold: int
    origin: bytes | None = None
    made: TwinMade = ""

    @property
    def closed(self) -> Closed:
        """Its form over options."""
        return Closed(question=self.closed_question, options=self.options, gold=self.gold)


class AskedPair(Struct, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.asked"):
    """An item that asks its one fact openly; all there is to say stands in the fact."""


class AskedChoice(Struct, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.asked_choice"):
    """An item that asks its one fact over its options: ``order`` are their places in the fact, as
    they are shown."""

    order: tuple[int, ...]


def asked_of(loaded: LoadedItem) -> ShortAnswer:
    """What an item asks. Over options it is the question above them, and the right one."""
    payload: ShortQuestion | AskedPair | AskedChoice = loaded.item.payload
    if isinstance(payload, ShortQuestion):
        return payload
    closed = closed_of(loaded)
    if closed is not None:
        return ShortAnswer(question=closed.question, answer=closed.right)
    (fact,) = loaded.facts
    return short_of(fact)


def closed_of(loaded: LoadedItem) -> Closed | None:
    """What an item asks over options, in the order that it shows; None where it asks openly."""
    payload: ShortQuestion | AskedPair | AskedChoice = loaded.item.payload
    if not isinstance(payload, AskedChoice):
        return None
    (fact,) = loaded.facts
    closed = closed_of_fact(fact)
    if closed is None:
        return None
    options = tuple(closed.options[place] for place in payload.order)
    return Closed(question=closed.question, options=options, gold=payload.order.index(closed.gold))


def closed_of_fact(fact: Fact) -> Closed | None:
    """The form of a fact over options; None where it has none."""
    payload: Pair | Choice | Twin = fact.payload
    if isinstance(payload, Twin):
        return payload.closed
    return payload if isinstance(payload, Choice) else None


def short_of(fact: Fact) -> ShortAnswer:
    """The question and answer of a fact; of a choice the question above its options."""
    payload: Pair | Choice | Twin = fact.payload
    if isinstance(payload, Choice):
        return ShortAnswer(question=payload.question, answer=payload.right)
    return payload
