"""Define records of elicited, reference and verified triples, and how triples are compared."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Struct

from proofstone.methods.bequ.entities import folded_text
from proofstone.records.ids import canonical_json
from proofstone.records.options import Opt
from proofstone.records.runs import Estimate
from proofstone.records.verdicts import Passage


class GivenTriple(Struct, frozen=True, gc=False, array_like=True):
    """Hold an elicited triple as written. ``subject`` may differ from the entity."""

    subject: str
    predicate: str
    object: str


class ReferenceTriple(Struct, frozen=True, gc=False, array_like=True):
    """Hold a reference triple with its source passage (empty if none was kept)."""

    predicate: str
    object: str
    passage: Passage


class ReferenceRow(Struct, frozen=True, gc=False, array_like=True):
    """Hold what one row of a reference knowledge base states about an entity."""

    passages: tuple[Passage, ...]
    triples: tuple[ReferenceTriple, ...]


# Triples as text, for search queries and for judges.

_NAMESPACE = re.compile(r"\A[A-Za-z][A-Za-z0-9-]{0,15}:(?=[A-Za-z])(?!//)")


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


def spoken(predicate: str) -> str:
    """Return a predicate in words: ``rdf:birthPlace`` is "birth place"."""
    words = _HUMP.sub(" ", _NAMESPACE.sub("", predicate.strip())).split()
    return " ".join(word.lower() if word[1:].islower() else word for word in words)


def object_text(value: Any) -> str:
    """Return an object as one text.

    Lists are joined with semicolons; numbers and truth values are JSON. None is the empty text.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "; ".join(filter(None, map(object_text, value)))
    return canonical_json(value).decode()


def has_han(text: str) -> bool:
    """Return True if the text contains Chinese characters."""
    return _HAN.search(text) is not None


# Predicate families: the kind of information, by the words of a predicate's name.

OTHER = "other"


@lru_cache(maxsize=65_536)
def family_of(predicate: str) -> str:
    """Return the first family of families.toml with a word in the predicate, or ``other``.

    A Chinese family word may be a part of the predicate. Models invent predicates, so there is no
    closed list.
    """
    name = spoken(predicate).casefold()
    words = set(name.replace("-", " ").split())
    for family, marks in _families():
        if any(mark in words if mark.isascii() else mark in name for mark in marks):
            return family
    return OTHER


@cache
def _families() -> tuple[tuple[str, tuple[str, ...]], ...]:
    text = (files(__package__) / "families.toml").read_text(encoding="utf-8")
    return tuple((name, tuple(marks)) for name, marks in tomllib.loads(text).items())


# How triples are sampled, and how passages are retrieved.

SamplingMethod = Literal["entities", "triples"]


class TripleFileAsked(Struct, frozen=True, kw_only=True):
    """Hold further options of ``grade`` with a file of triples."""

    labels: Annotated[Path | None, Opt(
        "For triples: file of verdicts with the columns people and is_true filled in.",
        flags=("--human-labels",), metavar="FILE", exists=True,
    )] = None  # fmt: skip
    tables_to: Annotated[Path | None, Opt(
        "For triples: write results.csv and its tables in BeQu's columns to DIR.",
        metavar="DIR", is_folder_only=True,
    )] = None  # fmt: skip
    show: Annotated[int | None, Opt(
        "For triples: print the first N judge prompts; make no API calls.", metavar="N", least=1,
    )] = None  # fmt: skip


