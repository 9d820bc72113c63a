"""Statements from the rows of a file, checked whole, and the row of each statement again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import msgspec

from proofstone.engines.ingest import UNDETERMINED, Fields, came, guess_language, read_identity
from proofstone.errors import BadInput, Problem
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.methods.encyclo_k.source_columns import SourceColumns, write_source
from proofstone.methods.encyclo_k.statement_drafts import (
    Draft,
    read_draft,
    write_roles,
    write_stratum,
)
from proofstone.ports import BuiltFact, Row
from proofstone.records import Fact, fact_id

__all__ = ["read_facts", "write_fact"]


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Statements in the order of their rows, with their sources and the models behind them.

    The columns are listed in ``rows``. Raises BadInput with every problem of all rows.
    """
    problems: list[Problem] = []
    sources = SourceColumns()
    drafts = [read_draft(Fields(row, problems), sources) for row in rows]
    by_key = _by_key(drafts, problems)
    _check_references(drafts, by_key, problems)
    _check_repeats(drafts, by_key, problems)
    order = _order(drafts, by_key, problems)
    if problems:
        raise BadInput("The statements cannot be read.", problems)
    _guess_languages(drafts)
    return _built(drafts, order, by_key)


# ---------------------------------------------------------------- all rows


def _by_key(drafts: Sequence[Draft], problems: list[Problem]) -> dict[str, Draft]:
    """The drafts by their own ids; an id given twice is a problem."""
    by_key: dict[str, Draft] = {}
    for draft in drafts:
        first = by_key.setdefault(draft.key, draft) if draft.key else draft
        if first is not draft:
            twice = f"{came(draft.key)} is already the id of {first.place}"
            problems.append(Problem(f"{draft.place}, field id", twice))
    return by_key


def _check_references(
    drafts: Sequence[Draft], by_key: Mapping[str, Draft], problems: list[Problem]
) -> None:
    for draft in drafts:
        if draft.origin and not draft.statement.correct:
            wrong = _wrong_origin(draft, by_key)
            if wrong:
                problems.append(Problem(f"{draft.place}, field origin", wrong))
        if draft.corrects and _is_nowhere(draft.corrects, by_key):
            nowhere = f"no row has the id {came(draft.corrects)}"
            problems.append(Problem(f"{draft.place}, field corrects", nowhere))


def _is_nowhere(key: str, by_key: Mapping[str, Draft]) -> bool:
    return key not in by_key and read_identity(key) is None


def _wrong_origin(draft: Draft, by_key: Mapping[str, Draft]) -> str:
    if _is_nowhere(draft.origin, by_key):
        return f"no row has the id {came(draft.origin)}, and it is no content id (64 digits)"
    origin = by_key.get(draft.origin)
    if origin is None or not origin.is_sound:
        return ""  # In another file, or a row that has its own problem.
    if not origin.statement.correct:
        return f"{came(draft.origin)} ({origin.place}) is itself a falsified statement"
    if origin.collapsed == draft.collapsed:
        return f"this falsified statement is the same as its origin ({origin.place})"
    return ""


def _check_repeats(
    drafts: Sequence[Draft], by_key: Mapping[str, Draft], problems: list[Problem]
) -> None:
    """One text is one statement in its place of the taxonomy, and never both true and false.

    A row that corrects another may repeat its text.
    """
    by_text: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.is_sound and not draft.corrects:
            others = by_text.setdefault(draft.collapsed, [])
            wrong = _wrong_repeat(draft, others, by_key) if others else ""
            if wrong:
                problems.append(Problem(f"{draft.place}, field text", wrong))
            else:
                others.append(draft)


def _wrong_repeat(draft: Draft, others: Sequence[Draft], by_key: Mapping[str, Draft]) -> str:
    """What is wrong with a text that ``others`` have as well, or nothing."""
    for other in others:
        if other.statement.correct is draft.statement.correct:
            if other.stratum == draft.stratum:
                return f"repeats the statement of {other.place}"
        # That one is the other's origin has been said already.
        elif by_key.get(draft.origin) is not other and by_key.get(other.origin) is not draft:
            says = "correct" if other.statement.correct else "falsified"
            return f"the same text is {says} in {other.place}"
    return ""


