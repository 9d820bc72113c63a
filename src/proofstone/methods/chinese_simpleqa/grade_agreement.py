"""How far grades agree with those that people gave to the same replies: ``metrics --against``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.methods.chinese_simpleqa.graded_rows import GradedRow, question_codes
from proofstone.methods.chinese_simpleqa.grading import GRADES, Grade

if TYPE_CHECKING:
    from proofstone.records import Estimate

__all__ = ["Agreed", "AgreementWith", "Share", "agreement_with"]

_JUDGED = "judge"  # how the basis of a judged reply begins


class Share(Struct, frozen=True):
    """A figure with n and its interval at 95%; None where it has no value, or no interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Agreed(Struct, frozen=True, kw_only=True):
    """Grades beside people's on the rows that have both.

    ``agree`` is the share that is the same, ``kappa`` Cohen's. Of each grade ``recall`` is the
    share of people's rows with it that were graded so too, ``precision`` the share of those graded
    so that people grade so too. ``table`` holds for each grade of people's how often each was
    given. ``ungraded`` rows have people's grade alone, ``unlabelled`` ones the other alone.
    """

    agree: Share
    kappa: Share
    recall: dict[Grade, Share]
    precision: dict[Grade, Share]
    table: dict[Grade, dict[Grade, int]]
    ungraded: int
    unlabelled: int


class AgreementWith(Struct, frozen=True, kw_only=True):
    """Agreement with the grades of a ``column``: of all rows, and of those that a judge graded,
    where the file tells them (``basis``): what a rule settles would make any judge look better."""

    column: str
    all: Agreed
    judged: Agreed | None = None


def agreement_with(rows: Sequence[GradedRow], column: str) -> AgreementWith:
    """Agreement of ``rows`` with people's grades; rows of one question count together."""
    judged = [row for row in rows if str(row.values.get("basis", "")).startswith(_JUDGED)]
    return AgreementWith(
        column=column, all=_agreed(rows), judged=_agreed(judged) if judged else None
    )


def _agreed(rows: Sequence[GradedRow]) -> Agreed:
    import numpy as np  # noqa: PLC0415 - not for --help

    from proofstone.engines.stats import cohen_kappa, confuse  # noqa: PLC0415

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
