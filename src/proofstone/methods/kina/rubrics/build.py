"""Build a bank of questions that reviewers score at the bar: ``build reviewed-questions``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.method import read_asked
from proofstone.methods.kina.candidates import Candidate, candidates
from proofstone.methods.kina.rubrics.marks import (
    Marks,
    Rubrics,
    files_of,
    read_marks,
    read_rubrics,
)
from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    BuildTables,
    Drop,
    Kept,
    Pipeline,
    StepBuilder,
    StepContext,
)
from proofstone.records.ids import digest
from proofstone.records.knowledge import BuiltFact
from proofstone.records.tables import Column, Tabulation
from proofstone.stats.agreement import krippendorff_alpha
from proofstone.wording.messages import counted, say

_ASKED = read_asked("proofstone.methods.kina", "reviewed_questions")
UNSCORED, BELOW = "too few scores", "below the bar"


class RubricReport(Struct, frozen=True, kw_only=True):
    """A rubric: the mean mark, and Krippendorff's alpha of ordered marks (None: not defined)."""

    name: str
    mean: float
    alpha: float | None


class ReviewerReport(Struct, frozen=True, kw_only=True):
    """A reviewer: questions scored, mean score, and mean difference to others on shared ones."""

    name: str
    n: int
    mean: float
    above_others: float | None


class ReviewReport(Struct, frozen=True, kw_only=True):
    """Counts and marks of all questions with enough scores; ``others`` are unused rows."""

    n: int
    scored: int
    kept: int
    mean: float
    bar: float
    others: int
    rubrics: tuple[RubricReport, ...]
    reviewers: tuple[ReviewerReport, ...]


class Reviewed(Struct, frozen=True, kw_only=True):
    """A question with its marks and the mean of its scores; the first one has the report."""

    candidate: Candidate
    marks: tuple[Marks, ...]
    score: float
    report: ReviewReport | None = None