class VerifySettings(Struct, frozen=True, kw_only=True):
    """Set how triples are sampled and how passages are retrieved.

    ``sample`` is the number of triples per direction, or per domain or popularity tier with
    ``sample_per`` (0: all). ``k`` is the number of passages per triple. Recall is computed ``over``
    all entities of the reference, or those with an elicited triple. ``together`` tests entailment
    of a reference triple by all elicited triples of the entity, as in the paper. ``single`` tests
    each of the ``candidates`` nearest triples alone, which is stricter.
    """

    sample: Annotated[
        int,
        Opt(
            "Triples to judge per model and for the reference (0: all).",
            least=0,
            shows_default=True,
        ),
    ] = 500
    sampling: Annotated[
        SamplingMethod,
        Opt(
            "Sample an entity and then one of its triples, or sample triples uniformly.",
            shows_default=True,
        ),
    ] = "entities"
    sample_per: Annotated[
        Literal["all", "domain", "popularity"],
        Opt(
            "Sample --sample triples overall, or per domain or popularity tier (as published).",
            shows_default=True,
        ),
    ] = "all"
    over: Annotated[
        Literal["reference", "elicited"],
        Opt(
            "Compute recall over all entities of the reference, or over entities with elicited "
            "triples.",
            flags=("--recall-over",),
            shows_default=True,
        ),
    ] = "reference"
    recall: Annotated[
        Literal["together", "single"],
        Opt(
            "Entailment by all elicited triples of an entity together (as published), or by a "
            "single triple (stricter).",
            shows_default=True,
        ),
    ] = "together"
    search_method: Annotated[
        Literal["bm25", "dense", "hybrid"],
        Opt(
            ("Retrieve passages and candidates by words, by embeddings, or by both."),
            shows_default=True,
        ),
    ] = "bm25"
    k: Annotated[int, Opt("Passages a triple.", least=1, most=50, shows_default=True)] = 10
    candidates: Annotated[
        int,
        Opt(
            "With --recall single: elicited triples shown to the judge per reference triple.",
            least=1,
            most=50,
            shows_default=True,
        ),
    ] = 10
    seed: Annotated[int, Opt("Random seed.", least=0, shows_default=True)] = 0


# Results of parsing triples from a response.

# Recovery faults, of a whole response (surrounding text, unclosed array, no array of objects) or of
# one record.
Fault = Literal[
    "text around",
    "truncated",
    "no array",
    "not closed",
    "quotes",
    "inner quotes",
    "commas",
    "colons",
    "keys",
    "repeated key",
    "control characters",
    "escapes",
    "bare value",
    "list",
    "array",
    "lines",
    "table",
    "tuples",
]


FAULTS: tuple[Fault, ...] = get_args(Fault)


UnreadWhy = Literal[
    "truncated",
    "no subject",
    "no predicate",
    "no object",
    "nested value",
    "repeated key",
    "end not clear",
    "no JSON",
    "no text",
    "nested too deeply",
    "ambiguous fields",
    "no triple",
]


UNREAD: tuple[UnreadWhy, ...] = get_args(UnreadWhy)


class FoundTriple(Struct, frozen=True, gc=False):
    """Hold a triple parsed from a response, between the character offsets ``start`` and ``end``.

    Texts are as written. ``faults`` is empty for valid JSON of the requested form.
    """

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    faults: tuple[Fault, ...] = ()

    @property
    def is_recovered(self) -> bool:
        """Return True if parsing had to recover from a fault."""
        return bool(self.faults)


class Unread(Struct, frozen=True, gc=False):
    """Hold an unparsed part of a response (or all of it) that was meant as a triple."""

    start: int
    end: int
    why: UnreadWhy


class ReadTriples(Struct, frozen=True):
    """Hold the triples and the unparsed parts of a response, both in text order.

    ``says_nothing``: the response is or ends in an empty list, and holds nothing else that was
    meant as a triple.
    """

    triples: tuple[FoundTriple, ...] = ()
    unread: tuple[Unread, ...] = ()
    says_nothing: bool = False

    @property
    def n_recovered(self) -> int:
        """Return how many triples were recovered from malformed output."""
        return sum(triple.is_recovered for triple in self.triples)


# Comparison of triples that differ in spelling only, and removal of duplicates.

_JOINTS = re.compile(r"[_\-‐‑\s]+")


_EDGES = "\"'“”‘’«»「」.,;: "


class SaidTriple(Struct, frozen=True):
    """Hold a triple as first elicited, and its repetitions ``again``."""

    first: FoundTriple
    again: tuple[FoundTriple, ...] = ()

    @property
    def times(self) -> int:
        """Return how often it was elicited."""
        return 1 + len(self.again)


