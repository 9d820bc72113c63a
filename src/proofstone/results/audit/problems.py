"""All that is wrong with one or several tables, gathered to be told in one error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from proofstone.errors import BadInput, Problem
from proofstone.records.scores import FileColumns

# What to do about cells that are not what their column is to hold.
CELLS = (
    "correct the file, or say what its columns are (--models, --score, --percent; see --help), and "
    "run the same again"
)


def place(table: FileColumns, record: int) -> str:
    """Where a record stands: ``line 12``."""
    return f"{table.unit} {table.lines[record]}"


def problem_at(table: FileColumns, record: int, what: str, column: str = "") -> Problem:
    """A problem of a record, or of its cell in a column."""
    return Problem(place(table, record) + (f", column {column}" if column else ""), what)


def _counted(problems: Sequence[object]) -> str:
    return "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"


def refused(table: FileColumns, problems: Sequence[Problem]) -> BadInput:
    """The refusal of one table for its problems, in the order of its lines."""
    ordered = sorted(problems, key=lambda problem: int(problem.where.split(",")[0].split()[1]))
    said = f"{table.name} has {_counted(ordered)}; nothing of it was taken."
    return BadInput(said, ordered, hint=CELLS)


@dataclass(slots=True)
class Problems:
    """The problems of ``tables``, each at a record of one of them, and what to do about them."""

    tables: Sequence[FileColumns]
    found: list[tuple[int, int, str, str]] = field(default_factory=list)
    hints: dict[str, None] = field(default_factory=dict)

    def add(self, table: int, record: int, what: str, *, column: str = "", hint: str) -> None:
        """One problem, at a record of the table of that number."""
        self.found.append((table, record, f", column {column}" if column else "", what))
        self.hints[hint] = None

    def where(self, table: int, record: int) -> str:
        """A record's place, with its file where there are several."""
        name = f"{self.tables[table].name} " if len(self.tables) > 1 else ""
        return f"{name}{place(self.tables[table], record)}"

    def refuse(self) -> None:
        """Raises one BadInput with all of them, in the order of files and lines; else nothing."""
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda each: each[:2])
        names = list(dict.fromkeys(self.tables[each[0]].name for each in ordered))
        have = "has" if len(names) == 1 else "have"
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        raise BadInput(
            f"{shown} {have} {_counted(ordered)}; nothing was taken.",
            [Problem(self.where(table, record) + at, what) for table, record, at, what in ordered],
            hint="; ".join(self.hints),
        )
