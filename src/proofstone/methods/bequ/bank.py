"""Read, write and compose banks of entities and reference knowledge bases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import Fields, came, read_json
from proofstone.methods.bequ.entities import Entity, plain_name, read_entities, write_entity
from proofstone.methods.bequ.records import ReferenceRow, ReferenceTriple, object_text
from proofstone.records.builds import slots_of
from proofstone.records.ids import Draws
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.knowledge import BankReader, BuiltFact, Fact, Role, Stratum, fact_id
from proofstone.records.options import Parameter
from proofstone.records.tables import Row
from proofstone.records.verdicts import Passage
from proofstone.texts.languages import UNDETERMINED

# Rows in progress while a reference knowledge base is built: entity texts, passages, triples.

# Reasons why a corpus has no text about an entity.
Missing = Literal[
    "no article",
    "article of meanings",
    "unparsed article",
    "article of several entities",
    "nonexistent",
    "no page",
    "unparsed page",
]


MISSING: tuple[Missing, ...] = get_args(Missing)


class About(Struct, frozen=True, gc=False, kw_only=True):
    """Hold the entity that something is about, with its identifiers and position in its list."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    wikidata: str = ""
    domain: str = ""
    tier: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name and its aliases."""
        return (self.name, *self.aliases)


class Taken(Struct, frozen=True, gc=False, kw_only=True):
    """Hold a text and its provenance.

    ``source`` is the kind of corpus (wiki, web, documents). ``title``, ``url`` and ``date``
    describe its article or document. ``content`` is the hex SHA-256 of the full article or
    document. The ids are those of a text in the workspace.
    """

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
    """Hold an entity and a text about it before chunking, or the reason why there is none
    (``missing``).

    ``sought`` lists the names looked up. ``names`` are set if texts have yet to be searched.
    """

    about: About
    taken: Taken | None = None
    missing: Missing | None = None
    sought: str = ""
    names: tuple[str, ...] = ()


class Known(Struct, frozen=True, kw_only=True):
    """Hold a passage about an entity.

    ``is_asked``: a model is to extract triples from it. ``predicate`` and ``object`` are set if one
    was extracted; ``subject`` is its subject.
    """

    about: About
    taken: Taken
    is_asked: bool = False
    subject: str = ""
    predicate: str = ""
    object: str = ""


KIND = "bequ.reference"


_ORIGIN = ("source", "title", "url", "date", "content")  # provenance of a passage, stored as texts


class ReferenceFact(Struct, frozen=True, gc=False, kw_only=True, tag=KIND):
    """Hold a reference triple and the ``passage`` that states it, or a passage without a predicate.

    ``content`` is the hex SHA-256 of the article or document, ``date`` its day. The fact's stratum
    holds the entity's domain and tier.
    """

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
    """Return facts written by the models that extracted the triples."""
    wrote = tuple(Role("wrote", model) for model in slots_of("author", models).values())

    def facts(rows: Iterable[Known]) -> Iterator[BuiltFact]:
        for row in rows:
            yield BuiltFact(_known_fact(row), roles=wrote if row.is_asked else ())

    return facts


def _known_fact(row: Known) -> Fact:
    about, taken = row.about, row.taken
    payload = ReferenceFact(
        entity=about.name,
        wikidata=about.wikidata,
        predicate=row.predicate,
        object=row.object,
        passage=taken.text,
        **{name: getattr(taken, name) for name in _ORIGIN},
    )
    fact = made_fact(payload, taken.language, Stratum(about.domain, about.tier))
    if not taken.source_id:
        return fact
    fact = structs.replace(fact, source=taken.source_id, passage=taken.passage_id or None)
    return structs.replace(fact, id=fact_id(fact))


def made_fact(
    payload: ReferenceFact, language: str, stratum: Stratum, corrects: bytes | None = None
) -> Fact:
    """Build the fact of a payload, with its id."""
    fact = Fact(kind=KIND, payload=payload, language=language, stratum=stratum, corrects=corrects)
    return structs.replace(fact, id=fact_id(fact))


def write_reference_fact(built: BuiltFact, _facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """Return the row of a fact: a triple with its passage, or a text about an entity."""
    fact, said = built.fact, built.fact.payload
    text = {"passage": said.passage} if said.predicate else {"text": said.passage}
    optional = {
        "wikidata_id": said.wikidata,
        "domain": fact.stratum.discipline,
        "tier": fact.stratum.field,
        "predicate": said.predicate,
        "object": said.object,
        **text,
        **{name: getattr(said, name) for name in _ORIGIN},
        "corrects": fact.corrects.hex() if fact.corrects else "",
    }
    return {
        "id": fact.id.hex(),
        "entity": said.entity,
        **{name: value for name, value in optional.items() if value},
        "language": fact.language or UNDETERMINED,
    }


def fact_of_row(row: Row, problems: list[Problem]) -> Fact:
    """Parse a fact from a row of ``write_fact``, or from a row with the same columns.

    Problems are added to the list of problems.
    """
    fields = Fields(row, problems)
    predicate = fields.text("predicate")
    payload = ReferenceFact(
        entity=fields.required_text("entity"),
        wikidata=fields.key("wikidata_id"),
        predicate=predicate,
        object=fields.required_text("object") if predicate else "",
        passage=fields.text("passage") if predicate else fields.required_text("text"),
        **{name: fields.text(name) for name in _ORIGIN},
    )
    stratum = Stratum(fields.label("domain"), fields.label("tier"))
    return made_fact(payload, fields.language() or "", stratum, fields.identity("corrects"))


# References from the rows of a file, in any format that ``verify-triples`` accepts.
#
# A row from ``write_fact`` is one fact and is read back unchanged. Other rows may list all facts
# about an entity, as published references do. Each entry then becomes one fact.

_NAMES = frozenset({"entity", "subject_name"})


_LISTS = frozenset({"triples", "triples_wiki", "triples_web", "passages"})


_KNOWLEDGE = _LISTS | {"predicate", "text", "passage", "article", "content", "snippet"}


def has_knowledge(columns: Iterable[str]) -> bool:
    """Return True if a file with these columns holds knowledge about entities, not just their
    names.
    """
    return not _KNOWLEDGE.isdisjoint(columns)


def has_triples(columns: Iterable[str]) -> bool:
    """Return True for columns of a file of elicited triples; a column without values is none."""
    return "subject" in set(columns)


def recognises_knowledge(columns: Iterable[str]) -> bool:
    """Return True if the columns identify a reference knowledge base beyond doubt."""
    names = set(columns)
    return not names.isdisjoint(_NAMES) and has_knowledge(names)


def read_reference_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Read the facts of a reference knowledge base.

    Raises BadInput with every problem. Two rows that list the triples of one entity are a problem:
    two entities then share a name.
    """
    problems: list[Problem] = []
    listed: dict[tuple[str, str], str] = {}
    facts = [fact for row in rows for fact in _facts(row, listed, problems)]
    if problems:
        raise BadInput("The reference cannot be read.", problems)
    return [BuiltFact(fact) for fact in facts]


