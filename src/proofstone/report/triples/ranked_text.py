"""What a terminal says of ranks by F1, of people's labels, and of rows in a narrow place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.engines.stats import RankInterval
from proofstone.records.results import Estimate
from proofstone.records.triples import Group
from proofstone.report.columns import cell_width, fitted, printable
from proofstone.report.numbers import shown_estimate, shown_rank
from proofstone.report.ties import tie_letters
from proofstone.report.triples.board import TripleBoard

__all__ = ["TIED", "fits", "narrowed", "people_line", "rank_cell", "shown_name"]

TIED = "Rows that share a letter do not differ significantly (adjusted for all pairs)."
_NARROWEST_NAME = 12
_SAID = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "agreement": "labels that are the judge's",
    "kappa": "kappa",
    "corpus": "recall of the reference itself",
    "true_share": "true by any source",
}


def rank_cell(rank: RankInterval | None, ties: Sequence[int]) -> str:
    """``1``, or ``1-2 a`` where it is tied with others that have the letter."""
    return " ".join([shown_rank(rank), *map(tie_letters, ties)])


def shown_name(board: TripleBoard, group: Group) -> str:
    """A row's model, with its setting where rows differ in it."""
    setting = "" if board.setting else group.setting
    return printable(" ".join(part for part in (group.model, setting) if part))


def people_line(
    label: str,
    n: Mapping[str, int],
    estimates: Mapping[str, Estimate],
    scattered: Sequence[str] = (),
) -> str:
    """What people's labels make of one model's figures."""
    shown = [f"{text} {_shown(name, estimates[name])}" for name, text in _SAID.items()
             if name in estimates]  # fmt: skip
    labels = ", ".join(f"{side} {count:,}" for side, count in n.items() if count)
    told = f"{label}, with people's labels ({labels}): {'; '.join(shown)}"
    if not scattered:
        return told
    return (
        f"{told}. Labels of {' and '.join(scattered)} are not on the triples drawn first: "
        "what they correct is right only if they are a random share"
    )


def fits(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether rows stand in ``width`` cells, two between columns."""
    return sum(_widest(rows)) + 2 * (len(rows[0]) - 1) <= width


def narrowed(rows: Sequence[Sequence[str]], name: int, width: int) -> list[list[str]]:
    """The rows with the column ``name`` cut so far that they fit, but never below 12 cells."""
    widest = _widest(rows)
    others = sum(widest) - widest[name] + 2 * (len(widest) - 1)
    limit = max(_NARROWEST_NAME, width - others)
    return [[fitted(c, limit) if i == name else c for i, c in enumerate(row)] for row in rows]


def _shown(name: str, estimate: Estimate) -> str:
    if name == "kappa":
        return f"{estimate.value:z.2f} ({estimate.low:z.2f} to {estimate.high:z.2f})"
    return shown_estimate(estimate)


def _widest(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(cell_width(row[place]) for row in rows) for place in range(len(rows[0]))]
