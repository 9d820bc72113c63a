"""Judges over drafts: does it stand alone, and does its passage support it?"""

from __future__ import annotations

from msgspec import Struct, structs

from proofstone.engines.judging import SeatedJudges, fence, why_undecided
from proofstone.engines.replies import ask_for
from proofstone.identity import digest
from proofstone.methods.encyclo_k.extraction.judged import ask_judges, judged_by
from proofstone.methods.encyclo_k.extraction.rows import Draft
from proofstone.methods.encyclo_k.prompting import render_template, template_bytes
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import Message

__all__ = ["standing_step", "support_step"]

_LEANS, _UNSUPPORTED = "needs its book", "not supported by its passage"
_SCHEMA = {
    "title": "statement",
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class _Rewritten(Struct, frozen=True):
    text: str


def standing_step(judges: SeatedJudges) -> Step:
    """Drops what cannot be understood without its book, after one round of rewriting by the writer
    with the passage at hand."""

    async def check(row: Draft, context: StepContext) -> Kept:
        writer, language = context.calls["writer"], row.ground.language
        first = await ask_judges(judges, context, "standing", language, {"statement": row.text})
        if first.label == "stands":
            return row
        if not first.label:
            return Drop(why_undecided(first), row.text)
        prompt = render_template(
            "rewrite",
            language,
            passage=fence("passage", row.ground.text, language),
            statement=fence("statement", row.text, language),
            book=row.ground.book,
        )
        new = await ask_for(writer, "rewrite", [Message("user", prompt)], _Rewritten, _SCHEMA)
        text = "" if isinstance(new, str) else " ".join(new.text.split())
        if not text or text == row.text:
            return Drop(_LEANS, row.text)
        again = await ask_judges(judges, context, "standing", language, {"statement": text})
        if again.label != "stands":
            return Drop(_LEANS if again.label else why_undecided(again), text)
        return structs.replace(row, text=text, rewritten=True)

    return Step(
        name="stands alone",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_LEANS, *judges.silent),
        config={**judged_by(judges, "standing"), "prompt": digest(template_bytes("rewrite")).hex()},
        asks=(*judges.asks, "writer"),
    )


def support_step(judges: SeatedJudges) -> Step:
    """Drops what the passage does not support, by the votes of the judges."""

    async def check(row: Draft, context: StepContext) -> Kept:
        verdict = await ask_judges(
            judges,
            context,
            "support",
            row.ground.language,
            {"passage": row.ground.text, "statement": row.text},
            votes=judges.votes,
        )
        if verdict.label == "supported":
            return row
        return Drop(_UNSUPPORTED if verdict.label else why_undecided(verdict), row.text)

    return Step(
        name="support",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_UNSUPPORTED, *judges.silent),
        config=judged_by(judges, "support", judges.votes),
        asks=judges.asks,
    )
