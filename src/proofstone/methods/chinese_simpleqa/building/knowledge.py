"""Which passages hold knowledge that is worth asking for: by rules, then by a quality judge."""

from __future__ import annotations

import re

from proofstone.engines.judging import SeatedJudges, why_undecided
from proofstone.methods.chinese_simpleqa.building.criteria import Scope
from proofstone.methods.chinese_simpleqa.building.rows import placed
from proofstone.methods.chinese_simpleqa.building.words import questions_for
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import SourcedPassage

__all__ = ["knowledge_step", "rules_step"]

_SHORT, _SIGNS, _NO_SENTENCE = "too short", "hardly any words", "no sentence"
_UNPLACED = "no category"
_LITTLE, _SPECIFIC = "too little information", "too specific"
_LEAST_WIDTH = 80  # a Han character counts as three letters: so long is a sentence with a fact
_LEAST_LETTERS = 0.6  # of all that is not space: listings, tables and link lists have fewer
_HAN = re.compile(r"[\u3400-\u9fff]")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*(?:\s|$)|[。！？]")


def rules_step(primary: str, *, needs_category: bool) -> Step:
    """Drops what is too short for a fact, what is hardly text, and where it ``needs_category`` the
    passages of sources that have no place."""

    def check(row: SourcedPassage, _context: StepContext) -> Kept:
        text = row.passage.text.strip()
        dropped = _by_rule(text)
        if dropped:
            return Drop(dropped, text[:200])
        if needs_category and not placed(row.source.stratum, primary, "").discipline:
            return Drop(_UNPLACED, row.source.title)
        return row

    return Step(
        name="rules",
        version=1,
        takes=SourcedPassage,
        work=check,
        reasons=(_SHORT, _SIGNS, _NO_SENTENCE, _UNPLACED),
        config={"primary": bool(primary), "needs_category": needs_category},
    )


def knowledge_step(judges: SeatedJudges, scope: Scope) -> Step:
    """Drops passages in which a judge finds too little, and of public ones those that hold only
    what concerns themselves."""
    questions = questions_for(scope)

    async def check(row: SourcedPassage, context: StepContext) -> Kept:
        language = row.passage.language or row.source.language
        texts = {"passage": row.passage.text, "heading": row.passage.heading}
        shown = {name: text for name, text in texts.items() if text}
        question = questions.question("knowledge", language, shown)
        verdict = await questions.ask(judges, context, "knowledge", question)
        if verdict.label == "enough":
            return row
        reason = {"little": _LITTLE, "specific": _SPECIFIC}.get(verdict.label)
        return Drop(reason or why_undecided(verdict), row.passage.text[:200])

    return Step(
        name="knowledge",
        version=2,
        takes=SourcedPassage,
        work=check,
        reasons=(_LITTLE, *(() if scope.is_private else (_SPECIFIC,)), *judges.silent),
        config=questions.config(judges, "knowledge"),
        asks=judges.asks,
    )


def _by_rule(text: str) -> str:
    if len(text) + 2 * len(_HAN.findall(text)) < _LEAST_WIDTH:
        return _SHORT
    letters = sum(sign.isalpha() for sign in text)
    if letters < _LEAST_LETTERS * len("".join(text.split())):
        return _SIGNS
    return "" if _SENTENCE.search(text) else _NO_SENTENCE
