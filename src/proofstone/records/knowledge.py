"""Sources, passages and facts: where knowledge came from, and the units it was cut into."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, structs

from proofstone.records.ids import content_id, short

RoleName = Literal["wrote", "falsified", "checked", "filtered", "judged"]


class Stratum(Struct, frozen=True, gc=False, order=True):
    """The place of a fact or item in the taxonomy, coarse to fine; empty text where not known.

    ``book`` is the finest level: the textbook, manual or table that a fact came from.
    """

    discipline: str = ""
    field: str = ""
    subfield: str = ""
    book: str = ""


class Role(Struct, frozen=True, gc=False, order=True):
    """A model that had a hand in a row, and what it did. Outside the row's identity."""

    role: RoleName
    model: str


class Source(Struct, frozen=True, gc=False, kw_only=True):
    """A document, table or dump, or a page that a search of the web found. ``content`` is the
    SHA-256 of its bytes; ``origin`` its file name or address, without local folders and outside the
    id. It counts as public only where its ``licence`` permits publication."""

    id: bytes = b""
    kind: Literal["document", "table", "dump", "images", "web"]
    title: str
    content: bytes
    language: str = ""
    licence: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    origin: str = ""
    stratum: Stratum = Stratum()


class Passage(Struct, frozen=True, gc=False, kw_only=True):
    """A span of a source: ``text`` stands verbatim at [start, end) (code points) of its page's
    text, or of the whole document's text where ``page`` is None."""

    id: bytes = b""
    source: bytes
    page: int | None = None
    start: int
    end: int
    text: str
    language: str = ""
    heading: str = ""


class SourcedPassage(Struct, frozen=True, gc=False):
    """A passage with its source, as it enters a build."""

    passage: Passage
    source: Source


class Fact(Struct, frozen=True, gc=False, kw_only=True):
    """One unit of knowledge. ``payload`` is a tagged struct of the method that made it.

    ``corrects`` names the fact that this one replaces; rows are never edited.
    """

    id: bytes = b""
    kind: str
    payload: Any
    language: str = ""
    stratum: Stratum = Stratum()
    source: bytes | None = None
    passage: bytes | None = None
    page: str = ""
    corrects: bytes | None = None


def origin_of(fact: Fact) -> bytes | None:
    """The fact that this one was made from, as a falsified statement from a true one: what its
    payload names as ``origin``."""
    origin = getattr(fact.payload, "origin", None)
    return origin if isinstance(origin, bytes) else None


def source_of(fact: Fact) -> str:
    """What a fact was taken from: its book, else its document, else nothing but itself."""
    return fact.stratum.book or (fact.source or fact.id).hex()


class Bank(Struct, frozen=True, gc=False, kw_only=True):
    """A frozen set of facts. Its id hashes the sorted fact ids, so file order does not matter."""

    id: bytes = b""
    name: str
    method: str
    facts: tuple[bytes, ...]

    def __repr__(self) -> str:  # a notebook shows this; thousands of ids say nothing
        return f"<bank:{short(self.id)}  {self.name}  {self.method}  {len(self.facts):,} facts>"


def source_id(source: Source) -> bytes:
    """The id of a source: its kind, title, language, licence, authors, year and content, and its
    place in the taxonomy where it has one (ids are older than that place)."""
    key = [source.kind, source.title, source.language, source.licence, source.authors, source.year]
    place = [] if source.stratum == Stratum() else [source.stratum]
    return content_id("source", [*key, source.content, *place])


def passage_id(passage: Passage) -> bytes:
    """The id of a passage: its place in its source, and its text."""
    key = [passage.source, passage.page, passage.start, passage.end, passage.text]
    return content_id("passage", [*key, passage.language, passage.heading])


def identified_fact(fact: Fact) -> Fact:
    """The fact with the id of its content, whichever it had."""
    identity = fact_id(fact)
    return fact if fact.id == identity else structs.replace(fact, id=identity)


def fact_id(fact: Fact) -> bytes:
    """The id of a fact: its payload, stratum, language and provenance (not its roles)."""
    key = [fact.kind, fact.payload, fact.language, fact.stratum, fact.source, fact.passage]
    return content_id("fact", [*key, fact.page, fact.corrects])


def bank_id(method: str, facts: tuple[bytes, ...]) -> bytes:
    """The id of a bank: its method and the set of its facts."""
    return content_id("bank", [method, sorted(facts)])
