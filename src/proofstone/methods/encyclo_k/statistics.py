"""Compute the paper's Table 1 (3.2.1) of any bank and Table 2 (3.2.2) of any form.

Also counts false statements by error type. Forms may be composed, imported, or of single
statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

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

_PRINTED = ("en", "zh")  # the paper's two languages, always in the table

_NOT_STATED = "not stated"


@dataclass(slots=True)
class _Spread:
    """Accumulate the maximum, minimum and mean of whole numbers, without keeping them."""

    count: int = 0
    total: int = 0
    most: int = 0
    least: int = 0

    def add(self, value: int) -> None:
        self.update(_Spread(1, value, value, value))

    def update(self, other: _Spread) -> None:
        if other.count:
            self.most = max(self.most, other.most) if self.count else other.most
            self.least = min(self.least, other.least) if self.count else other.least
            self.count += other.count
            self.total += other.total

    def cells(self) -> tuple[Cell, Cell, Cell]:
        """Return max, min and mean, in the paper's order; None without data."""
        if not self.count:
            return None, None, None
        return self.most, self.least, self.total / self.count


@dataclass(slots=True)
class _Tally:
    """Count one row of a table; ``update`` adds the fields of an entry."""

    languages: Counter[str] = field(default_factory=Counter)
    tokens: _Spread = field(default_factory=_Spread)

    def add(self, entry: Any, tokens: TokenCounter) -> None:
        raise NotImplementedError

    def update(self, other: _Tally) -> None:
        for each in fields(self):
            getattr(self, each.name).update(getattr(other, each.name))


@dataclass(slots=True)
class _Statements(_Tally):
    truth: Counter[bool] = field(default_factory=Counter)
    fields: set[tuple[str, str]] = field(default_factory=set)
    subfields: set[tuple[str, str, str]] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, entry: Fact, tokens: TokenCounter) -> None:
        statement: Statement = entry.payload
        self.languages[entry.language] += 1
        self.truth[statement.correct] += 1
        self.tokens.add(tokens(statement.text))
        place = entry.stratum
        if place.field:
            self.fields.add((place.discipline, place.field))
        if place.subfield:
            self.subfields.add((place.discipline, place.field, place.subfield))
        if not statement.correct:
            self.errors[error_type_of(statement) or _NOT_STATED] += 1


@dataclass(slots=True)
class _Questions(_Tally):
    statements: _Spread = field(default_factory=_Spread)
    options: _Spread = field(default_factory=_Spread)
    combinations: _Spread = field(default_factory=_Spread)

    def add(self, entry: LoadedItem, tokens: TokenCounter) -> None:
        payload = entry.item.payload
        self.languages[entry.item.language] += 1
        if isinstance(payload, SingleStatement):
            self.tokens.add(tokens(render(entry, "statement")))
            self.statements.add(1)
            return
        self.tokens.add(tokens(render(entry)))
        self.options.add(len(payload.options))
        if isinstance(payload, ComposedQuestion):
            self.statements.add(len(entry.facts))
            for option in payload.options:
                self.combinations.add(len(option))


T = TypeVar("T", bound=_Tally)


def _by_discipline(
    entries: Iterable[tuple[str, Any]], kind: type[T], tokens: TokenCounter
) -> list[tuple[str, T]]:
    """Return the rows of a table by descending size, ties by name, and the total last.

    Entries are read once and not kept.
    """
    rows: dict[str, T] = {}
    for discipline, entry in entries:
        if discipline not in rows:
            rows[discipline] = kind()
        rows[discipline].add(entry, tokens)
    overall = kind()
    for row in rows.values():
        overall.update(row)
    order = sorted(rows, key=lambda name: (-rows[name].languages.total(), name))
    return [*((name or "(none)", rows[name]) for name in order), ("Overall", overall)]


_DISCIPLINE = Column(key="discipline", name="discipline")


def _languages(rows: Sequence[tuple[str, T]]) -> tuple[str, ...]:
    """Return English, Chinese, and the other languages found."""
    return (*_PRINTED, *sorted(rows[-1][1].languages.keys() - _PRINTED))


