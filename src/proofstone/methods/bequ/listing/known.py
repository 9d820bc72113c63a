"""What a table says of entities, to be added to what their pages say."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from proofstone.engines.ingest import read_checked
from proofstone.methods.bequ.entity_rows import read_entities
from proofstone.methods.bequ.listing.rows import Candidate
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.reference.wanted import article_names
from proofstone.records import Item

__all__ = ["Known"]


class Known:
    """What a table says of entities (Wikidata's number and count of statements, visits), by the
    names of their articles; a name that several of them have says nothing of any."""

    def __init__(self, file: str) -> None:
        items = read_checked(Path(file), read_entities) if file else ()
        own: dict[str, list[Item]] = {}
        others: dict[str, list[Item]] = {}
        for item in items:
            title, *aliases = article_names(item.payload)
            own.setdefault(plain_name(title), []).append(item)
            for name in {plain_name(each) for each in aliases} - {plain_name(title)}:
                others.setdefault(name, []).append(item)
        self._items = {name: found[0] for name, found in (others | own).items() if len(found) == 1}

    def added(self, candidate: Candidate) -> Candidate:
        """The candidate with what it lacks and the table has."""
        found = self._items.get(plain_name(candidate.title or candidate.entity.name))
        found = found or self._items.get(plain_name(candidate.entity.name))
        if found is None or candidate.entity.is_fictional:
            return candidate
        entity, said = candidate.entity, found.payload
        if entity.wikidata and said.wikidata not in ("", entity.wikidata):
            return candidate
        entity = structs.replace(
            entity,
            description=entity.description or said.description,
            aliases=entity.aliases or said.aliases,
            wikidata=entity.wikidata or said.wikidata,
            statements=said.statements if entity.statements is None else entity.statements,
            popularity=said.popularity if entity.popularity is None else entity.popularity,
        )
        return structs.replace(
            candidate, entity=entity, domain=candidate.domain or found.stratum.discipline
        )
