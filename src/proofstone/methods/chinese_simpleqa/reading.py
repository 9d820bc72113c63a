"""What of a reply is its answer, and how sure the model says it is of it."""

from __future__ import annotations

import re

from msgspec import Struct

from proofstone.methods.chinese_simpleqa.prompting import BARE
from proofstone.methods.chinese_simpleqa.sameness import plain_answer, without_label

__all__ = ["ReadAnswer", "read_answer"]

_ANSWER_LINE = re.compile(
    r"^[\s>#*_-]*(?:final answer|answer|最终答案|答案)[*_]*\s*[:：][*_]*[^\S\n]*(?P<said>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_SURE_LINE = re.compile(
    r"^[\s>#*_-]*(?:confidence(?: score)?|把握|置信度|信心)[*_]*\s*[:：=][*_]*"
    r"[^\S\n]*(?P<said>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_PERCENT = re.compile(r"(?P<number>\d{1,3}(?:\.\d+)?)\s*(?:%|％|/\s*100)?[.。]?", re.ASCII)


class ReadAnswer(Struct, frozen=True, gc=False):
    """The ``text`` that is graded; ``sure`` in [0, 1], None where it was not stated or cannot be
    read. ``is_stated`` is False where a line with the answer was asked for and none was written.
    ``flags``: ``no-answer-line``, ``several-answers``, ``no-confidence``."""

    text: str
    sure: float | None = None
    is_stated: bool = True
    flags: tuple[str, ...] = ()


def read_answer(text: str, way: str) -> ReadAnswer:
    """The answer of a reply to a question that was asked in ``way``.

    Asked directly or by the question alone, all of it is. Where reasoning was asked for, the answer
    is what stands from the answer's line on: what comes behind it may take it back. Without such a
    line, and with two that differ, it is the whole reply.
    """
    if way in BARE:
        return ReadAnswer(text)
    if way == "confidence":
        return _with_confidence(text)
    found = list(_ANSWER_LINE.finditer(text))
    if not found:
        return ReadAnswer(text, is_stated=False, flags=("no-answer-line",))
    if len({plain_answer(line["said"]) for line in found}) > 1:
        return ReadAnswer(text, flags=("several-answers",))
    return ReadAnswer(text[found[-1].start("said") :])


def _with_confidence(text: str) -> ReadAnswer:
    found = list(_SURE_LINE.finditer(text))
    rest = without_label(_SURE_LINE.sub("", text))
    stated = {_share(line["said"]) for line in found}
    if len(stated) != 1 or None in stated:
        return ReadAnswer(rest, flags=("no-confidence",))
    return ReadAnswer(rest, sure=stated.pop())


def _share(said: str) -> float | None:
    found = _PERCENT.fullmatch(said.strip(" *_`\t"))
    number = float(found["number"]) if found else -1.0
    return number / 100 if 0 <= number <= 100 else None
