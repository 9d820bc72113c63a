"""The type of each answer: by rule where that is certain, else by the judges."""

from __future__ import annotations

import re

from msgspec import structs

from proofstone.engines.judging import SeatedJudges
from proofstone.methods.chinese_simpleqa.building.rows import Draft
from proofstone.methods.chinese_simpleqa.building.words import QUESTIONS
from proofstone.methods.chinese_simpleqa.payloads import ANSWER_TYPES, AnswerType
from proofstone.methods.chinese_simpleqa.sameness import as_number, plain_answer
from proofstone.ports import Kept, Step, StepContext

__all__ = ["kind_step", "type_by_rule"]

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    r"\A(?:\d{4}-\d{2}(?:-\d{2})?"
    rf"|(?:{_DAY} )?{_MONTH},? \d{{3,4}}|{_MONTH} {_DAY},? \d{{3,4}}"
    r"|(?:公元前?)?\d{1,4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?)\Z",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\A\d{3,4}\Z")
_ASKS_YEAR = re.compile(r"\b(?:(?:which|what) year|when)\b|哪一?年|何年|什么时候", re.IGNORECASE)
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much)\b|多少|几[个种条座次名位]", re.IGNORECASE)


def kind_step(judges: SeatedJudges) -> Step:
    """Each pair with the type of its answer; those that have one keep it, and one on which judges
    come to nothing has none."""

    async def name(row: Draft, context: StepContext) -> Kept:
        if row.answer_type:
            return row
        ruled = type_by_rule(row.question, row.answer)
        if ruled:
            return structs.replace(row, answer_type=ruled)
        texts = {"question": row.question, "answer": row.answer}
        question = QUESTIONS.question("type", row.language, texts)
        verdict = await QUESTIONS.ask(judges, context, "type", question)
        return structs.replace(row, answer_type=_known(verdict.label))

    return Step(
        name="answer type",
        version=1,
        takes=Draft,
        work=name,
        config={**QUESTIONS.config(judges, "type"), "rules": 1},
        asks=judges.asks,
    )


def type_by_rule(question: str, answer: str) -> AnswerType:
    """``date`` or ``number`` where both question and answer leave nothing else; else empty."""
    plain = plain_answer(answer)
    if _DATE.match(plain):
        return "date"
    if _YEAR.match(plain) and _ASKS_YEAR.search(question) and not _ASKS_NUMBER.search(question):
        return "date"
    if as_number(plain) is not None and _ASKS_NUMBER.search(question):
        return "number"
    return ""


def _known(label: str) -> AnswerType:
    return next((known for known in ANSWER_TYPES if known == label), "")
