"""The paper's Table 1 (3.2.1) of any bank, and its falsified statements by type of error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

from proofstone.methods.encyclo_k.payloads import (
    ERROR_TYPES,
    ComposedQuestion,
    SingleStatement,
    Statement,
    error_type_of,
)
from proofstone.methods.encyclo_k.questions import render
from proofstone.records.calls import TokenCounter
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact
from proofstone.records.tables import Cell, Column, Tabulation

# Counts that grow row by row, for statistics of banks and forms of any size.

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


# The paper's Table 2 (3.2.2) of any form: composed, imported, or of single statements.


@dataclass(slots=True)
class _Discipline:
    """What one row of the table counts."""

    languages: Languages = field(default_factory=Languages)
    tokens: Spread = field(default_factory=Spread)
    statements: Spread = field(default_factory=Spread)
    options: Spread = field(default_factory=Spread)
    combinations: Spread = field(default_factory=Spread)

    def spreads(self) -> tuple[Spread, ...]:
        return self.tokens, self.statements, self.options, self.combinations

    def add(self, item: LoadedItem, tokens: TokenCounter) -> None:
        payload = item.item.payload
        self.languages.counts[item.item.language] += 1
        if isinstance(payload, SingleStatement):
            self.tokens.add(tokens(render(item, "statement")))
            self.statements.add(1)
            return
        self.tokens.add(tokens(render(item)))
        self.options.add(len(payload.options))
        if isinstance(payload, ComposedQuestion):
            self.statements.add(len(item.facts))
            for option in payload.options:
                self.combinations.add(len(option))

    def merge(self, other: _Discipline) -> None:
        self.languages.counts.update(other.languages.counts)
        for mine, theirs in zip(self.spreads(), other.spreads(), strict=True):
            mine.merge(theirs)


def question_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> tuple[Tabulation]:
    """Table 2 of a form, a row a discipline and one over all. Items are read once and not kept.

    What a question does not have (a combination, where it was imported) is None. Tokens are those
    of the question as it is put, with statements and options and without the instruction around
    them; combinations are the numbers of statements in each option, over all options.
    """
    named, overall = by_discipline(
        items, lambda item: item.item.stratum.discipline, _Discipline, tokens
    )
    languages, columns = language_columns("questions", overall.languages.counts)
    groups = ("tokens", "statements", "options", "combinations")
    table = Tabulation(
        title="Questions (the paper's Table 2)",
        columns=(
            Column(key="discipline", name="discipline"),
            *columns,
            *(column for group in groups for column in spread_columns(group)),
        ),
        rows=tuple(
            (
                name,
                *row.languages.cells(languages),
                *(cell for spread in row.spreads() for cell in spread.cells()),
            )
            for name, row in named
        ),
        notes=(
            f"Tokens of each question with its statements and options, without the instruction "
            f"around it, by {tokens.name}.",
            "Combinations: statements in an option, over all options.",
        ),
    )
    return (table,)


_NOT_STATED = "not stated"


@dataclass(slots=True)
class _StatementStatisticsDiscipline:
    """What one row of the table counts."""

    languages: Languages = field(default_factory=Languages)
    truth: Counter[bool] = field(default_factory=Counter)
    tokens: Spread = field(default_factory=Spread)
    fields: set[tuple[str, str]] = field(default_factory=set)
    subfields: set[tuple[str, str, str]] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, fact: Fact, tokens: TokenCounter) -> None:
        statement: Statement = fact.payload
        self.languages.counts[fact.language] += 1
        self.truth[statement.correct] += 1
        self.tokens.add(tokens(statement.text))
        place = fact.stratum
        if place.field:
            self.fields.add((place.discipline, place.field))
        if place.subfield:
            self.subfields.add((place.discipline, place.field, place.subfield))
        if not statement.correct:
            self.errors[error_type_of(statement) or _NOT_STATED] += 1

    def merge(self, other: _StatementStatisticsDiscipline) -> None:
        self.languages.counts.update(other.languages.counts)
        self.truth.update(other.truth)
        self.tokens.merge(other.tokens)
        self.fields |= other.fields
        self.subfields |= other.subfields
        self.errors.update(other.errors)


def statement_statistics(facts: Iterable[Fact], tokens: TokenCounter) -> tuple[Tabulation, ...]:
    """Table 1 of a bank, a row a discipline and one over all; and the types of error likewise.

    Facts are read once and not kept. Tokens are those of a statement's text as a model is shown
    it. The second table is left out where nothing was falsified.
    """
    named, overall = by_discipline(
        facts, lambda fact: fact.stratum.discipline, _StatementStatisticsDiscipline, tokens
    )
    tables = [_table_1(named, overall, tokens.name)]
    if overall.errors:
        tables.append(_error_table(named, overall))
    return tuple(tables)


def _table_1(
    named: list[tuple[str, _StatementStatisticsDiscipline]],
    overall: _StatementStatisticsDiscipline,
    tokenizer: str,
) -> Tabulation:
    languages, columns = language_columns("statements", overall.languages.counts)
    return Tabulation(
        title="Statements (the paper's Table 1)",
        columns=(
            Column(key="discipline", name="discipline"),
            *columns,
            Column(key="correct", group="of them", name="correct"),
            Column(key="incorrect", group="of them", name="incorrect"),
            *spread_columns("tokens"),
            Column(key="fields", group="coverage", name="fields"),
            Column(key="subfields", group="coverage", name="subfields"),
        ),
        rows=tuple(
            (
                name,
                *row.languages.cells(languages),
                row.truth[True],
                row.truth[False],
                *row.tokens.cells(),
                len(row.fields),
                len(row.subfields),
            )
            for name, row in named
        ),
        notes=(f"Tokens of each statement's text by {tokenizer}.",),
    )


def _error_table(
    named: list[tuple[str, _StatementStatisticsDiscipline]], overall: _StatementStatisticsDiscipline
) -> Tabulation:
    types: list[str] = [*ERROR_TYPES]
    if overall.errors[_NOT_STATED]:
        types.append(_NOT_STATED)
    return Tabulation(
        title="Falsified statements by type of error",
        columns=(
            Column(key="discipline", name="discipline"),
            Column(key="incorrect", name="all"),
            *map(_error_column, types),
        ),
        rows=tuple(
            (name, row.errors.total(), *(row.errors[kind] for kind in types)) for name, row in named
        ),
    )


def _error_column(name: str) -> Column:
    """A type's two words one above the other, which keeps the table narrow."""
    first, second = name.split()
    return Column(key=f"{first}_{second}", group=first, name=second)
