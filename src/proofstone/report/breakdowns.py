"""A leaderboard by groups of items, as text: one table a stratum level, by gold position or by
truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proofstone.errors import BadUsage
from proofstone.report.board import Breakdown, Leaderboard, Standings
from proofstone.report.columns import aligned, cell_width, printable
from proofstone.report.numbers import points, shown_interval

__all__ = ["render_breakdowns"]

_ALIASES = {"position": "gold position"}


def render_breakdowns(board: Leaderboard, by: Sequence[str], *, width: int = 100) -> Iterator[str]:
    """Each of the breakdowns that ``by`` names, as text ending in a newline; ``width`` in cells.

    Raises BadUsage for one that these results do not have, naming those they do.
    """
    for name in by:
        wanted = _ALIASES.get(name, name)
        found = [
            _table(group, breakdown, width)
            for group in board.standings
            for breakdown in group.breakdowns
            if breakdown.by == wanted
        ]
        if not found:
            known = sorted({b.by for group in board.standings for b in group.breakdowns})
            raise BadUsage(f"no breakdown by {name!r}", hint=f"there is: {', '.join(known)}")
        yield from found


def _table(group: Standings, breakdown: Breakdown, width: int) -> str:
    """Groups as rows, respondents as columns; where their names are too long for that, columns are
    numbered as the lines above the table are, and in as many blocks as the width asks for."""
    labels = [printable(row.label) for row in group.ranked]
    rows = [[breakdown.by, "n", *labels]]
    for entry in breakdown.groups:
        cells = [f"{points(e.value)} {shown_interval(e.low, e.high, 4)}" for e in entry.estimates]
        rows.append([printable(entry.name) or "not stated", str(entry.n), *cells])
    lines = aligned(rows, left=[0])
    if max(map(cell_width, lines)) <= width:
        return _text(lines)
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    head = aligned([[f"{n})", label] for n, label in zip(numbers, labels, strict=True)], left=[1])
    return _text([*head, *_blocks([[breakdown.by, "n", *numbers], *rows[1:]], width)])


def _blocks(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The rows in blocks of whole columns, each with the first two, at least one other in each."""
    widest = [max(cell_width(row[place]) for row in rows) for place in range(len(rows[0]))]
    place = 2
    while place < len(widest):
        end, taken = place + 1, sum(widest[:2]) + 4 + widest[place]
        while end < len(widest) and taken + 2 + widest[end] <= width:
            taken += 2 + widest[end]
            end += 1
        yield from aligned([[*row[:2], *row[place:end]] for row in rows], left=[0])
        place = end


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
