"""What a list of entities is made of: domains and tiers, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from proofstone.methods.bequ.payloads import Entity, entity_of
from proofstone.records import Cell, Column, LoadedItem, Stratum, Tabulation
from proofstone.wording import say

__all__ = ["entity_statistics"]

_Rows = Sequence[tuple[Stratum, Entity]]


def entity_statistics(items: Iterable[LoadedItem]) -> Sequence[Tabulation]:
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
