"""What is elicited, known, verified and measured: records of triples, and how they are compared."""

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
    """A triple that was elicited, as it was written. ``subject`` may be another than the entity."""

    subject: str
    predicate: str
    object: str


class ReferenceTriple(Struct, frozen=True, gc=False, array_like=True):
    """A triple that is known of an entity, with the passage that it was taken from (empty: none was
    kept)."""

    predicate: str
    object: str
    passage: Passage


class ReferenceRow(Struct, frozen=True, gc=False, array_like=True):
    """What one row of a reference says of an entity."""

    passages: tuple[Passage, ...]
    triples: tuple[ReferenceTriple, ...]


# How a triple reads as words: for a search, and for a judge.

_NAMESPACE = re.compile(r"\A[A-Za-z][A-Za-z0-9-]{0,15}:(?=[A-Za-z])(?!//)")


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


def spoken(predicate: str) -> str:
    """A predicate in words: ``rdf:birthPlace`` is "birth place"."""
    words = _HUMP.sub(" ", _NAMESPACE.sub("", predicate.strip())).split()
    return " ".join(word.lower() if word[1:].islower() else word for word in words)


def object_text(value: Any) -> str:
    """An object as one text: a list with semicolons, a number or truth value as JSON spells it,
    nothing as the empty text. A text is taken as it stands."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "; ".join(filter(None, map(object_text, value)))
    return canonical_json(value).decode()


def has_han(text: str) -> bool:
    """Whether Chinese characters stand in it."""
    return _HAN.search(text) is not None


# The family of a predicate: what kind of thing it says, by the words of its name.

OTHER = "other"


@lru_cache(maxsize=65_536)
def family_of(predicate: str) -> str:
    """The first family of families.toml of which a word stands in the predicate (Chinese: whose
    word is a part of it), else ``other``. Models make predicates up, so there is no closed list."""
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


# How a sample of triples is drawn and found.

SamplingMethod = Literal["entities", "triples"]


class TripleFileAsked(Struct, frozen=True, kw_only=True):
    """What ``grade`` does besides with a file of triples."""

    labels: Annotated[Path | None, Opt(
        "Of triples: file of verdicts with its columns people and is_true filled in.",
        flags=("--human-labels",), metavar="FILE", exists=True,
    )] = None  # fmt: skip
    tables_to: Annotated[Path | None, Opt(
        "Of triples: write results.csv and the tables beside it, in BeQu's columns, to DIR.",
        metavar="DIR", is_folder_only=True,
    )] = None  # fmt: skip
    show: Annotated[int | None, Opt(
        "Of triples: print the first N judge prompts; make no API calls.", metavar="N", least=1,
    )] = None  # fmt: skip


class VerifySettings(Struct, frozen=True, kw_only=True):
    """How triples are drawn (``sample`` of each direction, and of each domain or popularity where
    ``sample_per`` says so; 0 is all) and found (``k`` passages a
    triple). Recall is ``over`` all entities of the reference, or those of which somebody gave a
    triple. It asks what all elicited triples of the entity ``together`` make of a known one, as the
    paper does, or whether a ``single`` one of the ``candidates`` nearest covers it, which is
    stricter."""

    sample: Annotated[
        int,
        Opt(
            "Triples of each model, and of the reference, that are judged; 0: all.",
            least=0,
            shows_default=True,
        ),
    ] = 500
    sampling: Annotated[
        SamplingMethod,
        Opt(
            "Draw an entity and then one of its triples, or uniformly over triples.",
            shows_default=True,
        ),
    ] = "entities"
    sample_per: Annotated[
        Literal["all", "domain", "popularity"],
        Opt(
            "Draw --sample triples overall, or of each domain or popularity (as published).",
            shows_default=True,
        ),
    ] = "all"
    over: Annotated[
        Literal["reference", "elicited"],
        Opt(
            "Recall over all entities of the reference, or those that somebody gave a triple of.",
            flags=("--recall-over",),
            shows_default=True,
        ),
    ] = "reference"
    recall: Annotated[
        Literal["together", "single"],
        Opt(
            "Recall by what all elicited triples of an entity entail together (as published), or "
            "by whether a single triple covers the reference triple (stricter).",
            shows_default=True,
        ),
    ] = "together"
    search_method: Annotated[
        Literal["bm25", "dense", "hybrid"],
        Opt("Find passages and candidates by words, by meaning, or by both.", shows_default=True),
    ] = "bm25"
    k: Annotated[int, Opt("Passages a triple.", least=1, most=50, shows_default=True)] = 10
    candidates: Annotated[
        int,
        Opt(
            "With --recall single: elicited triples that are shown for one of the reference.",
            least=1,
            most=50,
            shows_default=True,
        ),
    ] = 10
    seed: Annotated[int, Opt("The seed of all draws.", least=0, shows_default=True)] = 0


# What reading a reply for triples gives: what was found, how, where, and what was left.

# What had to be overlooked: of a whole reply (text around the array, an array that never ends, no
# array of objects at all), or of one record.
Fault = Literal[
    "text around",
    "cut off",
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
    "cut off",
    "no subject",
    "no predicate",
    "no object",
    "nested value",
    "repeated key",
    "end not clear",
    "no JSON",
    "no text",
    "nested too deeply",
    "fields not told apart",
    "no triple",
]


UNREAD: tuple[UnreadWhy, ...] = get_args(UnreadWhy)


class FoundTriple(Struct, frozen=True, gc=False):
    """A triple that stands in a reply, its texts as written, between the characters ``start`` and
    ``end`` of it. ``faults`` is empty where it stands in plain JSON of the form asked for."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    faults: tuple[Fault, ...] = ()

    @property
    def is_recovered(self) -> bool:
        """Whether anything had to be overlooked to read it."""
        return bool(self.faults)


