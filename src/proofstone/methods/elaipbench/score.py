"""Score responses strictly: 1 if exactly the correct options were chosen, otherwise 0 (A.5).

Partial credit is shown too and never ranked: overlap, options decided correctly, and
responses that choose too many or too few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.choices import likelihood
from proofstone.choices.extraction import joined
from proofstone.choices.outcomes import read_choices
from proofstone.methods.elaipbench.ask import STEP
from proofstone.methods.elaipbench.payloads import shown_of
from proofstone.records.calls import Judge
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.runs import Measure, Outcome, Response, Score, Worth
from proofstone.wording.messages import noted

# Incremented with every change that can move a score; each stored score records it.
SCORER_VERSION = 1


HEADLINE = "accuracy"


def units(item: LoadedItem, responses: Mapping[str, Response], sample: int) -> Sequence[Unit]:
    """Return the item as one unit, in the cluster of its document; empty without a response."""
    if STEP not in responses and likelihood.STEP not in responses:
        return ()
    (fact,) = item.facts
    document = fact.source
    cluster = ("item", item.item.id) if document is None else ("document", document)
    return (Unit(item=item, sample=sample, responses=responses, clusters=(cluster,)),)


async def score(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
    """Return the scores of units in order; no judge is needed."""
    return [each for place, unit in enumerate(units) for each in _scores(place, unit)]


def _scores(place: int, unit: Unit) -> list[Score]:
    shown = shown_of(unit.item)
    if likelihood.STEP in unit.responses:
        names = [joined(each) for each in shown.admissible]
        return likelihood.likelihood_scores(
            place, unit.responses, names, joined(shown.right), HEADLINE
        )
    reading = read_choices(unit.responses[STEP], shown.letters, shown.options)
    letters = reading.extraction.letter
    chosen = set(letters.split(", ")) if reading.outcome == "answered" else set()
    right = set(shown.right)
    outcome = reading.outcome
    answered = outcome == "answered"
    flags = reading.flags
    if answered and joined(sorted(chosen)) not in map(joined, shown.admissible):
        flags = (*flags, _INADMISSIBLE)

    def score(measure: str, value: float) -> Score:
        return Score(
            unit=place, measure=measure, outcome=outcome, value=value if answered else None,
            answer=letters, basis=reading.extraction.tier, flags=flags,
        )  # fmt: skip

    n = len(shown.options)
    return [
        score(HEADLINE, float(chosen == right)),
        score(OVERLAP, len(chosen & right) / len(chosen | right) if chosen else 0.0),
        score(BY_OPTION, 1.0 - len(chosen ^ right) / n),
        score(TOO_MANY, float(bool(chosen - right))),
        score(TOO_FEW, float(bool(right - chosen))),
    ]


_INADMISSIBLE = "inadmissible number of options"


def answer_key(unit: Unit) -> tuple[str, int]:
    """Return the correct letters, and the number of answers that the question admits."""
    shown = shown_of(unit.item)
    return joined(shown.right), shown.n_admissible


# What is counted of it.

OVERLAP, BY_OPTION, TOO_MANY, TOO_FEW = "overlap", "by option", "over-selected", "under-selected"


_ALL = noted("all scored responses")


_FINISHED = noted("all responses with an answer")


def _counts(answered: Worth, others: Worth) -> Mapping[Outcome, Worth]:
    return {
        "answered": answered,
        "refused": others,
        "unparsed": others,
        "truncated": others,
    }


def _share(name: str, outcome: Outcome) -> Measure:
    counts = {**_counts(0.0, 0.0), outcome: 1.0}
    return Measure(name=name, of=HEADLINE, counts=counts, denominator=_ALL)


MEASURES = (
    Measure(name=HEADLINE, of=HEADLINE, counts=_counts("value", 0.0), denominator=_ALL),
    Measure(
        name="accuracy if answered",
        of=HEADLINE,
        counts=_counts("value", None),
        denominator=_FINISHED,
        label=noted("if answered"),
    ),
    Measure(name="no answer", of=HEADLINE, counts=_counts(0.0, 1.0), denominator=_ALL),
    _share("refused", "refused"),
    _share("unparsed", "unparsed"),
    _share("truncated", "truncated"),
    *(
        Measure(name=name, of=name, counts=_counts("value", None), denominator=_FINISHED)
        for name in (OVERLAP, BY_OPTION, TOO_MANY, TOO_FEW)
    ),
    *likelihood.MEASURES,
)
