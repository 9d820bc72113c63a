"""Entities from the rows of a file, and the rows of them.

Names after a bar are read as well; columns that are not named here are ignored. A missing column,
null and an empty text are the same. Rows that mean one entity become one, see ``names``.

- ``name`` | ``title`` | ``entity`` | ``label`` is required. ``description`` tells two of one name
  apart, and is asked with the name.
- ``aliases`` | ``redirects`` | ``also_known_as``: other names, as a list or with commas.
- ``domain`` | ``category``: one of the ten, or another word. ``tier`` | ``popularity_bucket``. The
  name of a group of rows (``group``) is a tier where it ends in %, else the domain.
- ``wikidata`` | ``wikidata_id`` | ``wikibase_item`` | ``qid``: a Q number or its address;
  ``wikipedia`` | ``url``: the address of a page; ``page_id`` | ``pageid``: its number.
- ``length``, ``statements`` | ``wikidata_statements``, ``popularity`` | ``page_views``: counts.
- ``nonexistent``: true where nothing of that name exists, or ``plausible`` or ``absurd``, which
  says of what kind it is; ids of such a row belong to something else, and are not taken.
- ``language`` | of the name, a code; guessed for all rows without one. ``id``, ``number`` and
  ``corrects`` as an export has them.
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

# Names that mean one thing: how they are compared, and which rows of a list are one entity.

# Digits, and the letters of Latin, Greek, Cyrillic, Armenian and Georgian, between whose words
# spaces stand and to which nothing is joined, as it is in Arabic, Hebrew and Korean.
_OF_WORDS = (
    "[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u0370-\u03ff\u0400-\u052f"
    "\u0531-\u0556\u0561-\u0587\u10a0-\u10fa\u1e00-\u1fff]"
)


class NamedRow(Struct, frozen=True):
    """What tells which entity a row means; ``place`` is where it stands."""

    place: str
    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    wikidata: str = ""


@lru_cache(maxsize=65_536)
def plain_name(name: str) -> str:
    """A name as it is compared: without regard to case, width, underscores and direction marks."""
    return folded_text(name)


def folded_text(text: str) -> str:
    """``plain_name`` of a text of any length, which is not kept."""
    if not text.isascii():
        wide = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in wide if unicodedata.category(sign) != "Cf")
    return " ".join(text.replace("_", " ").casefold().split())


def is_named(text: str, names: Sequence[str]) -> bool:
    """Whether a text holds one of the names as whole words; in scripts that join others to a word,
    or set no spaces between words, wherever it stands."""
    plain = folded_text(text)
    return any(_pattern(plain_name(name)).search(plain) for name in names)


@lru_cache(maxsize=4_096)
def _pattern(name: str) -> re.Pattern[str]:
    before = rf"(?<!{_OF_WORDS})" if re.match(_OF_WORDS, name) else ""
    after = rf"(?!{_OF_WORDS})" if re.match(_OF_WORDS, name[-1:]) else ""
    return re.compile(before + re.escape(name) + after)


def same_entities(rows: Sequence[NamedRow], problems: list[Problem]) -> list[list[int]]:
    """The places of rows that mean one entity, in groups, in the order of their first rows.

    Two rows mean one where they have the same Wikidata number; or the same name and description, or
    one's name, which no other entity has, among the other's aliases, and not two numbers. The same
    name and description with two numbers is a problem: the question would not tell which of them is
    meant.
    """
    joined = _Joined(rows)
    joined.by_number()
    joined.by_name(problems)
    joined.by_alias()
    return joined.groups()


class _Joined:
    """Rows joined into groups, each named by its first row's place."""

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
        named: dict[str, set[int]] = {}  # groups that were one before any alias was looked at
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
        """Joins the groups of two rows, unless they have two numbers."""
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
        f'"{row.name}" is {row.wikidata} here and {first.wikidata} in {first.place}: a model could '
        "not tell which is meant; give each a description, or a name such as NAME (what it is)",
    )


# What is stored: an entity that models are asked about, a triple that one of them said, and one
# that is known and looked for.

Fiction = Literal["plausible", "absurd"]


FICTIONS: tuple[Fiction, ...] = get_args(Fiction)


