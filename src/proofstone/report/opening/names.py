"""Respondents as the half page calls them: by the model's name alone where that is enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from proofstone.report.board import BoardRow, Standings
from proofstone.wording import joined, say

__all__ = ["called", "named"]

_MOST_NAMED = 5


def called(group: Standings, row: BoardRow) -> str:
    """The model's name; with its way of asking and settings where another here has that name."""
    names = Counter(each.name for each in (*group.ranked, *group.incomplete))
    return row.name if names[row.name] == 1 else row.label


def named(group: Standings, rows: Sequence[BoardRow]) -> str:
    """The respondents; of many the first by name, and how many there are more."""
    if len(rows) <= _MOST_NAMED:
        return joined([called(group, row) for row in rows])
    first = [called(group, row) for row in rows[: _MOST_NAMED - 1]]
    return joined([*first, say("{n} more", n=len(rows) - len(first))])
