"""Sections of reports as data, shared by the terminal, JSON and pages."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from msgspec import Struct

from proofstone.page.text import aligned, printable
from proofstone.records.runs import FLAGS, Estimate
from proofstone.stats.ranks import RankInterval
from proofstone.wording.messages import listed, noted, say, word

Cell: TypeAlias = str | int | float | Estimate | RankInterval | None


Unit = Literal["", "points", "change", "share", "probability", "rank", "mixed"]


FigureKind = Literal[
    "dots",
    "strips",
    "heat",
    "matrix",
    "ranks",
    "curves",
    "points",
    "calibration",
    "dumbbells",
    "slopes",
    "bars",
    "violins",
    "ridges",
    "sets",
    "map",
]


AxisUnit = Literal["points", "number", "usd"]


class Column(Struct, frozen=True, kw_only=True):
    """One column: ``key`` for programs, ``name`` for readers, ``help`` as an explanation.

    ``unit`` sets the number format: points out of 100, signed changes of these, shares in percent,
    probabilities, ranks; otherwise ``digits`` decimals. ``mixed``: texts with numbers,
    right-aligned.
    """

    key: str
    name: str
    help: str = ""
    unit: Unit = ""
    digits: int = 2


class Table(Struct, frozen=True, kw_only=True):
    """Rows of cells under columns; None is a missing value.

    An estimate is shown with its interval; details (n, population, resampled unit) are shown on
    request. ``sorts``: the order has no meaning, so readers may change it. ``is_heat``: a page
    shades estimates by value and shows intervals on focus.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    sorts: bool = True
    is_heat: bool = False


class ReadColumn(NamedTuple):
    """A column, and the function from a row's record to its cell."""

    column: Column
    cell: Callable[[Any], Cell]


def column(
    key: str,
    name: str,
    cell: str | Callable[[Any], Cell] = "",
    *,
    unit: Unit = "",
    digits: int = 2,
    help: str = "",  # noqa: A002 - as in a column
) -> ReadColumn:
    """Return a column of ``table_of``.

    ``cell`` is a function of a row's record, or a path of attributes and tuple indices
    (``slope.low``, ``1.n``); the default is ``key``.
    """
    parts = () if callable(cell) else tuple((cell or key).split("."))

    def read(record: Any) -> Cell:
        for part in parts:
            record = record[int(part)] if part.isdecimal() else getattr(record, part)
        return cast("Cell", record)

    return ReadColumn(
        Column(key=key, name=name, help=help, unit=unit, digits=digits),
        cell if callable(cell) else read,
    )


def table_of(
    title: str,
    records: Iterable[Any],
    *columns: ReadColumn,
    note: str = "",
    sorts: bool = True,
) -> Table:
    """Return a table with one row per record."""
    return Table(
        title=title,
        columns=tuple(each.column for each in columns),
        rows=tuple(tuple(each.cell(record) for each in columns) for record in records),
        note=note,
        sorts=sorts,
    )


class Mark(Struct, frozen=True, kw_only=True):
    """One mark of a figure: ``value`` at ``row`` and ``column``, with interval, n and ``text``.

    If both axes are numeric, ``row`` is the series, ``x`` the horizontal position with its
    interval, and ``column`` the panel.
    """

    row: str
    column: str = ""
    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    text: str = ""
    x: float = float("nan")
    x_low: float = float("nan")
    x_high: float = float("nan")


def estimate_mark(
    estimate: Estimate,
    *,
    row: str,
    column: str = "",
    n: int | None = None,
    text: str = "",
    x: float = math.nan,
    x_low: float = math.nan,
    x_high: float = math.nan,
) -> Mark:
    """Return a mark at an estimate with its interval; ``n`` is the estimate's by default."""
    return Mark(
        row=row, column=column, value=estimate.value, low=estimate.low, high=estimate.high,
        n=estimate.n if n is None else n, text=text, x=x, x_low=x_low, x_high=x_high,
    )  # fmt: skip


class Curve(Struct, frozen=True, kw_only=True):
    """A line without marks, in the series ``row`` and the panel ``column``: a fit or a density.

    ``is_reference``: a reference line outside series (F = 0.5) with its ``text``. ``is_firm`` draws
    it as a boundary rather than a scale line.
    """

    row: str = ""
    column: str = ""
    x: tuple[float, ...]
    values: tuple[float, ...]
    text: str = ""
    is_reference: bool = False
    is_firm: bool = False


