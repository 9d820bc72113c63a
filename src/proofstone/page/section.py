"""A part of a report as data: terminal, JSON and page all show the same."""

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
    "map",
]


AxisUnit = Literal["points", "number", "usd"]


class Column(Struct, frozen=True, kw_only=True):
    """One column: ``key`` names its values for programs, ``name`` heads it for people, ``help`` is
    its meaning in plain words. ``unit`` says how its numbers are written: points out of 100,
    changes of these with their sign, shares with their percent sign, probabilities, ranks; else
    ``digits`` behind the point. ``mixed``: texts with numbers in them, to the right as numbers."""

    key: str
    name: str
    help: str = ""
    unit: Unit = ""
    digits: int = 2


class Table(Struct, frozen=True, kw_only=True):
    """Rows of cells under columns; None is a value that there is not. An estimate is shown with its
    interval, and asked for its n, estimand and what was resampled. ``sorts``: whether its order
    means nothing, so that a reader may change it. ``is_heat``: a page shades its estimates by
    value, and shows their intervals on focus."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    sorts: bool = True
    is_heat: bool = False


class ReadColumn(NamedTuple):
    """A column, and what its cell is in a row's record."""

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
    """A column of ``table_of``. ``cell`` is a function of a row's record, or a path of its
    attributes and of places in tuples (``slope.low``, ``1.n``); the ``key`` if none is given."""
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
    """A table of a row a record."""
    return Table(
        title=title,
        columns=tuple(each.column for each in columns),
        rows=tuple(tuple(each.cell(record) for each in columns) for record in records),
        note=note,
        sorts=sorts,
    )


class Mark(Struct, frozen=True, kw_only=True):
    """One mark of a figure: ``value`` at ``row`` and ``column``, with its interval and n where it
    has them, and its ``text`` in words. Where both axes are numbers ``row`` is the series, ``x``
    the place across with its own interval, and ``column`` the panel."""

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
    """A mark at an estimate with its interval; ``n`` is the estimate's own if none is given."""
    return Mark(
        row=row, column=column, value=estimate.value, low=estimate.low, high=estimate.high,
        n=estimate.n if n is None else n, text=text, x=x, x_low=x_low, x_high=x_high,
    )  # fmt: skip


class Curve(Struct, frozen=True, kw_only=True):
    """A line without marks, in the series ``row`` and the panel ``column``: a fit, or a density.
    ``is_reference``: it belongs to no series but is there to be read against (F = 0.5), with its
    ``text`` beside it; ``is_firm`` draws such a one as the edge of something, not as a scale."""

    row: str = ""
    column: str = ""
    x: tuple[float, ...]
    values: tuple[float, ...]
    text: str = ""
    is_reference: bool = False
    is_firm: bool = False


class Level(Struct, frozen=True, kw_only=True):
    """A level drawn as a line across a figure, with its text: chance, people."""

    value: float
    text: str


class Span(Struct, frozen=True, kw_only=True):
    """Rows from ``first`` to ``last`` (places from 0) that the data cannot tell apart."""

    first: int
    last: int


