"""What each outcome counts as, in one table.

``answered`` is a reply with triples (1), or one that says that nothing is known (0); ``unparsed``
one in which nothing could be read, ``truncated`` one that was cut off before its first triple.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofstone.methods.bequ.entities import ElicitedTriple, KnownTriple, entity_of
from proofstone.methods.bequ.records import ReferenceTriple, family_of
from proofstone.methods.bequ.verification.records import EntityFacts, TripleText
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.runs import Measure, Outcome, Worth
from proofstone.records.verdicts import Passage
from proofstone.wording.messages import noted

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


# Verified triples as units that are scored, and read back from them.

_LONGEST = 4_000  # characters of a passage; a whole article is not kept with each of its triples


_WIKIDATA = "https://www.wikidata.org/wiki/"


def said_unit(item: LoadedItem, triple: ElicitedTriple, sample: int) -> Unit:
    """The unit of a triple that was said of an entity."""
    return Unit(item=item, kind=TRIPLE, payload=triple, sample=sample, clusters=_clusters(item))


def known_unit(item: LoadedItem, known: ReferenceTriple, place: int, sample: int) -> Unit:
    """The unit of a reference triple of an entity, looked for in a sample of its replies."""
    passage = known.passage
    payload = KnownTriple(
        predicate=known.predicate,
        object=known.object,
        passage=passage.text if len(passage.text) <= _LONGEST else "",
        source=passage.source,
        title=passage.title,
        url=passage.url,
        place=place,
    )
    return Unit(item=item, kind=KNOWN, payload=payload, sample=sample, clusters=_clusters(item))


def triple_text(entity: str, payload: Any) -> TripleText:
    """What the payload of a unit says of an entity."""
    if isinstance(payload, KnownTriple):
        passage = Passage(payload.passage, payload.source, payload.title, payload.url)
        subject = entity
    else:
        passage, subject = Passage(""), payload.subject
    family = family_of(payload.predicate)
    return TripleText(subject, payload.predicate, payload.object, family, passage)


def entity_facts(item: LoadedItem) -> EntityFacts:
    """What is known of an entity that is asked about; its page is that of Wikipedia, else that of
    Wikidata."""
    entity, stratum = entity_of(item), item.item.stratum
    page = entity.wikipedia or (f"{_WIKIDATA}{entity.wikidata}" if entity.wikidata else "")
    return EntityFacts(
        name=entity.name,
        identity=entity.wikidata,
        domain=stratum.discipline,
        popularity=stratum.field,
        page=page,
        is_fictional=entity.is_fictional,
        fiction=entity.fiction or "",
        statements=entity.statements,
    )


def _clusters(item: LoadedItem) -> tuple[tuple[str, bytes], ...]:
    return (("entity", item.item.id),)