def _language_columns(group: str, languages: Sequence[str]) -> list[Column]:
    names = [language or "und" for language in languages]
    return [
        Column(key=group, group=group, name="total"),
        *(Column(key=f"{group}_{name}", group=group, name=name) for name in names),
    ]


def _language_cells(row: _Tally, languages: Sequence[str]) -> tuple[int, ...]:
    return row.languages.total(), *(row.languages[language] for language in languages)


def _spread_columns(group: str) -> list[Column]:
    """Return the columns of ``_Spread.cells``."""
    names = {"max": "max", "min": "min", "mean": "avg"}
    return [Column(key=f"{group}_{key}", group=group, name=name) for key, name in names.items()]


def question_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> tuple[Tabulation]:
    """Return Table 2 of a form: one row per discipline, and a total. Items are read once and not
    kept.

    Fields that a question lacks (a combination, if it was imported) are None. Tokens are those of
    the question with statements and options, without instructions. Combinations are the numbers of
    statements in each option, over all options.
    """
    entries = ((item.item.stratum.discipline, item) for item in items)
    rows = _by_discipline(entries, _Questions, tokens)
    languages = _languages(rows)
    spreads = ("tokens", "statements", "options", "combinations")
    table = Tabulation(
        title="Questions (the paper's Table 2)",
        columns=(
            _DISCIPLINE,
            *_language_columns("questions", languages),
            *(column for group in spreads for column in _spread_columns(group)),
        ),
        rows=tuple(
            (
                name,
                *_language_cells(row, languages),
                *(cell for group in spreads for cell in getattr(row, group).cells()),
            )
            for name, row in rows
        ),
        notes=(
            "Tokens of each question with its statements and options, without instructions, by "
            f"{tokens.name}.",
            "Combinations: statements in an option, over all options.",
        ),
    )
    return (table,)


def statement_statistics(facts: Iterable[Fact], tokens: TokenCounter) -> tuple[Tabulation, ...]:
    """Return Table 1 of a bank: one row per discipline, and a total; and false statements by error
    type.

    Facts are read once and not kept. Tokens are those of a statement's text as shown to a model.
    The second table is left out if there are no false statements.
    """
    entries = ((fact.stratum.discipline, fact) for fact in facts)
    rows = _by_discipline(entries, _Statements, tokens)
    languages = _languages(rows)
    table = Tabulation(
        title="Statements (the paper's Table 1)",
        columns=(
            _DISCIPLINE,
            *_language_columns("statements", languages),
            Column(key="correct", group="of them", name="correct"),
            Column(key="incorrect", group="of them", name="incorrect"),
            *_spread_columns("tokens"),
            Column(key="fields", group="coverage", name="fields"),
            Column(key="subfields", group="coverage", name="subfields"),
        ),
        rows=tuple(
            (
                name,
                *_language_cells(row, languages),
                *(row.truth[True], row.truth[False]),
                *row.tokens.cells(),
                *(len(row.fields), len(row.subfields)),
            )
            for name, row in rows
        ),
        notes=(f"Tokens of each statement's text by {tokens.name}.",),
    )
    return (table, _error_table(rows)) if rows[-1][1].errors else (table,)


def _error_table(rows: Sequence[tuple[str, _Statements]]) -> Tabulation:
    """Build the table of error types; each name is split over two lines, to keep it narrow."""
    types: list[str] = [*ERROR_TYPES]
    if rows[-1][1].errors[_NOT_STATED]:
        types.append(_NOT_STATED)
    return Tabulation(
        title="False statements by error type",
        columns=(
            _DISCIPLINE,
            Column(key="incorrect", name="all"),
            *(
                Column(key=f"{first}_{second}", group=first, name=second)
                for first, second in map(str.split, types)
            ),
        ),
        rows=tuple(
            (name, row.errors.total(), *(row.errors[kind] for kind in types)) for name, row in rows
        ),
    )
