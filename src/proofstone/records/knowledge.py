"""Sources, passages, facts and banks, with licenses and taxonomy labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, structs

from proofstone.records.ids import content_id, short

RoleName = Literal["wrote", "perturbed", "checked", "filtered", "judged"]


class Stratum(Struct, frozen=True, gc=False, order=True):
    """Taxonomy label of a fact or item, coarse to fine; empty text if unknown.

    ``book`` is the finest level: the textbook, manual or table that a fact came from.
    """

    discipline: str = ""
    field: str = ""
    subfield: str = ""
    book: str = ""


class Role(Struct, frozen=True, gc=False, order=True):
    """A model that helped make a row, and its role. Not part of the row's identity."""

    role: RoleName
    model: str


class Source(Struct, frozen=True, gc=False, kw_only=True):
    """A document, table, dump, or web page found by a search.

    ``content`` is the SHA-256 of its bytes. ``origin`` is its file name or address, without local
    folders and not part of the id. It counts as public only if its ``license`` permits publication.
    """

    id: bytes = b""
    kind: Literal["document", "table", "dump", "images", "web"]
    title: str
    content: bytes
    language: str = ""
    license: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    origin: str = ""
    stratum: Stratum = Stratum()


class Passage(Struct, frozen=True, gc=False, kw_only=True):
    """A span of a source: ``text`` is verbatim at [start, end) (code points) of its page's text.

    If ``page`` is None, offsets are in the whole document's text.
    """

    id: bytes = b""
    source: bytes
    page: int | None = None
    start: int
    end: int
    text: str
    language: str = ""
    heading: str = ""


class Span(Struct, frozen=True, gc=False):
    """A part of a document: ``text`` is verbatim at [start, end) (code points) of its page's text.

    ``page`` is None for a document without page numbers.
    """

    page: int | None
    start: int
    end: int
    text: str


class SourcedPassage(Struct, frozen=True, gc=False):
    """A passage with its source, as a build input."""

    passage: Passage
    source: Source


class DocumentPart(Struct, frozen=True, gc=False):
    """Where a passage is: code points [start, end) of its page's text, and its heading."""

    page: int | None
    start: int
    end: int
    heading: str = ""


class WholeDocument(Struct, frozen=True):
    """A source with the texts of its pages and the places of its passages, both in order, as a
    build input."""

    source: Source
    pages: tuple[tuple[int | None, str], ...]
    parts: tuple[DocumentPart, ...] = ()


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
    """Return the fact that this one was derived from, such as a false statement from a true one.

    It is the payload's ``origin``.
    """
    origin = getattr(fact.payload, "origin", None)
    return origin if isinstance(origin, bytes) else None


def source_of(fact: Fact) -> str:
    """Return the source of a fact: its book, its document, or the fact itself, in this order."""
    return fact.stratum.book or (fact.source or fact.id).hex()


class Bank(Struct, frozen=True, gc=False, kw_only=True):
    """A frozen set of facts. Its id hashes the sorted fact ids, so file order does not matter."""

    id: bytes = b""
    name: str
    method: str
    facts: tuple[bytes, ...]

    def __repr__(self) -> str:  # shown in notebooks, without its ids
        return f"<bank:{short(self.id)}  {self.name}  {self.method}  {len(self.facts):,} facts>"


def source_id(source: Source) -> bytes:
    """Return the id of a source.

    Hashes its kind, title, language, license, authors, year and content, and its taxonomy label if
    any.
    """
    key = [source.kind, source.title, source.language, source.license, source.authors, source.year]
    place = [] if source.stratum == Stratum() else [source.stratum]
    return content_id("source", [*key, source.content, *place])


def passage_id(passage: Passage) -> bytes:
    """Return the id of a passage: its position in its source, and its text."""
    key = [passage.source, passage.page, passage.start, passage.end, passage.text]
    return content_id("passage", [*key, passage.language, passage.heading])


def identified_fact(fact: Fact) -> Fact:
    """Return the fact with the id of its content, ignoring its current id."""
    identity = fact_id(fact)
    return fact if fact.id == identity else structs.replace(fact, id=identity)


def fact_id(fact: Fact) -> bytes:
    """Return the id of a fact: its payload, stratum, language and provenance (not its roles)."""
    key = [fact.kind, fact.payload, fact.language, fact.stratum, fact.source, fact.passage]
    return content_id("fact", [*key, fact.page, fact.corrects])


def bank_id(method: str, facts: tuple[bytes, ...]) -> bytes:
    """Return the id of a bank: its method and the set of its facts."""
    return content_id("bank", [method, sorted(facts)])


# License texts that permit publication, which makes a document public.

# Words that rule out a public license, whatever else the text says.
_DENIED = re.compile(
    r"\b(?:internal|proprietary|confidential|secret|private|restricted|non-?public|not|unpublished"
    r"|rights? reserved|company|unlicensed|no licen[cs]e)\b"
    r"|内部|机密|保密|秘密|专有|私有|不公开|非公开|未公开|不得|禁止|未授权|未经授权|保留所有权利|保留一切权利"
    r"|版权所有|版權所有|仅限|僅限|內部|機密|保密",
    re.IGNORECASE | re.ASCII,
)


