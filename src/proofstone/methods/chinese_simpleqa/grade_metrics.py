"""CO, NA, IN, CGA and F of rows that have a grade: ``metrics FILE``, overall and by any column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.methods.chinese_simpleqa.grading import GRADES, Grade, read_grade
from proofstone.ports import Row

__all__ = ["GradeMetrics", "grade_metrics", "metrics_of"]

# What makes two rows answers to one question, where a file has it.
_SAME = ("item", "question", "problem", "query", "id")


class GradeMetrics(Struct, frozen=True, kw_only=True):
    """The five figures over ``n`` graded rows, shares in [0, 1]; ``ungraded`` rows are in none.

    CGA is None where nothing was attempted; F is 0 there. ``intervals`` are at 95%, of questions as
    a sample: rows of one question count together. None where there is no row.
    """

    n: int
    CO: float | None
    NA: float | None
    IN: float | None
    CGA: float | None
    F: float | None
    ungraded: int = 0
    intervals: dict[str, tuple[float, float]] = {}


class _Graded(Struct, frozen=True):
    """A row: its grade (None without one), its question, its values."""

    grade: Grade | None
    question: str
    values: dict[str, Any]


def metrics_of(rows: Iterable[Row], by: Sequence[str] = ()) -> dict[str, Any]:
    """The figures of all rows, and under ``by`` those of each value of each column.

    Raises BadInput naming every grade that is none, BadUsage for a column that no row has.
    """
    graded = _read(rows)
    known = dict.fromkeys(name for row in graded for name in row.values)
    absent = [name for name in by if name not in known]
    if absent:
        raise BadUsage(
            f"no row has a column {', '.join(absent)}", hint=f"there is: {', '.join(known)}"
        )
    groups = {
        name: {value: _metrics(some) for value, some in sorted(_grouped(graded, name).items())}
        for name in by
    }
    return {"overall": _metrics(graded), "by": groups}


def grade_metrics(grades: Sequence[Grade]) -> GradeMetrics:
    """The five figures of grades, each of a question of its own, without intervals."""
    right, wrong, none = (sum(grade == one for grade in grades) for one in GRADES)
    n = len(grades)
    if not n:
        return GradeMetrics(n=0, CO=None, NA=None, IN=None, CGA=None, F=None)
    return GradeMetrics(
        n=n,
        CO=right / n,
        NA=none / n,
        IN=wrong / n,
        CGA=right / (right + wrong) if right + wrong else None,
        F=2 * right / (2 * right + 2 * wrong + none),
    )


def _read(rows: Iterable[Row]) -> list[_Graded]:
    problems: list[Problem] = []
    found = []
    for row in rows:
        cell = row.values.get("grade")
        text = cell if isinstance(cell, str) else "" if cell is None else str(cell)
        grade = read_grade(text)
        if text.strip() and grade is None:
            expected = f"expected A, B, C, {', '.join(GRADES)}, or nothing; came {text[:40]!r}"
            problems.append(Problem(f"{row.place}, field grade", expected))
        question = next((str(row.values[name]) for name in _SAME if row.values.get(name)), "")
        found.append(_Graded(grade, question or row.place, row.values))
    if found and not any("grade" in row.values for row in found):
        problems.append(Problem("every row", "expected a field grade, and no row has one"))
    if problems:
        raise BadInput("The grades cannot be read.", problems, hint="See metrics --help.")
    return found


def _grouped(rows: Sequence[_Graded], name: str) -> dict[str, list[_Graded]]:
    groups: dict[str, list[_Graded]] = {}
    for row in rows:
        value = row.values.get(name)
        groups.setdefault("" if value is None else str(value), []).append(row)
    return groups


def _metrics(rows: Sequence[_Graded]) -> GradeMetrics:
    graded = [row for row in rows if row.grade is not None]
    made = grade_metrics([row.grade for row in graded if row.grade is not None])
    ungraded = len(rows) - len(graded)
    return GradeMetrics(
        n=made.n,
        CO=made.CO,
        NA=made.NA,
        IN=made.IN,
        CGA=made.CGA,
        F=made.F,
        ungraded=ungraded,
        intervals=_intervals(graded),
    )


def _intervals(rows: Sequence[_Graded]) -> dict[str, tuple[float, float]]:
    """An interval for each figure that has one: a ratio of sums over rows."""
    import numpy as np  # noqa: PLC0415 - not for --help

    from proofstone.engines.stats import SharedKeys, ratio_estimate  # noqa: PLC0415

    grades = np.array([GRADES.index(row.grade) for row in rows if row.grade], dtype=np.int64)
    right, wrong, none = ((grades == code).astype(np.float64) for code in range(3))
    ones = np.ones(len(rows))
    attempted = right + wrong
    parts = {
        "CO": (right, ones), "NA": (none, ones), "IN": (wrong, ones), "CGA": (right, attempted),
        "F": (2 * right, 1 + attempted),
    }  # fmt: skip
    names = {question: code for code, question in enumerate({row.question: 0 for row in rows})}
    question = np.array([names[row.question] for row in rows], dtype=np.int64)
    found = {}
    for name, (tops, bottoms) in parts.items():
        kept = np.flatnonzero(bottoms > 0)
        if len(kept):
            keys = SharedKeys(len(kept), np.arange(len(kept)), question[kept])
            made = ratio_estimate(tops[kept], bottoms[kept], keys, estimand="knowledge")
            found[name] = (made.low, made.high)
    return found
