"""From a question over options to the open one: what certainly has none is dropped by rule, a model
words the others, judges say whether they still ask the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from proofstone.engines.judging import SeatedJudges, fence, why_undecided
from proofstone.engines.replies import ask_for
from proofstone.methods.chinese_simpleqa.building.from_sets import ChoiceRow
from proofstone.methods.chinese_simpleqa.building.openable import (
    AMONG,
    NAMES_OPTIONS,
    YES_OR_NO,
    why_not_open,
)
from proofstone.methods.chinese_simpleqa.building.rows import Draft
from proofstone.methods.chinese_simpleqa.building.words import QUESTIONS, prompt_digest, render
from proofstone.methods.chinese_simpleqa.choice_prompts import choice_lines
from proofstone.methods.chinese_simpleqa.payloads import Closed
from proofstone.methods.chinese_simpleqa.sameness import as_number, plain_answer
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import JudgeQuestion, Message

__all__ = ["is_told", "open_prompt", "opened_question", "opening_steps"]

_CANNOT = "cannot be asked openly"
_UNREADABLE, _TOLD = "unreadable reply", "gives its answer away"
_LEANS, _OTHER = "leans on its options", "asks for something else"
_RULES = 1  # raised by every change of ``openable``
_SCHEMA: Mapping[str, Any] = {
    "title": "opened",
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["open", _CANNOT]},
        "question": {"type": "string"},
    },
    "required": ["verdict", "question"],
    "additionalProperties": False,
}


class _Opened(Struct, frozen=True):
    verdict: str
    question: str = ""


def opening_steps(judges: SeatedJudges) -> tuple[Step, ...]:
    """The steps from ``ChoiceRow`` to ``Draft``."""
    return (_rules_step(), _open_step(), _same_step(judges))


def _rules_step() -> Step:
    """Drops what certainly cannot be asked without its options; nobody is asked."""

    def look(row: ChoiceRow, _context: StepContext) -> Kept:
        reason = why_not_open(row.closed)
        return Drop(reason, row.closed.question) if reason else row

    return Step(
        name="can be open",
        version=1,
        takes=ChoiceRow,
        work=look,
        reasons=(AMONG, NAMES_OPTIONS, YES_OR_NO),
        config={"rules": _RULES},
    )


def _open_step() -> Step:
    """Each choice as an open question; its answer is the right option's text. A question that says
    its answer is asked for once more."""

    async def put(row: ChoiceRow, context: StepContext) -> Kept:
        found = await _opened(row, context)
        if isinstance(found, Drop) and found.reason == _TOLD:
            return await _opened(row, context, told=found.found)
        return found

    return Step(
        name="open",
        version=1,
        takes=ChoiceRow,
        work=put,
        reasons=(_CANNOT, _UNREADABLE, _TOLD),
        config={"prompt": prompt_digest("open")},
        asks=("author",),
    )


async def _opened(row: ChoiceRow, context: StepContext, told: str = "") -> Draft | Drop:
    """The pair that a model makes of a choice; ``told`` is what it made before, which says its
    answer."""
    messages = [Message("user", open_prompt(row, told))]
    name = "open 2" if told else "open"
    new = await ask_for(context.calls["author"], name, messages, _Opened, _SCHEMA)
    if isinstance(new, str):
        return Drop(_UNREADABLE, new)
    question = " ".join(new.question.split())
    if new.verdict != "open" or not question:
        return Drop(_CANNOT, row.closed.question)
    answer = " ".join(row.closed.right.split())
    if is_told(question, answer):
        return Drop(_TOLD, question)
    return Draft(
        question=question,
        answer=answer,
        language=row.language,
        stratum=row.stratum,
        by_author=True,
        closed=row.closed,
        origin=row.origin,
        made="converted",
    )


def is_told(question: str, answer: str) -> bool:
    """Whether a question says its answer. One sign, and a number of fewer than three digits, may
    stand anywhere and say nothing."""
    said, asked = plain_answer(answer).lower(), plain_answer(question).lower()
    if as_number(said) is not None:
        alone = re.search(rf"(?<![\d.]){re.escape(said)}(?!\.?\d)", asked)
        return len(said) > 2 and alone is not None
    return len(said) > 1 and said in asked


def _same_step(judges: SeatedJudges) -> Step:
    """Drops open questions that are not the choice any more, or still need its options."""

    async def check(row: Draft, context: StepContext) -> Kept:
        if row.closed is None:
            return row
        question = opened_question(row, row.closed)
        verdict = await QUESTIONS.ask(judges, context, "opened", question)
        if verdict.label == "same":
            return row
        reason = {"leans": _LEANS, "other": _OTHER}.get(verdict.label)
        return Drop(reason or why_undecided(verdict), row.question)

    return Step(
        name="still the same",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_LEANS, _OTHER, *judges.silent),
        config=QUESTIONS.config(judges, "opened"),
        asks=judges.asks,
    )


def open_prompt(row: ChoiceRow, told: str = "") -> str:
    """What the author is sent of a choice; ``told`` is a question of his that says its answer."""
    return render(
        "open",
        row.language,
        told=told,
        question=fence("question", choice_lines(row.closed), row.language),
        answer=fence("answer", row.closed.right, row.language),
    )


def opened_question(row: Draft, closed: Closed) -> JudgeQuestion:
    """What judges are asked of an open question."""
    texts = {"before": choice_lines(closed), "after": row.question, "answer": row.answer}
    return QUESTIONS.question("opened", row.language, texts)
