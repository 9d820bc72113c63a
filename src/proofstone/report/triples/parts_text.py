"""Verified triples by domain, popularity, source or predicate family, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.errors import BadUsage
from proofstone.records.triples import BREAKDOWNS, Measured
from proofstone.report.columns import aligned, printable
from proofstone.report.numbers import MISSING, points, shown_estimate
from proofstone.report.triples.board import TripleBoard
from proofstone.report.triples.ranked_text import fits, narrowed, shown_name
from proofstone.wording import listed

__all__ = ["read_breakdowns", "render_triple_parts"]

_NAMES = {"family": "predicate family"}
_FEW = 30  # a part of fewer triples of a direction has wide intervals


def read_breakdowns(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once. Raises BadUsage for one that is no breakdown of triples."""
    wrong = [name for name in names if name not in BREAKDOWNS]
    if wrong:
        raise BadUsage(
            f"no breakdown of verified triples by {', '.join(wrong)}",
            hint=f"there is: {', '.join(BREAKDOWNS)} (of the predicate)",
        )
    return tuple(dict.fromkeys(names))


def render_triple_parts(board: TripleBoard, by: str, *, width: int = 100) -> str:
    """Each value of a breakdown with the rows of the board under it, ending in a newline; intervals
    of precision and recall give way first where there is no room."""
    order = {row.group: place for place, row in enumerate(board.rows) if not row.stands_apart}
    parts = [part for part in board.parts if part.by == by and part.group in order]
    if not parts:
        return f"no judged triple here has a {_NAMES.get(by, by)}\n"
    parts.sort(key=lambda part: (part.value, order[part.group]))
    head = [_NAMES.get(by, by), "model", "n P", "n R", "F1", "P", "R"]
    tables = [[head, *_rows(board, parts, with_intervals=full)] for full in (True, False)]
    chosen = tables[0] if fits(tables[0], width) else tables[1]
    lines = [*aligned(narrowed(chosen, 1, width), left=[0, 1]), *_notes(parts)]
    return "".join(f"{line}\n" for line in lines)


def _rows(
    board: TripleBoard, parts: Sequence[Measured], *, with_intervals: bool
) -> Iterator[list[str]]:
    last = ""
    for part in parts:
        cells = [
            _cell(part, name, with_interval=with_intervals) for name in ("precision", "recall")
        ]
        yield [
            "" if part.value == last else printable(part.value),
            shown_name(board, part.group),
            *(_n(part, side) for side in ("precision", "recall")),
            _cell(part, "f1", with_interval=True),
            *cells,
        ]
        last = part.value


def _cell(part: Measured, name: str, *, with_interval: bool) -> str:
    found = part.estimates.get(name)
    if found is None:
        return MISSING
    return shown_estimate(found) if with_interval else points(found.value)


def _n(part: Measured, side: str) -> str:
    found = part.estimates.get(side)
    return "0" if found is None else f"{found.n:,}"


def _notes(parts: Sequence[Measured]) -> Iterator[str]:
    few = {
        part.value
        for part in parts
        for side in ("precision", "recall")
        if side in part.estimates and part.estimates[side].n < _FEW
    }
    if few:
        named = listed(sorted(few), 5)
        yield f"groups with fewer than {_FEW} triples of a direction (wide intervals): {named}"
    if parts[0].by == "source":
        yield (
            "P by the source of the passage that a verdict rests on; R by where the reference has "
            "a triple from"
        )
