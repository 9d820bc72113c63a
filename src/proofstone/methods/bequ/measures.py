"""What each outcome counts as, in one table.

``answered`` is a reply with triples (1), or one that says that nothing is known (0); ``unparsed``
one in which nothing could be read, ``truncated`` one that was cut off before its first triple.
"""

from __future__ import annotations

from collections.abc import Mapping

from proofstone.records import Measure, Outcome, Worth
from proofstone.wording import noted

__all__ = ["GIVEN", "HEADLINE", "KNOWN", "MEASURES", "RECOVERED", "TRIPLE"]

HEADLINE = "given"
GIVEN = "given"
RECOVERED = "recovered"
TRIPLE = "bequ.triple"
KNOWN = "bequ.known"

_GIVEN: Mapping[Outcome, Worth] = {
    "answered": "value",
    "refused": 0.0,
    "unparsed": 0.0,
    "truncated": 0.0,
}
_ABSTAINED: Mapping[Outcome, Worth] = {**_GIVEN, "answered": "rest", "refused": 1.0}
_OF_TRIPLES: Mapping[Outcome, Worth] = {
    "answered": "value",
    "refused": None,
    "unparsed": None,
    "truncated": None,
}

MEASURES = (
    Measure(name=HEADLINE, of=GIVEN, counts=_GIVEN, denominator=noted("all entities with a reply")),
    Measure(
        name="abstained",
        of=GIVEN,
        counts=_ABSTAINED,
        denominator=noted("all entities with a reply"),
        label=noted("abstained"),
    ),
    Measure(
        name="given_to_fictional",
        of=GIVEN,
        counts=_GIVEN,
        golds=("fictional",),
        denominator=noted("all fictional entities with a reply"),
        label=noted("of fictional"),
    ),
    Measure(
        name=RECOVERED,
        of=RECOVERED,
        unit=TRIPLE,
        counts=_OF_TRIPLES,
        denominator=noted("all triples that were read, repetitions left out"),
        label=noted("recovered"),
    ),
)
