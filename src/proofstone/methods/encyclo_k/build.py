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
from proofstone.methods.encyclo_k.demo_tables import CARRIED, Book, carried_books
from proofstone.methods.encyclo_k.fact_tables import (
    FactTable,
    Falsifier,
    Stated,
    read_table,
    read_template,
    true_statements,
    true_texts,
)
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.methods.encyclo_k.statements import falsified_fact
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

KIND = "encyclo_k.statement"


PARAMETERS = read_asked(__package__, "tables").parameters


@dataclass(frozen=True, slots=True)
class BookCount:
    """What one table gave. ``no_false_value`` counts true statements that were to be falsified and
    could not: the table proves no replacement false."""

    book: str
    language: str
    correct: int
    falsified: int
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


@dataclass(frozen=True, slots=True)
class _Settings:
    falsified: float
    limit: int
    languages: frozenset[str]
    templates: str


def build_statements(
    inputs: Sequence[str], params: Mapping[str, Any], seed: int
) -> BuiltStatements:
    """Statements from every table of ``inputs``. Raises BadUsage, NotFound (no such name, file or
    package) or BadInput with every problem of a table."""
    settings = _settings(params)
    tables = [found for name in inputs for found in _tables(name, settings)]
    if not tables:
        raise BadUsage(
            "There is no table to build from.", hint=f"Name a file, or {', '.join(CARRIED)}."
        )
    texts = frozenset(text for table, _ in tables for text in true_texts(table))
    facts: list[BuiltFact] = []
    counts = []
    for table, origin in tables:
        built, count = _statements(table, _source(table, origin), texts, settings, seed)
        facts += built
        counts.append(count)
    return BuiltStatements(tuple(facts), tuple(counts))


def _settings(params: Mapping[str, Any]) -> _Settings:
    known = {parameter.name: parameter.default for parameter in PARAMETERS}
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise BadUsage(
            f"build statements knows no parameter {', '.join(unknown)}.",
            hint=f"It has {', '.join(known)}.",
        )
    values = {**known, **params}
    if not 0 <= values["falsified"] <= 1:
        raise BadUsage(f"falsified is a share from 0 to 1, not {values['falsified']}.")
    if values["limit"] < 0:
        raise BadUsage(f"limit is 0 (all) or more, not {values['limit']}.")
    languages = frozenset(part.strip() for part in values["languages"].split(",")) - {""}
    return _Settings(float(values["falsified"]), values["limit"], languages, values["templates"])


def _tables(name: str, settings: _Settings) -> list[tuple[FactTable, str]]:
    books = carried_books(name)
    if books:
        wanted = [book for book in books if settings.languages & {"all", book.language}]
        return [(_carried_table(book), book.origin) for book in wanted]
    path = Path(name)
    if not path.is_file():
        raise NotFound(
            f"There is no file {name} and no carried table of this name.",
            hint=f"Carried tables: {', '.join(CARRIED)}.",
        )
    return [(_file_table(path, settings.templates), path.name)]


def _carried_table(book: Book) -> FactTable:
    return read_table(book.template(), book.read(), book.file)


def _file_table(path: Path, templates: str) -> FactTable:

    beside = Path(templates) if templates else path.with_suffix(".toml")
    if not beside.is_file():
        raise BadUsage(
            f"{path.name} needs a template file that says what its columns mean; "
            f"there is no {beside}.",
            hint="Give --templates FILE.toml; docs/fact-tables.md has an example.",
        )
    template = read_template(_utf8_text(beside), beside.name)
    return read_checked(path, lambda rows: read_table(template, rows, path.name))


def _utf8_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem(path.name, f"byte {error.start + 1} is not UTF-8")
        raise BadInput("The template file cannot be read.", [problem]) from error


def _source(table: FactTable, origin: str) -> Source:
    template = table.template
    source = Source(
        kind="table",
        title=template.title,
        content=table.digest,
        language=template.language,
        licence=template.licence,
        origin=origin,
    )
    return structs.replace(source, id=source_id(source))


def _statements(
    table: FactTable, source: Source, texts: frozenset[str], settings: _Settings, seed: int
) -> tuple[list[BuiltFact], BookCount]:
    falsifier = Falsifier(table, texts)
    built: list[BuiltFact] = []
    tried = failed = 0
    kept = _limited(list(true_statements(table, seed)), table, settings.limit, seed)
    for stated in kept:
        true = _true_fact(stated, table, source)
        built.append(BuiltFact(true, source))
        draws = Draws(seed, stated.entity.number, f"{_key(table)}|{stated.point.name}|falsify")
        if draws.uniform() >= settings.falsified:
            continue
        tried += 1
        false = falsifier.falsify(stated, draws)
        if false is None:
            failed += 1
        else:
            fact = falsified_fact(true, false.text, false.error_type, false.reason)
            built.append(BuiltFact(fact, source))
    template = table.template
    book = template.book or template.title
    return built, BookCount(book, template.language, len(kept), tried - failed, failed)


def _limited(found: list[Stated], table: FactTable, limit: int, seed: int) -> list[Stated]:
    """At most ``limit`` of the statements, drawn, in the table's order."""
    if not limit or len(found) <= limit:
        return found
    places = Draws(seed, 0, f"{_key(table)}|limit").sample(range(len(found)), limit)
    return [found[place] for place in sorted(places)]


def _key(table: FactTable) -> str:
    return table.template.title


def _true_fact(stated: Stated, table: FactTable, source: Source) -> Fact:
    template = table.template
    fact = Fact(
        kind=KIND,
        payload=Statement(text=stated.text, correct=True, title=stated.title),
        language=template.language,
        stratum=Stratum(
            template.discipline,
            template.field,
            template.subfield,
            template.book or template.title,
        ),
        source=source.id,
        page=stated.entity.label,
    )
    return structs.replace(fact, id=fact_id(fact))


BUILDERS: dict[str, tuple[FactBuilder, tuple[Parameter, ...]]] = {
    "statements": (build_statements, PARAMETERS)
}