def plain_triple(subject: str, predicate: str, said: str) -> tuple[str, str, str]:
    """Normalize a triple for comparison.

    Case, width, surrounding quotes, full stops and direction marks are ignored. Predicates are
    split into words (birthPlace, birth_place).
    """
    return _plain(subject), _plain(_JOINTS.sub(" ", _HUMP.sub(" ", predicate))), _plain(said)


def fold_triples(triples: Sequence[FoundTriple]) -> list[SaidTriple]:
    """Merge repeated triples, in the order of their first occurrence."""
    groups: dict[tuple[str, str, str], list[FoundTriple]] = {}
    for triple in triples:
        key = plain_triple(triple.subject, triple.predicate, triple.object)
        groups.setdefault(key, []).append(triple)
    return [SaidTriple(first, tuple(again)) for first, *again in groups.values()]


def _plain(text: str) -> str:
    plain = folded_text(text)
    return plain.strip(_EDGES) or plain


# Verification results of triples against a reference, and measures of groups.

Direction = Literal["precision", "recall"]


DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


VerdictLabel = Literal["", "entailment", "contradiction", "neutral", "covered", "not covered"]


# Who gave a verdict: the judge, or a rule that needs none.
Basis = Literal[
    "judge", "no reference", "no object", "same words", "nothing elicited", "unparsed", "waiting"
]


Breakdown = Literal["domain", "popularity", "source", "family"]


BREAKDOWNS: tuple[Breakdown, ...] = get_args(Breakdown)


class Group(Struct, frozen=True, order=True):
    """Name the model and setting whose triples are measured together."""

    model: str
    setting: str = ""

    @property
    def label(self) -> str:
        """Return the group's label for sentences."""
        return f"{self.model} {self.setting}".strip()


class EntityFacts(Struct, frozen=True, gc=False):
    """Describe an entity beyond its triples.

    ``identity`` is a Wikidata number, ``page`` its article's address, ``statements`` its number of
    Wikidata statements. ``fiction`` is "plausible" or "absurd" if its list marks it as
    non-existent.
    """

    name: str
    identity: str = ""
    domain: str = ""
    popularity: str = ""
    page: str = ""
    is_nonexistent: bool = False
    fiction: str = ""
    statements: int | None = None


class TripleText(Struct, frozen=True, gc=False):
    """Hold a triple in words, the ``family`` of its predicate, and its reference ``passage`` if
    any.
    """

    subject: str
    predicate: str
    object: str
    family: str
    passage: Passage


class Verdict(Struct, frozen=True, gc=False, kw_only=True):
    """Hold the verdict on one triple.

    ``label`` is empty without a verdict. It is then ``unparsed`` (no valid label, or no valid
    evidence; see ``trouble``) or ``waiting`` (not judged yet). ``passage`` is the evidence; for
    recall, the elicited triple in words.
    """

    label: VerdictLabel
    basis: Basis
    reason: str = ""
    passage: Passage = Passage("")
    trouble: str = ""


class Verified(Struct, frozen=True, gc=False, kw_only=True):
    """Hold one sampled triple and its verdict.

    ``drawn`` is its position in the random order, from 1; any prefix is itself a random sample.
    ``id`` identifies triple, model and entity; repetitions share it. ``source`` names its passage;
    for recall, the source of the reference triple. ``response`` is the stored response that
    contains it (``response:...``), or lacks it; empty for triples of a file. ``known`` is the
    passage of a reference triple, if known.
    """

    id: str
    direction: Direction
    group: int
    entity: int
    drawn: int
    subject: str
    predicate: str
    object: str
    family: str
    source: str
    verdict: Verdict
    response: str = ""
    known: Passage = Passage("")


class Measured(Struct, frozen=True, kw_only=True):
    """Hold the measures of one group, over all its triples or a part of them.

    ``counts`` is by direction and outcome. ``estimates`` holds the measures with data, and ``f1``.
    ``more`` is how many more triples narrow the 95% CIs of precision and recall to 2 points (None:
    no CI).
    """

    group: Group
    counts: Mapping[str, Mapping[str, int]]
    estimates: Mapping[str, Estimate]
    more: Mapping[str, int | None]
    by: str = ""
    value: str = ""


