"""Triples that were checked against a reference, and the measures of a group of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from msgspec import Struct

from proofstone.records.rested_on import Passage
from proofstone.records.results import Estimate

__all__ = [
    "BREAKDOWNS",
    "DIRECTIONS",
    "Basis",
    "Breakdown",
    "Direction",
    "EntityFacts",
    "Group",
    "Measured",
    "Passage",
    "TripleText",
    "Verdict",
    "VerdictLabel",
    "Verified",
    "VerifiedRuns",
    "Volunteered",
]

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
