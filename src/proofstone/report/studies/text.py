"""A study as text for a terminal, and its figure's data as rows of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.report.columns import aligned, printable
from proofstone.report.studies.study import Study

__all__ = ["figure_rows", "render_study"]


# The columns of words, where there are others than the first; those of numbers stand to the right.
_WORDS: Mapping[str, Sequence[int]] = {
    **dict.fromkeys(("position", "judges", "alignment", "difficulty"), (0, 1)),
    "retrieval": (0, 1, 2),
    "topics": (0, 2, 5),
    "random": (0, 1),
    **dict.fromkeys(("effort", "domains", "prompts", "ranges", "popularity"), (0, 1, 2)),
}


def render_study(study: Study) -> str:
    """Title, finding, table and notes, ending in a newline."""
    left = _WORDS.get(study.name, (0,))
    parts = [study.title, study.finding, "", *_table(study.columns, study.rows, left)]
    for table in study.more:
        parts += ["", table.title, *_table(table.columns, table.rows, range(table.n_names))]
    if study.notes:
        parts += ["", *study.notes]
    return "".join(f"{line}\n" for line in parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    shown = [[printable(cell) for cell in row] for row in rows]
    return aligned([list(columns), *shown], left=left)


def figure_rows(study: Study) -> list[dict[str, Any]]:
    """The figure's data, one row a mark, under the names of its axes."""
    return [
        {
            "series": point.series,
            study.x_axis: point.x,
            study.y_axis: point.y,
            "n": point.n,
            "low": point.low,
            "high": point.high,
        }
        for point in study.points
    ]
