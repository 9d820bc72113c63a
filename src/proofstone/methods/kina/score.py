"""Score responses: 1 for the letter of the one correct option, 0 for another one (section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.choices import likelihood
from proofstone.choices.outcomes import read_choice
from proofstone.methods.kina.ask import STEP
from proofstone.methods.kina.payloads import letters_of, question_of
from proofstone.records.calls import Judge
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.runs import Measure, Outcome, Response, Score, Worth
from proofstone.wording.messages import noted

# Incremented with every change that can move a score; each stored score records it.
SCORER_VERSION = 1


HEADLINE = "accuracy"


def units(item: LoadedItem, responses: Mapping[str, Response], sample: int) -> Sequence[Unit]:
    """Return the item as one unit; empty without the response of its last step.

    Composed questions are in one cluster if they share a statement, any other is its own.
    """
    if STEP not in responses and likelihood.STEP not in responses:
        return ()
    kind = "statement" if len(item.facts) > 1 else "item"
    keys = item.item.facts if kind == "statement" else (item.item.id,)
    clusters = tuple((kind, key) for key in keys)
    return (Unit(item=item, sample=sample, responses=responses, clusters=clusters),)


async def score(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
    """Return the scores of units in order; no judge is needed. Likelihood adds its own measures."""
    return [each for place, unit in enumerate(units) for each in _scores(place, unit)]


def _scores(place: int, unit: Unit) -> list[Score]:
    question = question_of(unit.item)
    letters, right = letters_of(question), answer_key(unit)[0]
    if likelihood.STEP in unit.responses:
        return likelihood.likelihood_scores(place, unit.responses, letters, right, HEADLINE)
    reading = read_choice(unit.responses[STEP], letters, question.options)
    found = reading.extraction
    is_answered = reading.outcome == "answered"
    return [
        Score(
            unit=place,
            measure=HEADLINE,
            outcome=reading.outcome,
            value=float(found.letter == right) if is_answered else None,
            answer=found.letter,
            basis=found.tier,
            flags=reading.flags,
        )
    ]


def answer_key(unit: Unit) -> tuple[str, int]:
    """Return the letter of the correct option, and the number of options: chance is 1 of 10."""
    question = question_of(unit.item)
    letters = letters_of(question)
    return letters[question.answer_key], len(letters)


# What is counted of it.

_ALL = noted("all scored responses")


def _counts(answered: Worth, others: Worth) -> Mapping[Outcome, Worth]:
    return {
        "answered": answered,
        "refused": others,
        "unparsed": others,
        "truncated": others,
    }


def _share(outcome: Outcome) -> Measure:
    counts = {**_counts(0.0, 0.0), outcome: 1.0}
    return Measure(name=outcome, of=HEADLINE, counts=counts, denominator=_ALL)


MEASURES = (
    Measure(name=HEADLINE, of=HEADLINE, counts=_counts("value", 0.0), denominator=_ALL),
    Measure(
        name="accuracy if answered",
        of=HEADLINE,
        counts=_counts("value", None),
        denominator=noted("all responses with an answer"),
        label=noted("if answered"),
    ),
    Measure(name="no answer", of=HEADLINE, counts=_counts(0.0, 1.0), denominator=_ALL),
    _share("refused"),
    _share("unparsed"),
    _share("truncated"),
    *likelihood.MEASURES,
)


# Leaderboards without generated responses, which are ranked apart.

SCALES = likelihood.SCALES