def is_triple(fact: Fact) -> bool:
    """Return True if a reference fact is a triple, False if it is a text."""
    return isinstance(fact.payload, ReferenceFact) and bool(fact.payload.predicate)


def triples_in(row: Row) -> int:
    """Return the number of triples in a row (1 if the row is one), with empty and repeated ones."""
    n = int(bool(row.values.get("predicate")))
    for name in _LISTS - {"passages"}:
        value = row.values.get(name)
        listed = read_json(value) if isinstance(value, str) and value else value
        n += len(listed) if isinstance(listed, list) else 0
    return n


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
                f'two entities are named "{found.name}" (the other: {first}); add a column '
                "wikidata_id to distinguish them",
            )
        )
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


_NAME_COLUMNS = ("subject_name", "entity", "title", "name")


_TEXT_COLUMNS = ("passage", "text", "article", "content", "snippet")


_LIST_COLUMNS = {"triples_wiki": "wiki", "triples_web": "web", "triples": ""}


class NamedReference(Struct, frozen=True, gc=False):
    """Hold a reference row and its entity.

    ``is_whole``: the row lists all triples of its entity. A second such row means another entity.
    """

    name: str
    identity: str
    domain: str
    popularity: str
    row: ReferenceRow
    is_whole: bool


def read_reference(row: Row, problems: list[Problem]) -> NamedReference | None:
    """Parse a row. Returns None for a row with a problem, which is recorded."""
    fields = Fields(row, problems)
    is_triple = fields.has("predicate")
    name = fields.label(*_NAME_COLUMNS) or (fields.label("subject") if is_triple else "")
    if not name.strip():
        fields.wrong("entity", "is missing or empty")
    source = fields.label("source")
    passages = tuple(_row_passages(fields, source))
    listed = [field for field in _LIST_COLUMNS if row.values.get(field) not in (None, "")]
    if is_triple:
        # If a row has one passage, its triple comes from that passage.
        passage = passages[0] if passages else Passage("", source, "", fields.label("url"))
        value = object_text(row.values.get("object"))
        triples = [ReferenceTriple(fields.required_text("predicate"), value, passage)]
    else:
        triples = [each for field in listed for each in _triples_listed(fields, field, source)]
    if fields.is_sound and not passages and not triples and not listed:
        fields.wrong("text", "expected a triple (predicate, object), a text or lists of triples")
    if not fields.is_sound:
        return None
    return NamedReference(
        name=name,
        identity=fields.label(*IDENTITY),
        domain=fields.label(*DOMAIN),
        popularity=read_tier(fields),
        row=ReferenceRow(passages, tuple(each for each in triples if each.object.strip())),
        is_whole=bool(listed) and not is_triple,
    )


