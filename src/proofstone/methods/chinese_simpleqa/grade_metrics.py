"""CO, NA, IN, CGA and F of rows that have a grade: ``metrics FILE``, overall and by any column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from proofstone.methods.chinese_simpleqa.grade_agreement import agreement_with
from proofstone.methods.chinese_simpleqa.graded_rows import (
    GradedRow,
    check_columns,
    question_codes,
    read_graded,
)
from proofstone.methods.chinese_simpleqa.grading import GRADES, Grade
from proofstone.ports import Row

__all__ = ["GradeMetrics", "grade_metrics", "metrics_of"]


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


def metrics_of(rows: Iterable[Row], by: Sequence[str] = (), against: str = "") -> dict[str, Any]:
    """The figures of all rows, and under ``by`` those of each value of each column; with
    ``against``, a column of people's grades, how far both agree.

    Raises BadInput naming every grade that is none, BadUsage for a column that no row has.
    """
    graded = read_graded(rows, against)
    check_columns(graded, [*by, *([against] if against else [])])
    groups = {
        name: {value: _metrics(some) for value, some in sorted(_grouped(graded, name).items())}
        for name in by
    }
    agreed = {"against": agreement_with(graded, against)} if against else {}
    return {"overall": _metrics(graded), "by": groups, **agreed}


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


def _grouped(rows: Sequence[GradedRow], name: str) -> dict[str, list[GradedRow]]:
    groups: dict[str, list[GradedRow]] = {}
    for row in rows:
        value = row.values.get(name)
        groups.setdefault("" if value is None else str(value), []).append(row)
    return groups


def _metrics(rows: Sequence[GradedRow]) -> GradeMetrics:
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


def _intervals(rows: Sequence[GradedRow]) -> dict[str, tuple[float, float]]:
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
    question = np.array(question_codes(rows), dtype=np.int64)
    found = {}
    for name, (tops, bottoms) in parts.items():
        kept = np.flatnonzero(bottoms > 0)
        if len(kept):
            keys = SharedKeys(len(kept), np.arange(len(kept)), question[kept])
            made = ratio_estimate(tops[kept], bottoms[kept], keys, estimand="knowledge")
            found[name] = (made.low, made.high)
    return found
