"""How a fact table becomes sentences: a TOML file, read and checked whole.

Top-level keys: ``title`` (of the source), ``language`` and ``key`` (the column whose value labels a
row) are needed; ``licence``, ``discipline``, ``field``, ``subfield`` and ``book`` are empty where
left out (``book`` then repeats ``title``).

``[columns.NAME]``, only where the defaults do not fit:

- ``values``: ``"text"`` (one value, the default), ``"number"`` or ``"many"`` (a list, or text
  parted at ``separator``: any of its values is true of the row);
- ``decimals`` (0), ``grouped`` (false; 1,234,567): how a number is written;
- ``unit``: text put behind every value as it stands (``" km"``, with its space);
- ``tolerance``, ``tolerance_percent``: a number no further than this from the true one does not
  count as false (nor does one within rounding);
- ``leave_out``: labels whose cell counts as missing (on the key column: rows that are not read);
- ``never``: values that are neither stated nor put in place of a true one.

``[[points]]``, one for each knowledge point that every row may have:

- ``name``, unique in the file, and ``column``, the column stated;
- ``title``, a noun phrase for this point of a row, in which only the key may stand (``chemical
  symbol of {name}``); reasons read "the TITLE is X, not Y", or "are" in a ``many`` column;
- ``say``: patterns of one sentence. Each holds ``{key}`` and ``{column}`` by their columns' names,
  and perhaps further columns (not ``many``), which are then stated too. ``{{`` and ``}}`` are
  braces. A pattern that begins with the key's placeholder gets a capital letter;
- ``error_type``, when another value of the column is put in (``"detail falsification"``);
- ``swap_key`` (false): half of the falsified ones name another row instead, as ``concept
  substitution``;
- ``like``: a column; replacements come from rows that agree in it, where there are any;
- ``near``: a number column; replacements come from rows near in it (a number column is near in
  itself);
- ``only_single`` (false): a row with several values in the column makes no statement.

A row in which any placeholder's cell is missing makes no statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from string import Formatter
from typing import Literal

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, Problem
from proofstone.methods.encyclo_k.review import ErrorType

_DECIMALS = range(10)


class Column(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one column's cells are read, written and told apart."""

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
    """One knowledge point of every row: what is stated, in which words, and how it is falsified."""

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
    """A whole template file. ``column`` gives any column's reading, declared or not."""

    title: str
    language: str
    key: str
    licence: str = ""
    discipline: str = ""
    field: str = ""
    subfield: str = ""
    book: str = ""
    columns: dict[str, Column] = {}
    points: tuple[Point, ...] = ()

    def column(self, name: str) -> Column:
        """How the column is read: as declared, else one text value a cell."""
        return self.columns.get(name) or Column()

    def used(self) -> tuple[str, ...]:
        """The names of all columns that must stand in the table, the key first."""
        names = dict.fromkeys((self.key, *self.columns))
        for point in self.points:
            names.update(dict.fromkeys((point.column, *filter(None, (point.like, point.near)))))
            for pattern in (point.title, *point.say):
                names.update(dict.fromkeys(placeholders(pattern)))
        return tuple(names)


@cache
def placeholders(pattern: str) -> tuple[str, ...]:
    """The column names in braces, in order of first use. ValueError where braces do not match or
    hold more than a name."""
    found: dict[str, None] = {}
    for _, name, spec, conversion in Formatter().parse(pattern):
        if name is None:
            continue
        if not name or spec or conversion or not name.replace("_", "a").isalnum():
            raise ValueError(
                f"{{{name}}} is no column name; write {{column}} and nothing else in it"
            )
        found[name] = None
    return tuple(found)


def read_template(text: str, where: str) -> Template:
    """The template of a TOML text. Raises BadInput with every problem, each placed in ``where``."""
    try:
        template = msgspec.toml.decode(text, type=Template)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        problem = Problem(where, str(error))
        raise BadInput("The template file cannot be read.", [problem], hint=_HINT) from error
    problems = [Problem(f"{where}, {place}", what) for place, what in _problems(template)]
    if problems:
        raise BadInput("The template file says things that cannot be.", problems, hint=_HINT)
    return template


_HINT = "The format is described in docs/fact-tables.md."


def _problems(template: Template) -> Iterator[tuple[str, str]]:
    if not template.points:
        yield "points", "expected at least one [[points]] entry"
    if template.column(template.key).values != "text":
        yield f"columns.{template.key}", "the key column holds one text value a row"
    for name, column in template.columns.items():
        yield from _column_problems(f"columns.{name}", column)
    names: set[str] = set()
    patterns: set[str] = set()
    for number, point in enumerate(template.points, 1):
        place = f"points {number} ({point.name})"
        if point.name in names:
            yield place, "an earlier point has this name"
        names.add(point.name)
        yield from _point_problems(place, point, template)
        for pattern in point.say:
            if pattern in patterns:
                yield place, f"the pattern stands twice in the file: {pattern!r}"
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
        yield place, "column is the key; state another column, with swap_key = true"
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
        check = _title_problems if pattern is point.title else _say_problems
        for what in check(names, point, template):
            yield place, f"{pattern!r} {what}"


def _title_problems(names: tuple[str, ...], _: Point, template: Template) -> Iterator[str]:
    for name in names:
        if name != template.key:
            yield f"holds {{{name}}}; in a title only {{{template.key}}} may stand"


def _say_problems(names: tuple[str, ...], point: Point, template: Template) -> Iterator[str]:
    for name in sorted({template.key, point.column} - {*names}):
        yield f"lacks {{{name}}}"
    for name in names:
        if name != point.column and template.column(name).values == "many":
            yield f"holds {{{name}}}, which has many values; only the point's own column may"