class Unread(Struct, frozen=True, gc=False):
    """A part of a reply that was meant as a triple, or all of it, and could not be read."""

    start: int
    end: int
    why: UnreadWhy


class ReadTriples(Struct, frozen=True):
    """The triples of a reply and what of it was left unread, both in the order of the text.

    ``says_nothing``: the reply is an empty list, or ends in one, and holds nothing else that was
    meant as a triple.
    """

    triples: tuple[FoundTriple, ...] = ()
    unread: tuple[Unread, ...] = ()
    says_nothing: bool = False

    @property
    def n_recovered(self) -> int:
        """How many of the triples had to be recovered."""
        return sum(triple.is_recovered for triple in self.triples)


# Triples that say the same in other letters: how they are compared, and each of them once.

_JOINTS = re.compile(r"[_\-‐‑\s]+")


_EDGES = "\"'“”‘’«»「」.,;: "


class SaidTriple(Struct, frozen=True):
    """A triple as it was said first, and the places where it was said ``again``."""

    first: FoundTriple
    again: tuple[FoundTriple, ...] = ()

    @property
    def times(self) -> int:
        """How often it was said."""
        return 1 + len(self.again)


def plain_triple(subject: str, predicate: str, said: str) -> tuple[str, str, str]:
    """A triple as it is compared: without regard to case, width, quotes and full stops around a
    text, direction marks, and of a predicate how its words are joined (birthPlace, birth_place)."""
    return _plain(subject), _plain(_JOINTS.sub(" ", _HUMP.sub(" ", predicate))), _plain(said)


def fold_triples(triples: Sequence[FoundTriple]) -> list[SaidTriple]:
    """Each triple once, in the order in which it was said first."""
    groups: dict[tuple[str, str, str], list[FoundTriple]] = {}
    for triple in triples:
        key = plain_triple(triple.subject, triple.predicate, triple.object)
        groups.setdefault(key, []).append(triple)
    return [SaidTriple(first, tuple(again)) for first, *again in groups.values()]


def _plain(text: str) -> str:
    plain = folded_text(text)
    return plain.strip(_EDGES) or plain


# What came of triples that were checked against a reference, and the measures of groups of them.

Direction = Literal["precision", "recall"]


DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


VerdictLabel = Literal["", "entailment", "contradiction", "neutral", "covered", "not covered"]


# Whose word a verdict is: the judge's, or that of what can be seen without one.
Basis = Literal[
    "judge", "no reference", "no object", "same words", "nothing elicited", "unparsed", "waiting"
]


Breakdown = Literal["domain", "popularity", "source", "family"]


BREAKDOWNS: tuple[Breakdown, ...] = get_args(Breakdown)


class Group(Struct, frozen=True, order=True):
    """Whose triples are measured together: a model, in one setting."""

    model: str
    setting: str = ""

    @property
    def label(self) -> str:
        """The group as a sentence names it."""
        return f"{self.model} {self.setting}".strip()


class EntityFacts(Struct, frozen=True, gc=False):
    """What is known of an entity besides its triples: its ``identity`` is a Wikidata number, its
    ``page`` the address of its article, ``statements`` how many Wikidata has about it. ``fiction``
    is "plausible" or "absurd" where its list says so of one that does not exist."""

    name: str
    identity: str = ""
    domain: str = ""
    popularity: str = ""
    page: str = ""
    is_nonexistent: bool = False
    fiction: str = ""
    statements: int | None = None


class TripleText(Struct, frozen=True, gc=False):
    """A triple in words, the ``family`` of its predicate, and of one of a reference the ``passage``
    that it was taken from."""

    subject: str
    predicate: str
    object: str
    family: str
    passage: Passage


