"""What judges found in a build: fields, failures, and how well the judges agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from msgspec import Struct

from proofstone.methods.kina.jury.failures import ERROR_TYPES, Difficulty
from proofstone.records.tables import Column, Tabulation
from proofstone.wording.messages import language, say

DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)


class FieldCount(Struct, frozen=True, kw_only=True):
    """Questions of a field: judged, admitted, and by difficulty; ``result`` of its vote."""

    field: str
    judged: int
    admitted: int
    result: str
    difficulty: dict[str, int]


class Agreement(Struct, frozen=True, kw_only=True):
    """Agreement on one matter: alpha of all judges, with its interval, and kappa by pair.

    ``n`` counts questions with two votes or more. None: not defined, such as for one label alone.
    """

    matter: str
    n: int
    alpha: float | None
    low: float | None
    high: float | None
    kappas: dict[str, float | None]


class JuryReport(Struct, frozen=True, kw_only=True):
    """The report on all questions that reached the vote."""

    fields: tuple[FieldCount, ...]
    errors: dict[str, int]
    dominant: int
    varied: int
    agreement: tuple[Agreement, ...]


def report_tables(reports: Sequence[JuryReport]) -> tuple[Tabulation, ...]:
    """Return the tables of a report; none without one."""
    if not reports:
        return ()
    (report,) = reports
    return _fields(report), _failures(report), _judges(report)


def _fields(report: JuryReport) -> Tabulation:
    return Tabulation(
        title=say("Judged questions by field"),
        columns=(
            Column(key="field", name=say("Field")),
            Column(key="judged", name=say("Judged"), digits=0),
            Column(key="admitted", name=say("Admitted"), digits=0),
            Column(key="vote", name=say("Vote")),
            *(Column(key=each, name=say(each), digits=0) for each in DIFFICULTIES),
        ),
        rows=tuple(
            (
                each.field, each.judged, each.admitted, say(each.result),
                *(each.difficulty.get(level, 0) for level in DIFFICULTIES),
            )
            for each in report.fields
        ),
        notes=(
            say("A question is admitted if two of three judges picked it. A field with no more "
                "questions than are picked has no vote."),
            say("Difficulty is the share of correct panel members: above 80% easy, from 50% "
                "medium, from 20% hard."),
        ),
    )  # fmt: skip


def _type_name(name: str) -> str:
    return ERROR_TYPES[name]["name_zh"] if language() == "zh" else name.replace("_", " ")


def _failures(report: JuryReport) -> Tabulation:
    return Tabulation(
        title=say("Errors of the panel"),
        columns=(
            Column(key="type", name=say("Type of error")),
            Column(key="n", name=say("Answers"), digits=0),
        ),
        rows=tuple((_type_name(name), n) for name, n in report.errors.items()),
        notes=(
            say("Wrong answers whose type two of three judges gave. Questions with one dominant "
                "wrong answer: {dominant}; with varied ones: {varied}.",
                dominant=report.dominant, varied=report.varied),
        ),
    )  # fmt: skip


def _judges(report: JuryReport) -> Tabulation:
    pairs = list(report.agreement[0].kappas)
    return Tabulation(
        title=say("Agreement of judges"),
        columns=(
            Column(key="matter", name=say("On")),
            Column(key="n", name=say("Questions"), digits=0),
            Column(key="alpha", name=say("Krippendorff's alpha"), digits=2),
            Column(key="low", name=say("from"), digits=2),
            Column(key="high", name=say("to"), digits=2),
            *(Column(key=pair, name=f"κ {pair}", digits=2) for pair in pairs),
        ),
        rows=tuple(
            (
                say(each.matter), each.n, each.alpha, each.low, each.high,
                *(each.kappas[pair] for pair in pairs),
            )
            for each in report.agreement
        ),
        notes=(
            say("Alpha is ordinal for levels and nominal for the selection. κ is Cohen's. "
                "Intervals are at 95%."),
        ),
    )  # fmt: skip
