"""Build a bank of screened questions: ``build screened-questions`` (stage 1 of Table 2).

Rules first, which cost nothing; then a panel of models answers what is left. A question is kept if
at least three of five answer incorrectly. Near duplicates need all questions and their embeddings:
``check BANK --rules --embeddings`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from proofstone.judging.difficulty import filtered_roles
from proofstone.method import read_asked
from proofstone.methods.kina.candidates import Candidate, candidates
from proofstone.methods.kina.centrality.build import REPRESENTATIVE_SET
from proofstone.methods.kina.jury.build import JUDGED_QUESTIONS
from proofstone.methods.kina.panel import difficulty_step
from proofstone.methods.kina.refine.build import REFINED_QUESTIONS
from proofstone.methods.kina.rubrics.build import REVIEWED_QUESTIONS
from proofstone.methods.kina.rules import NEAR, RULES, findings
from proofstone.records.builds import (
    Drop,
    Kept,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    slots_of,
)
from proofstone.records.ids import content_id
from proofstone.records.knowledge import BuiltFact

_PUBLISHED = 5  # members of the paper's panel


def rules_step() -> Step:
    """Return the step that drops a question at the first rule that it breaks."""

    def check(row: Candidate, _context: StepContext) -> Kept:
        found = findings(row.question, row.language, row.stratum, RULES.lists)
        if not found:
            return row
        first = found[0]
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return Drop(first.rule, f"{first.where}: {first.found}{more}")

    return Step(
        name="rules",
        version=1,
        takes=Candidate,
        work=check,
        reasons=tuple(name for name in RULES.rules if name != NEAR),
        config={"lists": content_id("kina.lists", RULES.lists).hex()},
    )


# The command.

_ASKED = read_asked(__package__, "screened_questions")


def screened(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps: rules and, with a panel, difficulty. Raises BadUsage."""
    n = len(slots_of("panel", models))
    steps, notes = [rules_step()], []
    if n:
        steps.append(difficulty_step(models, params["least_wrong"]))
        if n != _PUBLISHED:
            notes.append(f"the panel has {n} models; the paper's has {_PUBLISHED}")
    else:
        notes.append("no panel is set (--panel): the difficulty of questions is not tried")
    return Pipeline(
        steps=tuple(steps), gives=Candidate, facts=_facts_by(models), notes=tuple(notes)
    )


def _facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Candidate]], Iterator[BuiltFact]]:
    roles = filtered_roles(slots_of("panel", models))

    def facts(rows: Iterable[Candidate]) -> Iterator[BuiltFact]:
        for row in rows:
            yield BuiltFact(row.fact(), roles=roles)

    return facts


PIPELINES = {
    "judged-questions": JUDGED_QUESTIONS,
    "refined-questions": REFINED_QUESTIONS,
    "representative-set": REPRESENTATIVE_SET,
    "reviewed-questions": REVIEWED_QUESTIONS,
    "screened-questions": StepBuilder(
        make=screened,
        roles=_ASKED.roles,
        parameters=_ASKED.parameters,
        rows=candidates,
        lists=True,
        suffix="-screened",
        help="Questions that break no rule and that a panel of models does not find easy. An INPUT "
        "is a file of questions, or a bank of them. Each dropped question keeps its reason.",
        example="questions.jsonl --panel a/one,b/two,c/three,d/four,e/five",
    ),
}
