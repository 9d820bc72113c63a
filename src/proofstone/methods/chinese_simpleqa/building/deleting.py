"""A second look at each pair, which deletes and does not revise."""

from __future__ import annotations

from proofstone.engines.judging import SeatedJudges, why_undecided
from proofstone.methods.chinese_simpleqa.building.criteria import criteria_digest, criteria_in
from proofstone.methods.chinese_simpleqa.building.rows import Draft
from proofstone.methods.chinese_simpleqa.building.words import QUESTIONS
from proofstone.methods.chinese_simpleqa.building.writing import category_of
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import JudgeQuestion

__all__ = ["delete_step", "deletion_question"]

_MISSES, _STRAYS = "criteria not met", "of another category"


def delete_step(judges: SeatedJudges, as_of: str) -> Step:
    """Drops pairs that miss a criterion, or are not of the category that they have."""

    async def check(row: Draft, context: StepContext) -> Kept:
        name, question = deletion_question(row, as_of)
        verdict = await QUESTIONS.ask(judges, context, name, question)
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
            **QUESTIONS.config(judges, "criteria"),
            "as_of": as_of,
            "criteria": criteria_digest(),
        },
        asks=judges.asks,
    )


def deletion_question(row: Draft, as_of: str) -> tuple[str, JudgeQuestion]:
    """What judges are asked of a pair, with the name of the question: of its category too where it
    has one."""
    listed = "\n".join(f"- {each}" for each in criteria_in(row.language, as_of).values())
    texts = {"question": row.question, "answer": row.answer}
    category = category_of(row.stratum)
    name = "category" if category else "criteria"
    if category:
        texts["category"] = category
    return name, QUESTIONS.question(name, row.language, texts, {"criteria": listed})