class Figure(Struct, frozen=True, kw_only=True):
    """What a figure shows, whoever draws it; docs/how-to/export.md says what each kind takes.

    Rows, columns and series are in the order of their first mark. A unit of "points" is a share
    that is written out of 100. ``table`` says which table of its section (from 1) holds the
    same numbers; where it is 0 the page makes a table of the marks.
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
        """The rows, or series, in the order of their first mark."""
        return list(dict.fromkeys(mark.row for mark in self.marks))

    def columns(self) -> list[str]:
        """The columns, or panels, in the order of their first mark."""
        return list(dict.fromkeys(mark.column for mark in self.marks))


class Section(Struct, frozen=True, kw_only=True):
    """One part of a report. ``finding`` is its answer in a sentence, ``plain`` what that means to
    someone without statistics, ``cannot`` what these data leave open (or nothing). ``how`` says how
    it was computed: what was resampled, the seed, the source."""

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


# How the cells of a section's tables look on a page, and by what they sort.


class CellShown(Struct, frozen=True, kw_only=True):
    """A cell's text; ``key`` is what a script sorts by, empty for what is missing, which stands
    last; ``told`` is what is said when it is asked. ``is_number``: it stands to the right."""

    text: str
    key: str = ""
    told: str = ""
    is_number: bool = True


def shown_cell(cell: Cell, column: Column) -> CellShown:
    """A cell under its column."""
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
    """Of each column, whether its head stands to the right, above numbers: not above words, nor in
    the first column, which names the row."""
    words = {place for row in table.rows for place, cell in enumerate(row) if isinstance(cell, str)}
    return [place > 0 and place not in words for place in range(len(table.columns))]


def text_cells(table: Table) -> list[list[str]]:
    """The heads of a table and its cells, row by row, as a line of text shows them."""
    return [
        [column.name for column in table.columns],
        *(
            [printable(shown_cell(cell, column).text)
             for cell, column in zip(row, table.columns, strict=True)]
            for row in table.rows
        ),
    ]  # fmt: skip


def table_lines(table: Table) -> list[str]:
    """A table as aligned lines, its title aside: words to the left, numbers to the right."""
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
    """A section as text ending in a newline: the first table stands under the section's own title,
    each other under its own."""
    lines = [section.title, *filter(None, (section.finding, section.plain, section.cannot))]
    for place, table in enumerate(section.tables):
        lines += ["", *([table.title] if place else []), *table_lines(table)]
    notes = [*section.notes, *filter(None, (section.how,))]
    return "".join(f"{line}\n" for line in [*lines, *([""] if notes else []), *notes])


def told_estimate(estimate: Estimate) -> str:
    """What an estimate is, as a reader asks of a number."""
    if not estimate.n:
        return say("; ").join([say("n is not known"), *_flags(estimate)])
    of = estimate.resampled if estimate.resampled in ("models", "entities") else "items"
    parts = [
        say(
            "n = {n:,}, worth {effective_n:,.0f} independent {of}",
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
        say("drawn: {what}", what=word(estimate.resampled)),
    ]
    return say("; ").join([*parts, *_flags(estimate)])


# Parts of how an interval was made, as estimates state it; {n} is a number.
_PARTS = (
    noted("{n} draws"),
    noted("seed {n}"),
    noted("t on {n} degrees"),
    noted("clustered t on {n} degrees"),
    noted("Wilson-type t interval on {n} degrees"),
)


def told_making(made_by: str) -> str:
    """How an interval was made: each part between commas in words, with its number."""
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


# Numbers as people read them: points out of 100, an interval beside each, a dash for missing.


MISSING = "\u2014"


def points(share: float) -> str:
    """A share or a difference of shares as points with one decimal: ``62.1``; a dash for NaN.
    What rounds to zero has no sign."""
    return MISSING if math.isnan(share) else f"{100 * share:z.1f}"


def signed_points(share: float) -> str:
    """A difference in points, with its sign."""
    return f"+{points(share)}" if share > 0 else points(share)


def shown_share(share: float) -> str:
    """A share with its percent sign: ``3.3%``; a dash for NaN."""
    return MISSING if math.isnan(share) else f"{100 * share:z.1f}%"


def shown_interval(low: float, high: float) -> str:
    """``[7.9, 26.1]``; a dash for NaN."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return f"[{points(low)}, {points(high)}]"


def shown_estimate(estimate: Estimate) -> str:
    """``62.1 [59.8, 64.4]``."""
    if math.isnan(estimate.value):
        return MISSING
    low, high = points(estimate.low), points(estimate.high)
    return f"{points(estimate.value)} [{low}, {high}]"


def shown_rank(rank: RankInterval | None) -> str:
    """``1``, or ``1-3`` where the data leave ranks 1 to 3 open; a dash where there is no rank."""
    if rank is None:
        return MISSING
    return f"{rank.low}" if rank.low == rank.high else f"{rank.low}-{rank.high}"


def two_digits(count: float) -> int:
    """A count that is only foreseen, rounded up to two significant digits; at least 1."""
    whole = max(math.ceil(count), 1)
    unit = int(10 ** max(len(str(whole)) - 2, 0))
    return math.ceil(whole / unit) * unit


def tie_letters(tie: int) -> str:
    """a to z, then aa, ab, ...: the name of the tied run of that number, from 0."""
    name = ""
    while tie >= 0:
        tie, place = divmod(tie, 26)
        name, tie = string.ascii_lowercase[place] + name, tie - 1
    return name


def tie_lanes(ties: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """A lane for each tied run, so that runs that overlap stand side by side."""
    free_from: list[int] = []
    chosen = []
    for first, last in ties:
        lane = next((i for i, start in enumerate(free_from) if start <= first), len(free_from))
        free_from[lane : lane + 1] = [last + 1]
        chosen.append(lane)
    return tuple(chosen)


# A table of a page as it is written to files: its name, its rows, what to know of it.


class PageTable(Struct, frozen=True, kw_only=True):
    """A table with the ``name`` of its files (small letters, digits, hyphens) and ``notes``: how
    it was computed, what the marks mean. ``best`` are the rows (from 0) that are statistically tied
    for first in its first column of estimates."""

    name: str
    table: Table
    notes: tuple[str, ...] = ()
    best: tuple[int, ...] = ()


def estimates_in(table: Table) -> Iterator[Estimate]:
    """The estimates of a table that have a value, row by row."""
    for row in table.rows:
        for cell in row:
            if isinstance(cell, Estimate) and cell.value == cell.value:
                yield cell


Flat = str | int | float | None


_ESTIMATE = ("value", "low", "high", "n", "population", "confidence")


def flat_rows(table: Table) -> tuple[list[str], list[Mapping[str, Flat]]]:
    """The names of the columns and the rows by these names.

    A column of estimates has six: ``KEY_value``, ``_low``, ``_high``, ``_n``, ``_population`` and
    ``_confidence``; one of ranks two: ``KEY_low``, ``KEY_high``. Shares are in [0, 1], and what is
    undefined is None. Two columns of one key are told apart by a number.
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
    """``key``, with a number behind it where its columns' names are taken."""
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
    """An estimate's six; a lone number has a value alone."""
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
