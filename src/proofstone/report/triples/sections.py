"""The parts of a page of verified triples after its leaderboard."""

from __future__ import annotations

from proofstone.report.sections.section import Section
from proofstone.report.triples.board import TripleBoard
from proofstone.report.triples.fictional import fictional_section
from proofstone.report.triples.parts import part_sections
from proofstone.report.triples.plane import plane_section
from proofstone.report.triples.rates import rates_section

__all__ = ["triple_sections"]


def triple_sections(board: TripleBoard) -> tuple[Section, ...]:
    """Each that these results can carry; none where nothing was judged."""
    made = (plane_section(board), *part_sections(board), fictional_section(board))
    return tuple(part for part in (*made, rates_section(board)) if part is not None)
