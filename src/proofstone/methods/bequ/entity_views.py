"""Entities and what was said of them, as people read it, and as rows of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from proofstone.methods.bequ.entities import Entity, entity_of
from proofstone.methods.bequ.reply_triples import Elicited, elicited, read_text
from proofstone.records.calls import TokenCounter
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Stratum
from proofstone.records.runs import Reply
from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.wording.messages import say

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


# What a list of entities is made of: domains and tiers, and what is known of them.

_Rows = Sequence[tuple[Stratum, Entity]]


def entity_statistics(items: Iterable[LoadedItem], _tokens: TokenCounter) -> Sequence[Tabulation]:
    """Entities by domain and by tier of popularity: their number, those that are fictional, those
    with a Wikidata number, and the medians of what counts their fame."""
    rows = [(item.item.stratum, entity_of(item)) for item in items]
    kinds: list[tuple[str, str, Callable[[Stratum], str]]] = [
        (say("Entities by domain"), say("domain"), lambda place: place.discipline),
        (say("Entities by popularity"), say("tier"), lambda place: place.field),
    ]
    stated = [each for each in kinds if any(each[2](place) for place, _entity in rows)]
    return [_table(rows, title, head, kind) for title, head, kind in stated or kinds[:1]]


def _table(rows: _Rows, title: str, head: str, kind: Callable[[Stratum], str]) -> Tabulation:
    groups: dict[str, list[Entity]] = {}
    for place, entity in rows:
        groups.setdefault(kind(place) or say("not stated"), []).append(entity)
    lines = [(name, *_row(groups[name])) for name in sorted(groups)]
    if len(groups) != 1:
        lines.insert(0, (say("all"), *_row([entity for _place, entity in rows])))
    columns = (
        Column(key="name", name=head),
        Column(key="n", name="n"),
        Column(key="fictional", name=say("fictional")),
        Column(key="wikidata", name="Wikidata"),
        Column(key="aliases", name=say("with other names")),
        Column(key="statements", group=say("median"), name=say("statements")),
        Column(key="length", group=say("median"), name=say("characters")),
    )
    return Tabulation(title=title, columns=columns, rows=tuple(lines))


def _row(entities: Sequence[Entity]) -> tuple[Cell, ...]:
    return (
        len(entities),
        sum(entity.is_fictional for entity in entities),
        sum(bool(entity.wikidata) for entity in entities),
        sum(bool(entity.aliases) for entity in entities),
        _median([e.statements for e in entities if e.statements is not None]),
        _median([e.length for e in entities if e.length is not None]),
    )


def _median(numbers: list[int]) -> Cell:
    """The middle one, or the mean of the two in the middle; none of nothing."""
    if not numbers:
        return None
    ordered, half = sorted(numbers), len(numbers) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2
