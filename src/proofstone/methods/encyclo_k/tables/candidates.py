"""Values that may stand in place of a true one, the most plausible first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from proofstone.draws import Draws
from proofstone.methods.encyclo_k.tables.sentences import written
from proofstone.methods.encyclo_k.tables.table import Cell, Entity, FactTable, normalised, slack
from proofstone.methods.encyclo_k.tables.template import Point

__all__ = ["Pool", "make_pool"]

_NEAREST = 6  # on each side: near enough to be plausible, enough of them to be varied
_TRIES = 1000  # bounds the search where hardly any value is false; small tables are searched whole


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Distinct values: those with a position, in its order (``positions``, ascending), then the
    others in the table's order."""

    values: tuple[Cell, ...]
    positions: tuple[float, ...] = ()

    def nearest(self, position: float, apart: float) -> list[Cell]:
        """The values next to ``position`` on both sides, those within ``apart`` of it left out."""
        low = bisect_left(self.positions, position - apart)
        high = bisect_right(self.positions, position + apart)
        last = min(high + _NEAREST, len(self.positions))
        return [*self.values[max(0, low - _NEAREST) : low], *self.values[high:last]]

    def around(self, draws: Draws) -> Iterator[Cell]:
        """All values once, from a drawn place onward; at most ``_TRIES``."""
        if not self.values:
            return iter(())
        start = draws.below(len(self.values))
        return islice(chain(self.values[start:], self.values[:start]), _TRIES)


@dataclass(frozen=True, slots=True)
class Pool:
    """A column's values over the table: all of them, and by group where the point has ``like``."""

    table: FactTable
    like: str
    near: str
    is_own: bool
    everyone: _Shelf
    groups: dict[str, _Shelf]

    def candidates(self, entity: Entity, draws: Draws) -> Iterator[Cell]:
        """Values to try in turn for this row: near ones of its group, its group's, near ones of
        the whole table, all. The same value may come again. Nothing is checked here."""
        group = _first(entity, self.like)
        shelves = [self.everyone]
        if group is not None:
            shelves.insert(0, self.groups.get(normalised(str(group)), _Shelf(())))
        for shelf in shelves:
            yield from draws.shuffled(self._near(shelf, entity))
            yield from shelf.around(draws)

    def _near(self, shelf: _Shelf, entity: Entity) -> list[Cell]:
        position = _first(entity, self.near)
        if not isinstance(position, float) or not shelf.positions:
            return []
        apart = slack(self.table.template.column(self.near), position) if self.is_own else 0.0
        return shelf.nearest(position, apart)


def make_pool(table: FactTable, point: Point, column: str) -> Pool:
    """The pool of ``column`` (the point's own, or the key) for falsifying this point."""
    template = table.template
    is_own = not point.near and template.column(point.column).values == "number"
    near = point.column if is_own else point.near
    never = {normalised(value) for value in template.column(column).never}
    groups: dict[str, list[Entity]] = {}
    for entity in table.entities if point.like else ():
        for group in entity.cells.get(point.like, ()):
            groups.setdefault(normalised(str(group)), []).append(entity)

    def shelf(entities: Iterable[Entity]) -> _Shelf:
        return _shelf(table, entities, column, near, never)

    by_group = {group: shelf(entities) for group, entities in groups.items()}
    return Pool(table, point.like, near, is_own, shelf(table.entities), by_group)


def _shelf(
    table: FactTable, entities: Iterable[Entity], column: str, near: str, never: set[str]
) -> _Shelf:
    distinct: dict[str, tuple[float | None, Cell]] = {}
    for entity in entities:
        position = _first(entity, near)
        for value in entity.cells.get(column, ()):
            shown = normalised(written(table.template.column(column), value))
            if shown not in never:
                where = position if isinstance(position, float) else None
                distinct.setdefault(shown, (where, value))
    return _ordered(list(distinct.values()))


def _ordered(placed: Sequence[tuple[float | None, Cell]]) -> _Shelf:
    known = sorted(
        ((position, value) for position, value in placed if position is not None),
        key=lambda pair: pair[0],
    )
    others = [value for position, value in placed if position is None]
    values = (*(value for _, value in known), *others)
    return _Shelf(values, tuple(position for position, _ in known))


def _first(entity: Entity, column: str) -> Cell | None:
    values = entity.cells.get(column, ()) if column else ()
    return values[0] if values else None
