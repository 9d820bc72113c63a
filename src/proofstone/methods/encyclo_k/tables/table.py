"""A fact table in memory, and what it proves: which claims agree with it, which contradict it.

The checks here know nothing of how sentences or falsifications are made, so they can judge both.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from proofstone.errors import BadInput, Problem
from proofstone.identity import canonical_json
from proofstone.methods.encyclo_k.tables.template import Column, Template
from proofstone.ports import Row

__all__ = [
    "Cell",
    "Claim",
    "Entity",
    "FactTable",
    "agrees_with",
    "is_false_against",
    "normalised",
    "read_table",
    "slack",
]

Cell = str | float


@dataclass(frozen=True, slots=True)
class Entity:
    """One row: its label, its place in the table from 0, and its present cells by column (one
    value each, or several in a ``many`` column). A missing cell has no entry."""

    label: str
    number: int
    cells: Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class FactTable:
    """Rows under unique labels, read as the template says. ``digest`` is the SHA-256 of the rows'
    canonical JSON as they came, all columns included."""

    template: Template
    entities: tuple[Entity, ...]
    by_label: Mapping[str, Entity]
    digest: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """That the row called ``label`` has each of these values (column, value)."""

    label: str
    stated: tuple[tuple[str, Cell], ...]


def normalised(text: str) -> str:
    """The text without what does not tell two values apart: case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def slack(column: Column, true: float) -> float:
    """How far a number may be from ``true`` without being false, rounding included."""
    rounding = 0.5 * 10.0**-column.decimals
    return max(column.tolerance, abs(true) * column.tolerance_percent / 100, rounding)


def agrees_with(table: FactTable, claim: Claim) -> bool:
    """Whether the table bears out every part of the claim."""
    entity = table.by_label.get(normalised(claim.label))
    return entity is not None and all(
        _is_among(table.template.column(name), value, entity.cells.get(name, ()))
        for name, value in claim.stated
    )


def is_false_against(table: FactTable, claim: Claim) -> bool:
    """Whether the table contradicts the claim: the row is there, and in some column that it states
    the row's cell is present and holds no such value. A missing cell proves nothing."""
    entity = table.by_label.get(normalised(claim.label))
    return entity is not None and any(
        bool(entity.cells.get(name))
        and not _is_among(table.template.column(name), value, entity.cells[name])
        for name, value in claim.stated
    )


def _is_among(column: Column, value: Cell, cells: Sequence[Cell]) -> bool:
    return any(_is_same(column, value, cell) for cell in cells)


def _is_same(column: Column, value: Cell, true: Cell) -> bool:
    if isinstance(value, float) and isinstance(true, float):
        distance = abs(value - true)
        # Rounding to decimals moves a value by half a unit at most, in floats a hair more.
        return distance <= slack(column, true) or math.isclose(distance, slack(column, true))
    return normalised(str(value)) == normalised(str(true))


def read_table(template: Template, rows: Iterable[Row], where: str) -> FactTable:
    """The table of these rows. Raises BadInput with every problem: no rows, a column that no row
    has, an empty label, two rows of one label, a cell that is no number."""
    kept = list(rows)
    problems = [Problem(where, what) for what in _missing_columns(template, kept)]
    dropped = {normalised(label) for label in template.column(template.key).leave_out}
    entities: dict[str, Entity] = {}
    seen: dict[str, str] = {}
    for number, row in enumerate(kept if not problems else ()):
        label = _text(row.values.get(template.key))
        key = normalised(label)
        if not label:
            problems.append(Problem(row.place, f"the key column {template.key!r} is empty"))
        elif key in seen:
            problems.append(Problem(row.place, f"the label {label!r} also stands on {seen[key]}"))
        seen.setdefault(key, row.place)
        if key not in dropped:
            cells = _cells(template, label, row, problems)
            entities.setdefault(key, Entity(label, number, cells))
    problems += [Problem(where, what) for what in _unknown_labels(template, seen) if seen]
    if problems:
        raise BadInput(f"The fact table {where} cannot be used.", problems)
    digest = sha256(canonical_json([row.values for row in kept])).digest()
    return FactTable(template, tuple(entities.values()), entities, digest)


def _missing_columns(template: Template, rows: Sequence[Row]) -> list[str]:
    if not rows:
        return ["the table has no rows"]
    present = dict.fromkeys(name for row in rows for name in row.values)
    there = ", ".join(present)
    return [
        f"the templates use a column {name!r} that no row has (columns: {there})"
        for name in template.used()
        if name not in present
    ]


def _unknown_labels(template: Template, seen: Mapping[str, str]) -> list[str]:
    return [
        f"[columns.{name}] leave_out: no row is called {label!r}"
        for name, column in template.columns.items()
        for label in column.leave_out
        if normalised(label) not in seen
    ]


def _cells(
    template: Template, label: str, row: Row, problems: list[Problem]
) -> dict[str, tuple[Cell, ...]]:
    cells: dict[str, tuple[Cell, ...]] = {template.key: (label,)}
    for name in template.used()[1:]:
        column = template.column(name)
        if normalised(label) in map(normalised, column.leave_out):
            continue
        try:
            values = _values(column, row.values.get(name))
        except ValueError as error:
            problems.append(Problem(f"{row.place}, field {name}", str(error)))
            continue
        if values:
            cells[name] = values
    return cells


def _values(column: Column, raw: Any) -> tuple[Cell, ...]:
    """The cell's values in its order, none twice. ValueError where it cannot be read."""
    if column.values == "number":
        return _number(raw)
    if column.values == "many":
        parts = raw if isinstance(raw, list | tuple) else [raw]
        if isinstance(raw, str) and column.separator:
            parts = raw.split(column.separator)
        return tuple({normalised(text): text for text in map(_text, parts) if text}.values())
    if isinstance(raw, list | tuple | dict):
        problem = 'expected one value, came several; say values = "many"'
        raise ValueError(problem)  # noqa: TRY004 - the cell is at fault, not its reader
    text = _text(raw)
    return (text,) if text else ()


def _number(raw: Any) -> tuple[Cell, ...]:
    if raw is None or raw == "":
        return ()
    try:
        number = float(raw)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(raw, bool) or not math.isfinite(number):
        raise ValueError(f"expected a number, came {raw!r}")
    return (number,)


def _text(raw: Any) -> str:
    return "" if raw is None else " ".join(str(raw).split())
