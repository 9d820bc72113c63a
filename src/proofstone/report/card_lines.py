"""What is said of cards: the heading of a group of rows, whom a filter left out, notes."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.report.board import Leaderboard, RowGroup
from proofstone.report.columns import printable
from proofstone.report.numbers import shown_estimate
from proofstone.wording import counted

__all__ = ["group_heading", "where_lines"]


def group_heading(field: str, group: RowGroup) -> str:
    """``kind: reasoning (2 respondents, mean 61.2 [58.0, 64.3])``."""
    said = counted(len(group.ranked), "respondent")
    if group.mean is not None and len(group.ranked) > 1:
        said += f", mean {shown_estimate(group.mean)}"
    return f"{field}: {printable(group.name)} ({said})"


def where_lines(board: Leaderboard) -> Iterator[str]:
    """What was filtered and who is left out by it, then what to know of models and cards."""
    if board.where:
        n = len(board.left_out)
        names = ", ".join(f"{entry.name} ({entry.why})" for entry in board.left_out)
        left = f"; left out {counted(n, 'model')}: {names}" if n else "; nobody is left out"
        yield printable(f"only {board.where}{left}")
    yield from (printable(note) for note in board.notes)
