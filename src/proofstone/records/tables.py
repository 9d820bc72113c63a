"""Sheets of a workbook as data: what is shown, what may be filled in, and what came back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, get_args

from msgspec import Struct

from proofstone.records.runs import Estimate

# A table as data: what a method counts, for whoever prints, pages or exports it.

Cell: TypeAlias = str | int | float | None


class Column(Struct, frozen=True, kw_only=True):
    """One column: ``key`` names its values for programs, ``group`` and ``name`` head it for
    people. ``digits`` behind the point, for numbers that are not whole."""

    key: str
    name: str
    group: str = ""
    digits: int = 2


class Tabulation(Struct, frozen=True, kw_only=True):
    """Rows under columns, each row as long as the columns. None is a value that there is not (a
    largest of nothing), shown as a dash. ``notes`` say what was counted and how."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Cell]]:
        """Each row as values by the keys of the columns."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]


# What a row of filters left of what entered, in counts: no text of what was dropped.


class FunnelStep(Struct, frozen=True, gc=False):
    """How many rows a reason took, by group, in the order of the funnel's groups."""

    reason: str
    dropped: tuple[int, ...]


class Funnel(Struct, frozen=True, gc=False, kw_only=True):
    """Each row counts once: at the first reason that took it, or among those left.

    ``filters`` names the filters and their version. Counts are by ``groups`` of rows (correct and
    falsified statements); every reason is listed in its order, also where it took none.
    ``changed`` counts rows that are left with a text changed.
    """

    filters: str
    groups: tuple[str, ...]
    entered: tuple[int, ...]
    steps: tuple[FunnelStep, ...]
    changed: tuple[int, ...]

    @property
    def left(self) -> tuple[int, ...]:
        """The rows that no reason took, by group."""
        dropped = [sum(counts) for counts in zip(*(s.dropped for s in self.steps), strict=True)]
        return tuple(n - gone for n, gone in zip(self.entered, dropped, strict=True))


# Rows of tabular files, and what filters make of them.


class Row(Struct, frozen=True, gc=False):
    """One record of a tabular file: where it stands (``line 3``), and its named values."""

    place: str
    values: dict[str, Any]


class SiftedRow(Struct, frozen=True, gc=False, kw_only=True):
    """A row that filters dropped or changed. ``row`` is as it stands after cleaning, ``before`` its
    text as it came. ``reason`` is empty where it was only changed; ``found`` quotes what gave the
    reason, or what was taken out."""

    row: Row
    before: str
    reason: str = ""
    found: str = ""


class SiftedRows(Struct, frozen=True, gc=False, kw_only=True):
    """What filters made of a file's rows: those left, in their order; those dropped or changed;
    and the counts of both."""

    kept: tuple[Row, ...]
    touched: tuple[SiftedRow, ...]
    funnel: Funnel


class Sifter(Protocol):
    """A method's filters over the rows of a file, before its facts are read."""

    def __call__(self, rows: Iterable[Row]) -> SiftedRows: ...


# Where the texts of a bank or form lie in meaning, and how far their groups stand apart.


class GroupSeparation(Struct, frozen=True, kw_only=True):
    """One group of ``n`` texts: the share of their neighbours that are of it too, and by chance."""

    name: str
    n: int
    agreement: float
    chance: float


class GroupsApart(Struct, frozen=True, kw_only=True):
    """``agreement``: the share of a text's ``k`` nearest neighbours that are of its own group, the
    mean over texts; ``chance``: what it would be, were neighbours drawn from all texts that could
    be one. ``index`` is (agreement - chance) / (1 - chance): 0 where groups are mixed, 1 where no
    text has a neighbour of another group; below 0 where they avoid their own."""

    k: int
    n: int
    agreement: Estimate
    chance: float
    index: Estimate
    groups: tuple[GroupSeparation, ...]


class StoredMap(Struct, frozen=True, kw_only=True):
    """A map as it is kept, without its texts: ``rows`` are the ids of facts or items, each with the
    place of its group among those of ``separation``, and where t-SNE put it (``places``). Drawn by
    ``seed`` from ``n_all`` texts."""

    nature: str
    level: str
    embedding_model: str
    seed: int
    n_all: int
    separation: GroupsApart
    rows: tuple[bytes, ...]
    group: tuple[int, ...]
    places: tuple[tuple[float, float], ...]


# Who a report is for.

# "public" holds no text of an item, a passage or a reply.
Audience = Literal["internal", "public"]


AUDIENCES: tuple[Audience, ...] = get_args(Audience)


class SheetColumn(Struct, frozen=True, kw_only=True):
    """A column: ``is_answer`` where people write, all others are locked. ``choices`` are what a
    cell may hold; ``width`` is in characters."""

    title: str
    width: int = 20
    is_hidden: bool = False
    is_answer: bool = False
    choices: tuple[str, ...] = ()
    wrong: str = ""
    """What is said of an entry that is none of the choices."""


class SheetTab(Struct, frozen=True, kw_only=True):
    """A sheet with a header and rows of texts, one a column."""

    name: str
    columns: tuple[SheetColumn, ...]
    rows: Sequence[Sequence[str]]


class Workbook(Struct, frozen=True, kw_only=True):
    """A first sheet that says what to do (its lines, the first one being a title), and the others
    behind it."""

    about_name: str
    about: tuple[str, ...]
    tabs: tuple[SheetTab, ...]


class Grid(Struct, frozen=True, kw_only=True):
    """A sheet as it was read: ``rows[0][0]`` is cell A1. ``name`` is empty where a file has none
    (CSV)."""

    name: str
    rows: Sequence[Sequence[str]]


def cell_name(grid: str, row: int, column: int) -> str:
    """``Sheet!C14`` for row 13 and column 2 (both from 0); quoted where the name needs it."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    cell = f"{letters}{row + 1}"
    if not grid:
        return cell
    name = grid if grid.isalnum() else "'" + grid.replace("'", "''") + "'"
    return f"{name}!{cell}"
