"""All that a page of verified triples shows; plain records, filled by the caller."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.audience import Audience
from proofstone.report.page_data import Asked, Control, FormShown, Provenance
from proofstone.report.sections.section import Section
from proofstone.report.triples.board import TripleBoard

__all__ = ["TriplePage"]


class TriplePage(Struct, frozen=True, kw_only=True):
    """A page of verified runs. ``sections`` are the parts after the leaderboard, ``studies`` those
    of experiments, shown one at a time. ``notes`` stand above everything else (what is partial).
    ``forms``, ``asked`` and ``controls`` say how models were asked."""

    title: str
    board: TripleBoard
    provenance: Provenance
    answers: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    studies: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    forms: tuple[FormShown, ...] = ()
    asked: tuple[Asked, ...] = ()
    controls: tuple[Control, ...] = ()
    audience: Audience = "internal"
