"""A reference as facts of a bank, and as rows of a file that ``verify-triples`` takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, structs

from proofstone.engines.ingest import UNDETERMINED, Fields
from proofstone.errors import Problem
from proofstone.methods.bequ.reference.rows import Known
from proofstone.ports import BuiltFact, Row
from proofstone.records import Fact, Role, Stratum, fact_id, seats_of

__all__ = ["ReferenceFact", "fact_of_row", "facts_by", "made_fact", "write_fact"]

KIND = "bequ.reference"


class ReferenceFact(Struct, frozen=True, gc=False, kw_only=True, tag=KIND):
    """What a corpus says about an entity: a triple and the ``passage`` that states it; or, without
    a predicate, a passage as it stands. ``content`` is the hex SHA-256 of the article or document,
    ``date`` its day. The entity's domain and tier are the fact's stratum."""

    entity: str
    wikidata: str = ""
    predicate: str = ""
    object: str = ""
    passage: str = ""
    source: str = ""
    title: str = ""
    url: str = ""
    date: str = ""
    content: str = ""


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Known]], Iterator[BuiltFact]]:
    """The facts of what is known; the models that took triples wrote these."""
    wrote = tuple(Role("wrote", model) for model in seats_of("author", models).values())

    def facts(rows: Iterable[Known]) -> Iterator[BuiltFact]:
        for row in rows:
            yield BuiltFact(_fact(row), roles=wrote if row.is_asked else ())

    return facts


def _fact(row: Known) -> Fact:
    about, taken = row.about, row.taken
    payload = ReferenceFact(
        entity=about.name,
        wikidata=about.wikidata,
        predicate=row.predicate,
        object=row.object,
        passage=taken.text,
        source=taken.source,
        title=taken.title,
        url=taken.url,
        date=taken.date,
        content=taken.content,
    )
    fact = made_fact(payload, taken.language, Stratum(about.domain, about.tier))
    if not taken.source_id:
        return fact
    fact = structs.replace(fact, source=taken.source_id, passage=taken.passage_id or None)
    return structs.replace(fact, id=fact_id(fact))


def made_fact(
    payload: ReferenceFact, language: str, stratum: Stratum, corrects: bytes | None = None
) -> Fact:
    """The fact of a payload, with its id."""
    fact = Fact(kind=KIND, payload=payload, language=language, stratum=stratum, corrects=corrects)
    return structs.replace(fact, id=fact_id(fact))


def write_fact(built: BuiltFact, _facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """The row of a fact: a triple with its passage, or a text about an entity."""
    fact, said = built.fact, built.fact.payload
    text = {"passage": said.passage} if said.predicate else {"text": said.passage}
    optional = {
        "wikidata_id": said.wikidata,
        "domain": fact.stratum.discipline,
        "tier": fact.stratum.field,
        "predicate": said.predicate,
        "object": said.object,
        **text,
        "source": said.source,
        "title": said.title,
        "url": said.url,
        "date": said.date,
        "content": said.content,
        "corrects": fact.corrects.hex() if fact.corrects else "",
    }
    return {
        "id": fact.id.hex(),
        "entity": said.entity,
        **{name: value for name, value in optional.items() if value},
        "language": fact.language or UNDETERMINED,
    }


def fact_of_row(row: Row, problems: list[Problem]) -> Fact:
    """The fact of a row that ``write_fact`` wrote, or of one in its columns; what is wrong with it
    is noted."""
    fields = Fields(row, problems)
    predicate = fields.text("predicate")
    payload = ReferenceFact(
        entity=fields.required_text("entity"),
        wikidata=fields.key("wikidata_id"),
        predicate=predicate,
        object=fields.required_text("object") if predicate else "",
        passage=fields.text("passage") if predicate else fields.required_text("text"),
        source=fields.text("source"),
        title=fields.text("title"),
        url=fields.text("url"),
        date=fields.text("date"),
        content=fields.text("content"),
    )
    stratum = Stratum(fields.label("domain"), fields.label("tier"))
    return made_fact(payload, fields.language() or "", stratum, fields.identity("corrects"))
