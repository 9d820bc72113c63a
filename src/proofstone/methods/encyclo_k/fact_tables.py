"""Generate sentences from a fact table with a TOML template file.

Top-level keys: ``title`` (of the source), ``language`` and ``key`` (the column whose value labels a
row) are required. ``license``, ``discipline``, ``field``, ``subfield`` and ``book`` default to the
empty text (``book`` to ``title``).

``[columns.NAME]``, only if the defaults do not fit:

- ``values``: ``"text"`` (one value, the default), ``"number"`` or ``"many"`` (a list, or text split
  at ``separator``: any of its values is true of the row);
- ``decimals`` (0), ``grouped`` (false; 1,234,567): number format;
- ``unit``: text appended to every value (``" km"``, with its space);
- ``tolerance``, ``tolerance_percent``: a number no further than this from the true one does not
  count as false (nor does one within rounding);
- ``leave_out``: labels whose cell counts as missing (on the key column: rows to skip);
- ``never``: values that are neither stated nor used as replacements.

``[[points]]``, one for each knowledge point of a row:

- ``name``, unique in the file, and ``column``, the column stated;
- ``title``, a noun phrase for this point of a row, in which only the key is allowed (``chemical
  symbol of {name}``); reasons read "the TITLE is X, not Y", or "are" in a ``many`` column;
- ``say``: patterns of one sentence. Each contains ``{key}`` and ``{column}`` by their columns'
  names, and optionally further columns (not ``many``), which are then stated too. ``{{`` and ``}}``
  are braces. A pattern that begins with the key's placeholder gets a capital letter;
- ``error_type`` of a replaced column value (``"detail falsification"``);
- ``swap_key`` (false): half of the false statements name another row instead, as ``concept
  substitution``;
- ``like``: a column; replacements come from rows with the same value in it, if any;
- ``near``: a number column; replacements come from rows near in it (a number column is near in
  itself);
- ``only_single`` (false): a row with several values in the column gives no statement.

A row with a missing cell for any placeholder gives no statement.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from itertools import chain, islice, product
from string import Formatter
from typing import Any, Literal

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, Problem
from proofstone.methods.encyclo_k.payloads import ErrorType
from proofstone.records.ids import Draws, canonical_json
from proofstone.records.tables import Row

_DECIMALS = range(10)


class Column(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Describe how one column's cells are parsed, written and compared."""

    values: Literal["text", "number", "many"] = "text"
    separator: str = ""
    decimals: int = 0
    grouped: bool = False
    unit: str = ""
    tolerance: float = 0.0
    tolerance_percent: float = 0.0
    leave_out: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


