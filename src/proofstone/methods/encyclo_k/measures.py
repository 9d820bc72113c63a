"""What each outcome counts as, in one table, and what else is counted of true/false verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from proofstone.records.runs import Measure, Outcome, Scale, Worth
from proofstone.wording.messages import noted

HEADLINE = "accuracy"


# The unit and the scores of one statement of a question that is asked for verdicts.
JUDGED = "encyclo_k.judged"


_Counts: TypeAlias = Mapping[Outcome, Worth]


_WRONG: _Counts = {"answered": "value", "refused": 0.0, "unparsed": 0.0, "truncated": 0.0}


_MISSED: _Counts = {"answered": 0.0, "refused": 1.0, "unparsed": 1.0, "truncated": 1.0}


_GIVEN: _Counts = {"answered": "value", "refused": None, "unparsed": None, "truncated": None}


def _rate(outcome: Outcome) -> _Counts:
    """Counts of the share of replies with this outcome."""
    counts: dict[Outcome, Worth] = {
        "answered": 0.0,
        "refused": 0.0,
        "unparsed": 0.0,
        "truncated": 0.0,
    }
    return {**counts, outcome: 1.0}


def _measure(name: str, counts: _Counts) -> Measure:
    return Measure(name=name, of="accuracy", counts=counts, denominator=noted("all scored replies"))


def _bias(prefix: str, of: str, unit: str, among: tuple[str, str, str]) -> tuple[Measure, ...]:
    """How verdicts lean: the share of ``true`` among those given, and how many of the true and of
    the false statements were judged right (a missing verdict is wrong); ``among`` are the
    denominators of the three, in words."""
    return (
        Measure(
            name=f"{prefix}said_true",
            of=of,
            unit=unit,
            counts=_GIVEN,
            golds=("true", "false"),
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
                golds=(gold,),
                denominator=denominator,
                label=label,
            )
            for sign, gold, denominator, label in (
                ("positive", "true", among[1], noted("of true")),
                ("negative", "false", among[2], noted("of false")),
            )
        ),
    )


MEASURES = (
    _measure(HEADLINE, _WRONG),
    _measure("miss", _MISSED),
    _measure("refused", _rate("refused")),
    _measure("unparsed", _rate("unparsed")),
    _measure("truncated", _rate("truncated")),
    *_bias(
        "",
        "accuracy",
        "item",
        (
            noted("all statements asked about with a verdict"),
            noted("all statements asked about that are true"),
            noted("all statements asked about that are false"),
        ),
    ),
    Measure(
        name="verdict_accuracy",
        of="verdict",
        unit=JUDGED,
        counts=_WRONG,
        denominator=noted("all statements of the questions asked"),
    ),
    Measure(
        name="verdict_miss",
        of="verdict",
        unit=JUDGED,
        counts=_MISSED,
        denominator=noted("all statements of the questions asked"),
        label=noted("no verdict"),
    ),
    *_bias(
        "verdict_",
        "verdict",
        JUDGED,
        (
            noted("all statements of the questions asked with a verdict"),
            noted("all statements of the questions asked that are true"),
            noted("all statements of the questions asked that are false"),
        ),
    ),
)


_SHARE = Scale(
    name=noted("True or false of each statement"),
    what=noted("a question's score is the share of its statements that were judged right"),
    chance=0.5,
)


SCALES: Mapping[str, Scale] = {"verdicts": _SHARE, "verdicts-cot": _SHARE}
