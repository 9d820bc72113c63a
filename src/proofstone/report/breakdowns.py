"""A leaderboard by groups of items, as text: one table a stratum level, by gold position or by
truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.errors import BadUsage
from proofstone.report.board import Breakdown, Leaderboard, Standings
from proofstone.report.columns import aligned, printable
from proofstone.report.numbers import points, shown_interval

__all__ = ["render_breakdowns"]

_ALIASES = {"position": "gold position"}


def render_breakdowns(board: Leaderboard, by: Sequence[str]) -> Iterator[str]:
    """Each of the breakdowns that ``by`` names, as text ending in a newline.

    Raises BadUsage for one that these results do not have, naming those they do.
    """
    for name in by:
        wanted = _ALIASES.get(name, name)
        found = [
            _table(group, breakdown)
            for group in board.standings
            for breakdown in group.breakdowns
            if breakdown.by == wanted
        ]
        if not found:
            known = sorted({b.by for group in board.standings for b in group.breakdowns})
            raise BadUsage(f"no breakdown by {name!r}", hint=f"there is: {', '.join(known)}")
        yield from found


def _table(group: Standings, breakdown: Breakdown) -> str:
    labels = [printable(f"{row.name} {row.way}".strip()) for row in group.ranked]
    rows = [[breakdown.by, "n", *labels]]
    for entry in breakdown.groups:
        cells = [f"{points(e.value)} {shown_interval(e.low, e.high, 4)}" for e in entry.estimates]
        rows.append([printable(entry.name) or "not stated", str(entry.n), *cells])
    return "".join(f"{line}\n" for line in aligned(rows, left=[0]))
