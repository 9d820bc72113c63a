"""Verified triples as tables in BeQu's columns, and a verdict a row, in files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from proofstone.files.write import write_rows
from proofstone.methods.bequ.report.board import TripleBoard
from proofstone.methods.bequ.verification.records import VerifiedRuns
from proofstone.methods.bequ.verification.rows import result_tables, verdict_row
from proofstone.results.page_files import MoreTables

_DETAILED = "results_detailed.csv"


_ABOUT = {
    "results.csv": "verdicts of each model by direction, counted",
    "combined_results.csv": "F1, precision and recall of each model, in all and by domain",
    "results_by_category.csv": "verdicts of each model by domain",
    "results_by_popularity.csv": "verdicts of each model by popularity",
    _DETAILED: "every verdict with its passage, and columns for people",
}


def tables_of(verified: VerifiedRuns, board: TripleBoard) -> MoreTables:
    """What writes the tables of a board, and every verdict behind it, one by one; by domain and
    popularity where the board has such parts."""
    return MoreTables(tuple(_ABOUT), partial(_write, verified, board))


def _write(verified: VerifiedRuns, board: TripleBoard, folder: Path) -> dict[str, str]:
    measured = [row.measured for row in board.rows]
    for name, rows in result_tables(measured, board.parts).items():
        write_rows(folder / name, rows)
    write_rows(folder / _DETAILED, _detailed(verified))
    return {name: about for name, about in _ABOUT.items() if (folder / name).exists()}


def _detailed(verified: VerifiedRuns) -> Iterator[dict[str, Any]]:
    """A row a verdict, with the stored reply that it is on."""
    for found in verified.read():
        row = verdict_row(found, verified.groups, verified.entities)
        yield {**row, "response": found.response}
