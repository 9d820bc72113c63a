"""A study as text for a terminal, and its figure's data as rows of a file."""

from __future__ import annotations

from typing import Any

from proofstone.report.columns import aligned, printable
from proofstone.report.studies.study import Study

__all__ = ["figure_rows", "render_study"]


def render_study(study: Study) -> str:
    """Title, finding, table and notes, ending in a newline."""
    left = [0, 1] if study.name == "position" else [0]
    rows = [study.columns, *(tuple(printable(cell) for cell in row) for row in study.rows)]
    parts = [study.title, study.finding, "", *aligned(rows, left=left)]
    if study.notes:
        parts += ["", *study.notes]
    return "".join(f"{line}\n" for line in parts)


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
