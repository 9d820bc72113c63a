"""What is stored: an entity that models are asked about, a triple that one of them said, and one
that is known and looked for."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from proofstone.records import LoadedItem

__all__ = ["FICTIONS", "ElicitedTriple", "Entity", "Fiction", "KnownTriple", "entity_of"]

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
    is_fictional: bool = False
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