class Verdict(Struct, frozen=True, gc=False, kw_only=True):
    """What was decided of one triple. ``label`` is empty where nothing was: ``unparsed`` (the judge
    gave no label that could be read, or none that rests on what it was shown; ``trouble`` says
    which) or ``waiting`` (no judge was heard). ``passage`` is what the label rests on: of recall
    the elicited triple, in words."""

    label: VerdictLabel
    basis: Basis
    reason: str = ""
    passage: Passage = Passage("")
    trouble: str = ""


class Verified(Struct, frozen=True, gc=False, kw_only=True):
    """One triple of the sample with its verdict. ``drawn`` is its number in the order of drawing,
    from 1: the first of them are a random sample themselves. ``id`` is that of what was said, by
    whom and of what: repetitions share it. ``source`` is where its passage is
    from; of recall, where the reference has it from. ``response`` is the stored reply that said it
    (``response:...``), or from which it is missing; empty for triples of a file. ``known`` is the
    passage that the reference has a triple of recall from, where it is told."""

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
    """One group's measures, of all its triples or of a part of them. ``counts`` is by direction and
    outcome. ``estimates`` are those of the measures that anything counts in, and ``f1``; ``more``
    says how many more triples bring precision and recall to within 2 points (None: no interval)."""

    group: Group
    counts: Mapping[str, Mapping[str, int]]
    estimates: Mapping[str, Estimate]
    more: Mapping[str, int | None]
    by: str = ""
    value: str = ""


class Elicited(Struct, frozen=True, gc=False, kw_only=True):
    """What a group said before anybody judged it. Of its ``entities`` with a reply, ``given`` got
    triples, of ``abstained`` the model said that it knows nothing, and ``unread`` replies could not
    be read. ``triples`` are counted once an entity; the last three are of fictional entities, which
    the others leave out."""

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
        """Triples said of an entity with a reply; None where there is none."""
        return self.triples / self.entities if self.entities else None

    @property
    def nonexistent_each(self) -> float:
        """Triples said of a fictional entity, of those that were asked about; 0 for none."""
        return self.nonexistent_triples / self.nonexistent if self.nonexistent else 0.0


@dataclass(frozen=True, slots=True)
class VerifiedRuns:
    """The verified triples of stored runs. ``runs`` and ``elicited`` are by the place of their
    group in ``groups``. ``judges`` and ``reference`` (its name and short id) are those of all,
    ``sampling`` says in words how the triples were drawn. ``read`` gives every triple of the
    samples, each time anew, so that nobody has to hold them. ``items`` are those that ask about the
    entities, by their place."""

    groups: tuple[Group, ...]
    runs: tuple[tuple[bytes, ...], ...]
    elicited: tuple[Elicited, ...]
    entities: tuple[EntityFacts, ...]
    judges: str
    reference: str
    sampling: str
    read: Callable[[], Iterator[Verified]]
    items: tuple[bytes, ...] = ()


# What the triples of a run were verified against, by whom and how they were drawn: the settings of
# a scoring, which is known by all of them as one text.

_REFERENCE = ", reference="


_DRAWS = {"entities": "an entity, then one of its triples", "triples": "uniformly over triples"}


class Against(Struct, frozen=True, kw_only=True):
    """The ``judges`` as their panel is named, the ``reference`` by its name and first digits of its
    id, and the settings: ``sample`` triples of each direction (0: all), or of each domain or
    popularity (``sample_per``), drawn by ``sampling`` and ``seed``; ``k`` passages a triple and
    ``candidates`` for a known one, found by ``search_method``; recall ``over`` the reference, or
    over what the runs of these digits were elicited of, by all
    elicited triples ``together`` or by a ``single`` one (as before there were both).
    ``questions`` is the version of what judges are asked."""

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
        """All of it as one text, of the settings those that are not the usual ones."""
        usual = Against(judges="", reference="")
        said = [
            f"{name}={value}"
            for name in _SETTINGS
            if (value := getattr(self, name)) != getattr(usual, name)
        ]
        return " ".join([f"{self.judges}{_REFERENCE}{self.reference}", *said])

    @property
    def drawn(self) -> str:
        """How the triples were drawn, in words."""
        found = "" if self.search_method == "bm25" else f", found by {self.search_method} search"
        over = "" if self.over == "reference" else ", recall over what was elicited"
        over += ", recall by single triples" if self.recall == "single" else ""
        if not self.sample:
            return f"all triples{found}{over}"
        part = "" if self.sample_per == "all" else f" and {self.sample_per}"
        return (
            f"{_DRAWS.get(self.sampling, self.sampling)}, up to {self.sample:,} of each direction"
            f"{part}, seed {self.seed}{found}{over}"
        )


_SETTINGS = tuple(name for name in Against.__struct_fields__ if name not in ("judges", "reference"))


def read_against(settings: bytes) -> Against | None:
    """What the settings of a scoring say; None for one that verified no triples."""
    return msgspec.json.decode(settings, type=Against) if settings else None