def _row_passages(fields: Fields, source: str) -> Iterator[Passage]:
    """Return the texts of a row. A snippet is used only if the full article is missing."""
    name, text = fields.find(*_TEXT_COLUMNS)
    title = fields.label("title") if fields.has("subject_name", "entity") else ""
    if isinstance(text, str) and text.strip():
        yield Passage(text, source, title, fields.label("url"))
    elif text is not None:
        fields.text(name)
    for each in _listed(fields, "passages"):
        if isinstance(each, str) and each.strip():
            yield Passage(each, source)
        elif isinstance(each, dict) and isinstance(each.get("text"), str):
            said = {key: str(each.get(key) or "") for key in ("source", "title", "url")}
            yield Passage(each["text"], said["source"] or source, said["title"], said["url"])
        else:
            fields.wrong("passages", f"expected texts, or objects with a text, got {came(each)}")


def _triples_listed(fields: Fields, field: str, source: str) -> Iterator[ReferenceTriple]:
    """Parse a list of triples: [predicate, object], optionally with a title, or objects."""
    source = _LIST_COLUMNS[field] or source
    for place, each in enumerate(_listed(fields, field), start=1):
        if isinstance(each, dict):
            text, title = str(each.get("passage") or ""), str(each.get("title") or "")
            predicate, value = each.get("predicate"), each.get("object")
            passage = Passage(
                text, str(each.get("source") or source), title, str(each.get("url") or "")
            )
        elif isinstance(each, list) and len(each) in (2, 3):
            predicate, value = each[:2]
            passage = Passage("", source, str(each[2]) if len(each) == 3 else "")
        else:
            fields.wrong(field, f"entry {place}: expected [predicate, object], got {came(each)}")
            continue
        if not isinstance(predicate, str) or not predicate.strip():
            if object_text(value):  # with neither it is nothing
                fields.wrong(field, f"entry {place}: the predicate is missing")
            continue
        yield ReferenceTriple(predicate, object_text(value), passage)


