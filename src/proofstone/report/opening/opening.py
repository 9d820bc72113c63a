"""What the half page holds, as records: page and JSON show the same."""

from __future__ import annotations

from msgspec import Struct

from proofstone.report.sections.section import Table

__all__ = ["Opening", "OpeningPart"]


class OpeningPart(Struct, frozen=True, kw_only=True):
    """What is said of respondents that are ranked together. ``heading`` names their scale where
    there is one. ``best`` says who is in the best group and what separates them, ``table`` sets
    scores beside cost, time and kinds of error, ``told`` compares these, ``undecided`` says what
    is open and what would decide it."""

    heading: str = ""
    best: tuple[str, ...] = ()
    table: Table | None = None
    told: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


class Opening(Struct, frozen=True, kw_only=True):
    """One part for each ranking; ``words`` are the meanings of the words that they use."""

    parts: tuple[OpeningPart, ...] = ()
    words: tuple[str, ...] = ()
