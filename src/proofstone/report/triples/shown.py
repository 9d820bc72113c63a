"""All that a page of verified triples shows; plain records, filled by the caller."""

from __future__ import annotations

from msgspec import Struct, structs

from proofstone.records.audience import Audience
from proofstone.report.page_data import Asked, Control, FormShown, Provenance
from proofstone.report.sections.section import Section
from proofstone.report.triples.board import TripleBoard
from proofstone.report.triples.held import Held

__all__ = ["TriplePage", "triple_page_for"]


class TriplePage(Struct, frozen=True, kw_only=True):
    """A page of verified runs. ``sections`` are the parts after the leaderboard, ``studies`` those
    of experiments, shown one at a time. ``setting`` is that of all rows, whose labels then leave it
    out; ``card_columns`` are facts of the models' cards. ``notes`` stand above all else.
    ``held`` are its entities and verdicts, None on a page for the public: the names of entities are
    what was asked, triples are replies, and passages are the reference's. ``forms``, ``asked`` and
    ``controls`` say how models were asked."""

    title: str
    board: TripleBoard
    provenance: Provenance
    setting: str = ""
    card_columns: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    studies: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    held: Held | None = None
    forms: tuple[FormShown, ...] = ()
    asked: tuple[Asked, ...] = ()
    controls: tuple[Control, ...] = ()
    audience: Audience = "internal"


def triple_page_for(page: TriplePage) -> TriplePage:
    """The page as its audience may see it: for the public without entities, triples and passages,
    and without replies to control completions."""
    if page.audience == "internal":
        return page
    controls = tuple(structs.replace(control, reply="") for control in page.controls)
    return structs.replace(page, held=None, controls=controls)
