"""What a list refuses by rule: pages that are no articles, short ones, names that come again."""

from __future__ import annotations

from collections.abc import Mapping

from proofstone.errors import BadUsage
from proofstone.methods.bequ.listing.rows import Candidate
from proofstone.methods.bequ.names import NamedRow, same_entities
from proofstone.ports import BatchRows, BatchStep, Drop, Kept, Step, StepContext

__all__ = ["filter_step", "once_step"]

_NONE, _UNREAD, _MEANINGS = "no article", "unreadable article", "article of meanings"
_SHORT, _FEW, _EXISTS = "article too short", "too few statements", "no fiction"
_AGAIN = "named before"


def filter_step(least_length: int, least_statements: int) -> Step:
    """Entities with an article of at least so many characters that is no list of meanings, and,
    where their number is known, at least so many statements of Wikidata. Of fictional ones those
    that have no article, and that no page of the web names."""

    def look(row: Candidate, _context: StepContext) -> Kept:
        entity = row.entity
        if row.to_make_up:
            raise BadUsage(
                "no model is named that makes names up", hint="name it: -m author=PROVIDER/NAME"
            )
        if entity.is_fictional:
            found = row.title or row.against
            return Drop(_EXISTS, f"{entity.name}: {found}") if found else row
        if not row.title or row.trouble or row.is_meanings:
            return _without_article(row)
        if (entity.length or 0) < least_length:
            return Drop(_SHORT, f"{row.title}: {entity.length or 0} characters")
        if entity.statements is not None and entity.statements < least_statements:
            return Drop(_FEW, f"{row.title}: {entity.statements} statements")
        return row

    return Step(
        name="filters",
        version=2,
        takes=Candidate,
        work=look,
        reasons=(_EXISTS, _NONE, _UNREAD, _MEANINGS, _SHORT, _FEW),
        config={"length": least_length, "statements": least_statements},
    )


def _without_article(row: Candidate) -> Drop:
    if not row.title:
        return Drop(_NONE, row.entity.name)
    if row.trouble:
        return Drop(_UNREAD, f"{row.title}: {row.trouble}")
    return Drop(_MEANINGS, row.title)


def once_step() -> BatchStep:
    """Each entity once: by its Wikidata number, its name, or a name among another's aliases."""

    def fold(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        named = [_named(row) for row in rows]
        again: dict[int, Kept] = {}
        for first, *others in same_entities(named, []):
            again |= {n: Drop(_AGAIN, f"{named[n].name}: {named[first].name}") for n in others}
        return again

    return BatchStep(name="once", version=1, takes=Candidate, work=fold, reasons=(_AGAIN,))


def _named(row: Candidate) -> NamedRow:
    entity = row.entity
    return NamedRow("", entity.name, entity.description, entity.aliases, entity.wikidata)
