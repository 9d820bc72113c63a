"""Grading: what a rule may settle, and what a judge is asked about all else.

A rule settles one thing alone: a reply that is the reference, or an alias, and nothing else
(``sameness``). Whether a longer reply holds the answer, contradicts it or gives none is a
judgement, and never a search for one text in another.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from proofstone.methods.chinese_simpleqa.payloads import ShortAnswer
from proofstone.methods.chinese_simpleqa.prompting import is_chinese
from proofstone.methods.chinese_simpleqa.sameness import as_number, plain_answer, without_label
from proofstone.records import Exhibit, JudgeQuestion, Label

__all__ = ["GRADES", "Grade", "grade_question", "read_grade", "settled_as"]

Grade = Literal["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]
GRADES: tuple[Grade, ...] = get_args(Grade)
# A, B and C are what the graders of published results write.
_LETTERS: dict[str, Grade] = dict(zip("ABC", GRADES, strict=True))


class _Words(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language around the question to a judge."""

    task: str
    labels: dict[Grade, str]
    question: str
    reference: str
    alias: str
    tolerance: str
    reply: str


def settled_as(text: str, asked: ShortAnswer) -> str:
    """Whether an answer is right by rule: ``reference``, ``alias`` or ``within tolerance``; empty
    where a judge has to look."""
    said = plain_answer(without_label(text))
    if not said:
        return ""
    if said == plain_answer(asked.answer):
        return "reference"
    if said in {plain_answer(alias) for alias in asked.aliases}:
        return "alias"
    return "within tolerance" if _is_near(said, asked) else ""


def grade_question(text: str, asked: ShortAnswer, language: str) -> JudgeQuestion:
    """What judges are asked about an answer: one of three labels, by the question and its
    reference."""
    words = _words("zh" if is_chinese(language) else "en")
    task = words.task
    if asked.tolerance:
        task += "\n" + words.tolerance.replace("{tolerance}", f"{asked.tolerance:g}")
    aliases = [Exhibit(words.alias, alias) for alias in asked.aliases]
    return JudgeQuestion(
        task=task,
        labels=tuple(Label(grade, words.labels[grade]) for grade in GRADES),
        exhibits=(
            Exhibit(words.question, asked.question),
            Exhibit(words.reference, asked.answer),
            *aliases,
            Exhibit(words.reply, text),
        ),
        language="zh" if is_chinese(language) else "en",
    )


def read_grade(text: str) -> Grade | None:
    """The grade that a cell of somebody's results spells: A, B, C, or its words in any case, with
    a space, a hyphen or an underscore; None for anything else."""
    word = text.strip().upper().replace(" ", "_").replace("-", "_")
    for grade in GRADES:
        if word == grade:
            return grade
    return _LETTERS.get(word)


def _is_near(said: str, asked: ShortAnswer) -> bool:
    if not asked.tolerance:
        return False
    number, reference = as_number(said), as_number(plain_answer(asked.answer))
    if number is None or reference is None:
        return False
    return abs(number - reference) <= Decimal(str(asked.tolerance))


@cache
def _words(language: str) -> _Words:
    text = files(__package__).joinpath(f"prompts/grade.{language}.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Words)
