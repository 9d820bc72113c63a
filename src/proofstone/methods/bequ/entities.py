"""Read entities from the rows of a file, and write them back.

Alternative column names are separated by a bar; other columns are ignored. A missing column, null
and an empty text are equivalent. Rows that mean the same entity are merged, see ``names``.

- ``name`` | ``title`` | ``entity`` | ``label`` is required. ``description`` distinguishes entities
  with the same name and is part of the prompt.
- ``aliases`` | ``redirects`` | ``also_known_as``: other names, as a list or comma-separated.
- ``domain`` | ``category``: one of the ten, or another word. ``tier`` | ``popularity_bucket``. The
  name of a group of rows (``group``) is a tier if it ends in %, otherwise the domain.
- ``wikidata`` | ``wikidata_id`` | ``wikibase_item`` | ``qid``: a Q number or its address.
  ``wikipedia`` | ``url``: the address of a page. ``page_id`` | ``pageid``: its number.
- ``length``, ``statements`` | ``wikidata_statements``, ``popularity`` | ``page_views``: counts.
- ``nonexistent``: true, ``plausible`` or ``absurd`` if nothing of that name exists. The ids of such
  a row belong to something else and are ignored.
- ``language``: language code of the name, detected for all rows without one. ``id``, ``number`` and
  ``corrects``: as in an export.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import Fields, came
from proofstone.records.items import Item, LoadedItem, identified_item
from proofstone.records.knowledge import Stratum
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED, guess_language

# How names are compared, and which rows of a list mean the same entity.

# Digits and letters of scripts that separate words by spaces and attach nothing to them: Latin,
# Greek, Cyrillic, Armenian and Georgian, but not Arabic, Hebrew and Korean.
_OF_WORDS = (
    "[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u0370-\u03ff\u0400-\u052f"
    "\u0531-\u0556\u0561-\u0587\u10a0-\u10fa\u1e00-\u1fff]"
)


class NamedRow(Struct, frozen=True):
    """Hold the columns that identify a row's entity; ``place`` is its location in the file."""

    place: str
    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    wikidata: str = ""


@lru_cache(maxsize=65_536)
def plain_name(name: str) -> str:
    """Normalize a name for comparison: case, width, underscores and direction marks are ignored."""
    return folded_text(name)


def folded_text(text: str) -> str:
    """Normalize a long text like ``plain_name``, without caching."""
    if not text.isascii():
        wide = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in wide if unicodedata.category(sign) != "Cf")
    return " ".join(text.replace("_", " ").casefold().split())


def is_named(text: str, names: Sequence[str]) -> bool:
    """Return True if a text contains one of the names as whole words.

    In scripts without spaces between words, or with attached particles, any occurrence counts.
    """
    plain = folded_text(text)
    return any(_pattern(plain_name(name)).search(plain) for name in names)


@lru_cache(maxsize=4_096)
def _pattern(name: str) -> re.Pattern[str]:
    before = rf"(?<!{_OF_WORDS})" if re.match(_OF_WORDS, name) else ""
    after = rf"(?!{_OF_WORDS})" if re.match(_OF_WORDS, name[-1:]) else ""
    return re.compile(before + re.escape(name) + after)


def same_entities(rows: Sequence[NamedRow], problems: list[Problem]) -> list[list[int]]:
    """Group the places of rows that mean one entity, in the order of their first rows.

    Two rows mean the same entity if they share a Wikidata number, or a name and description. They
    also match if one's name is among the other's aliases, no other entity has it, and the Wikidata
    numbers do not differ. The same name and description with two Wikidata numbers is a problem: the
    prompt would be ambiguous.
    """
    joined = _Joined(rows)
    joined.by_number()
    joined.by_name(problems)
    joined.by_alias()
    return joined.groups()


