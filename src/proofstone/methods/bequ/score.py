"""Score responses: one unit for the entity, and one for each of its triples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.methods.bequ.ask import TRIPLES
from proofstone.methods.bequ.entities import ElicitedTriple, Entity, entity_of
from proofstone.methods.bequ.response_triples import elicited, triple_of
from proofstone.records.calls import Judge
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.runs import Measure, Outcome, Response, Score, Worth
from proofstone.wording.messages import noted

HEADLINE = "given"


GIVEN = "given"


RECOVERED = "recovered"


TRIPLE = "bequ.triple"


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
    Measure(
        name=HEADLINE, of=GIVEN, counts=_GIVEN, denominator=noted("all entities with a response")
    ),
    Measure(
        name="abstained",
        of=GIVEN,
        counts=_ABSTAINED,
        denominator=noted("all entities with a response"),
        label=noted("abstained"),
    ),
    Measure(
        name="given_to_nonexistent",
        of=GIVEN,
        counts=_GIVEN,
        answer_keys=("nonexistent",),
        denominator=noted("all non-existent entities with a response"),
        label=noted("of fictional"),
    ),
    Measure(
        name=RECOVERED,
        of=RECOVERED,
        unit=TRIPLE,
        counts=_OF_TRIPLES,
        denominator=noted("all parsed triples, without repetitions"),
        label=noted("recovered"),
    ),
)


# Verified triples as scored units, and their records.


# Incremented with every change that can move a score, including parsing. Each score stores it.
SCORER_VERSION = 2


_SHOWN = 200  # characters of a triple that are stored with its score


def units(item: LoadedItem, responses: Mapping[str, Response], sample: int) -> Sequence[Unit]:
    """Return the units: the entity, then each distinct triple; empty without a response.

    Units of one entity are in one cluster.
    """
    if TRIPLES not in responses:
        return ()
    of_entity = (("entity", item.item.id),)
    whole = Unit(item=item, sample=sample, responses=responses, clusters=of_entity)
    said = elicited(entity_of(item), responses)
    return [
        whole,
        *(
            Unit(
                item=item,
                kind=TRIPLE,
                payload=triple_of(triple),
                sample=sample,
                responses=responses,
                clusters=of_entity,
            )
            for triple in said.triples
        ),
    ]


async def score(units: Sequence[Unit], _judge: Judge | None) -> Sequence[Score]:
    """Return a score for each unit, in order."""
    read: dict[int, _Read] = {}  # cached by response, which the units of one entity share
    scores = []
    for place, unit in enumerate(units):
        known = read.get(id(unit.responses))
        if known is None:
            known = read[id(unit.responses)] = _Read(entity_of(unit.item), unit.responses)
        make = _of_entity if unit.kind == "item" else _of_triple
        scores.append(make(place, unit, known))
    return scores


def answer_key(unit: Unit) -> tuple[str, int]:
    """Return whether the entity exists; a non-existent entity has no reference."""
    return ("nonexistent" if entity_of(unit.item).is_nonexistent else "real"), 0


class _Read:
    """Hold a parsed response, its triples by normalized text."""

    def __init__(self, entity: Entity, responses: Mapping[str, Response]) -> None:
        self.said = elicited(entity, responses)
        self.by_triple = {triple_of(each): each for each in self.said.triples}
        self.others = {triple_of(each) for each in self.said.about_others(entity)}

    def counts(self) -> list[str]:
        """Return counts of a response beyond its number of triples."""
        said = self.said
        counts = {
            "recovered": said.n_recovered,
            "said again": said.n_said - len(said.triples),
            "about another entity": len(self.others),
            "parts unread": len(said.unread),
        }
        return [f"{n} {what}" for what, n in counts.items() if n]


def _of_entity(place: int, _unit: Unit, read: _Read) -> Score:
    said = read.said
    n = len(said.triples)
    return Score(
        unit=place,
        measure=GIVEN,
        outcome=said.outcome,
        value=float(n > 0) if said.outcome == "answered" else None,
        answer="1 triple" if n == 1 else f"{n:,} triples",
        basis="abstention" if said.has_abstained else "parsing the response",
        flags=(*said.flags, *read.counts()),
    )


def _of_triple(place: int, unit: Unit, read: _Read) -> Score:
    triple: ElicitedTriple = unit.payload
    found = read.by_triple[triple]
    text = f"{triple.subject} | {triple.predicate} | {triple.object}"
    flags = [f"at {found.first.start}-{found.first.end}"]
    flags += [f"elicited {found.times} times"] if found.again else []
    flags += ["about another entity"] if triple in read.others else []
    return Score(
        unit=place,
        measure=RECOVERED,
        outcome="answered",
        value=float(found.first.is_recovered),
        answer=text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...",
        basis=" and ".join(found.first.faults) or "JSON as asked for",
        flags=tuple(flags),
    )
