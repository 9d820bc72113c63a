"""Scoring: one unit an item, right or wrong by the option, or the verdict, that the reply gave.

What each outcome counts as (MEASURES): unparsed, refused and truncated replies are wrong, and are
reported as missing too; a failed call is no reply, and no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from proofstone.engines.choices import Reading, labels, read_choice, read_verdict
from proofstone.engines.choices.options import option_text
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
)
from proofstone.ports import Judge
from proofstone.records import Fact, LoadedItem, Measure, Outcome, Reply, Score, Unit

__all__ = ["MEASURES", "SCORER_VERSION", "gold", "score", "units"]

# Raised with every change that can move a score; each stored score names it.
SCORER_VERSION = 1

_STEP = "answer"
_Question: TypeAlias = ComposedQuestion | ChoiceQuestion | SingleStatement
_Counts = Mapping[Outcome, Literal["value"] | float | None]


def _rate(outcome: Outcome) -> _Counts:
    """Counts of the share of replies with this outcome."""
    counts: dict[Outcome, Literal["value"] | float | None] = {
        "answered": 0.0,
        "refused": 0.0,
        "unparsed": 0.0,
        "truncated": 0.0,
    }
    return {**counts, outcome: 1.0}


def _measure(name: str, counts: _Counts) -> Measure:
    return Measure(name=name, of="accuracy", counts=counts, denominator="all scored replies")


MEASURES = (
    _measure("accuracy", {"answered": "value", "refused": 0.0, "unparsed": 0.0, "truncated": 0.0}),
    _measure("miss", {"answered": 0.0, "refused": 1.0, "unparsed": 1.0, "truncated": 1.0}),
    _measure("refused", _rate("refused")),
    _measure("unparsed", _rate("unparsed")),
    _measure("truncated", _rate("truncated")),
)


def units(item: LoadedItem, replies: Mapping[str, Reply], sample: int) -> Sequence[Unit]:
    """The item as the one unit, or none where the reply of step "answer" is missing.

    Questions depend on one another through the statements they share. A falsified statement
    counts as the true one it came from: who knows one can tell the other. A question made
    elsewhere, without statements, stands for itself.
    """
    if _STEP not in replies:
        return ()
    return (Unit(item=item, sample=sample, replies=replies, clusters=_clusters(item)),)


def _clusters(item: LoadedItem) -> tuple[tuple[str, bytes], ...]:
    """One edge a statement, in the item's order; a key that two statements share stands once."""
    if not item.facts:
        return (("item", item.item.id),)
    keys = dict.fromkeys([fact.payload.origin or fact.id for fact in item.facts])
    return tuple([("statement", key) for key in keys])


async def score(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
    """One score a unit, in order: 1 where the chosen letter, or the verdict, is the gold one, 0
    where it is another, none where the reply chose nothing. No judge is needed."""
    return [_score(place, unit) for place, unit in enumerate(units)]


def _score(place: int, unit: Unit) -> Score:
    """The score of the unit at ``place``."""
    right, _n = gold(unit)
    reading = _read(unit.item.item.payload, unit.replies[_STEP])
    found = reading.extraction
    answered = reading.outcome == "answered"
    return Score(
        unit=place,
        measure="accuracy",
        outcome=reading.outcome,
        value=float(found.letter == right) if answered else None,
        answer=found.letter,
        basis=f"{found.tier}, {found.scope}" if found.tier else "",
        flags=reading.flags,
    )


def _read(question: _Question, reply: Reply) -> Reading:
    """What the reply chose of what it was asked."""
    if isinstance(question, SingleStatement):
        return read_verdict(reply)
    return read_choice(reply, labels(len(question.options)), _option_texts(question))


def _option_texts(question: ComposedQuestion | ChoiceQuestion) -> Sequence[str]:
    """The options as they are shown."""
    if isinstance(question, ChoiceQuestion):
        return question.options
    return [_shown(option) for option in question.options]


@lru_cache(maxsize=8192)
def _shown(option: tuple[int, ...]) -> str:
    """An option as it is shown; a form has few different ones and asks for them at every score."""
    return option_text(option)


def gold(unit: Unit) -> tuple[str, int]:
    """The right letter and the number of options; of a single statement its truth, and two."""
    question: _Question = unit.item.item.payload
    if isinstance(question, SingleStatement):
        (fact,) = unit.item.facts
        return _truth(fact), 2
    n = len(question.options)
    return labels(n)[question.gold], n


def _truth(fact: Fact) -> str:
    return "true" if fact.payload.correct else "false"
