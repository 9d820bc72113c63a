"""True sentences of a table: what each states, its words, its title."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from proofstone.draws import Draws
from proofstone.methods.encyclo_k.tables.table import Cell, Claim, Entity, FactTable, normalised
from proofstone.methods.encyclo_k.tables.template import Column, Point, Template, placeholders

__all__ = ["Stated", "render", "state", "true_statements", "true_texts", "written"]


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence that the table bears out, with the claim it makes. ``title`` names the knowledge
    point and is shared with its falsification."""

    entity: Entity
    point: Point
    pattern: str
    claim: Claim
    text: str
    title: str


def written(column: Column, value: Cell) -> str:
    """A value as sentences show it: numbers with the column's decimals, grouping and unit."""
    if isinstance(value, str):
        return value + column.unit
    value = round(value, column.decimals) + 0.0  # never "-0"
    comma = "," if column.grouped else ""
    return f"{value:{comma}.{column.decimals}f}{column.unit}"


def render(template: Template, pattern: str, claim: Claim) -> str:
    """The pattern with the claim's label and values in it."""
    words = {name: written(template.column(name), value) for name, value in claim.stated}
    text = pattern.format_map({**words, template.key: claim.label})
    opens = pattern.startswith(f"{{{template.key}}}")
    return text[:1].upper() + text[1:] if opens else text


def true_statements(table: FactTable, seed: int) -> Iterator[Stated]:
    """One sentence for each row and point that has what the pattern needs; the pattern, and in a
    ``many`` column the value, are drawn by (seed, row, point)."""
    for entity in table.entities:
        for point in table.template.points:
            draws = Draws(seed, entity.number, f"{table.template.title}|{point.name}|say")
            stated = state(table, entity, point, draws)
            if stated is not None:
                yield stated


def state(table: FactTable, entity: Entity, point: Point, draws: Draws) -> Stated | None:
    """A true sentence on this row and point, or None where a cell that it needs is missing."""
    values = _statable(table.template, entity, point)
    patterns = [pattern for pattern in point.say if _has_cells(pattern, entity)]
    if not values or not patterns:
        return None
    pattern, value = draws.choice(patterns), draws.choice(values)
    claim = _claim(table.template, entity, point, pattern, value)
    title = render(table.template, point.title, Claim(entity.label, ()))
    return Stated(entity, point, pattern, claim, render(table.template, pattern, claim), title)


def true_texts(table: FactTable) -> Iterator[str]:
    """Every true sentence that the templates can make of this table, normalised."""
    for entity, point in product(table.entities, table.template.points):
        for value in _statable(table.template, entity, point):
            for pattern in point.say:
                if _has_cells(pattern, entity):
                    claim = _claim(table.template, entity, point, pattern, value)
                    yield normalised(render(table.template, pattern, claim))


def _has_cells(pattern: str, entity: Entity) -> bool:
    return all(name in entity.cells for name in placeholders(pattern))


def _statable(template: Template, entity: Entity, point: Point) -> list[Cell]:
    values = entity.cells.get(point.column, ())
    if point.only_single and len(values) > 1:
        return []
    column = template.column(point.column)
    never = {normalised(value) for value in column.never}
    return [value for value in values if normalised(written(column, value)) not in never]


def _claim(template: Template, entity: Entity, point: Point, pattern: str, value: Cell) -> Claim:
    names = [name for name in placeholders(pattern) if name != template.key]
    stated = [(name, value if name == point.column else entity.cells[name][0]) for name in names]
    return Claim(entity.label, tuple((name, _as_shown(template, name, of)) for name, of in stated))


def _as_shown(template: Template, name: str, value: Cell) -> Cell:
    """The value that the sentence really states: a number as rounded."""
    return value if isinstance(value, str) else round(value, template.column(name).decimals)
