"""References from the rows of a file, in any form that ``verify-triples`` takes.

What ``write_fact`` wrote is a fact a row, and is read as that very fact. Other rows may list all
that is known of an entity at once, as published references do: each entry is a fact then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proofstone.engines.ingest import read_json
from proofstone.errors import BadInput, Problem
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.reference.facts import ReferenceFact, fact_of_row, made_fact
from proofstone.methods.bequ.verification.reference_rows import NamedReference, read_reference
from proofstone.ports import BuiltFact, Row
from proofstone.records import Fact, Stratum
from proofstone.records.triples import Passage

__all__ = ["has_knowledge", "read_facts", "recognises", "triples_in"]

_NAMES = frozenset({"entity", "subject_name"})
_LISTS = frozenset({"triples", "triples_wiki", "triples_web", "passages"})
_KNOWLEDGE = _LISTS | {"predicate", "text", "passage", "article", "content", "snippet"}


def has_knowledge(columns: Iterable[str]) -> bool:
    """Whether a file with these columns says anything of what it names, and does not just list
    it."""
    return not _KNOWLEDGE.isdisjoint(columns)


def recognises(columns: Iterable[str]) -> bool:
    """Whether a file with these columns surely says what is known of entities, which it calls
    so."""
    names = set(columns)
    return not names.isdisjoint(_NAMES) and has_knowledge(names)


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """The facts of a reference. Raises BadInput with every problem, and where the triples of an
    entity are listed twice: then two have its name."""
    problems: list[Problem] = []
    listed: dict[tuple[str, str], str] = {}
    facts = [fact for row in rows for fact in _facts(row, listed, problems)]
    if problems:
        raise BadInput("The reference cannot be read.", problems)
    return [BuiltFact(fact) for fact in facts]


def triples_in(row: Row) -> int:
    """How many triples a row lists, or 1 where it is one; empty and repeated ones count."""
    listed = [row.values.get(name) for name in _LISTS if name != "passages"]
    n = sum(len(each) for each in map(_as_list, listed) if each is not None)
    return n + bool(row.values.get("predicate"))


def _as_list(value: Any) -> list[Any] | None:
    read = read_json(value) if isinstance(value, str) and value else value
    return read if isinstance(read, list) else None


def _facts(row: Row, listed: dict[tuple[str, str], str], problems: list[Problem]) -> Iterator[Fact]:
    held = {name for name, value in row.values.items() if value not in (None, "")}
    if "entity" in held and held & {"predicate", "text"} and not held & _LISTS:
        yield fact_of_row(row, problems)
        return
    found = read_reference(row, problems)
    if found is None:
        return
    first = listed.setdefault((plain_name(found.name), found.identity), row.place)
    if found.is_whole and first != row.place:
        problems.append(
            Problem(
                f"{row.place}, field entity",
                f'two entities are named "{found.name}" (the other: {first}); a column '
                "wikidata_id tells them apart",
            )
        )
    yield from _of_entity(found)


def _of_entity(found: NamedReference) -> Iterator[Fact]:
    for passage in found.row.passages:
        if not any(passage is triple.passage for triple in found.row.triples):
            yield _fact(found, passage)
    for triple in found.row.triples:
        yield _fact(found, triple.passage, triple.predicate, triple.object)


def _fact(found: NamedReference, passage: Passage, predicate: str = "", value: str = "") -> Fact:
    payload = ReferenceFact(
        entity=found.name,
        wikidata=found.identity,
        predicate=predicate,
        object=value,
        passage=passage.text,
        source=passage.source,
        title=passage.title,
        url=passage.url,
    )
    return made_fact(payload, "", Stratum(found.domain, found.popularity))