class Entity(Struct, frozen=True, gc=False, kw_only=True, tag="bequ.entity"):
    """Something with a name. Its domain and its tier of popularity are its item's stratum.

    ``aliases`` are other names of it (redirects among them). ``wikidata`` is its Q number,
    ``wikipedia`` the address of its page, ``page_id`` that page's number; a fictional entity has
    none of these. ``length`` counts the characters of its article, ``statements`` those of Wikidata
    about it, ``popularity`` whatever its list counts (visits of its page). ``fiction`` says whether
    a fictional one could well exist; where nobody said, it is no part of what is stored.
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
        """The name and its aliases."""
        return (self.name, *self.aliases)


class ElicitedTriple(Struct, frozen=True, gc=False, kw_only=True, tag="bequ.triple"):
    """A triple that a model said when it was asked about an entity, its texts as written.

    It is the same whoever said it and wherever in a reply: that stands in its scores. So a verdict
    on it holds for all who said it.
    """

    subject: str
    predicate: str
    object: str


class KnownTriple(Struct, frozen=True, gc=False, kw_only=True, tag="bequ.known"):
    """A triple of a reference about an entity, and the passage that it was taken from (empty where
    that is a whole article); ``place`` is its number among those that the reference has of the
    entity, from 0."""

    predicate: str
    object: str
    passage: str = ""
    source: str = ""
    title: str = ""
    url: str = ""
    place: int = 0


def entity_of(loaded: LoadedItem) -> Entity:
    """The entity that an item asks about."""
    payload: Entity = loaded.item.payload
    return payload


def query(loaded: LoadedItem) -> str:
    """What to search for: the entity's name."""
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


# All columns that mean something here: a file with others may be a list of anything that has names.
_KNOWN = frozenset(
    {*NAME, "description", "aliases", "redirects", "also_known_as", "domain", "category", "tier",
     "popularity_bucket", "popularity_tier", "group", "wikidata", "wikidata_id", "wikibase_item",
     "qid", "wikipedia", "url", "page_id", "pageid", "length", "statements", "wikidata_statements",
     "popularity", "page_views", "nonexistent", "is_nonexistent", "language", "id", "number",
     "corrects"}
)  # fmt: skip


_Q_NUMBER = re.compile(r"(?:https?://www\.wikidata\.org/(?:wiki|entity)/)?(Q[1-9]\d{0,14})")


# What turns the direction of all that follows it, so that a line no longer reads as it is.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


_ALIASES = ("aliases", "redirects", "also_known_as")


_ONCE = ("description", "wikidata", "wikipedia", "page_id", "length", "statements", "popularity")


class _Draft(Struct, frozen=True):
    """A row's entity; ``language`` None: to be guessed."""

    place: str
    entity: Entity
    domain: str
    tier: str
    language: str | None
    number: int
    corrects: bytes | None
    is_sound: bool


def recognises(columns: Iterable[str]) -> bool:
    """Whether a file with these columns surely lists entities: names, and nothing that is not known
    of entities. ``import --as entities`` takes other files too, and says what it left."""
    names = set(columns)
    return not names.isdisjoint(NAME) and names <= _KNOWN


def read_entities(rows: Iterable[Row]) -> Sequence[Item]:
    """Entities in the order of their rows, each once. Raises BadInput with every problem."""
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
        fields.wrong(where, f"holds U+{ord(bad[0]):04X}, which is no part of a name")
    elif name and not plain_name(name):
        fields.wrong(fields.find(*NAME)[0], f"{came(name)} holds nothing that can be read")
    return name


def _nonexistent(fields: Fields) -> tuple[bool, Fiction | UnsetType]:
    """Whether the entity does not exist, and of what kind it is where that is said."""
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
        fields.wrong(name, f"expected a Wikidata number such as Q42, came {came(value)}")
        return ""
    return found[1]


def _places(fields: Fields) -> tuple[str, str]:
    """The domain and the tier of a row."""
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
    """One entity of rows that mean it: the first one's name, the others among its aliases, and of
    the rest what a row says first. In two domains it would be counted in one of them by chance."""
    first = drafts[0]
    domains = {draft.domain: draft for draft in drafts if draft.domain}
    if len(domains) > 1:
        one, other = list(domains.values())[:2]
        what = f'is "{other.domain}" here and "{one.domain}" in {one.place}, and one entity'
        problems.append(Problem(f"{other.place}, field domain", what))
    if any(draft.entity.is_nonexistent != first.entity.is_nonexistent for draft in drafts):
        what = f"is said to be fictional in one row, and not in another ({first.place})"
        problems.append(Problem(f"{drafts[-1].place}, field fictional", what))
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


# ---------------------------------------------------------------- made and written


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
    """The row of an entity, from which ``read_entities`` takes the same."""
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
