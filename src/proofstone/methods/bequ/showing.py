"""Entities and what was said of them, as people read it, and as rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from proofstone.methods.bequ.elicited import Elicited, elicited, read_text
from proofstone.methods.bequ.payloads import Entity, entity_of
from proofstone.records import LoadedItem, Reply

__all__ = ["show_entity", "show_reply", "triple_rows"]

_WIKIDATA = "https://www.wikidata.org/wiki/"


def show_entity(loaded: LoadedItem) -> str:
    """The entity with what its list says of it."""
    entity, stratum = entity_of(loaded), loaded.item.stratum
    lines = [
        entity.name,
        entity.description,
        " / ".join(filter(None, (stratum.discipline, stratum.field))),
        _fiction(entity),
        f"also: {', '.join(entity.aliases)}" if entity.aliases else "",
        f"{_WIKIDATA}{entity.wikidata}" if entity.wikidata else "",
        entity.wikipedia,
    ]
    return "\n".join(filter(None, lines))


def show_reply(item: LoadedItem, replies: Mapping[str, Reply]) -> str:
    """The triples of a reply with their places in it, and what of it was left unread."""
    entity = entity_of(item)
    said = elicited(entity, replies)
    others = set(map(id, said.about_others(entity)))
    lines = [_head(said)]
    for triple in said.triples:
        first = triple.first
        notes = [
            f"recovered: {', '.join(first.faults)}" if first.faults else "",
            f"said {triple.times} times" if triple.again else "",
            "about another entity" if id(triple) in others else "",
        ]
        told = "; ".join(filter(None, notes))
        place = f"{first.start}-{first.end}"
        text = f"{first.subject} | {first.predicate} | {first.object}"
        lines.append(f"{place:>13}  {text}" + (f"   [{told}]" if told else ""))
    text = read_text(replies)
    for part in said.unread:
        place = f"{part.start}-{part.end}"
        lines.append(f"{place:>13}  unread, {part.why}: {_shortened(text[part.start : part.end])}")
    return "\n".join(lines)


def triple_rows(item: LoadedItem, replies: Mapping[str, Reply]) -> list[dict[str, Any]]:
    """A row a triple, first in BeQu's columns; repetitions are counted and not written again."""
    entity = entity_of(item)
    said = elicited(entity, replies)
    others = set(map(id, said.about_others(entity)))
    return [
        {
            "subject": triple.first.subject,
            "predicate": triple.first.predicate,
            "object": triple.first.object,
            "subject_name": entity.name,
            "start": triple.first.start,
            "end": triple.first.end,
            "recovered": ", ".join(triple.first.faults),
            "said": triple.times,
            "about_another": id(triple) in others,
            "domain": item.item.stratum.discipline,
            "popularity": item.item.stratum.field,
            "wikidata_id": entity.wikidata,
            "fictional": entity.is_fictional,
        }
        for triple in said.triples
    ]


def _fiction(entity: Entity) -> str:
    if not entity.is_fictional:
        return ""
    kind = "" if entity.fiction is UNSET else f", and {entity.fiction}"
    return f"fictional{kind}: nothing of that name exists"


def _head(said: Elicited) -> str:
    if said.has_abstained:
        return "no triple: the reply says that nothing is known"
    n = len(said.triples)
    parts = ["1 triple" if n == 1 else f"{n:,} triples"]
    parts += [f"{said.n_recovered} recovered"] if said.n_recovered else []
    parts += [f"{said.n_said - n} said again"] if said.n_said > n else []
    parts += [f"{len(said.unread)} parts unread"] if said.unread else []
    return ", ".join(parts)


def _shortened(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 80 else f"{plain[:77]}..."