class Level(Struct, frozen=True, kw_only=True):
    """A line across a figure with its text, such as the chance level or human performance."""

    value: float
    text: str


class Span(Struct, frozen=True, kw_only=True):
    """Rows from ``first`` to ``last`` (indices) without significant differences."""

    first: int
    last: int


class Figure(Struct, frozen=True, kw_only=True):
    """What a figure shows, whoever draws it; docs/how-to/export.md says what each kind takes.

    Rows, columns and series are in the order of their first mark. The unit "points" is a share
    shown out of 100. ``table`` is the number (from 1) of the table of its section with the same
    numbers; if 0, the page makes a table of the marks.
    """

    name: str
    kind: FigureKind
    title: str
    subtitle: str
    marks: tuple[Mark, ...]
    curves: tuple[Curve, ...] = ()
    levels: tuple[Level, ...] = ()
    spans: tuple[Span, ...] = ()
    row_axis: str = ""
    column_axis: str = ""
    value_axis: str = ""
    value_unit: AxisUnit = "points"
    x_axis: str = ""
    x_unit: AxisUnit = "points"
    is_log: bool = False
    table: int = 0

    def rows(self) -> list[str]:
        """Return the rows, or series, in the order of their first mark."""
        return list(dict.fromkeys(mark.row for mark in self.marks))

    def columns(self) -> list[str]:
        """Return the columns, or panels, in the order of their first mark."""
        return list(dict.fromkeys(mark.column for mark in self.marks))


class Section(Struct, frozen=True, kw_only=True):
    """One section of a report.

    ``finding`` is the answer in one sentence, ``plain`` an explanation without statistics,
    ``cannot`` the limitations (or empty). ``how`` describes the computation: resampled unit, seed,
    source.
    """

    name: str
    title: str
    finding: str
    plain: str = ""
    cannot: str = ""
    how: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return section_text(self).rstrip("\n")

    def __repr__(self) -> str:  # a notebook shows this
        return str(self)


# Display and sort keys of a section's cells on a page.


class CellShown(Struct, frozen=True, kw_only=True):
    """A cell's text.

    ``key`` is the sort key, empty for missing values, which sort last. ``told`` is the detail shown
    on request. ``is_number``: the cell is right-aligned.
    """

    text: str
    key: str = ""
    told: str = ""
    is_number: bool = True


def shown_cell(cell: Cell, column: Column) -> CellShown:
    """Return a cell as shown under its column."""
    if cell is None:
        return CellShown(text=MISSING, told=say("there is no such value"))
    if isinstance(cell, str):
        return CellShown(text=cell, key=cell, is_number=column.unit == "mixed")
    if isinstance(cell, Estimate):
        return _estimate(cell, column)
    if isinstance(cell, RankInterval):
        return CellShown(text=shown_rank(cell), key=_key(cell.low + cell.high / 1000))
    text = f"{cell:,}" if isinstance(cell, int) else _number(cell, column)
    return CellShown(text=text, key=_key(float(cell)))


def number_columns(table: Table) -> list[bool]:
    """Return for each column if its header is right-aligned.

    Columns with words and the first column, which names the row, are not.
    """
    words = {place for row in table.rows for place, cell in enumerate(row) if isinstance(cell, str)}
    return [place > 0 and place not in words for place in range(len(table.columns))]


def text_cells(table: Table) -> list[list[str]]:
    """Return the header and cells of a table as texts, row by row."""
    return [
        [column.name for column in table.columns],
        *(
            [printable(shown_cell(cell, column).text)
             for cell, column in zip(row, table.columns, strict=True)]
            for row in table.rows
        ),
    ]  # fmt: skip


def table_lines(table: Table) -> list[str]:
    """Return a table as aligned lines without its title: words left, numbers right."""
    left = [
        place
        for place, column in enumerate(table.columns)
        if not place
        or (
            not column.unit
            and any(isinstance(row[place], str) and row[place] for row in table.rows)
        )
    ]
    return aligned(text_cells(table), left=left)


