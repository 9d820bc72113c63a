"""Aliases that a model wrote, each kept only where judges find that it says the very answer.

A rule grades a reply right that is an alias and nothing else, so a wrong alias is a wrong grade.
"""

from __future__ import annotations

from msgspec import structs

from proofstone.engines.judging import SeatedJudges
from proofstone.methods.chinese_simpleqa.building.rows import Draft, with_names
from proofstone.methods.chinese_simpleqa.building.words import QUESTIONS
from proofstone.ports import Kept, Step, StepContext

__all__ = ["alias_step"]


def alias_step(judges: SeatedJudges) -> Step:
    """Each pair with the aliases that hold; drops none. One on which judges come to nothing does
    not hold. Those of people's own pairs, and the parts of a name with its original, are not asked
    about."""

    async def check(row: Draft, context: StepContext) -> Kept:
        certain = with_names(row.answer, ())
        if not row.by_author or set(row.aliases) <= set(certain):
            return row
        held = [alias in certain or await _holds(judges, row, alias, context)
                for alias in row.aliases]  # fmt: skip
        kept = tuple(alias for alias, is_held in zip(row.aliases, held, strict=True) if is_held)
        return structs.replace(row, aliases=kept)

    return Step(
        name="aliases",
        version=1,
        takes=Draft,
        work=check,
        config=QUESTIONS.config(judges, "alias"),
        asks=judges.asks,
    )


async def _holds(judges: SeatedJudges, row: Draft, alias: str, context: StepContext) -> bool:
    texts = {"question": row.question, "answer": row.answer, "alias": alias}
    question = QUESTIONS.question("alias", row.language, texts)
    return (await QUESTIONS.ask(judges, context, "alias", question)).label == "same"
