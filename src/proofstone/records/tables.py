"""Workbooks, tables, funnels and filtered rows as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, get_args

from msgspec import Struct

from proofstone.errors import Problem
from proofstone.records.knowledge import Source
from proofstone.records.runs import Estimate

# A table as data, for printing, pages or export.

Cell: TypeAlias = str | int | float | None


class Column(Struct, frozen=True, kw_only=True):
    """One column: ``key`` is its name for programs, ``group`` and ``name`` are its heading.

    ``digits`` is the number of decimals of non-integers.
    """

    key: str
    name: str
    group: str = ""
    digits: int = 2


class Tabulation(Struct, frozen=True, kw_only=True):
    """Rows under columns, each row as long as the columns.

    None is a missing value (the maximum of nothing), shown as a dash. ``notes`` describe what was
    counted and how.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Cell]]:
        """Return each row as values by column key."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]


# Counts of rows after each filter, without the text of dropped rows.


class FunnelStep(Struct, frozen=True, gc=False):
    """How many rows a reason dropped, by group, in the order of the funnel's groups."""

    reason: str
    dropped: tuple[int, ...]


class Funnel(Struct, frozen=True, gc=False, kw_only=True):
    """Each row counts once: at the first reason that dropped it, or among those left.

    ``filters`` names the filters and their version. Counts are by ``groups`` of rows (true and
    false statements). Every reason is listed in order, including those without rows. ``changed``
    counts remaining rows whose text was changed.
    """

    filters: str
    groups: tuple[str, ...]
    entered: tuple[int, ...]
    steps: tuple[FunnelStep, ...]
    changed: tuple[int, ...]

    @property
    def left(self) -> tuple[int, ...]:
        """Return the remaining rows, by group."""
        dropped = [sum(counts) for counts in zip(*(s.dropped for s in self.steps), strict=True)]
        return tuple(n - gone for n, gone in zip(self.entered, dropped, strict=True))


# Rows of tabular files, and the result of filters.


class Row(Struct, frozen=True, gc=False):
    """One record of a tabular file: its place (``line 3``) and named values."""

    place: str
    values: dict[str, Any]


class SiftedRow(Struct, frozen=True, gc=False, kw_only=True):
    """A row that filters dropped or changed.

    ``row`` is the row after cleaning, ``before`` its original text. ``reason`` is empty if it was
    only changed; ``found`` quotes the evidence, or what was removed.
    """

    row: Row
    before: str
    reason: str = ""
    found: str = ""


class SiftedRows(Struct, frozen=True, gc=False, kw_only=True):
    """Result of filtering a file's rows.

    The remaining ones in order, those dropped or changed, and the counts of both.
    """

    kept: tuple[Row, ...]
    touched: tuple[SiftedRow, ...]
    funnel: Funnel


class Sifter(Protocol):
    """A method's filters over the rows of a file, before its facts are parsed."""

    def __call__(self, rows: Iterable[Row]) -> SiftedRows: ...


# Embedding map of a bank's or form's texts, and the separation of their groups.


class GroupSeparation(Struct, frozen=True, kw_only=True):
    """One group of ``n`` texts: the share of their neighbors in the same group, and by chance."""

    name: str
    n: int
    agreement: float
    chance: float


class GroupsApart(Struct, frozen=True, kw_only=True):
    """Separation of groups by nearest neighbors.

    ``agreement`` is the mean share of a text's ``k`` nearest neighbors in its own group. ``chance``
    is the expectation for neighbors sampled from all candidate texts. ``index`` is (agreement -
    chance) / (1 - chance): 0 for mixed groups, 1 if no text has a neighbor in another group, below
    0 if texts have fewer neighbors in their own group than by chance.
    """

    k: int
    n: int
    agreement: Estimate
    chance: float
    index: Estimate
    groups: tuple[GroupSeparation, ...]


class StoredMap(Struct, frozen=True, kw_only=True):
    """A stored map without its texts.

    ``rows`` are the ids of facts or items, ``group`` the index of each one's group in
    ``separation``, ``places`` its t-SNE coordinates. ``n_all`` texts were subsampled by ``seed``.
    """

    nature: str
    level: str
    embedding_model: str
    seed: int
    n_all: int
    separation: GroupsApart
    rows: tuple[bytes, ...]
    group: tuple[int, ...]
    places: tuple[tuple[float, float], ...]


# The audience of a report.

# "public" holds no text of an item, a passage or a response.
Audience = Literal["internal", "public"]


AUDIENCES: tuple[Audience, ...] = get_args(Audience)


class SheetColumn(Struct, frozen=True, kw_only=True):
    """A spreadsheet column: people write in ``is_answer`` columns, all others are locked.

    ``choices`` are the allowed cell values; ``width`` is in characters. ``wrong`` is the error for
    other values.
    """

    title: str
    width: int = 20
    is_hidden: bool = False
    is_answer: bool = False
    choices: tuple[str, ...] = ()
    wrong: str = ""
    "Error shown for an entry that is not one of the choices."


class SheetTab(Struct, frozen=True, kw_only=True):
    """A sheet with a header and rows of texts, one per column."""

    name: str
    columns: tuple[SheetColumn, ...]
    rows: Sequence[Sequence[str]]


class Workbook(Struct, frozen=True, kw_only=True):
    """A first sheet with instructions (its lines, starting with a title), and the other sheets."""

    about_name: str
    about: tuple[str, ...]
    tabs: tuple[SheetTab, ...]


class Grid(Struct, frozen=True, kw_only=True):
    """A sheet as read: ``rows[0][0]`` is cell A1. ``name`` is empty if the file has none (CSV)."""

    name: str
    rows: Sequence[Sequence[str]]


def cell_name(grid: str, row: int, column: int) -> str:
    """Return ``Sheet!C14`` for row 13 and column 2 (both from 0); quoted if the name needs it."""
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


# Documents that rows of a file refer to.


class Library(Protocol):
    """The documents that a file's rows may name."""

    def named(self, name: str) -> Sequence[Source]:
        """Return the documents of this title, file name or id; several if it is ambiguous.

        Raises BadInput if the document is there but cannot be read.
        """
        ...

    def pages(self, source: bytes) -> Mapping[int | None, str]:
        """Return the texts of a document's pages in order, by page number."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        ...


class PlacedRows(Struct, frozen=True):
    """Rows whose documents and quotes were looked up, with what was wrong or unusual."""

    rows: Sequence[Row]
    problems: Sequence[Problem] = ()
    warnings: Sequence[str] = ()
