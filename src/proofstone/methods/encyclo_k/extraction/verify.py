"""Is what was falsified false, and does its reason fit? Two questions, two rates."""

from __future__ import annotations

from proofstone.engines.judging import SeatedJudges, why_undecided
from proofstone.methods.encyclo_k.extraction.judged import ask_judges, judged_by
from proofstone.methods.encyclo_k.extraction.rows import Claim
from proofstone.ports import Drop, Kept, Step, StepContext

__all__ = ["falsity_step", "reason_step"]

_TRUE, _OPEN, _MISSES = "still true", "neither true nor false", "reason does not fit"


def falsity_step(judges: SeatedJudges) -> Step:
    """Drops falsified statements that are not found false by the judges with the passage."""

    async def check(row: Claim, context: StepContext) -> Kept:
        if row.false is None:
            return row
        ground = row.draft.ground
        verdict = await ask_judges(
            judges,
            context,
            "falsity",
            ground.language,
            {"passage": ground.text, "statement": row.false.text},
            votes=judges.votes,
        )
        dropped = {"true": _TRUE, "open": _OPEN, "": why_undecided(verdict)}.get(verdict.label)
        return row if dropped is None else Drop(dropped, row.false.text)

    return Step(
        name="false",
        version=1,
        takes=Claim,
        work=check,
        reasons=(_TRUE, _OPEN, *judges.silent),
        config=judged_by(judges, "falsity", judges.votes),
        asks=judges.asks,
    )


def reason_step(judges: SeatedJudges) -> Step:
    """Drops falsified statements whose stated reason does not name what is wrong."""

    async def check(row: Claim, context: StepContext) -> Kept:
        if row.false is None:
            return row
        verdict = await ask_judges(
            judges,
            context,
            "reason",
            row.draft.ground.language,
            {"true": row.draft.text, "changed": row.false.text, "reason": row.false.reason},
        )
        dropped = {"misses": _MISSES, "": why_undecided(verdict)}.get(verdict.label)
        return row if dropped is None else Drop(dropped, row.false.reason)

    return Step(
        name="reason",
        version=1,
        takes=Claim,
        work=check,
        reasons=(_MISSES, *judges.silent),
        config=judged_by(judges, "reason"),
        asks=judges.asks,
    )
