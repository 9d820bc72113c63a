"""The paper's Table 1 (3.2.1) of any bank, and its falsified statements by type of error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from proofstone.methods.encyclo_k.error_types import ERROR_TYPES, error_type_of
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.methods.encyclo_k.tallies import (
    Languages,
    Spread,
    by_discipline,
    language_columns,
    spread_columns,
)
from proofstone.ports import TokenCounter
from proofstone.records import Column, Fact, Tabulation

__all__ = ["statement_statistics"]

_NOT_STATED = "not stated"


@dataclass(slots=True)
class _Discipline:
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

    def merge(self, other: _Discipline) -> None:
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
    named, overall = by_discipline(facts, lambda fact: fact.stratum.discipline, _Discipline, tokens)
    tables = [_table_1(named, overall, tokens.name)]
    if overall.errors:
        tables.append(_error_table(named, overall))
    return tuple(tables)


def _table_1(
    named: list[tuple[str, _Discipline]], overall: _Discipline, tokenizer: str
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


def _error_table(named: list[tuple[str, _Discipline]], overall: _Discipline) -> Tabulation:
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