def section_text(section: Section) -> str:
    """Return a section as text ending in a newline; the first table has no separate title."""
    lines = [section.title, *filter(None, (section.finding, section.plain, section.cannot))]
    for place, table in enumerate(section.tables):
        lines += ["", *([table.title] if place else []), *table_lines(table)]
    notes = [*section.notes, *filter(None, (section.how,))]
    return "".join(f"{line}\n" for line in [*lines, *([""] if notes else []), *notes])


def told_estimate(estimate: Estimate) -> str:
    """Return the details of an estimate for readers."""
    if not estimate.n:
        return say("; ").join([say("n is not known"), *_flags(estimate)])
    of = estimate.resampled if estimate.resampled in ("models", "entities") else "items"
    parts = [
        say("n = {n:,}", n=estimate.n)
        if math.isnan(estimate.effective_n)
        else say(
            "n = {n:,}, effective number of independent {of} {effective_n:,.0f}",
            n=estimate.n,
            effective_n=estimate.effective_n,
            of=word(of),
        ),
        say(
            "{level:g}% interval for {population}",
            level=100 * estimate.level,
            population=word(estimate.population),
        ),
        told_making(estimate.made_by),
        say("resampled unit: {what}", what=word(estimate.resampled)),
    ]
    return say("; ").join([*parts, *_flags(estimate)])


# Parts of an estimate's ``made_by``; {n} is a number.
_PARTS = (
    noted("{n} draws"),
    noted("{n} resamples"),
    noted("{n} samples"),
    noted("max-t over {n}"),
    noted("seed {n}"),
    noted("t on {n} degrees"),
    noted("clustered t on {n} degrees"),
    noted("Wilson-type t interval on {n} degrees"),
)


def told_making(made_by: str) -> str:
    """Return the method of an interval for readers, part by part."""
    return listed([_method_part(part) for part in made_by.split(", ")])


def _method_part(part: str) -> str:
    number = re.search(r"\d+(?:\.\d+)?", part)
    message = part.replace(number[0], "{n}", 1) if number else part
    return say(message, n=number[0]) if number and message in _PARTS else word(part)


def _flags(estimate: Estimate) -> list[str]:
    return [word(FLAGS[flag]) for flag in FLAGS if flag in estimate.flags]


def _estimate(estimate: Estimate, column: Column) -> CellShown:
    told = told_estimate(estimate)
    if column.unit == "points" or math.isnan(estimate.value):
        text = shown_estimate(estimate)
        if math.isnan(estimate.low) and not math.isnan(estimate.value):
            text = points(estimate.value)
    else:
        ends = ", ".join(_number(end, column) for end in (estimate.low, estimate.high))
        text = f"{_number(estimate.value, column)} [{ends}]"
    return CellShown(text=text, key=_key(estimate.value), told=told)


def _number(value: float, column: Column) -> str:
    if math.isnan(value):
        return MISSING
    if column.unit == "points":
        return points(value)
    if column.unit == "change":
        return f"{100 * value:+z.1f}"
    if column.unit == "share":
        return shown_share(value)
    if column.unit == "probability":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    return f"{value:z,.{column.digits}f}"


