"""A reference as facts of a bank, and as rows of a file that ``verify-triples`` takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import Fields, read_json
from proofstone.methods.bequ.entities import plain_name
from proofstone.methods.bequ.verification.rows import NamedReference, read_reference
from proofstone.records.builds import seats_of
from proofstone.records.knowledge import BuiltFact, Fact, Role, Stratum, fact_id
from proofstone.records.tables import Row
from proofstone.records.verdicts import Passage
from proofstone.texts.languages import UNDETERMINED

# What is on its way while a reference is built: texts of entities, passages, triples.

# Why a corpus has no text about an entity.
Missing = Literal[
    "no article",
    "article of meanings",
    "unreadable article",
    "article of several entities",
    "fictional",
    "no page",
    "unreadable page",
]


MISSING: tuple[Missing, ...] = get_args(Missing)


class About(Struct, frozen=True, gc=False, kw_only=True):
    """The entity that something is about, with what tells it apart and where it stands in its
    list."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    wikidata: str = ""
    domain: str = ""
    tier: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The name and its aliases."""
        return (self.name, *self.aliases)


class Taken(Struct, frozen=True, gc=False, kw_only=True):
    """A text and where it is from. ``source`` is the kind of corpus (wiki, web,
    documents), ``title``,
    ``url`` and ``date`` those of its article or document, ``content`` the hex SHA-256 of the whole
    of that; the ids are those of a text of the workspace."""

    text: str
    source: str
    title: str = ""
    url: str = ""
    date: str = ""
    content: str = ""
    language: str = ""
    source_id: bytes = b""
    passage_id: bytes = b""


class EntityText(Struct, frozen=True, kw_only=True):
    """An entity and a text about it, not yet cut; or why a corpus has none (``missing``), with what
    was looked for (``sought``). Where texts are yet to be searched for, by these ``names``."""

    about: About
    taken: Taken | None = None
    missing: Missing | None = None
    sought: str = ""
    names: tuple[str, ...] = ()


class Known(Struct, frozen=True, kw_only=True):
    """A passage about an entity. ``is_asked``: a model is to take triples from it; ``predicate``
    and ``object`` are set where one was taken, and ``subject`` is what it was said of."""

    about: About
    taken: Taken
    is_asked: bool = False
    subject: str = ""
    predicate: str = ""
    object: str = ""


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


# References from the rows of a file, in any form that ``verify-triples`` takes.
#
# What ``write_fact`` wrote is a fact a row, and is read as that very fact. Other rows may list all
# that is known of an entity at once, as published references do: each entry is a fact then.

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


def is_triple(fact: Fact) -> bool:
    """Whether a fact of a reference is a triple; else it is a text."""
    return isinstance(fact.payload, ReferenceFact) and bool(fact.payload.predicate)


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
            yield _reading_fact(found, passage)
    for triple in found.row.triples:
        yield _reading_fact(found, triple.passage, triple.predicate, triple.object)


def _reading_fact(
    found: NamedReference, passage: Passage, predicate: str = "", value: str = ""
) -> Fact:
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
