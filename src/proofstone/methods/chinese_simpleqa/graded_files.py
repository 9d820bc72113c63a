"""Read responses and grades from files, and compute CO, NA, IN, CGA and F: ``grade FILE``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.fields import Fields, came
from proofstone.method import FileGrades
from proofstone.methods.chinese_simpleqa.ask import STEPS
from proofstone.methods.chinese_simpleqa.payloads import asked_of
from proofstone.methods.chinese_simpleqa.questions import read_question
from proofstone.methods.chinese_simpleqa.sameness import GRADED, GRADES, SURE, Grade, read_grade
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.runs import Estimate, Response, Score
from proofstone.records.tables import Row
from proofstone.stats.agreement import cohen_kappa, confuse
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.ratios import ratio_estimate

# Responses from a file, and their grades: ``grade FILE``.
#
# Columns in addition to those of a question (``questions.py``): ``response`` | ``prediction``, the
# raw text (empty: a response without an answer); ``prompt_method``, direct by default.
# All columns are kept.

_RESPONSE = ("response", "response", "prediction")


def read_responses(rows: Iterable[Row]) -> Sequence[Unit]:
    """Return one unit per row, in order: a question and a response to it; questions may repeat.

    Raises BadInput with every problem of all rows.
    """
    problems: list[Problem] = []
    units = [_unit(row, problems) for row in rows]
    if problems:
        raise BadInput("The responses cannot be read.", problems, hint="proofstone grade --help")
    return units


def graded_row(values: Mapping[str, Any], scores: Sequence[Score]) -> dict[str, Any]:
    """Return a row with its ``grade`` (empty without one), ``basis``, ``reason`` and
    ``confidence``.

    ``basis`` is waiting without a score. ``reason`` is the judges', ``confidence`` the model's.
    """
    graded = next((score for score in scores if score.measure == GRADED), None)
    sure = next((score.value for score in scores if score.measure == SURE), None)
    told = {} if sure is None else {"confidence": sure}
    if graded is None:
        return {**values, "grade": "", "basis": "waiting", "reason": "", **told}
    grade = "CORRECT" if graded.value else "INCORRECT"
    if graded.outcome != "answered":  # judges gave none, or there was no answer
        grade = "" if graded.outcome == "unparsed" else "NOT_ATTEMPTED"
    return {**values, "grade": grade, "basis": graded.basis, "reason": _reason(graded), **told}


def item_columns(item: LoadedItem) -> dict[str, Any]:
    """Return the categories and the answer type of an item, by column name."""
    place = item.item.stratum
    return {
        "primary_category": place.discipline,
        "secondary_category": place.field,
        "answer_type": asked_of(item).answer_type,
    }


def _unit(row: Row, problems: list[Problem]) -> Unit:
    fields = Fields(row, problems)
    item = read_question(fields)
    if all(row.values.get(name) is None for name in _RESPONSE):
        fields.wrong(
            _RESPONSE[0], ("is missing; expected the response's text, empty if there was none")
        )
    prompt_method = fields.text("prompt_method") or "direct"
    if prompt_method not in STEPS:
        fields.wrong(
            "prompt_method", f"expected one of {', '.join(STEPS)}, got {came(prompt_method)}"
        )
        prompt_method = "direct"
    response = Response(text=fields.text(*_RESPONSE), finish="stop")
    return Unit(item=LoadedItem(item, ()), responses={STEPS[prompt_method]: response})


def _reason(score: Score) -> str:
    """Return the reason of the first judge in the majority, or why there is no verdict."""
    verdict = score.verdict
    if verdict is None:
        return ""
    found = [judge_vote for judge_vote in verdict.judge_votes if judge_vote.label == verdict.label]
    return next((judge_vote.reason or judge_vote.trouble for judge_vote in found), "")


# Graded rows of any file: A, B, C, or the labels in words.

# Columns that identify the question of a row, if a file has them.
_SAME = ("item", "question", "problem", "query", "id")


class GradedRow(Struct, frozen=True):
    """Hold a row: its grade (None without one), question, values, and any human grade."""

    grade: Grade | None
    question: str
    values: dict[str, Any]
    people: Grade | None = None


def read_graded(rows: Iterable[Row], against: str = "") -> list[GradedRow]:
    """Read the rows of a file with their field ``grade``, and the grades of the column ``against``.

    Raises BadInput with every invalid grade, and if no row has the field.
    """
    problems: list[Problem] = []
    found = []
    for row in rows:
        question = next((str(row.values[name]) for name in _SAME if row.values.get(name)), "")
        found.append(
            GradedRow(
                grade=_graded_rows_grade(row, "grade", problems),
                question=question or row.place,
                values=row.values,
                people=_graded_rows_grade(row, against, problems) if against else None,
            )
        )
    if found and not any("grade" in row.values for row in found):
        problems.append(
            Problem(
                "every row",
                "expected a field grade, but no row has one",
            )
        )
    if problems:
        raise BadInput("The grades cannot be read.", problems, hint="proofstone grade --help")
    return found


def question_codes(rows: Iterable[GradedRow]) -> list[int]:
    """Return a number per row, equal for rows of one question."""
    codes: dict[str, int] = {}
    return [codes.setdefault(row.question, len(codes)) for row in rows]


def _graded_rows_grade(row: Row, field: str, problems: list[Problem]) -> Grade | None:
    cell = row.values.get(field)
    text = cell if isinstance(cell, str) else "" if cell is None else str(cell)
    grade = read_grade(text)
    if text.strip() and grade is None:
        expected = f"expected A, B, C, {', '.join(GRADES)}, or nothing, got {text[:40]!r}"
        problems.append(Problem(f"{row.place}, field {field}", expected))
    return grade


# Agreement of grades with human grades of the same responses: ``grade --human-col``.

_JUDGED = "judge"  # prefix of the basis of a judged response


class Share(Struct, frozen=True):
    """Hold a share with n and its 95% CI; None without data or without a CI."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Agreed(Struct, frozen=True, kw_only=True):
    """Hold the agreement with human grades over rows that have both.

    ``agree`` is the observed agreement, ``kappa`` is Cohen's. For each grade, with human grades as
    human labels, ``recall`` and ``precision`` are given. ``table`` counts the grades by human
    grade. ``ungraded`` rows have a human grade only, ``unlabelled`` ones the other only.
    """

    agree: Share
    kappa: Share
    recall: dict[Grade, Share]
    precision: dict[Grade, Share]
    table: dict[Grade, dict[Grade, int]]
    ungraded: int
    unlabelled: int


