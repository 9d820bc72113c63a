"""Triples that were checked against a reference, and the measures of a group of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from proofstone.records.runs import Estimate
from proofstone.records.verdicts import Passage

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


class EntityFacts(Struct, frozen=True, gc=False):
    """What is known of an entity besides its triples: its ``identity`` is a Wikidata number, its
    ``page`` the address of its article, ``statements`` how many Wikidata has about it. ``fiction``
    is "plausible" or "absurd" where its list says so of one that does not exist."""

    name: str
    identity: str = ""
    domain: str = ""
    popularity: str = ""
    page: str = ""
    is_fictional: bool = False
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


class Volunteered(Struct, frozen=True, gc=False, kw_only=True):
    """What a group said before anybody judged it. Of its ``entities`` with a reply, ``given`` got
    triples, of ``abstained`` the model said that it knows nothing, and ``unread`` replies could not
    be read. ``triples`` are counted once an entity; the last three are of fictional entities, which
    the others leave out."""

    entities: int = 0
    given: int = 0
    abstained: int = 0
    unread: int = 0
    triples: int = 0
    fictional: int = 0
    fictional_given: int = 0
    fictional_triples: int = 0


@dataclass(frozen=True, slots=True)
class VerifiedRuns:
    """The verified triples of stored runs. ``runs`` and ``volunteered`` are by the place of their
    group in ``groups``. ``judges`` and ``reference`` (its name and short id) are those of all,
    ``sampling`` says in words how the triples were drawn. ``read`` gives every triple of the
    samples, each time anew, so that nobody has to hold them. ``items`` are those that ask about the
    entities, by their place."""

    groups: tuple[Group, ...]
    runs: tuple[tuple[bytes, ...], ...]
    volunteered: tuple[Volunteered, ...]
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
    ``candidates`` for a known one, found by ``way``; recall ``over`` the reference, or over what
    the runs of these digits were elicited of, by all
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
    way: str = "bm25"
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
        found = "" if self.way == "bm25" else f", found by {self.way} search"
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
