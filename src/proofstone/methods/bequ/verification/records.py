"""What is verified, and what it is verified against."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.triples import Passage

__all__ = ["GivenTriple", "ReferenceRow", "ReferenceTriple"]


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
