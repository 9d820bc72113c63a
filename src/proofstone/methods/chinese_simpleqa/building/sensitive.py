"""Pairs that would do harm if they were published: by a judge of its own, where one is named."""

from __future__ import annotations

from proofstone.engines.judging import SeatedJudges, why_undecided
from proofstone.methods.chinese_simpleqa.building.criteria import Scope
from proofstone.methods.chinese_simpleqa.building.rows import Draft
from proofstone.methods.chinese_simpleqa.building.words import questions_for
from proofstone.ports import Drop, Kept, Step, StepContext

__all__ = ["sensitive_step"]

_SENSITIVE = "sensitive content"


def sensitive_step(judges: SeatedJudges, scope: Scope) -> Step:
    """Drops what the judges find sensitive, and what they do not decide."""
    questions = questions_for(scope)

    async def check(row: Draft, context: StepContext) -> Kept:
        texts = {"question": row.question, "answer": row.answer}
        question = questions.question("sensitive", row.language, texts)
        verdict = await questions.ask(judges, context, "sensitive", question)
        if verdict.label == "harmless":
            return row
        return Drop(_SENSITIVE if verdict.label else why_undecided(verdict), row.question)

    return Step(
        name="sensitive",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_SENSITIVE, *judges.silent),
        config=questions.config(judges, "sensitive"),
        asks=judges.asks,
    )