class Point(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Describe one knowledge point of every row: what is stated, its wording, and its
    perturbation."""

    name: str
    column: str
    title: str
    say: tuple[str, ...]
    error_type: ErrorType = "detail falsification"
    swap_key: bool = False
    like: str = ""
    near: str = ""
    only_single: bool = False


class Template(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hold a template file. ``column`` returns any column's format, declared or not."""

    title: str
    language: str
    key: str
    license: str = ""
    discipline: str = ""
    field: str = ""
    subfield: str = ""
    book: str = ""
    columns: dict[str, Column] = {}
    points: tuple[Point, ...] = ()

    def column(self, name: str) -> Column:
        """Return the format of a column: as declared, or one text value per cell."""
        return self.columns.get(name) or Column()

    def used(self) -> tuple[str, ...]:
        """Return the names of all columns that the table must have, the key first."""
        names = dict.fromkeys((self.key, *self.columns))
        for point in self.points:
            names.update(dict.fromkeys((point.column, *filter(None, (point.like, point.near)))))
            for pattern in (point.title, *point.say):
                names.update(dict.fromkeys(placeholders(pattern)))
        return tuple(names)


@cache
def placeholders(pattern: str) -> tuple[str, ...]:
    """Return the column names in braces, in order of first use.

    Raises ValueError for unmatched braces or anything but a name in them.
    """
    found: dict[str, None] = {}
    for _, name, spec, conversion in Formatter().parse(pattern):
        if name is None:
            continue
        if not name or spec or conversion or not name.replace("_", "a").isalnum():
            raise ValueError(
                f"invalid placeholder {{{name}}}; write {{column}} with a column name only"
            )
        found[name] = None
    return tuple(found)


def read_template(text: str, where: str) -> Template:
    """Parse a template file. Raises BadInput with every problem, each located in ``where``."""
    try:
        template = msgspec.toml.decode(text, type=Template)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        problem = Problem(where, str(error))
        raise BadInput("the template file cannot be read", [problem], hint=_HINT) from error
    problems = [Problem(f"{where}, {place}", what) for place, what in _problems(template)]
    if problems:
        raise BadInput("the template file is invalid", problems, hint=_HINT)
    return template


_HINT = "docs/how-to/import.md describes the format"


def _problems(template: Template) -> Iterator[tuple[str, str]]:
    if not template.points:
        yield "points", "expected at least one [[points]] entry"
    if template.column(template.key).values != "text":
        yield f"columns.{template.key}", "the key column must hold one text value per row"
    for name, column in template.columns.items():
        yield from _column_problems(f"columns.{name}", column)
    names: set[str] = set()
    patterns: set[str] = set()
    for number, point in enumerate(template.points, 1):
        place = f"points {number} ({point.name})"
        if point.name in names:
            yield place, "duplicate name of an earlier point"
        names.add(point.name)
        yield from _point_problems(place, point, template)
        for pattern in point.say:
            if pattern in patterns:
                yield place, f"the pattern occurs twice in the file: {pattern!r}"
            patterns.add(pattern)


def _column_problems(place: str, column: Column) -> Iterator[tuple[str, str]]:
    if column.decimals not in _DECIMALS:
        yield place, f"decimals is {column.decimals}; expected 0 to {_DECIMALS[-1]}"
    if column.tolerance < 0 or column.tolerance_percent < 0:
        yield place, "a tolerance cannot be negative"
    if column.separator and column.values != "many":
        yield place, 'separator needs values = "many"'


def _point_problems(place: str, point: Point, template: Template) -> Iterator[tuple[str, str]]:
    if point.column == template.key:
        yield place, "column is the key; use another column with swap_key = true"
    if not point.say:
        yield place, "say holds no pattern"
    if point.near and template.column(point.near).values != "number":
        yield place, f'near needs values = "number" in [columns.{point.near}]'
    for pattern in (point.title, *point.say):
        try:
            names = placeholders(pattern)
        except ValueError as error:
            yield place, f"{pattern!r}: {error}"
            continue
        if pattern is point.title:
            wrong = [
                f"contains {{{name}}}; a title may contain only {{{template.key}}}"
                for name in names
                if name != template.key
            ]
        else:
            wrong = [
                f"lacks {{{name}}}" for name in sorted({template.key, point.column} - {*names})
            ]
            wrong += [
                f"contains {{{name}}}, which has many values; only the point's own column may"
                for name in names
                if name != point.column and template.column(name).values == "many"
            ]
        yield from ((place, f"{pattern!r} {what}") for what in wrong)


# A fact table in memory, and its proofs: claims that agree with it, and claims that contradict it.

Cell = str | float


@dataclass(frozen=True, slots=True)
class Entity:
    """Hold one row: its label, its position from 0, and its present cells by column.

    A cell has one value, or several in a ``many`` column. A missing cell has no entry.
    """

    label: str
    number: int
    cells: Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class FactTable:
    """Hold rows by unique label, parsed by the template.

    ``digest`` is the SHA-256 of the rows' original canonical JSON, all columns included.
    """

    template: Template
    entities: tuple[Entity, ...]
    by_label: Mapping[str, Entity]
    digest: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """Hold a claim: the row ``label`` has each of these values (column, value)."""

    label: str
    stated: tuple[tuple[str, Cell], ...]


def normalised(text: str) -> str:
    """Normalize a text for comparison: case, width and white space are ignored."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def slack(column: Column, true: float) -> float:
    """Return the largest deviation from ``true`` that is not false, rounding included."""
    rounding = 0.5 * 10.0**-column.decimals
    return max(column.tolerance, abs(true) * column.tolerance_percent / 100, rounding)


def agrees_with(table: FactTable, claim: Claim) -> bool:
    """Return True if the table confirms every part of the claim."""
    entity = table.by_label.get(normalised(claim.label))
    return entity is not None and all(
        _is_among(table.template.column(name), value, entity.cells.get(name, ()))
        for name, value in claim.stated
    )


def is_false_against(table: FactTable, claim: Claim) -> bool:
    """Return True if the table contradicts the claim.

    The row exists, and in some claimed column its cell is present without such a value. A missing
    cell proves nothing.
    """
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
        # Rounding to decimals moves a value by at most half a unit, in floats slightly more.
        return distance <= slack(column, true) or math.isclose(distance, slack(column, true))
    return normalised(str(value)) == normalised(str(true))


def read_table(template: Template, rows: Iterable[Row], where: str) -> FactTable:
    """Read a table from rows.

    Raises BadInput with every problem: no rows, a column without values, an empty label, a
    duplicate label, a cell that is not a number.
    """
    kept = list(rows)
    present = dict.fromkeys(name for row in kept for name in row.values)
    there = ", ".join(present)
    problems = [
        Problem(where, f"the templates use a column {name!r} that no row has (columns: {there})")
        for name in template.used()
        if kept and name not in present
    ]
    if not kept:
        problems.append(Problem(where, "the table has no rows"))
    dropped = {normalised(label) for label in template.column(template.key).leave_out}
    entities: dict[str, Entity] = {}
    seen: dict[str, str] = {}
    for number, row in enumerate(kept if not problems else ()):
        label = _text(row.values.get(template.key))
        key = normalised(label)
        if not label:
            problems.append(Problem(row.place, f"the key column {template.key!r} is empty"))
        elif key in seen:
            problems.append(Problem(row.place, f"duplicate label {label!r}, also on {seen[key]}"))
        seen.setdefault(key, row.place)
        if key not in dropped:
            cells = _cells(template, label, row, problems)
            entities.setdefault(key, Entity(label, number, cells))
    problems += [
        Problem(where, f"[columns.{name}] leave_out: no row has the label {label!r}")
        for name, column in template.columns.items()
        for label in column.leave_out
        if seen and normalised(label) not in seen
    ]
    if problems:
        raise BadInput(f"the fact table {where} is invalid", problems)
    digest = sha256(canonical_json([row.values for row in kept])).digest()
    return FactTable(template, tuple(entities.values()), entities, digest)


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
    """Return the distinct values of a cell in order. Raises ValueError for an invalid cell."""
    if column.values == "number":
        return _number(raw)
    if column.values == "many":
        parts = raw if isinstance(raw, list | tuple) else [raw]
        if isinstance(raw, str) and column.separator:
            parts = raw.split(column.separator)
        return tuple({normalised(text): text for text in map(_text, parts) if text}.values())
    if isinstance(raw, list | tuple | dict):
        problem = 'expected one value, got several; use values = "many"'
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
        raise ValueError(f"expected a number, got {raw!r}")
    return (number,)


def _text(raw: Any) -> str:
    return "" if raw is None else " ".join(str(raw).split())


# True sentences of a table: claims, wording, titles.


@dataclass(frozen=True, slots=True)
class Stated:
    """Hold a sentence that the table confirms, with its claim.

    ``title`` names the knowledge point, also for its false version.
    """

    entity: Entity
    point: Point
    pattern: str
    claim: Claim
    text: str
    title: str


def written(column: Column, value: Cell) -> str:
    """Return a value as displayed: numbers with the column's decimals, grouping and unit."""
    if isinstance(value, str):
        return value + column.unit
    value = round(value, column.decimals) + 0.0  # never "-0"
    comma = "," if column.grouped else ""
    return f"{value:{comma}.{column.decimals}f}{column.unit}"


def render(template: Template, pattern: str, claim: Claim) -> str:
    """Return the pattern with the claim's label and values."""
    words = {name: written(template.column(name), value) for name, value in claim.stated}
    text = pattern.format_map({**words, template.key: claim.label})
    opens = pattern.startswith(f"{{{template.key}}}")
    return text[:1].upper() + text[1:] if opens else text


def true_statements(table: FactTable, seed: int) -> Iterator[Stated]:
    """Return one sentence for each row and point with all needed cells.

    The pattern, and in a ``many`` column the value, are sampled by (seed, row, point).
    """
    for entity in table.entities:
        for point in table.template.points:
            draws = Draws(seed, entity.number, f"{table.template.title}|{point.name}|say")
            stated = state(table, entity, point, draws)
            if stated is not None:
                yield stated


def state(table: FactTable, entity: Entity, point: Point, draws: Draws) -> Stated | None:
    """Return a true sentence on this row and point, or None if a needed cell is missing."""
    values = _statable(table.template, entity, point)
    patterns = [pattern for pattern in point.say if _has_cells(pattern, entity)]
    if not values or not patterns:
        return None
    pattern, value = draws.choice(patterns), draws.choice(values)
    claim = _claim(table.template, entity, point, pattern, value)
    title = render(table.template, point.title, Claim(entity.label, ()))
    return Stated(entity, point, pattern, claim, render(table.template, pattern, claim), title)


def true_texts(table: FactTable) -> Iterator[str]:
    """Return every true sentence that the templates generate for this table, normalized."""
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
    """Return the value as the sentence states it: numbers rounded."""
    return value if isinstance(value, str) else round(value, template.column(name).decimals)


# Replacement values for a true one, the most plausible first.

_NEAREST = 6  # on each side: few enough to be plausible, enough for variety


_TRIES = 1000  # search limit if hardly any value is false; small tables are searched completely


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Hold distinct values: those with a position in ascending order, then the others in table
    order.
    """

    values: tuple[Cell, ...]
    positions: tuple[float, ...] = ()

    def nearest(self, position: float, apart: float) -> list[Cell]:
        """Return the values nearest to ``position`` on both sides, except those within ``apart`` of
        it.
        """
        low = bisect_left(self.positions, position - apart)
        high = bisect_right(self.positions, position + apart)
        last = min(high + _NEAREST, len(self.positions))
        return [*self.values[max(0, low - _NEAREST) : low], *self.values[high:last]]

    def around(self, draws: Draws) -> Iterator[Cell]:
        """Return all values once, from a random start; at most ``_TRIES``."""
        if not self.values:
            return iter(())
        start = draws.below(len(self.values))
        return islice(chain(self.values[start:], self.values[:start]), _TRIES)


@dataclass(frozen=True, slots=True)
class Pool:
    """Hold a column's values over the table: all of them, and by group if the point has
    ``like``."""

    table: FactTable
    like: str
    near: str
    is_own: bool
    everyone: _Shelf
    groups: dict[str, _Shelf]

    def candidates(self, entity: Entity, draws: Draws) -> Iterator[Cell]:
        """Yield replacement values for a row: near ones of its group, its group's, near ones, all.

        Values may repeat, and are not checked here.
        """
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
    """Build the pool of ``column`` (the point's own, or the key) for perturbing this point."""
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


# False sentences derived from true ones, each provably false by its table.
#
# A plausible replacement is taken from the same column of another row, or with ``swap_key`` it is
# another row's label. It is used only if ``table.is_false_against`` proves the new claim false. Its
# text must differ from every true sentence and every earlier false one. Without such a value there
# is no false sentence.


@dataclass(frozen=True, slots=True)
class Perturbed:
    """Hold a false sentence, its claim, its error type and its reason."""

    claim: Claim
    text: str
    error_type: ErrorType
    reason: str


@dataclass(slots=True)
class Perturber:
    """Perturb one table's true sentences.

    ``true_texts`` are all true texts of the build (normalized). The only state is the set of
    generated false texts.
    """

    table: FactTable
    true_texts: AbstractSet[str]
    made: set[str] = field(default_factory=set)
    pools: dict[tuple[str, str], Pool] = field(default_factory=dict)

    def perturb(self, stated: Stated, draws: Draws) -> Perturbed | None:
        """Return a false version of the sentence, or None if the table can prove none."""
        key, column = self.table.template.key, stated.point.column
        ways = draws.shuffled([column, key]) if stated.point.swap_key else [column]
        for way in ways:
            found = self._replace(stated, way, draws)
            if found is not None:
                return found
        return None

    def _replace(self, stated: Stated, column: str, draws: Draws) -> Perturbed | None:
        pool = self._pool(stated.point, column)
        for value in pool.candidates(stated.entity, draws):
            claim = self._claim_with(stated.claim, column, value)
            text = render(self.table.template, stated.pattern, claim)
            if self._is_usable(claim, stated.point.column, text):
                self.made.add(normalised(text))
                swapped = column == self.table.template.key
                kind: ErrorType = "concept substitution" if swapped else stated.point.error_type
                return Perturbed(claim, text, kind, self._reason(stated.point, claim))
        return None

    def _pool(self, point: Point, column: str) -> Pool:
        if (point.name, column) not in self.pools:
            self.pools[point.name, column] = make_pool(self.table, point, column)
        return self.pools[point.name, column]

    def _claim_with(self, claim: Claim, column: str, value: Cell) -> Claim:
        if column == self.table.template.key:
            return replace(claim, label=str(value))
        decimals = self.table.template.column(column).decimals
        new = value if isinstance(value, str) else round(value, decimals)
        stated = tuple((name, new if name == column else old) for name, old in claim.stated)
        return replace(claim, stated=stated)

    def _is_usable(self, claim: Claim, column: str, text: str) -> bool:
        """Return True if the table contradicts the point's own part of the claim, in a new text.

        The reason can then state the contradiction. The text must not equal a true sentence.
        """
        shown = normalised(text)
        if shown in self.true_texts or shown in self.made:
            return False
        own = tuple(part for part in claim.stated if part[0] == column)
        return is_false_against(self.table, replace(claim, stated=own))

    def _reason(self, point: Point, claim: Claim) -> str:
        """Return the reason, computed from the row that the false sentence names."""
        template, column = self.table.template, self.table.template.column(point.column)
        cells = self.table.by_label[normalised(claim.label)].cells[point.column]
        title = render(template, point.title, replace(claim, stated=()))
        true = [written(column, cell) for cell in cells]
        said = written(column, dict(claim.stated)[point.column])
        several = column.values == "many" and not point.only_single
        return _because(template.language, title, true, said, several=several)


def _because(language: str, title: str, true: list[str], said: str, *, several: bool) -> str:
    """Return the reason sentence, in Chinese for Chinese tables, otherwise in English."""
    if language.partition("-")[0] == "zh":
        listed = "、".join(true)
        if several:
            return f"据表，{title}有{listed}，其中没有{said}。"
        return f"据表，{title}是{listed}，不是{said}。"
    listed = ", ".join(true)
    if several:
        return f"According to the table, the {title} are: {listed}; {said} is not among them."
    return f"According to the table, the {title} is {listed}, not {said}."