class Elicited(Struct, frozen=True, gc=False, kw_only=True):
    """Hold what a group produced before verification.

    ``entities`` counts those with a response. ``given`` counts those with triples, ``abstained``
    those without knowledge according to the model, ``unread`` the unparsed ones. ``triples`` are
    counted once per entity. The last three fields are for non-existent entities, which the others
    exclude.
    """

    entities: int = 0
    given: int = 0
    abstained: int = 0
    unread: int = 0
    triples: int = 0
    nonexistent: int = 0
    nonexistent_given: int = 0
    nonexistent_triples: int = 0

    @property
    def each(self) -> float | None:
        """Return triples per entity with a response; None without a response."""
        return self.triples / self.entities if self.entities else None

    @property
    def nonexistent_each(self) -> float:
        """Return triples per non-existent entity in the prompts; 0 without one."""
        return self.nonexistent_triples / self.nonexistent if self.nonexistent else 0.0


@dataclass(frozen=True, slots=True)
class VerifiedRuns:
    """Hold the verified triples of stored runs.

    ``runs`` and ``elicited`` are indexed like ``groups``. All groups share ``judges`` and
    ``reference`` (name and short id). ``sampling`` describes the sampling in words. ``read``
    iterates over all sampled triples and can be called again, so they need not stay in memory.
    ``items`` are the items about the entities, by place.
    """

    groups: tuple[Group, ...]
    runs: tuple[tuple[bytes, ...], ...]
    elicited: tuple[Elicited, ...]
    entities: tuple[EntityFacts, ...]
    judges: str
    reference: str
    sampling: str
    read: Callable[[], Iterator[Verified]]
    items: tuple[bytes, ...] = ()


# Verification settings of a run: reference, judges and sampling. One text identifies them.

_REFERENCE = ", reference="


_DRAWS = {"entities": "an entity, then one of its triples", "triples": "uniformly over triples"}


class Against(Struct, frozen=True, kw_only=True):
    """Hold verification settings.

    ``judges`` is the panel's name, ``reference`` its name and short id. ``sample`` is the number of
    triples per direction (0: all), or per domain or popularity tier (``sample_per``), sampled by
    ``sampling`` and ``seed``. ``k`` is the number of passages per triple, ``candidates`` that per
    reference triple, both retrieved by ``search_method``. Recall is ``over`` the reference, or over
    the elicited entities of these runs. It is by all elicited triples ``together`` or by a
    ``single`` one. ``questions`` is the version of the judge prompts.
    """

    judges: str
    reference: str
    sample: int = 500
    sampling: str = "entities"
    sample_per: str = "all"
    seed: int = 0
    k: int = 10
    candidates: int = 10
    search_method: str = "bm25"
    over: str = "reference"
    recall: str = "single"
    questions: int = 1

    @property
    def label(self) -> str:
        """Return one text with all settings that differ from the default."""
        usual = Against(judges="", reference="")
        said = [
            f"{name}={value}"
            for name in _SETTINGS
            if (value := getattr(self, name)) != getattr(usual, name)
        ]
        return " ".join([f"{self.judges}{_REFERENCE}{self.reference}", *said])

    @property
    def drawn(self) -> str:
        """Describe the sampling in words."""
        found = (
            "" if self.search_method == "bm25" else (f", retrieved by {self.search_method} search")
        )
        over = "" if self.over == "reference" else ", recall over entities with elicited triples"
        over += ", recall by single triples" if self.recall == "single" else ""
        if not self.sample:
            return f"all triples{found}{over}"
        part = "" if self.sample_per == "all" else f" and {self.sample_per}"
        return (
            f"{_DRAWS.get(self.sampling, self.sampling)}, up to {self.sample:,} per "
            f"direction{part}, seed {self.seed}{found}{over}"
        )


_SETTINGS = tuple(name for name in Against.__struct_fields__ if name not in ("judges", "reference"))


def read_against(settings: bytes) -> Against | None:
    """Parse verification settings; None for a scoring without verified triples."""
    return msgspec.json.decode(settings, type=Against) if settings else None
