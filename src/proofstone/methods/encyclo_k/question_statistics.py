"""The paper's Table 2 (3.2.2) of any form: composed, imported, or of single statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from proofstone.methods.encyclo_k.payloads import ComposedQuestion, SingleStatement
from proofstone.methods.encyclo_k.rendering import render
from proofstone.methods.encyclo_k.tallies import (
    Languages,
    Spread,
    by_discipline,
    language_columns,
    spread_columns,
)
from proofstone.ports import TokenCounter
from proofstone.records import Column, LoadedItem, Tabulation

__all__ = ["question_statistics"]


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
