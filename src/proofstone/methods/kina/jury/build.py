"""Build a bank of judged questions: ``build judged-questions`` (stage 3 of Table 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from proofstone.errors import BadUsage
from proofstone.judging.difficulty import PanelDecision, filtered_roles
from proofstone.method import read_asked
from proofstone.methods.kina.candidates import Candidate, candidates
from proofstone.methods.kina.jury.ballots import Voted
from proofstone.methods.kina.jury.failures import failures_step
from proofstone.methods.kina.jury.features import N_JUDGES, Answered, features_step
from proofstone.methods.kina.jury.report import report_tables
from proofstone.methods.kina.jury.vote import admission_step, vote_step
from proofstone.methods.kina.panel import difficulty_step
from proofstone.records.builds import BuildTables, Pipeline, StepBuilder, slots_of
from proofstone.records.knowledge import BuiltFact, Role

_ASKED = read_asked("proofstone.methods.kina", "judged_questions")


def judged(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps: the panel's answers, features, failures, vote and admission.

    Raises BadUsage unless there are three different judges, and for invalid numbers.
    """
    judges = slots_of("judge", models)
    if len(set(judges.values())) != N_JUDGES or len(judges) != N_JUDGES:
        raise BadUsage(
            f"expected three different judges, got {', '.join(judges.values()) or 'none'}",
            hint="--judge A,B,C",
        )
    if params["picks"] < 1:
        raise BadUsage(f"--picks must be 1 or more, got {params['picks']}")
    own = sorted({*judges.values()} & {*slots_of("panel", models).values()})
    notes = (
        [f"{', '.join(own)} is both a judge and a member of the panel: it judges its own errors"]
        if own
        else []
    )
    return Pipeline(
        steps=(
            difficulty_step(models, params["least_wrong"], name="panel", kept=_answered),
            features_step(judges),
            failures_step(judges),
            vote_step(judges, params["picks"]),
            admission_step(),
        ),
        gives=Voted,
        facts=_facts_by(models),
        notes=tuple(notes),
    )


def _answered(row: Candidate, decision: PanelDecision) -> Answered:
    return Answered(candidate=row, answers=decision.answers)


def _facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Voted]], Iterator[BuiltFact]]:
    roles = (
        *(Role("checked", model) for model in slots_of("judge", models).values()),
        *filtered_roles(slots_of("panel", models)),
    )

    def facts(rows: Iterable[Voted]) -> Iterator[BuiltFact]:
        for row in rows:
            yield BuiltFact(row.failed.featured.candidate.fact(), roles=roles)

    return facts


JUDGED_QUESTIONS = StepBuilder(
    make=judged,
    roles=_ASKED.roles,
    parameters=_ASKED.parameters,
    rows=candidates,
    lists=True,
    suffix="-judged",
    tables=BuildTables(
        Voted, lambda rows: report_tables([row.report for row in rows if row.report is not None])
    ),
    help="Questions that two of three judges select within each field, from features and from the "
    "failures of a panel. An INPUT is a file of screened questions, or a bank of them. "
    "'show BUILD --judges' counts the votes, 'show BUILD --statistics' states the agreement.",
    example="screened --panel a/one,b/two,c/three,d/four,e/five --judge a/x,b/y,c/z",
)
