"""Files written for a test, and what the tables engine makes of them."""

from __future__ import annotations

from pathlib import Path

from proofstone.files.columns import read_columns
from proofstone.records.scores import ScoreTable
from proofstone.results.audit.assembly import assemble
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.columns import guess_layout
from proofstone.results.audit.scores import scores_in


def written(folder: Path, text: str, name: str = "results.csv") -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def layout_of(path: Path, named: Layout | None = None) -> Layout:
    """What is guessed of the file's columns."""
    return guess_layout(read_columns(path), named or Layout())


def table_of(*paths: Path, named: Layout | None = None) -> ScoreTable:
    """The score table of the files."""
    tables = [read_columns(path) for path in paths]
    return assemble([scores_in(table, guess_layout(table, named or Layout())) for table in tables])


def cells(table: ScoreTable) -> dict[tuple[str, str, int], float]:
    """Each score by item, model and sample."""
    return {
        (table.item_names[unit], table.respondents[who].name, sample): value
        for unit, who, sample, value in zip(
            table.unit.tolist(),
            table.respondent.tolist(),
            table.sample.tolist(),
            table.value.tolist(),
            strict=True,
        )
    }
