"""What is verified, what it is verified against, and what came of it."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

__all__ = [
    "DIRECTIONS",
    "Basis",
    "Direction",
    "EntityFacts",
    "GivenTriple",
    "Group",
    "Passage",
    "ReferenceRow",
    "ReferenceTriple",
    "Verdict",
    "VerdictLabel",
    "Verified",
]

Direction = Literal["precision", "recall"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
VerdictLabel = Literal["", "entailment", "contradiction", "neutral", "covered", "not covered"]
# Whose word a verdict is: the judge's, or that of what can be seen without one.
Basis = Literal[
    "judge", "no reference", "no object", "same words", "nothing elicited", "unparsed", "waiting"
]


class Group(Struct, frozen=True, order=True):
    """Whose triples are measured together: a model, in one setting."""

    model: str
    setting: str = ""


class GivenTriple(Struct, frozen=True, gc=False, array_like=True):
    """A triple that was elicited, as it was written. ``subject`` may be another than the entity."""

    subject: str
    predicate: str
    object: str


class Passage(Struct, frozen=True, gc=False, array_like=True):
    """A text about an entity: where it is from (``wiki``, ``web``, ...), its title and address."""

    text: str
    source: str = ""
    title: str = ""
    url: str = ""


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


class EntityFacts(Struct, frozen=True, gc=False):
    """What is known of an entity besides its triples."""

    name: str
    identity: str = ""
    domain: str = ""
    popularity: str = ""


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
    from; of recall, where the reference has it from."""

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
