"""What is on its way while a list of entities is made: something with a name that may be taken."""

from __future__ import annotations

from msgspec import Struct

from proofstone.methods.bequ.payloads import Entity

__all__ = ["Candidate", "Ratings"]


class Ratings(Struct, frozen=True, gc=False, kw_only=True):
    """A judge's ratings, each from 1 (not at all) to 5 (fully)."""

    informative: int
    clear: int
    suitable: int


class Candidate(Struct, frozen=True, kw_only=True):
    """An entity as its page or its row has it, and the ``lead`` of its article. ``title`` is that
    of the article found, empty where there is none; ``trouble`` says why it cannot be read.
    ``against`` is the page of the web that names what is to be fictional. ``to_make_up`` names are
    to be made up in its place; ``is_made_up``: a model did so."""

    entity: Entity
    language: str = ""
    domain: str = ""
    tier: str = ""
    title: str = ""
    lead: str = ""
    is_meanings: bool = False
    trouble: str = ""
    against: str = ""
    to_make_up: int = 0
    is_made_up: bool = False
    ratings: Ratings | None = None
