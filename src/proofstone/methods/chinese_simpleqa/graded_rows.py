"""Rows of anybody's file that have a grade: A, B, C, or the words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.methods.chinese_simpleqa.grading import GRADES, Grade, read_grade
from proofstone.ports import Row

__all__ = ["GradedRow", "check_columns", "question_codes", "read_graded"]

# What makes two rows answers to one question, where a file has it.
_SAME = ("item", "question", "problem", "query", "id")


class GradedRow(Struct, frozen=True):
    """A row: its grade (None without one), its question, its values, and people's grade where a
    column of theirs was named."""

    grade: Grade | None
    question: str
    values: dict[str, Any]
    people: Grade | None = None


def read_graded(rows: Iterable[Row], against: str = "") -> list[GradedRow]:
    """The rows of a file with their field ``grade``, and with the grades of the column ``against``.

    Raises BadInput naming every grade that is none, and where no row has the field.
    """
    problems: list[Problem] = []
    found = []
    for row in rows:
        question = next((str(row.values[name]) for name in _SAME if row.values.get(name)), "")
        found.append(
            GradedRow(
                grade=_grade(row, "grade", problems),
                question=question or row.place,
                values=row.values,
                people=_grade(row, against, problems) if against else None,
            )
        )
    if found and not any("grade" in row.values for row in found):
        problems.append(Problem("every row", "expected a field grade, and no row has one"))
    if problems:
        raise BadInput("The grades cannot be read.", problems, hint="See metrics --help.")
    return found


def check_columns(rows: Iterable[GradedRow], names: Iterable[str]) -> None:
    """Raises BadUsage for a column that no row has."""
    known = dict.fromkeys(name for row in rows for name in row.values)
    absent = [name for name in names if name not in known]
    if absent:
        raise BadUsage(
            f"no row has a column {', '.join(absent)}", hint=f"there is: {', '.join(known)}"
        )


def question_codes(rows: Iterable[GradedRow]) -> list[int]:
    """A number a row, the same for rows of one question."""
    codes: dict[str, int] = {}
    return [codes.setdefault(row.question, len(codes)) for row in rows]


def _grade(row: Row, field: str, problems: list[Problem]) -> Grade | None:
    cell = row.values.get(field)
    text = cell if isinstance(cell, str) else "" if cell is None else str(cell)
    grade = read_grade(text)
    if text.strip() and grade is None:
        expected = f"expected A, B, C, {', '.join(GRADES)}, or nothing; came {text[:40]!r}"
        problems.append(Problem(f"{row.place}, field {field}", expected))
    return grade