def review_step(params: Mapping[str, Any]) -> BatchStep:
    """Return the step that keeps questions whose mean score reaches the bar."""
    files, rubrics = files_of(params["scores"]), read_rubrics(params["rubrics"])
    least, bar = params["reviewers"], params["bar"]

    def review(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        every: list[Candidate] = list(rows)
        ids = [row.fact().id.hex() for row in every]
        marks, others = read_marks(files, rubrics, ids)
        made: dict[int, Kept] = {}
        scored: dict[int, Reviewed] = {}
        for place, (row, identity) in enumerate(zip(every, ids, strict=True)):
            own = tuple(marks.get(identity, ()))
            if len(own) < least:
                made[place] = Drop(UNSCORED, f"{len(own)} of {least}")
                continue
            score = sum(each.score for each in own) / len(own)
            scored[place] = Reviewed(candidate=row, marks=own, score=score)
            if score < bar - 1e-9:
                made[place] = Drop(BELOW, _told(scored[place], bar))
        report: ReviewReport | None = report_on(
            list(scored.values()), rubrics, n=len(every), bar=bar, others=others
        )
        for place, each in scored.items():
            if place not in made:
                made[place] = Reviewed(
                    candidate=each.candidate, marks=each.marks, score=each.score, report=report
                )
                report = None
        return made

    return BatchStep(
        name="review",
        version=1,
        takes=Candidate,
        work=review,
        reasons=(UNSCORED, BELOW),
        config={
            "files": [digest(each.read_bytes()).hex() for each in files],
            "rubrics": rubrics, "bar": bar, "reviewers": least,
        },
    )  # fmt: skip


def _told(row: Reviewed, bar: float) -> str:
    comments = " | ".join(each.comment for each in row.marks if each.comment)
    said = f"mean score {row.score:.3f} of {len(row.marks)}, below {bar:g}"
    return f"{said}; {comments}" if comments else said


def report_on(
    rows: Sequence[Reviewed], rubrics: Rubrics, *, n: int, bar: float, others: int
) -> ReviewReport | None:
    """Return the report; None without questions that have enough scores."""
    if not rows:
        return None
    names = sorted({each.reviewer for row in rows for each in row.marks})
    grid = np.full((len(rows), len(names), len(rubrics.rubrics)), -1, dtype=np.int16)
    scores = np.full((len(rows), len(names)), np.nan)
    for place, row in enumerate(rows):
        for each in row.marks:
            grid[place, names.index(each.reviewer)] = each.marks
            scores[place, names.index(each.reviewer)] = each.score
    return ReviewReport(
        n=n,
        scored=len(rows),
        kept=sum(row.score >= bar - 1e-9 for row in rows),
        mean=float(np.mean([row.score for row in rows])),
        bar=bar,
        others=others,
        rubrics=tuple(
            RubricReport(
                name=each.name,
                mean=float(grid[:, :, place][grid[:, :, place] >= 0].mean()),
                alpha=_known(krippendorff_alpha(grid[:, :, place], "ordinal").value),
            )
            for place, each in enumerate(rubrics.rubrics)
        ),
        reviewers=tuple(_reviewer(name, scores, at) for at, name in enumerate(names)),
    )


def _reviewer(name: str, scores: np.ndarray, at: int) -> ReviewerReport:
    own, rest = scores[:, at], np.delete(scores, at, axis=1)
    shared = ~np.isnan(own) & (~np.isnan(rest)).any(axis=1)
    return ReviewerReport(
        name=name,
        n=int((~np.isnan(own)).sum()),
        mean=float(np.nanmean(own)),
        above_others=float((own[shared] - np.nanmean(rest[shared], axis=1)).mean())
        if shared.any()
        else None,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def report_tables(reports: Sequence[ReviewReport]) -> tuple[Tabulation, ...]:
    """Return the tables of a report; none without one."""
    if not reports:
        return ()
    (report,) = reports
    return _counts(report), _rubrics(report), _reviewers(report)


def _counts(report: ReviewReport) -> Tabulation:
    notes = [
        say("The score of a review is the weighted mean of its marks, as a share of the highest. "
            "A question is kept if the mean of its scores reaches the bar.")
    ]  # fmt: skip
    if report.others:
        notes.append(
            say("Left out: {rows} of other questions.", rows=counted(report.others, "row"))
        )
    return Tabulation(
        title=say("Review"),
        columns=(
            Column(key="questions", name=say("Questions"), digits=0),
            Column(key="scored", name=say("Scored"), digits=0),
            Column(key="bar", name=say("Bar"), digits=2),
            Column(key="kept", name=say("At the bar"), digits=0),
            Column(key="mean", name=say("Mean score"), digits=3),
        ),
        rows=((report.n, report.scored, report.bar, report.kept, report.mean),),
        notes=tuple(notes),
    )


def _rubrics(report: ReviewReport) -> Tabulation:
    return Tabulation(
        title=say("Marks by rubric"),
        columns=(
            Column(key="rubric", name=say("Rubric")),
            Column(key="mean", name=say("Mean mark"), digits=2),
            Column(key="alpha", name=say("Krippendorff's alpha"), digits=2),
        ),
        rows=tuple((each.name, each.mean, each.alpha) for each in report.rubrics),
        notes=(say("Alpha is for ordered marks. It is not defined if all marks are equal."),),
    )


def _reviewers(report: ReviewReport) -> Tabulation:
    return Tabulation(
        title=say("Scores by reviewer"),
        columns=(
            Column(key="reviewer", name=say("Reviewer")),
            Column(key="n", name=say("Questions"), digits=0),
            Column(key="mean", name=say("Mean score"), digits=3),
            Column(key="above", name=say("Above the others"), digits=3),
        ),
        rows=tuple((each.name, each.n, each.mean, each.above_others) for each in report.reviewers),
        notes=(say("Above the others: the mean difference on the questions that others scored."),),
    )


# The command.


def reviewed(params: Mapping[str, Any], _models: Mapping[str, str]) -> Pipeline:
    """Return the step. Raises BadUsage for an impossible bar or number of reviewers."""
    if not 0 < params["bar"] <= 1:
        raise BadUsage(f"--bar must be above 0 and at most 1, got {params['bar']:g}")
    if params["reviewers"] < 1:
        raise BadUsage(f"--reviewers must be 1 or more, got {params['reviewers']}")
    return Pipeline(steps=(review_step(params),), gives=Reviewed, facts=_facts)


def _facts(rows: Iterable[Reviewed]) -> Iterator[BuiltFact]:
    for row in rows:
        yield BuiltFact(row.candidate.fact())


REVIEWED_QUESTIONS = StepBuilder(
    make=reviewed,
    roles=_ASKED.roles,
    parameters=_ASKED.parameters,
    rows=candidates,
    lists=True,
    suffix="-reviewed",
    tables=BuildTables(
        Reviewed, lambda rows: report_tables([row.report for row in rows if row.report is not None])
    ),
    help="Questions that reach a bar in blind reviews by six rubrics. Each reviewer has an own "
    "file with the ids of 'export BANK', and gives a mark from 0 to 5 per rubric. "
    "'show BUILD --statistics' states marks and agreement.",
    example="screened --scores anna.xlsx,ben.xlsx --bar 0.7",
)