def _listed(fields: Fields, field: str) -> list[Any]:
    """Return the entries of a list or of a cell with a JSON list; empty if missing."""
    value = fields.values.get(field)
    if isinstance(value, str) and value:
        value = read_json(value)
        if not isinstance(value, list):
            fields.wrong(field, "expected a list as JSON")
    if isinstance(value, list):
        return value
    if value is not None and value != "":
        fields.wrong(field, f"expected a list, got {came(value)}")
    return []


IDENTITY = ("wikidata_id", "wikibase_item", "wikidata", "qid")


DOMAIN = ("domain",)


_TIER = ("tier", "popularity_bucket", "popularity")


def read_tier(fields: Fields) -> str:
    """Return the popularity tier of a row; numbers such as visit counts are ignored."""
    tier = fields.label(*_TIER)
    return "" if tier.replace(".", "").isdecimal() else tier


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """Read reference facts if the rows have triples or texts, otherwise entities.

    Raises BadInput with every problem.
    """
    listed = list(rows)
    if has_knowledge({name for row in listed for name in row.values}):
        return read_reference_facts(listed)
    return [BuiltFact(_fact(item)) for item in read_entities(listed)]


def write_fact(built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """Return the row of a fact; ``read_facts`` reads it back unchanged."""
    fact = built.fact
    if not isinstance(fact.payload, Entity):
        return write_reference_fact(built, facts)
    item = Item(
        id=fact.id, kind=fact.kind, payload=fact.payload, language=fact.language,
        stratum=fact.stratum, corrects=fact.corrects,
    )  # fmt: skip
    row = write_entity(LoadedItem(item, ()))
    del row["number"]
    return row


def _fact(item: Item) -> Fact:
    fact = Fact(
        kind=item.kind, payload=item.payload, language=item.language, stratum=item.stratum,
        corrects=item.corrects,
    )  # fmt: skip
    return structs.replace(fact, id=fact_id(fact))


# A test form of an entity bank: all entities, or a random sample of them.

COMPOSER_VERSION = 1


PARAMETERS = (
    Parameter(
        name="entities",
        kind="int",
        default=None,
        help="Sample this many entities (default: all).",
    ),
)


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters, checked, with the composer's version. Raises BadUsage."""
    unknown = sorted(params.keys() - {"entities", "composer"})
    if unknown:
        raise BadUsage(f"unknown parameter: {', '.join(unknown)}", hint="there is: entities")
    entities = params.get("entities")
    is_number = isinstance(entities, int) and not isinstance(entities, bool)
    if entities is not None and not (is_number and entities > 0):
        raise BadUsage(f"entities must be a whole number of 1 or more, got {entities!r}")
    return {"composer": COMPOSER_VERSION, "entities": entities}


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Return the items of one test form, in a random order set by the seed.

    Raises BadInput for a bank of another kind, or if it has too few entities.
    """
    facts = Draws(seed, 0, "entities").shuffled(bank.facts())
    if any(not isinstance(fact.payload, Entity) for fact in facts):
        raise BadInput(
            f"{bank.name} is a reference knowledge base, which holds no items for models",
            hint="proofstone export BANK -o reference.jsonl, for verify-triples --reference",
        )
    wanted = recipe["entities"] or len(facts)
    if wanted > len(facts):
        raise BadInput(
            f"expected at least {wanted} entities; {bank.name} has {len(facts)}",
            hint="lower the number, or leave it out for all entities",
        )
    for number, fact in enumerate(facts[:wanted]):
        item = Item(
            kind=fact.kind, payload=fact.payload, facts=(fact.id,), language=fact.language,
            stratum=fact.stratum, number=number,
        )  # fmt: skip
        yield structs.replace(item, id=item_id(item))
