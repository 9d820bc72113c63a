"""Where a source was placed in a taxonomy since it was taken in, by models or by a person."""

from __future__ import annotations

from msgspec import Struct, structs

from proofstone.identity import content_id
from proofstone.records.knowledge import Source, Stratum

__all__ = ["Placement", "SampledSource", "placement_id"]


class Placement(Struct, frozen=True, gc=False, kw_only=True):
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


def placement_id(placement: Placement) -> bytes:
    """The id of a placement: all its fields."""
    return content_id("placement", structs.astuple(placement)[1:])
