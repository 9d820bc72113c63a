"""Whose replies trust is about: the real respondents, or the simulated ones where there are none
but these."""

from __future__ import annotations

from proofstone.report.board import BoardRow
from proofstone.report.sections.section import Evidence
from proofstone.report.sheet import Sheet

__all__ = ["meant_places", "meant_rows"]


def meant_rows(evidence: Evidence) -> tuple[BoardRow, ...]:
    """Their rows on the leaderboard."""
    board = evidence.board
    return tuple(
        row
        for group in board.standings
        if board.is_simulated_only or not group.simulated
        for row in (*group.ranked, *group.incomplete)
    )


def meant_places(evidence: Evidence, sheet: Sheet) -> tuple[int, ...]:
    """Their places in the score table."""
    only = evidence.board.is_simulated_only
    return tuple(
        place for place, who in enumerate(sheet.table.respondents) if only or not who.simulated
    )
