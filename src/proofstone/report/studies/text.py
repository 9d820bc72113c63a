"""A study as text for a terminal, and its figure's data as rows of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proofstone.report.columns import aligned, printable
from proofstone.report.studies.study import Study

__all__ = ["figure_rows", "render_study"]

_TWO_NAMES = frozenset({"position", "judges", "alignment"})  # whose rows have two names each
_THREE_NAMES = frozenset({"retrieval"})


def render_study(study: Study) -> str:
    """Title, finding, table and notes, ending in a newline."""
    left = [0, 1, 2] if study.name in _THREE_NAMES else [0, 1] if study.name in _TWO_NAMES else [0]
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