class AgreementWith(Struct, frozen=True, kw_only=True):
    """Hold the agreement with a ``column`` of human grades: all rows, and rows graded by a judge.

    Judged rows are known if the file has ``basis``. Rows graded by rule would inflate a judge's
    agreement.
    """

    column: str
    all: Agreed
    judged: Agreed | None = None


def agreement_with(rows: Sequence[GradedRow], column: str) -> AgreementWith:
    """Return the agreement of ``rows`` with human grades, clustered by question."""
    judged = [row for row in rows if str(row.values.get("basis", "")).startswith(_JUDGED)]
    return AgreementWith(
        column=column, all=_agreed(rows), judged=_agreed(judged) if judged else None
    )


def _agreed(rows: Sequence[GradedRow]) -> Agreed:
    import numpy as np  # noqa: PLC0415 - not for --help

    people, given = (
        np.array([-1 if one is None else GRADES.index(one) for one in grades], dtype=np.int64)
        for grades in ([row.people for row in rows], [row.grade for row in rows])
    )
    question = np.array(question_codes(rows), dtype=np.int64)
    found = confuse(people, given, len(GRADES), unit=question)
    kappa = cohen_kappa(people, given, n_categories=len(GRADES), clusters=question)
    return Agreed(
        agree=_share(found.accuracy),
        kappa=_share(kappa),
        recall=dict(zip(GRADES, map(_share, found.recall), strict=True)),
        precision=dict(zip(GRADES, map(_share, found.precision), strict=True)),
        table={
            grade: dict(zip(GRADES, counts, strict=True))
            for grade, counts in zip(GRADES, found.counts, strict=True)
        },
        ungraded=int(((people >= 0) & (given < 0)).sum()),
        unlabelled=int(((people < 0) & (given >= 0)).sum()),
    )


def _share(estimate: Estimate) -> Share:
    value, low, high = (
        None if number != number else number  # noqa: PLR0124 - NaN is not itself
        for number in (estimate.value, estimate.low, estimate.high)
    )
    return Share(value, low, high, estimate.n)


class GradeMetrics(Struct, frozen=True, kw_only=True):
    """Hold the five measures over ``n`` graded rows, shares in [0, 1], without ``ungraded`` rows.

    CGA is None if nothing was attempted; F is 0 then. ``intervals`` are 95% CIs clustered by
    question; None without rows.
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
    """Return the measures of all rows, and under ``by`` for each value of each column.

    With ``against``, a column of human grades, includes the agreement. Raises BadInput with every
    invalid grade, BadUsage for an unknown column.
    """
    graded = read_graded(rows, against)
    known = dict.fromkeys(name for row in graded for name in row.values)
    if absent := [name for name in (*by, *([against] if against else [])) if name not in known]:
        raise BadUsage(
            f"unknown column {', '.join(absent)}", hint=f"expected one of: {', '.join(known)}"
        )
    groups = {
        name: {value: _metrics(some) for value, some in sorted(_grouped(graded, name).items())}
        for name in by
    }
    agreed = {"against": agreement_with(graded, against)} if against else {}
    return {"overall": _metrics(graded), "by": groups, **agreed}


def grade_metrics(grades: Sequence[Grade]) -> GradeMetrics:
    """Return the five measures of grades, each of a different question, without intervals."""
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
    return structs.replace(
        grade_metrics([row.grade for row in graded if row.grade is not None]),
        ungraded=len(rows) - len(graded),
        intervals=_intervals(graded),
    )


def _intervals(rows: Sequence[GradedRow]) -> dict[str, tuple[float, float]]:
    """Return a CI for each measure that has one: a ratio of sums over rows."""
    import numpy as np  # noqa: PLC0415 - not for --help

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
            made = ratio_estimate(tops[kept], bottoms[kept], keys, population="domain")
            found[name] = (made.low, made.high)
    return found


FILE_GRADES = FileGrades(
    read_responses=read_responses,
    graded_row=graded_row,
    item_columns=item_columns,
    metrics_of=metrics_of,
)