def _order(
    drafts: Sequence[Draft], by_key: Mapping[str, Draft], problems: list[Problem]
) -> list[Draft]:
    """The drafts, each after those it refers to; a ring is a problem, and then there are none."""
    if not any(draft.corrects for draft in drafts):
        return sorted(drafts, key=lambda draft: not draft.statement.correct)
    by_number = dict(enumerate(drafts))
    numbers = {id(draft): number for number, draft in by_number.items()}
    graph: TopologicalSorter[int] = TopologicalSorter()
    for number, draft in by_number.items():
        needs = [by_key[key] for key in (draft.origin, draft.corrects) if key in by_key]
        graph.add(number, *(numbers[id(need)] for need in needs))
    try:
        return [by_number[number] for number in graph.static_order()]
    except CycleError as cause:
        ring = sorted(set(cause.args[1]))
        places = ", ".join(by_number[number].place for number in ring)
        first = f"{by_number[ring[0]].place}, field corrects"
        problems.append(Problem(first, f"these rows refer to each other in a ring: {places}"))
        return []


def _guess_languages(drafts: Sequence[Draft]) -> None:
    """Gives rows without a language their book's, guessed from those rows together: a statement
    that is mostly a formula says little by itself."""
    books: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.language is None:
            books.setdefault(draft.stratum.book, []).append(draft)
    for members in books.values():
        language = guess_language(draft.statement.text for draft in members)
        for draft in members:
            draft.language = language


def _built(
    drafts: Sequence[Draft], order: Sequence[Draft], by_key: Mapping[str, Draft]
) -> list[BuiltFact]:
    facts: dict[int, Fact] = {}

    def refer(key: str) -> bytes | None:
        there = by_key.get(key)
        return read_identity(key) if there is None else facts[id(there)].id

    for draft in order:
        facts[id(draft)] = _fact(draft, refer(draft.origin), refer(draft.corrects))
    return [BuiltFact(facts[id(draft)], draft.source, draft.roles) for draft in drafts]


def _fact(draft: Draft, origin: bytes | None, corrects: bytes | None) -> Fact:
    statement = draft.statement
    if origin:
        statement = msgspec.structs.replace(statement, origin=origin)
    fact = Fact(
        kind="encyclo_k.statement",
        payload=statement,
        language=draft.language or "",
        stratum=draft.stratum,
        source=draft.source.id if draft.source else None,
        passage=draft.passage,
        page=draft.page,
        corrects=corrects,
    )
    return msgspec.structs.replace(fact, id=fact_id(fact))


# ---------------------------------------------------------------- writing


def write_fact(built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """The row from which ``read_facts`` makes this very fact again, with its source and roles.

    ``facts`` are not needed: an origin is written as its content id. ``built.source`` must be
    given where the fact names one; ValueError where it is another or missing.
    """
    fact = built.fact
    if fact.source != (built.source.id if built.source else None):
        raise ValueError(f"fact {fact.id.hex()} needs its source to be written")
    statement: Statement = fact.payload
    row: dict[str, Any] = {
        "id": fact.id.hex(),
        "text": statement.text,
        "correct": statement.correct,
    }
    optional = {
        "title": statement.title,
        "origin": statement.origin.hex() if statement.origin else "",
        "error_type": statement.error_type,
        "reason": statement.reason,
        "language": fact.language or UNDETERMINED,
        **write_stratum(fact.stratum),
        "page": fact.page,
        **(write_source(built.source) if built.source else {}),
        "passage": fact.passage.hex() if fact.passage else "",
        "corrects": fact.corrects.hex() if fact.corrects else "",
        **write_roles(built.roles),
    }
    return row | {name: value for name, value in optional.items() if value != ""}