# Names that identify a license anywhere in a text or an address.
_NAMED = re.compile(
    r"\bcc[- ]?0\b|\bcc[- ]?pdm\b|\bcc[- ]?by\b|\bcreative ?commons\b"
    r"|\battribution[- ](?:share ?-?alike|non-?commercial|no-?deriv)"
    r"|\b[al]?gpl|\bgfdl\b|\bgnu (?:(?:lesser|affero|library) )?(?:general public|free doc)"
    r"|\bpublic[- ]domain\b|\bapache[- ](?:2|licen|software)|\bbsd[- ](?:\d|licen|style)"
    r"|\b[0-4]-clause bsd\b|\bmit[- ](?:licen|0\b)|\bmozilla public\b|\bmpl[- ]?\d|\beupl\b"
    r"|\bisc licen|\bartistic[- ](?:\d|licen)|\bunlicense\b|\bfree art licen|\bodbl\b|\bodc-by\b"
    r"|\bpddl\b|\bopen (?:government|data|database|publication) licen|\bogl[- ](?:uk|\d|v)"
    r"|\bopen license\b|\betalab\b|\bdl-de[-/]|\bpython-2\.0\b|\bpsf licen"
    r"|知识共享|知識共享|創用|公有领域|公有領域|公共领域|公共領域|自由文档许可|自由文件許可|开放政府",
    re.IGNORECASE | re.ASCII,
)


# Names that identify a license only if they are the whole text, and other accepted values.
_WHOLE = re.compile(
    r"(?:mit|x11|expat|isc|zlib|bsd|apache|gpl|mpl|wtfpl|pd|public|公开|公開)"
    r"(?:$|[\s]*[.,;:(（，：；。].*)",
    re.IGNORECASE | re.DOTALL,
)


def permits_publication(license: str) -> bool:
    """Return True if a stated license is known to let anyone publish the document.

    Accepts open licenses by their usual names, in English and Chinese, and texts that begin with
    "public". Empty, unknown and contradictory texts ("internal") are not accepted.
    """
    text = " ".join(license.split())
    if not text or _DENIED.search(text):
        return False
    return _NAMED.search(text) is not None or _WHOLE.fullmatch(text) is not None


# Taxonomy: the disciplines, fields, subfields and books of sources and facts.

# Taxonomy labels given to a source after ingestion, by models or a person.


class TaxonomyLabel(Struct, frozen=True, gc=False, kw_only=True):
    """A taxonomy label of a source; the newest one overrides the label stated at ingestion.

    ``models`` assigned it in a ``build``, or a person did (``actor``, with a ``reason``).
    ``taxonomy`` names the taxonomy used; ``follows`` is the source's former label.
    """

    id: bytes = b""
    source: bytes
    stratum: Stratum
    taxonomy: str = ""
    models: tuple[str, ...] = ()
    build: bytes | None = None
    actor: bytes | None = None
    reason: str = ""
    at: float
    follows: bytes | None = None


class SampledSource(Struct, frozen=True):
    """A source with a sample that shows its subject: headings and excerpts from all over."""

    source: Source
    headings: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


def taxonomy_label_id(taxonomy_label: TaxonomyLabel) -> bytes:
    """Return the id of a taxonomy label: all its fields."""
    return content_id("taxonomy_label", structs.astuple(taxonomy_label)[1:])


TAXONOMY_LEVELS = Stratum.__struct_fields__  # coarse to fine


TaxonomyPath = tuple[str, ...]


class TaxonomyNode(Struct, frozen=True, gc=False, kw_only=True):
    """One taxonomy node; ``path`` is its path of names from its discipline (one to four).

    ``counts`` are the counts that its authors report, by unit ("statements"). ``stated`` is the
    reported number of nodes below it, by level ("fields"), which may exceed those listed. ``also``
    holds alternative names.
    """

    path: TaxonomyPath
    counts: Mapping[str, int] = {}
    stated: Mapping[str, int] = {}
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the last name of its path."""
        return self.path[-1]

    @property
    def level(self) -> str:
        """Return its level: discipline, field, subfield or book."""
        return TAXONOMY_LEVELS[len(self.path) - 1]


class Taxonomy(Struct, frozen=True, kw_only=True):
    """Nodes in their authors' order, each after its parents; no duplicate paths."""

    name: str
    title: str
    nodes: tuple[TaxonomyNode, ...]
    source: str = ""
    notes: tuple[str, ...] = ()

    def below(self, path: TaxonomyPath = ()) -> tuple[TaxonomyNode, ...]:
        """Return the children of a path; the disciplines for the empty one."""
        size = len(path) + 1
        return tuple(n for n in self.nodes if len(n.path) == size and n.path[:-1] == path)

    def is_whole(self, path: TaxonomyPath) -> bool:
        """Return True if all children of a path are listed: some are, and no more are reported."""
        listed = self.below(path)
        if not path:
            return True
        node = next((n for n in self.nodes if n.path == path), None)
        if node is None or not listed:
            return False
        level = TAXONOMY_LEVELS[len(path)]
        return node.stated.get(f"{level}s", len(listed)) <= len(listed)


class BankReader(Protocol):
    """A bank as its composer reads it: facts in the order of their ids (the bank's own order)."""

    id: bytes
    name: str

    def facts(self) -> Sequence[Fact]: ...


class BuiltFact(Struct, frozen=True, gc=False):
    """A fact from a builder, with its source and the models that helped make it."""

    fact: Fact
    source: Source | None = None
    roles: tuple[Role, ...] = ()


class FactBuilder(Protocol):
    """Build facts from inputs (fact tables, later passages): ``build KIND INPUT...``."""

    def __call__(
        self, inputs: Sequence[str], params: Mapping[str, Any], seed: int
    ) -> Iterable[BuiltFact]: ...
