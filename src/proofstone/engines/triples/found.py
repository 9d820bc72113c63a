"""What reading a reply for triples gives: what was found, how, where, and what was left."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

__all__ = ["FAULTS", "UNREAD", "Fault", "FoundTriple", "ReadTriples", "Unread", "UnreadWhy"]

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
