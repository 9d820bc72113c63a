"""Build a bank of refined questions: ``build refined-questions`` (stage 4 of Table 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.judging.difficulty import filtered_roles
from proofstone.method import read_asked
from proofstone.methods.kina.candidates import candidates
from proofstone.methods.kina.refine.diagnosis import diagnosis_step
from proofstone.methods.kina.refine.report import RefinementReport, report_on, report_tables
from proofstone.methods.kina.refine.steps import entry_step, panel_step, refinement_step
from proofstone.methods.kina.refine.versions import Refining
from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    BuildTables,
    Drop,
    Kept,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    slots_of,
)
from proofstone.records.knowledge import BuiltFact, Role, fact_id

_ASKED = read_asked("proofstone.methods.kina", "refined_questions")
LEFT = "issues left"


class Refined(Struct, frozen=True, kw_only=True):
    """A question after its refinement; the first one has the ``report``."""

    row: Refining
    report: RefinementReport | None = None


def result_step() -> BatchStep:
    """Return the step that drops questions whose newest version has open issues."""

    def settle(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        every: list[Refining] = list(rows)
        made: dict[int, Kept] = {}
        report: RefinementReport | None = report_on(every)
        for place, row in enumerate(every):
            if row.issues:
                made[place] = Drop(LEFT, _told(row))
            else:
                made[place] = Refined(row=row, report=report)
                report = None
        return made

    return BatchStep(name="result", version=1, takes=Refining, work=settle, reasons=(LEFT,))


def _told(row: Refining) -> str:
    issues = "; ".join(f"{each.type}: {each.directive}" for each in row.issues)
    tried = "; ".join(f"{each.result}: {each.found}" for each in row.versions if each.found)
    return f"{issues}. Rejected: {tried}"


def refined(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps: panel, then rounds of diagnosis, refinement and panel. Raises BadUsage."""
    for name in ("rounds", "texts"):
        if params[name] < 1:
            raise BadUsage(f"--{name} must be 1 or more, got {params[name]}")
    if not params["search"].strip() or "," in params["search"]:
        raise BadUsage(
            f"--search must name one search, got {params['search']!r}",
            hint="bm25, or a web search: google",
        )
    panel = slots_of("panel", models)
    search = params["search"].strip()
    steps: list[Step | BatchStep] = [entry_step(panel)]
    for number in range(1, params["rounds"] + 1):
        steps += [
            diagnosis_step(number, search, params["texts"]),
            refinement_step(number),
            panel_step(number, panel),
        ]
    return Pipeline(
        steps=(*steps, result_step()),
        gives=Refined,
        facts=_facts_by(models),
        notes=("refined questions wait for people: no reviewer has scored them",),
    )


def _facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Refined]], Iterator[BuiltFact]]:
    def of(role: str) -> Sequence[str]:
        return list(slots_of(role, models).values())

    unchanged = (
        *(Role("checked", model) for model in of("auditor")),
        *filtered_roles(slots_of("panel", models)),
    )
    changed = (*(Role("wrote", model) for model in of("author")), *unchanged)

    def facts(rows: Iterable[Refined]) -> Iterator[BuiltFact]:
        for each in rows:
            before, now = each.row.candidate.fact(), each.row.current().fact()
            if before.id == now.id:
                yield BuiltFact(now, roles=unchanged)
                continue
            now = structs.replace(now, id=b"", corrects=before.id)
            yield BuiltFact(structs.replace(now, id=fact_id(now)), roles=changed)

    return facts


REFINED_QUESTIONS = StepBuilder(
    make=refined,
    roles=_ASKED.roles,
    parameters=_ASKED.parameters,
    rows=candidates,
    lists=True,
    suffix="-refined",
    tables=BuildTables(
        Refined, lambda rows: report_tables([row.report for row in rows if row.report is not None])
    ),
    help="Questions whose defects were found with counter-evidence and repaired, without becoming "
    "easier. An INPUT is a file of questions, or a bank of them. Every version is kept. "
    "'show BUILD --statistics' states the share that needed a round.",
    example="judged --panel a/one,b/two -m auditor=a/x -m author=b/y",
)