def _key(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


# Numbers for readers: points out of 100 with intervals, a dash for missing values.


MISSING = "\u2014"


def points(share: float) -> str:
    """Return a share or difference as points with one decimal: ``62.1``; a dash for NaN.

    Values that round to zero have no sign.
    """
    return MISSING if math.isnan(share) else f"{100 * share:z.1f}"


def signed_points(share: float) -> str:
    """Return a difference in points with its sign."""
    return f"+{points(share)}" if share > 0 else points(share)


def shown_share(share: float) -> str:
    """Return a share in percent: ``3.3%``; a dash for NaN."""
    return MISSING if math.isnan(share) else f"{100 * share:z.1f}%"


def shown_interval(low: float, high: float) -> str:
    """Return ``[7.9, 26.1]``; a dash for NaN."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return f"[{points(low)}, {points(high)}]"


def shown_estimate(estimate: Estimate) -> str:
    """Return ``62.1 [59.8, 64.4]``."""
    if math.isnan(estimate.value):
        return MISSING
    low, high = points(estimate.low), points(estimate.high)
    return f"{points(estimate.value)} [{low}, {high}]"


def shown_rank(rank: RankInterval | None) -> str:
    """Return ``1``, or the rank range ``1-3``; a dash without a rank."""
    if rank is None:
        return MISSING
    return f"{rank.low}" if rank.low == rank.high else f"{rank.low}-{rank.high}"


def two_digits(count: float) -> int:
    """Return an estimated count rounded up to two significant digits, at least 1."""
    whole = max(math.ceil(count), 1)
    unit = int(10 ** max(len(str(whole)) - 2, 0))
    return math.ceil(whole / unit) * unit


def tie_letters(tie: int) -> str:
    """Return the name of a tied run by its number from 0: a to z, then aa, ab, ..."""
    name = ""
    while tie >= 0:
        tie, place = divmod(tie, 26)
        name, tie = string.ascii_lowercase[place] + name, tie - 1
    return name


def tie_lanes(ties: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return a lane for each tied run; overlapping runs have different lanes."""
    free_from: list[int] = []
    chosen = []
    for first, last in ties:
        lane = next((i for i, start in enumerate(free_from) if start <= first), len(free_from))
        free_from[lane : lane + 1] = [last + 1]
        chosen.append(lane)
    return tuple(chosen)


# Tables of a page as files.


class PageTable(Struct, frozen=True, kw_only=True):
    """A table with the ``name`` of its files (lower case, digits, hyphens) and ``notes``.

    Notes explain the computation and marks. ``best`` are the rows (from 0) statistically tied for
    first in its first column of estimates.
    """

    name: str
    table: Table
    notes: tuple[str, ...] = ()
    best: tuple[int, ...] = ()


def estimates_in(table: Table) -> Iterator[Estimate]:
    """Yield the defined estimates of a table, row by row."""
    for row in table.rows:
        for cell in row:
            if isinstance(cell, Estimate) and cell.value == cell.value:
                yield cell


Flat = str | int | float | None


_ESTIMATE = ("value", "low", "high", "n", "population", "confidence")


def flat_rows(table: Table) -> tuple[list[str], list[Mapping[str, Flat]]]:
    """Return the names of the columns and the rows by these names.

    A column of estimates has six: ``KEY_value``, ``_low``, ``_high``, ``_n``, ``_population`` and
    ``_confidence``. One of ranks has two: ``KEY_low``, ``KEY_high``. Shares are in [0, 1];
    undefined values are None. Columns with equal keys get a number.
    """
    names: list[str] = []
    columns: list[list[Flat]] = []
    taken: set[str] = set()
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        key = _unlike(column.key, cells, taken)
        for name, flat in _spread(key, cells):
            taken.add(name)
            names.append(name)
            columns.append(flat)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return names, list(rows)


def _unlike(key: str, cells: Sequence[Cell], taken: set[str]) -> str:
    """Return ``key``, with a number if its columns' names are taken."""
    number, free = 1, key
    while taken.intersection(name for name, _ in _spread(free, cells)):
        number += 1
        free = f"{key}_{number}"
    return free


def _spread(key: str, cells: Sequence[Cell]) -> Iterator[tuple[str, list[Flat]]]:
    if any(isinstance(cell, Estimate) for cell in cells):
        for place, part in enumerate(_ESTIMATE):
            yield f"{key}_{part}", [_parts(cell)[place] for cell in cells]
    elif any(isinstance(cell, RankInterval) for cell in cells):
        for part in ("low", "high"):
            ends = [
                getattr(cell, part) if isinstance(cell, RankInterval) else None for cell in cells
            ]
            yield f"{key}_{part}", ends
    else:
        yield key, [_flat(cell) for cell in cells]


def _parts(cell: Cell) -> tuple[Flat, ...]:
    """Return an estimate's six values; a plain number has a value only."""
    if not isinstance(cell, Estimate):
        return (_flat(cell), None, None, None, None, None)
    ends = (_known(cell.value), _known(cell.low), _known(cell.high))
    return (*ends, int(cell.n), cell.population or None, _known(cell.level))


def _flat(cell: Cell) -> Flat:
    if cell is None or isinstance(cell, str):
        return cell or None
    if isinstance(cell, Integral):  # NumPy's too
        return int(cell)
    return _known(float(cell)) if isinstance(cell, Real) else str(cell)


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
