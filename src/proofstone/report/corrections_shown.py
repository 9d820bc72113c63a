"""What people corrected, as a leaderboard says it: rulings by respondent, items left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.report.board import BoardRow, Leaderboard, Standings
from proofstone.wording import counted, noted, paragraph, say, say_of

__all__ = ["RULING_HEADS", "correction_notes", "ruled_rows", "ruling_cells"]

RULING_HEADS = (
    noted("ruled on"),
    noted("replies"),
    noted("raised"),
    noted("lowered"),
    noted("upheld"),
    noted("void"),
)


def ruled_rows(group: Standings) -> Sequence[BoardRow]:
    """All respondents of a group where some reply of one was ruled on, else none: who was ruled on
    more often than others must be seen."""
    rows = (*group.ranked, *group.incomplete)
    return rows if any(row.corrections.total for row in rows) else ()


def ruling_cells(row: BoardRow) -> tuple[int, ...]:
    """The numbers under RULING_HEADS: of how many replies; what the rulings did to their worth."""
    ruled = row.corrections
    replies = row.n_replies + ruled.void
    return ruled.total, replies, ruled.raised, ruled.lowered, ruled.upheld, ruled.void


def correction_notes(board: Leaderboard) -> Iterator[str]:
    """A sentence on retired items, one on void replies, and how to see it all undone."""
    if board.n_retired:
        yield say_of(
            board.n_retired,
            "{items} is retired and left out.",
            "{items} are retired and left out.",
            items=counted(board.n_retired, "item"),
        )
    for group in board.standings:
        n_void = sum(row.corrections.void for row in (*group.ranked, *group.incomplete))
        left_out = board.n_items - group.n_items
        if n_void and group.is_common and group.ranked and left_out > 0:
            yield paragraph(
                say_of(
                    n_void,
                    "{replies} is void.",
                    "{replies} are void.",
                    replies=counted(n_void, "reply", "replies"),
                ),
                say(
                    "An item that is void for one is left out for all: {n:,} of {items}.",
                    n=left_out,
                    items=counted(board.n_items, "item"),
                ),
            )
    if board.is_corrected:
        yield say("As people corrected it; before any correction: --as-scored.")
    elif board.as_scored:
        yield say("As scored: no ruling and no retirement is applied.")
