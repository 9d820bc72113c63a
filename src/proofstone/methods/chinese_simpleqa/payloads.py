"""What is stored: a short question with its one answer, made elsewhere or resting on a fact; and
one over options, among which the answer is (appendix C)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from proofstone.records.calls import TokenCounter
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.wording.messages import noted, say, word

# Empty where nobody said.
AnswerType = Literal["", "date", "number", "person", "place", "organisation", "other"]


ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)


PUBLISHED = "as-published"


# The ways of asking of which the whole reply is the answer.
BARE = frozenset({"direct", PUBLISHED})


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
    """A question over ``options``, in their order, of which the one at ``answer_key`` is right."""

    question: str
    options: tuple[str, ...]
    answer_key: int

    @property
    def right(self) -> str:
        """The right option's text."""
        return self.options[self.answer_key]


class Choice(Closed, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.choice"):
    """A fact: a multiple-choice question as it stands in the set that it comes from."""


class Twin(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.twin"):
    """A fact: one question in two forms, open, and ``closed_question`` over ``options``, of which
    the one at ``answer_key`` is right. ``origin`` is the fact that it was made from: the choice
    that was ``converted``, or the pair that options were ``generated`` for."""

    closed_question: str
    options: tuple[str, ...]
    answer_key: int
    origin: bytes | None = None
    made: TwinMade = ""

    @property
    def closed(self) -> Closed:
        """Its form over options."""
        return Closed(
            question=self.closed_question, options=self.options, answer_key=self.answer_key
        )


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
    return Closed(
        question=closed.question, options=options, answer_key=payload.order.index(closed.answer_key)
    )


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


# What a set of questions is made of: how many, and how long, by category.

_LENGTHS = (("longest", noted("max")), ("shortest", noted("min")), ("mean", noted("mean")))


_Rows = Sequence[tuple[Stratum, ShortAnswer]]


def item_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Questions by primary and secondary category and by type of answer: their number, and the
    lengths of questions and answers in tokens and in characters."""
    return _tables([(item.item.stratum, asked_of(item)) for item in items], tokens)


def fact_statistics(facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
    """The same of the facts of a bank."""
    return _tables([(fact.stratum, short_of(fact)) for fact in facts], tokens)


def _tables(rows: _Rows, tokens: TokenCounter) -> list[Tabulation]:
    kinds: list[tuple[str, str, Callable[[Stratum, ShortAnswer], str]]] = [
        (say("Questions by category"), say("category"), lambda place, _: place.discipline),
        (
            say("Questions by secondary category"),
            say("secondary category"),
            lambda place, _: " / ".join(filter(None, (place.discipline, place.field))),
        ),
        (say("Questions by type of answer"), say("answer"), lambda _, asked: asked.answer_type),
    ]
    return [_table(rows, tokens, title, head, kind) for title, head, kind in kinds]


def _table(
    rows: _Rows,
    tokens: TokenCounter,
    title: str,
    head: str,
    kind: Callable[[Stratum, ShortAnswer], str],
) -> Tabulation:
    groups: dict[str, list[ShortAnswer]] = {}
    for place, asked in rows:
        groups.setdefault(kind(place, asked) or say("not stated"), []).append(asked)
    lines = [(name, *_row(groups[name], tokens)) for name in sorted(groups)]
    if len(groups) != 1:
        lines.insert(0, (say("all"), *_row([asked for _place, asked in rows], tokens)))
    return Tabulation(
        title=title,
        columns=(Column(key="name", name=head), *_columns()),
        rows=tuple(lines),
        notes=(say("lengths in tokens, counted by {name}, and in characters", name=tokens.name),),
    )


def _columns() -> tuple[Column, ...]:
    parts = (
        ("question", say("question, tokens")),
        ("question_characters", say("characters")),
        ("answer", say("answer, tokens")),
        ("answer_characters", say("characters")),
    )
    lengths = [
        Column(key=f"{part}_{key}", group=group, name=word(name))
        for part, group in parts
        for key, name in _LENGTHS
    ]
    return (Column(key="n", name="n"), *lengths)


def _row(asked: Sequence[ShortAnswer], tokens: TokenCounter) -> tuple[Cell, ...]:
    counters: tuple[Callable[[str], int], ...] = (tokens, len)
    texts = ([each.question for each in asked], [each.answer for each in asked])
    lengths = [[count(text) for text in each] for each in texts for count in counters]
    return (len(asked), *(cell for counts in lengths for cell in _lengths(counts)))


def _lengths(counts: Sequence[int]) -> tuple[Cell, ...]:
    """The longest, the shortest and the mean; none of nothing."""
    if not counts:
        return (None, None, None)
    return (max(counts), min(counts), sum(counts) / len(counts))
