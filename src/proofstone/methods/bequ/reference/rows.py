"""What is on its way while a reference is built: texts of entities, passages, triples."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

__all__ = ["MISSING", "About", "EntityText", "Known", "Missing", "Taken"]

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
