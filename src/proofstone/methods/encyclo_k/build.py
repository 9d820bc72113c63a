"""``build statements``: true statements from fact tables, and false ones the tables contradict.

An input is the name of carried tables (``elements``, ``countries``, ``codes``) or a CSV, JSONL or
Parquet file with a template file. No model has a hand in it: rules make the sentences, so the facts
carry no roles. Which wording and which replacement a row gets is drawn by (seed, row number,
point), so that a point added to the templates changes no true sentence of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from proofstone.errors import BadInput, BadUsage, NotFound, Problem
from proofstone.files.tables import read_checked
from proofstone.method import read_asked
from proofstone.methods.encyclo_k.demo_tables import BUNDLED, bundled_books
from proofstone.methods.encyclo_k.fact_tables import (
    FactTable,
    Perturber,
    Stated,
    Template,
    read_table,
    read_template,
    true_statements,
    true_texts,
)
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.methods.encyclo_k.statements import perturbed_fact
from proofstone.records.ids import Draws
from proofstone.records.knowledge import (
    BuiltFact,
    Fact,
    FactBuilder,
    Source,
    Stratum,
    fact_id,
    source_id,
)
from proofstone.records.options import Parameter

PARAMETERS = read_asked(__package__, "tables").parameters


@dataclass(frozen=True, slots=True)
class BookCount:
    """What one table gave. ``no_false_value`` counts true statements that were to be falsified and
    could not: the table proves no replacement false."""

    book: str
    language: str
    correct: int
    perturbed: int
    no_false_value: int


@dataclass(frozen=True, slots=True)
class BuiltStatements:
    """The built facts in order, each false one right after the true one it came from, and the
    counts of each table."""

    facts: tuple[BuiltFact, ...]
    counts: tuple[BookCount, ...]

    def __iter__(self) -> Iterator[BuiltFact]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)


def build_statements(
    inputs: Sequence[str], params: Mapping[str, Any], seed: int
) -> BuiltStatements:
    """Statements from every table of ``inputs``. Raises BadUsage, NotFound (no such name, file or
    package) or BadInput with every problem of a table."""
    values = _checked(params)
    tables = [found for name in inputs for found in _tables(name, values)]
    if not tables:
        raise BadUsage(
            "There is no table to build from.", hint=f"Name a file, or {', '.join(BUNDLED)}."
        )
    texts = frozenset(text for table, _ in tables for text in true_texts(table))
    facts: list[BuiltFact] = []
    counts = []
    for table, origin in tables:
        built, count = _statements(table, origin, texts, values, seed)
        facts += built
        counts.append(count)
    return BuiltStatements(tuple(facts), tuple(counts))


def _checked(params: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters by name. Raises BadUsage for what they cannot be."""
    known = {parameter.name: parameter.default for parameter in PARAMETERS}
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise BadUsage(
            f"build statements knows no parameter {', '.join(unknown)}.",
            hint=f"It has {', '.join(known)}.",
        )
    values = {**known, **params}
    if not 0 <= values["perturbed"] <= 1:
        raise BadUsage(f"falsified is a share from 0 to 1, not {values['perturbed']}.")
    if values["limit"] < 0:
        raise BadUsage(f"limit is 0 (all) or more, not {values['limit']}.")
    return values


def _tables(name: str, values: Mapping[str, Any]) -> list[tuple[FactTable, str]]:
    """The tables of an input, each with where it comes from."""
    books = bundled_books(name)
    if books:
        wanted = {part.strip() for part in values["languages"].split(",")}
        return [
            (read_table(book.template(), book.read(), book.file), book.origin)
            for book in books
            if wanted & {"all", book.language}
        ]
    path = Path(name)
    if not path.is_file():
        raise NotFound(
            f"There is no file {name} and no carried table of this name.",
            hint=f"Carried tables: {', '.join(BUNDLED)}.",
        )
    beside = Path(values["templates"]) if values["templates"] else path.with_suffix(".toml")
    if not beside.is_file():
        raise BadUsage(
            f"{path.name} needs a template file that says what its columns mean; "
            f"there is no {beside}.",
            hint="Give --templates FILE.toml; docs/fact-tables.md has an example.",
        )
    try:
        text = beside.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem(beside.name, f"byte {error.start + 1} is not UTF-8")
        raise BadInput("The template file cannot be read.", [problem]) from error
    template = read_template(text, beside.name)
    return [(read_checked(path, lambda rows: read_table(template, rows, path.name)), path.name)]


def _statements(
    table: FactTable, origin: str, texts: frozenset[str], values: Mapping[str, Any], seed: int
) -> tuple[list[BuiltFact], BookCount]:
    """What a table gives: its true statements, at most the limit of them, drawn, in the table's
    order, and behind each the false one that was made of it."""
    template, limit = table.template, values["limit"]
    source = Source(
        kind="table",
        title=template.title,
        content=table.digest,
        language=template.language,
        license=template.license,
        origin=origin,
    )
    source = structs.replace(source, id=source_id(source))
    kept = list(true_statements(table, seed))
    if limit and len(kept) > limit:
        places = Draws(seed, 0, f"{template.title}|limit").sample(range(len(kept)), limit)
        kept = [kept[place] for place in sorted(places)]
    perturber = Perturber(table, texts)
    built: list[BuiltFact] = []
    tried = failed = 0
    for stated in kept:
        true = _true_fact(stated, template, source)
        built.append(BuiltFact(true, source))
        draws = Draws(seed, stated.entity.number, f"{template.title}|{stated.point.name}|falsify")
        if draws.uniform() >= values["perturbed"]:
            continue
        tried += 1
        false = perturber.perturb(stated, draws)
        if false is None:
            failed += 1
        else:
            fact = perturbed_fact(true, false.text, false.error_type, false.reason)
            built.append(BuiltFact(fact, source))
    book = template.book or template.title
    return built, BookCount(book, template.language, len(kept), tried - failed, failed)


def _true_fact(stated: Stated, of: Template, source: Source) -> Fact:
    fact = Fact(
        kind="encyclo_k.statement",
        payload=Statement(text=stated.text, correct=True, title=stated.title),
        language=of.language,
        stratum=Stratum(of.discipline, of.field, of.subfield, of.book or of.title),
        source=source.id,
        page=stated.entity.label,
    )
    return structs.replace(fact, id=fact_id(fact))


BUILDERS: dict[str, tuple[FactBuilder, tuple[Parameter, ...]]] = {
    "statements": (build_statements, PARAMETERS)
}