class _Joined:
    """Hold rows joined into groups, each named by its first row's place."""

    def __init__(self, rows: Sequence[NamedRow]) -> None:
        self._rows = rows
        self._first = list(range(len(rows)))
        self._number = [row.wikidata for row in rows]

    def by_number(self) -> None:
        seen: dict[str, int] = {}
        for place, row in enumerate(self._rows):
            if row.wikidata:
                self._join(seen.setdefault(row.wikidata, place), place)

    def by_name(self, problems: list[Problem]) -> None:
        seen: dict[tuple[str, str], int] = {}
        for place, row in enumerate(self._rows):
            other = seen.setdefault((plain_name(row.name), row.description.strip()), place)
            if other != place and not self._join(other, place):
                problems.append(_two_of_one_name(self._rows[other], row))

    def by_alias(self) -> None:
        named: dict[str, set[int]] = {}  # groups before any alias was considered
        for place, row in enumerate(self._rows):
            named.setdefault(plain_name(row.name), set()).add(self._root(place))
        for place, row in enumerate(self._rows):
            for alias in row.aliases:
                of = named.get(plain_name(alias), set())
                if len(of) == 1:
                    self._join(min(of), place)

    def groups(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for place in range(len(self._rows)):
            found.setdefault(self._root(place), []).append(place)
        return list(found.values())

    def _root(self, place: int) -> int:
        while self._first[place] != place:
            self._first[place] = self._first[self._first[place]]
            place = self._first[place]
        return place

    def _join(self, one: int, other: int) -> bool:
        """Join the groups of two rows, unless their Wikidata numbers differ."""
        first, second = sorted((self._root(one), self._root(other)))
        numbers = {self._number[first], self._number[second]} - {""}
        if len(numbers) > 1:
            return False
        self._first[second] = first
        self._number[first] = next(iter(numbers), "")
        return True


def _two_of_one_name(first: NamedRow, row: NamedRow) -> Problem:
    return Problem(
        f"{row.place}, field name",
        f'"{row.name}" is {row.wikidata} here and {first.wikidata} in {first.place}: the name '
        "is ambiguous for a model; add a description to each, or a name such as NAME (what it "
        "is)",
    )


# Stored records: an entity, an elicited triple, and a reference triple.

Fiction = Literal["plausible", "absurd"]


FICTIONS: tuple[Fiction, ...] = get_args(Fiction)


class Entity(Struct, frozen=True, gc=False, kw_only=True, tag="bequ.entity"):
    """Describe an entity. Its domain and its popularity tier are its item's stratum.

    ``aliases`` are other names (redirects among them). ``wikidata`` is its Q number, ``wikipedia``
    its page's address, ``page_id`` that page's number. A non-existent entity has none of these.
    ``length`` is the article's length in characters, ``statements`` the number of Wikidata
    statements. ``popularity`` is the count in the list, such as page views. ``fiction`` is the kind
    of a non-existent entity (plausible or absurd); it is not stored if unknown.
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    wikidata: str = ""
    wikipedia: str = ""
    page_id: str = ""
    length: int | None = None
    statements: int | None = None
    popularity: int | None = None
    is_nonexistent: bool = False
    fiction: Fiction | UnsetType = UNSET

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name and its aliases."""
        return (self.name, *self.aliases)


class ElicitedTriple(Struct, frozen=True, gc=False, kw_only=True, tag="bequ.triple"):
    """Hold a triple elicited about an entity, its texts as written.

    Equal triples of several models are one record; positions in responses are stored with the
    scores. A verdict on it therefore holds for every model that produced it.
    """

    subject: str
    predicate: str
    object: str


class KnownTriple(Struct, frozen=True, gc=False, kw_only=True, tag="bequ.known"):
    """Hold a reference triple and its source passage (empty if the source is a full article).

    ``place`` is its position among the reference triples of the entity, from 0.
    """

    predicate: str
    object: str
    passage: str = ""
    source: str = ""
    title: str = ""
    url: str = ""
    place: int = 0


def entity_of(loaded: LoadedItem) -> Entity:
    """Return the entity of an item."""
    payload: Entity = loaded.item.payload
    return payload


def query(loaded: LoadedItem) -> str:
    """Return the search query: the entity's name."""
    return entity_of(loaded).name


NAME = ("name", "title", "entity", "label")


DOMAINS = (
    "person",
    "organisation",
    "location",
    "event",
    "work of art",
    "artifact",
    "scientific concept",
    "cultural concept",
    "animal",
    "plant",
)


_SPELLED = {"organization": "organisation", "artefact": "artifact", "artwork": "work of art"}


# All known columns. Other columns may occur in any list that has names.
_KNOWN = frozenset(
    {*NAME, "description", "aliases", "redirects", "also_known_as", "domain", "category", "tier",
     "popularity_bucket", "popularity_tier", "group", "wikidata", "wikidata_id", "wikibase_item",
     "qid", "wikipedia", "url", "page_id", "pageid", "length", "statements", "wikidata_statements",
     "popularity", "page_views", "nonexistent", "is_nonexistent", "language", "id", "number",
     "corrects"}
)  # fmt: skip


_Q_NUMBER = re.compile(r"(?:https?://www\.wikidata\.org/(?:wiki|entity)/)?(Q[1-9]\d{0,14})")


# Direction marks change how the rest of a line is displayed.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


_ALIASES = ("aliases", "redirects", "also_known_as")


_ONCE = ("description", "wikidata", "wikipedia", "page_id", "length", "statements", "popularity")


class _Draft(Struct, frozen=True):
    """Hold a row's entity; ``language`` is None until detected."""

    place: str
    entity: Entity
    domain: str
    tier: str
    language: str | None
    number: int
    corrects: bytes | None
    is_sound: bool


def recognises(columns: Iterable[str]) -> bool:
    """Return True if the columns identify a list of entities beyond doubt.

    ``import --as entities`` also accepts other files, and reports the ignored columns.
    """
    names = set(columns)
    return not names.isdisjoint(NAME) and names <= _KNOWN


def read_entities(rows: Iterable[Row]) -> Sequence[Item]:
    """Read distinct entities in row order. Raises BadInput with every problem."""
    problems: list[Problem] = []
    read = [_draft(Fields(row, problems)) for row in rows]
    drafts = [draft for draft in read if draft.is_sound]
    groups = same_entities([_named(draft) for draft in drafts], problems)
    merged = [_merged([drafts[place] for place in group], problems) for group in groups]
    if problems:
        raise BadInput("The entities cannot be read.", problems)
    guessed = guess_language(d.entity.name for d in merged if d.language is None)
    return [_item(d, guessed if d.language is None else d.language) for d in merged]


def _draft(fields: Fields) -> _Draft:
    is_nonexistent, fiction = _nonexistent(fields)
    domain, tier = _places(fields)
    entity = Entity(
        name=_name(fields),
        description=fields.text("description").strip(),
        aliases=tuple(
            filter(None, (each.strip() for name in _ALIASES for each in fields.texts(name)))
        ),
        wikidata=_wikidata(fields, is_nonexistent=is_nonexistent),
        wikipedia="" if is_nonexistent else fields.text("wikipedia", "url").strip(),
        page_id="" if is_nonexistent else fields.key("page_id", "pageid"),
        length=fields.number("length"),
        statements=fields.number(fields.find("statements", "wikidata_statements")[0]),
        popularity=fields.number(fields.find("popularity", "page_views")[0]),
        is_nonexistent=is_nonexistent,
        fiction=fiction,
    )
    return _Draft(
        place=fields.place,
        entity=entity,
        domain=domain,
        tier=tier,
        language=fields.language(),
        number=fields.number("number") or 0,
        corrects=fields.identity("corrects"),
        is_sound=fields.is_sound,
    )


def _name(fields: Fields) -> str:
    name = fields.required_text(*NAME).strip()
    bad = [sign for sign in name if sign in _TURNING or unicodedata.category(sign) == "Cc"]
    if bad:
        where = fields.find(*NAME)[0]
        fields.wrong(where, f"holds U+{ord(bad[0]):04X}, which is not allowed in a name")
    elif name and not plain_name(name):
        fields.wrong(fields.find(*NAME)[0], f"{came(name)} has no visible characters")
    return name


def _nonexistent(fields: Fields) -> tuple[bool, Fiction | UnsetType]:
    """Return whether the entity is non-existent, and its kind if given."""
    _name, value = fields.find("nonexistent", "is_nonexistent")
    said = value.strip().casefold() if isinstance(value, str) else ""
    kind = next((each for each in FICTIONS if each == said), UNSET)
    if kind is not UNSET:
        return True, kind
    return bool(fields.truth("nonexistent", "is_nonexistent")), UNSET


def _wikidata(fields: Fields, *, is_nonexistent: bool) -> str:
    name, value = fields.find("wikidata", "wikidata_id", "wikibase_item", "qid")
    if value is None or is_nonexistent:
        return ""
    found = _Q_NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        fields.wrong(name, f"expected a Wikidata number such as Q42, got {came(value)}")
        return ""
    return found[1]


def _places(fields: Fields) -> tuple[str, str]:
    """Return the domain and the popularity tier of a row."""
    group = fields.label("group").strip()
    tier = fields.label("tier", "popularity_bucket", "popularity_tier").strip()
    domain = fields.label("domain", "category").strip()
    if group.endswith("%"):
        tier = tier or group
    else:
        domain = domain or group
    plain = domain.replace("_", " ").casefold()
    return _SPELLED.get(plain, plain), tier


# ---------------------------------------------------------------- rows that mean one entity


def _named(draft: _Draft) -> NamedRow:
    entity = draft.entity
    return NamedRow(draft.place, entity.name, entity.description, entity.aliases, entity.wikidata)


def _merged(drafts: Sequence[_Draft], problems: list[Problem]) -> _Draft:
    """Merge rows that mean one entity: the first name, other names as aliases, first value of each
    field.

    Two different domains are a problem, since the choice between them would be arbitrary.
    """
    first = drafts[0]
    domains = {draft.domain: draft for draft in drafts if draft.domain}
    if len(domains) > 1:
        one, other = list(domains.values())[:2]
        what = f'is "{other.domain}" here and "{one.domain}" in {one.place}, for the same entity'
        problems.append(Problem(f"{other.place}, field domain", what))
    if any(draft.entity.is_nonexistent != first.entity.is_nonexistent for draft in drafts):
        what = f"is non-existent in one row, but not in another ({first.place})"
        problems.append(Problem(f"{drafts[-1].place}, field nonexistent", what))
    aliases: dict[str, str] = {}
    for draft in drafts:
        for name in draft.entity.names:
            aliases.setdefault(plain_name(name), name)
    aliases.pop(plain_name(first.entity.name), None)
    said = {
        name: next((value for d in drafts if (value := getattr(d.entity, name))), None)
        for name in _ONCE
    }
    known = {name: value for name, value in said.items() if value}
    kinds = [draft.entity.fiction for draft in drafts if draft.entity.fiction is not UNSET]
    known["fiction"] = next(iter(kinds), UNSET)
    entity = structs.replace(first.entity, aliases=tuple(aliases.values()), **known)
    return structs.replace(
        first,
        entity=entity,
        domain=next(iter(domains), ""),
        tier=next((draft.tier for draft in drafts if draft.tier), ""),
    )


# ----------------------------------------------------------------- build and write


def _item(draft: _Draft, language: str) -> Item:
    return identified_item(
        Item(
            kind="bequ.entity",
            payload=draft.entity,
            language=language,
            stratum=Stratum(discipline=draft.domain, field=draft.tier),
            number=draft.number,
            corrects=draft.corrects,
        )
    )


def write_entity(loaded: LoadedItem) -> dict[str, Any]:
    """Return the row of an entity; ``read_entities`` reads it back unchanged."""
    item, entity = loaded.item, entity_of(loaded)
    optional = {
        "description": entity.description,
        "aliases": list(entity.aliases),
        "domain": item.stratum.discipline,
        "tier": item.stratum.field,
        **{name: getattr(entity, name) for name in _ONCE[1:]},
        "nonexistent": entity.is_nonexistent if entity.fiction is UNSET else entity.fiction,
        "corrects": item.corrects.hex() if item.corrects else "",
    }
    return {
        "id": item.id.hex(),
        "name": entity.name,
        **{name: value for name, value in optional.items() if value},
        "language": item.language or UNDETERMINED,
        "number": item.number,
    }
