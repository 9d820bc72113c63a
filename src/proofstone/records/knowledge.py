"""Sources, passages and facts, with their licenses and places in a taxonomy, and banks of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, structs

from proofstone.records.ids import content_id, short

RoleName = Literal["wrote", "perturbed", "checked", "filtered", "judged"]


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
    id. It counts as public only where its ``license`` permits publication."""

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
    key = [source.kind, source.title, source.language, source.license, source.authors, source.year]
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


# Which license texts permit publication: what decides whether a document counts as public.

# Words that no license for the public has; they decide, whatever else the text names.
_DENIED = re.compile(
    r"\b(?:internal|proprietary|confidential|secret|private|restricted|non-?public|not|unpublished"
    r"|rights? reserved|company|unlicensed|no licen[cs]e)\b"
    r"|内部|机密|保密|秘密|专有|私有|不公开|非公开|未公开|不得|禁止|未授权|未经授权|保留所有权利|保留一切权利"
    r"|版权所有|版權所有|仅限|僅限|內部|機密|保密",
    re.IGNORECASE | re.ASCII,
)


# Names that mean a license wherever they stand in a text or an address.
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


# Names that mean a license only where nothing else is said, and what a person says instead of one.
_WHOLE = re.compile(
    r"(?:mit|x11|expat|isc|zlib|bsd|apache|gpl|mpl|wtfpl|pd|public|公开|公開)"
    r"(?:$|[\s]*[.,;:(（，：；。].*)",
    re.IGNORECASE | re.DOTALL,
)


def permits_publication(license: str) -> bool:
    """Whether a stated license is known to let anybody publish the document: open licenses by
    their usual names, in English and Chinese, and texts that begin with "public". An empty text,
    one that is not known, and one that also says otherwise ("internal") do not."""
    text = " ".join(license.split())
    if not text or _DENIED.search(text):
        return False
    return _NAMED.search(text) is not None or _WHOLE.fullmatch(text) is not None


# A taxonomy: the disciplines, fields, subfields and books that sources and facts stand under.

# Where a source was placed in a taxonomy since it was taken in, by models or by a person.


class TaxonomyLabel(Struct, frozen=True, gc=False, kw_only=True):
    """That a source stands at ``stratum``; the newest of a source holds, over what was stated when
    it was taken in.

    ``models`` judged it for a ``build``; or a person did (``actor``, with a ``reason``).
    ``taxonomy`` names the one that was given; ``follows`` is the former placement of the source.
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
    """A source with what shows its subject: headings, and stretches of its text from all over."""

    source: Source
    headings: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


def taxonomy_label_id(taxonomy_label: TaxonomyLabel) -> bytes:
    """The id of a placement: all its fields."""
    return content_id("taxonomy_label", structs.astuple(taxonomy_label)[1:])


TAXONOMY_LEVELS = Stratum.__struct_fields__  # coarse to fine


TaxonomyPath = tuple[str, ...]


class TaxonomyNode(Struct, frozen=True, gc=False, kw_only=True):
    """One name of a taxonomy: ``path`` leads to it from its discipline (one to four names).

    ``counts`` are what its makers counted there, by what they counted ("statements"); ``stated``
    how many nodes they say stand below it, by level ("fields"), which may be more than are listed;
    ``also`` other names of it.
    """

    path: TaxonomyPath
    counts: Mapping[str, int] = {}
    stated: Mapping[str, int] = {}
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last name of its path."""
        return self.path[-1]

    @property
    def level(self) -> str:
        """Its level: discipline, field, subfield or book."""
        return TAXONOMY_LEVELS[len(self.path) - 1]


class Taxonomy(Struct, frozen=True, kw_only=True):
    """Nodes in the order of their makers, each behind those above it; no path twice."""

    name: str
    title: str
    nodes: tuple[TaxonomyNode, ...]
    source: str = ""
    notes: tuple[str, ...] = ()

    def below(self, path: TaxonomyPath = ()) -> tuple[TaxonomyNode, ...]:
        """The nodes right below a path; the disciplines for the empty one."""
        size = len(path) + 1
        return tuple(n for n in self.nodes if len(n.path) == size and n.path[:-1] == path)

    def is_whole(self, path: TaxonomyPath) -> bool:
        """Whether all nodes right below a path are listed: some are, and no more are stated."""
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
    """A fact as a builder yields it, with its source and the models that had a hand in it."""

    fact: Fact
    source: Source | None = None
    roles: tuple[Role, ...] = ()


class FactBuilder(Protocol):
    """Builds facts from inputs (fact tables, later passages): ``build KIND INPUT...``."""

    def __call__(
        self, inputs: Sequence[str], params: Mapping[str, Any], seed: int
    ) -> Iterable[BuiltFact]: ...
