"""Score responses: one unit per item, correct or incorrect by the chosen option or verdict.

If a question asks for a verdict on each statement, its score is the share of correct verdicts, with
missing ones incorrect. Each statement is also a unit. ``measures`` defines how outcomes count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from proofstone.choices import likelihood
from proofstone.choices.answer_format import read_answer_format
from proofstone.choices.extraction import joined
from proofstone.choices.options import labels, option_text
from proofstone.choices.outcomes import (
    Reading,
    VerdictReadings,
    opens_with_refusal,
    read_choice,
    read_choices,
    read_verdict,
    read_verdicts,
)
from proofstone.method import ShownOptions
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    JudgedStatement,
    SingleStatement,
)
from proofstone.methods.encyclo_k.questions import STEP, VERDICTS
from proofstone.records.calls import Judge
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.knowledge import Fact
from proofstone.records.runs import Measure, Outcome, Response, Scale, Score, Worth
from proofstone.wording.messages import noted

# Incremented with every change that can move a score; each stored score records it.
SCORER_VERSION = 2


_Question: TypeAlias = ComposedQuestion | ChoiceQuestion | SingleStatement


def units(item: LoadedItem, responses: Mapping[str, Response], sample: int) -> Sequence[Unit]:
    """Return the item as a unit, then each statement with a requested verdict.

    Empty if the response of the last step is missing. Questions that share statements are in one
    cluster. A false statement shares the cluster of its true one, since knowledge of either answers
    both. An imported question is its own cluster.
    """
    if STEP in responses or likelihood.STEP in responses:
        return (Unit(item=item, sample=sample, responses=responses, clusters=_clusters(item)),)
    if VERDICTS not in responses:
        return ()
    whole = Unit(item=item, sample=sample, responses=responses, clusters=_clusters(item))
    return (whole, *[_judged(whole, place) for place in range(len(item.facts))])


def _judged(whole: Unit, place: int) -> Unit:
    """Return the unit of one statement of a question."""
    return Unit(
        item=whole.item,
        kind=JUDGED,
        payload=JudgedStatement(place=place),
        sample=whole.sample,
        responses=whole.responses,
        clusters=(("statement", _origin(whole.item.facts[place])),),
    )


def _clusters(item: LoadedItem) -> tuple[tuple[str, bytes], ...]:
    """Return one cluster edge per statement, in the item's order, without duplicates."""
    if not item.facts:
        return (("item", item.item.id),)
    keys = dict.fromkeys([_origin(fact) for fact in item.facts])
    return tuple([("statement", key) for key in keys])


def _origin(fact: Fact) -> bytes:
    """Return the true statement that a statement is or derives from."""
    return fact.payload.origin or fact.id


