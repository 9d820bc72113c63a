"""A second look at each pair, which deletes and does not revise."""

from __future__ import annotations

from proofstone.engines.judging import SeatedJudges, why_undecided
from proofstone.methods.chinese_simpleqa.building.criteria import (
    Scope,
    criteria_digest,
    criteria_in,
)
from proofstone.methods.chinese_simpleqa.building.rows import Draft
from proofstone.methods.chinese_simpleqa.building.words import questions_for
from proofstone.methods.chinese_simpleqa.building.writing import category_of
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import JudgeQuestion

__all__ = ["delete_step", "deletion_question"]

_MISSES, _STRAYS = "criteria not met", "of another category"


def delete_step(judges: SeatedJudges, scope: Scope) -> Step:
    """Drops pairs that miss a criterion, or are not of the category that they have."""
    questions = questions_for(scope)

    async def check(row: Draft, context: StepContext) -> Kept:
        name, question = deletion_question(row, scope)
        verdict = await questions.ask(judges, context, name, question)
        if verdict.label == "meets":
            return row
        reason = {"misses": _MISSES, "strays": _STRAYS}.get(verdict.label)
        return Drop(reason or why_undecided(verdict), row.question)

    return Step(
        name="second look",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_MISSES, _STRAYS, *judges.silent),
        config={
            **questions.config(judges, "criteria"),
            "scope": scope,
            "criteria": criteria_digest(scope),
        },
        asks=judges.asks,
    )


def deletion_question(row: Draft, scope: Scope) -> tuple[str, JudgeQuestion]:
    """What judges are asked of a pair, with the name of the question: of its category too where it
    has one, and with its passage where that is private."""
    criteria = criteria_in(row.language, scope, row.asked().validity)
    listed = "\n".join(f"- {each}" for each in criteria.values())
    texts = {"question": row.question, "answer": row.answer}
    if scope.is_private and row.ground.text:
        texts["passage"] = row.ground.text
    category = category_of(row.stratum)
    name = "category" if category else "criteria"
    if category:
        texts["category"] = category
    return name, questions_for(scope).question(name, row.language, texts, {"criteria": listed})
