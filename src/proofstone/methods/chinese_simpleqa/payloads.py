"""Define stored payloads: short questions (imported or from facts) and multiple-choice questions.

The latter contain the answer among their options (appendix C).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from proofstone.records.calls import TokenCounter
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.wording.messages import noted, say, word

# Empty if unknown.
AnswerType = Literal["", "date", "number", "person", "place", "organisation", "other"]


ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)


PUBLISHED = "as-published"


# Prompting methods without a marked answer: the full response is the answer.
BARE = frozenset({"direct", PUBLISHED})


# Question kinds: open, or multiple-choice in original or random order.
Posed = Literal["open", "original", "shuffled"]


# Origin of a twin's second form: open question from options, or options for an open question.
TwinMade = Literal["", "converted", "generated"]


class ShortAnswer(Struct, frozen=True, gc=False, kw_only=True):
    """Hold a question with one correct answer, and its aliases.

    ``tolerance`` is the accepted deviation of a number, 0 unless the question states one. ``urls``
    are supporting pages. ``valid_at`` is the date of the supporting document, if stated (otherwise
    omitted from the bytes).
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
        """Return ``valid_at``, empty if not stated."""
        return "" if isinstance(self.valid_at, UnsetType) else self.valid_at

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the reference answer and its aliases."""
        return (self.answer, *self.aliases)


class ShortQuestion(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.question"):
    """Hold an imported item, with all its texts."""


class Pair(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.pair"):
    """Hold a fact: a question with its answer, as stored in a bank."""


class Closed(Struct, frozen=True, gc=False, kw_only=True):
    """Hold a question over ``options`` in order; the one at ``answer_key`` is correct."""

    question: str
    options: tuple[str, ...]
    answer_key: int

    @property
    def right(self) -> str:
        """Return the correct option's text."""
        return self.options[self.answer_key]


class Choice(Closed, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.choice"):
    """Hold a fact: a multiple-choice question, unchanged from its source."""


class Twin(ShortAnswer, frozen=True, kw_only=True, tag="chinese_simpleqa.twin"):
    """Hold a fact: one question in two forms, open, and ``closed_question`` over ``options``.

    The option at ``answer_key`` is correct. ``origin`` is the source fact: the choice that was
    ``converted``, or the pair for which options were ``generated``.
    """

    closed_question: str
    options: tuple[str, ...]
    answer_key: int
    origin: bytes | None = None
    made: TwinMade = ""

    @property
    def closed(self) -> Closed:
        """Return its multiple-choice form."""
        return Closed(
            question=self.closed_question, options=self.options, answer_key=self.answer_key
        )


class AskedPair(Struct, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.asked"):
    """Mark an item that asks its one fact as an open question; the fact holds all data."""


class AskedChoice(Struct, frozen=True, gc=False, kw_only=True, tag="chinese_simpleqa.asked_choice"):
    """Mark an item that asks its one fact as multiple choice; ``order`` are the options' places as
    shown.
    """

    order: tuple[int, ...]


def asked_of(loaded: LoadedItem) -> ShortAnswer:
    """Return an item's question and answer; for multiple choice, the correct option."""
    payload: ShortQuestion | AskedPair | AskedChoice = loaded.item.payload
    if isinstance(payload, ShortQuestion):
        return payload
    closed = closed_of(loaded)
    if closed is not None:
        return ShortAnswer(question=closed.question, answer=closed.right)
    (fact,) = loaded.facts
    return short_of(fact)


def closed_of(loaded: LoadedItem) -> Closed | None:
    """Return an item's multiple-choice question in the order shown; None for an open question."""
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
    """Return the multiple-choice form of a fact; None without one."""
    payload: Pair | Choice | Twin = fact.payload
    if isinstance(payload, Twin):
        return payload.closed
    return payload if isinstance(payload, Choice) else None


def short_of(fact: Fact) -> ShortAnswer:
    """Return the question and answer of a fact; for multiple choice, the question without
    options."""
    payload: Pair | Choice | Twin = fact.payload
    if isinstance(payload, Choice):
        return ShortAnswer(question=payload.question, answer=payload.right)
    return payload


# Statistics of a set of questions: counts and lengths, by category.

_LENGTHS = (("longest", noted("max")), ("shortest", noted("min")), ("mean", noted("mean")))


_Rows = Sequence[tuple[Stratum, ShortAnswer]]


def item_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Return tables of questions by primary and secondary category, and by answer type.

    They have the number of questions, and the lengths of questions and answers in tokens and
    characters.
    """
    return _tables([(item.item.stratum, asked_of(item)) for item in items], tokens)


def fact_statistics(facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Return the same tables for the facts of a bank."""
    return _tables([(fact.stratum, short_of(fact)) for fact in facts], tokens)


def _tables(rows: _Rows, tokens: TokenCounter) -> list[Tabulation]:
    kinds: list[tuple[str, str, Callable[[Stratum, ShortAnswer], str]]] = [
        (say("Questions by category"), say("category"), lambda place, _: place.discipline),
        (
            say("Questions by secondary category"),
            say("secondary category"),
            lambda place, _: " / ".join(filter(None, (place.discipline, place.field))),
        ),
        (say("Questions by answer type"), say("answer"), lambda _, asked: asked.answer_type),
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
    """Return the maximum, minimum and mean; None without data."""
    if not counts:
        return (None, None, None)
    return (max(counts), min(counts), sum(counts) / len(counts))