async def score(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
    """Return one score per unit, in order; no judge is needed.

    1 for the correct letter or verdict, 0 for another one, none without an answer. For a question
    with verdicts, their mean. Option likelihood adds ``likelihood_scores``.
    """
    scores: list[Score] = []
    read: tuple[object, VerdictReadings] | None = None  # several units of one response
    for place, unit in enumerate(units):
        response = unit.responses.get(VERDICTS)
        if likelihood.STEP in unit.responses:
            names = _labels(unit.item.item.payload)
            right = answer_key(unit)[0]
            scores += likelihood.likelihood_scores(place, unit.responses, names, right, "accuracy")
        elif response is None:
            scores.append(_score(place, unit))
        else:
            if read is None or read[0] is not response:
                read = response, read_verdicts(response, len(unit.item.facts))
            scores.append(_verdict_score(place, unit, read[1]))
    return scores


def _labels(question: _Question) -> Sequence[str]:
    """The labels of what can be chosen: letters, or the two verdicts."""
    if isinstance(question, SingleStatement):
        return ("true", "false")
    return labels(len(question.options))


def _score(place: int, unit: Unit) -> Score:
    """Return the score of the unit at ``place``."""
    reading = _read(unit.item.item.payload, unit.responses[STEP])
    return _scored(place, "accuracy", reading, answer_key(unit)[0])


def _scored(place: int, measure: str, reading: Reading, right: str) -> Score:
    found = reading.extraction
    answered = reading.outcome == "answered"
    return Score(
        unit=place,
        measure=measure,
        outcome=reading.outcome,
        value=float(found.letter == right) if answered else None,
        answer=found.letter,
        basis=f"{found.tier}, {found.scope}" if found.tier else "",
        flags=reading.flags,
    )


def _verdict_score(place: int, unit: Unit, verdicts: VerdictReadings) -> Score:
    """Return the score of a statement, or of a question with verdicts."""
    if unit.kind == JUDGED:
        reading = verdicts.readings[unit.payload.place]
        return _scored(place, "verdict", reading, answer_key(unit)[0])
    said = [reading.extraction.letter for reading in verdicts.readings]
    right = [_truth(fact) == one for fact, one in zip(unit.item.facts, said, strict=True)]
    answered = verdicts.outcome == "answered"
    return Score(
        unit=place,
        measure="accuracy",
        outcome=verdicts.outcome,
        value=sum(right) / len(right) if answered else None,
        answer=", ".join([one or "-" for one in said]) if answered else "",
        basis="verdicts" if answered else "",
        flags=verdicts.flags,
    )


def _read(question: _Question, response: Response) -> Reading:
    """Parse the answer from the response."""
    if isinstance(question, SingleStatement):
        return read_verdict(response)
    stated = question.answer_format if isinstance(question, ChoiceQuestion) else ""
    if stated and not response.is_extracted:  # a run's own format overrides the form's
        is_refusal = opens_with_refusal(response.text)
        response = read_answer_format(stated).applied(response, is_refusal=is_refusal)
    if isinstance(question, ChoiceQuestion) and question.also:
        return read_choices(response, labels(len(question.options)))
    return read_choice(response, labels(len(question.options)), _option_texts(question))


def options_shown(item: LoadedItem) -> ShownOptions | None:
    """Return the options of a question, and the places of the correct ones; None for a
    statement."""
    question: _Question = item.item.payload
    if isinstance(question, SingleStatement):
        return None
    several = isinstance(question, ChoiceQuestion) and bool(question.also)
    right = question.answer_keys if isinstance(question, ChoiceQuestion) else (question.answer_key,)
    return ShownOptions(tuple(_option_texts(question)), tuple(right), several=several)


def _option_texts(question: ComposedQuestion | ChoiceQuestion) -> Sequence[str]:
    """Return the options as shown."""
    if isinstance(question, ChoiceQuestion):
        return question.options
    return [_shown(option) for option in question.options]


@lru_cache(maxsize=8192)
def _shown(option: tuple[int, ...]) -> str:
    """Return an option as shown; cached, since a form has few different ones."""
    return option_text(option)


def answer_key(unit: Unit) -> tuple[str, int]:
    """Return the correct letter and the number of options; for a statement, its truth and two."""
    if unit.kind == JUDGED:
        return _truth(unit.item.facts[unit.payload.place]), 2
    question: _Question = unit.item.item.payload
    if isinstance(question, SingleStatement):
        (fact,) = unit.item.facts
        return _truth(fact), 2
    n = len(question.options)
    if isinstance(question, ChoiceQuestion) and question.also:
        # Exactly these: one of all non-empty sets.
        return joined([labels(n)[place] for place in question.answer_keys]), 2**n - 1
    return labels(n)[question.answer_key], n


def _truth(fact: Fact) -> str:
    return "true" if fact.payload.correct else "false"


# How each outcome counts, in one table, and further counts of true/false verdicts.

HEADLINE = "accuracy"


# The unit and the scores of one statement of a question with verdicts.
JUDGED = "encyclo_k.judged"


_Counts: TypeAlias = Mapping[Outcome, Worth]


_WRONG: _Counts = {"answered": "value", "refused": 0.0, "unparsed": 0.0, "truncated": 0.0}


_MISSED: _Counts = {"answered": 0.0, "refused": 1.0, "unparsed": 1.0, "truncated": 1.0}


_GIVEN: _Counts = {"answered": "value", "refused": None, "unparsed": None, "truncated": None}


def _rate(outcome: Outcome) -> _Counts:
    """Return a measure of the share of responses with this outcome."""
    counts: dict[Outcome, Worth] = {
        "answered": 0.0,
        "refused": 0.0,
        "unparsed": 0.0,
        "truncated": 0.0,
    }
    return {**counts, outcome: 1.0}


def _measure(name: str, counts: _Counts) -> Measure:
    return Measure(
        name=name, of="accuracy", counts=counts, denominator=noted("all scored responses")
    )


def _bias(prefix: str, of: str, unit: str, among: tuple[str, str, str]) -> tuple[Measure, ...]:
    """Return measures of verdict bias.

    They are the share of ``true`` verdicts, and the accuracy on true and on false statements (a
    missing verdict is incorrect). ``among`` are the three denominators in words.
    """
    return (
        Measure(
            name=f"{prefix}said_true",
            of=of,
            unit=unit,
            counts=_GIVEN,
            answer_keys=("true", "false"),
            says="true",
            denominator=among[0],
            label=noted("says true"),
        ),
        *(
            Measure(
                name=f"{prefix}true_{sign}",
                of=of,
                unit=unit,
                counts=_WRONG,
                answer_keys=(answer_key,),
                denominator=denominator,
                label=label,
            )
            for sign, answer_key, denominator, label in (
                ("positive", "true", among[1], noted("of true")),
                ("negative", "false", among[2], noted("of false")),
            )
        ),
    )


MEASURES = (
    _measure(HEADLINE, _WRONG),
    _measure("no answer", _MISSED),
    _measure("refused", _rate("refused")),
    _measure("unparsed", _rate("unparsed")),
    _measure("truncated", _rate("truncated")),
    *_bias(
        "",
        "accuracy",
        "item",
        (
            noted("all single statements with a verdict"),
            noted("all single statements that are true"),
            noted("all single statements that are false"),
        ),
    ),
    Measure(
        name="verdict_accuracy",
        of="verdict",
        unit=JUDGED,
        counts=_WRONG,
        denominator=noted("all statements of the questions"),
    ),
    Measure(
        name="verdict_miss",
        of="verdict",
        unit=JUDGED,
        counts=_MISSED,
        denominator=noted("all statements of the questions"),
        label=noted("no verdict"),
    ),
    *_bias(
        "verdict_",
        "verdict",
        JUDGED,
        (
            noted("all statements of the questions with a verdict"),
            noted("all statements of the questions that are true"),
            noted("all statements of the questions that are false"),
        ),
    ),
    *likelihood.MEASURES,
)


_SHARE = Scale(
    name=noted("True/false per statement"),
    what=noted("a question's score is the share of its statements judged correctly"),
    chance=0.5,
)


SCALES: Mapping[str, Scale] = {
    "verdicts": _SHARE,
    "verdicts-cot": _SHARE,
    **likelihood.SCALES,
}
