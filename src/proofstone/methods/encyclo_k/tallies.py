"""Counts that grow row by row, for statistics of banks and forms of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

from proofstone.ports import TokenCounter
from proofstone.records import Cell, Column

__all__ = ["Languages", "Spread", "Tally", "by_discipline", "language_columns", "spread_columns"]

Entry = TypeVar("Entry")
Entry_contra = TypeVar("Entry_contra", contravariant=True)

_PRINTED = ("en", "zh")  # the paper's two, which stand in the table even where there are none


@dataclass(slots=True)
class Spread:
    """The largest, smallest and mean of whole numbers. ``cells`` are None where there is none."""

    count: int = 0
    total: int = 0
    most: int = 0
    least: int = 0

    def add(self, value: int) -> None:
        """One more value."""
        self.most = max(self.most, value) if self.count else value
        self.least = min(self.least, value) if self.count else value
        self.count += 1
        self.total += value

    def merge(self, other: Spread) -> None:
        """All values of another one."""
        if other.count:
            self.most = max(self.most, other.most) if self.count else other.most
            self.least = min(self.least, other.least) if self.count else other.least
            self.count += other.count
            self.total += other.total

    def cells(self) -> tuple[Cell, Cell, Cell]:
        """Max, min and mean, in the paper's order."""
        if not self.count:
            return None, None, None
        return self.most, self.least, self.total / self.count


def spread_columns(group: str) -> list[Column]:
    """The columns of ``Spread.cells``."""
    names = {"max": "max", "min": "min", "mean": "avg"}
    return [Column(key=f"{group}_{key}", group=group, name=name) for key, name in names.items()]


@dataclass(slots=True)
class Languages:
    """How many rows there are of each language."""

    counts: Counter[str] = field(default_factory=Counter)

    def cells(self, languages: tuple[str, ...]) -> tuple[int, ...]:
        """All rows, then those of each of ``languages``."""
        return self.counts.total(), *(self.counts[language] for language in languages)


def language_columns(group: str, found: Counter[str]) -> tuple[tuple[str, ...], list[Column]]:
    """English, Chinese, and the other languages that were found; and their columns."""
    languages = (*_PRINTED, *sorted(language for language in found if language not in _PRINTED))
    columns = [Column(key=group, group=group, name="total")]
    columns += [
        Column(key=f"{group}_{language or 'und'}", group=group, name=language or "und")
        for language in languages
    ]
    return languages, columns


class Tally(Protocol[Entry_contra]):
    """What one row of a table counts."""

    languages: Languages

    def add(self, entry: Entry_contra, tokens: TokenCounter) -> None:
        """One more entry."""

    def merge(self, other: Self) -> None:
        """All entries of another one."""


Row = TypeVar("Row", bound=Tally[Any])


def by_discipline(
    entries: Iterable[Entry],
    discipline_of: Callable[[Entry], str],
    empty: Callable[[], Row],
    tokens: TokenCounter,
) -> tuple[list[tuple[str, Row]], Row]:
    """The named rows of a table, the largest first as in the paper's and equal ones by name, that
    over all last; and that over all. Entries are read once and not kept."""
    rows: dict[str, Row] = {}
    for entry in entries:
        discipline = discipline_of(entry)
        if discipline not in rows:
            rows[discipline] = empty()
        rows[discipline].add(entry, tokens)
    overall = empty()
    for row in rows.values():
        overall.merge(row)
    order = sorted(rows, key=lambda name: (-rows[name].languages.counts.total(), name))
    return [*((name or "(none)", rows[name]) for name in order), ("Overall", overall)], overall
