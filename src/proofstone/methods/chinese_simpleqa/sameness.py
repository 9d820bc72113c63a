"""Compare short texts by normalization, settle grades by rule, and define the five measures.

Only changes that can never alter the meaning are normalized. Others (the case of "Co" and "CO" or
of "mW" and "MW", a superscript, a unit, a question mark) are left to a judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Literal, get_args

from msgspec import Struct

from proofstone.choices import likelihood
from proofstone.methods.chinese_simpleqa.payloads import BARE, ShortAnswer
from proofstone.records.runs import STATED_CONFIDENCE, Measure, Outcome, Worth
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import bundled_words
from proofstone.wording.messages import noted

_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}


_UNSEEN = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))


_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u30fb\uff65\u2022\u2027\u2219", "\u00b7"),
        **dict.fromkeys("\u201c\u201d\u300c\u300d\u300e\u300f\u00ab\u00bb\u201e", '"'),
        **dict.fromkeys("\u2018\u2019\u02bc", "'"),
        "\uff61": "\u3002",
        "\u3008": "\u300a",
        "\u3009": "\u300b",
    }
)


_AROUND = (("\u300a", "\u300b"), ('"', '"'), ("'", "'"), ("**", "**"), ("*", "*"), ("`", "`"))


_LABEL = re.compile(
    r"\A\s*\**(?:final answer|answer|最终答案|答案|答)\**\s*[:：]\**\s*", re.IGNORECASE
)


# A space between letters or digits of a script with spaces separates words; any other is removed.
_SPACE = re.compile(r"(?<=\S)[^\S\n]+(?=\S)")


_WORD = re.compile(r"[^\W\d_]{5,}")


def plain_answer(text: str) -> str:
    """Normalize ``text``: one width of characters, one kind of dash, quote and dot.

    Invisible characters, surrounding quotes and emphasis, and a final full stop are removed. Spaces
    remain only between words; words of five letters or more are lower-cased. The result may be
    empty.
    """
    plain = unicodedata.normalize("NFC", text.translate(_UNSEEN).translate(_WIDTH))
    plain = _undressed(plain.translate(_ALIKE).strip())
    return _WORD.sub(lambda found: found[0].lower(), _SPACE.sub(_space, plain))


def without_label(text: str) -> str:
    """Return ``text`` without a leading "Answer:"."""
    return _LABEL.sub("", text, count=1)


def as_number(text: str) -> Decimal | None:
    """Return the number if a normalized answer is nothing else, otherwise None."""
    if not re.fullmatch(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)", text, re.ASCII):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # pragma: no cover - the pattern lets none through
        return None


def _undressed(text: str) -> str:
    while True:
        shorter = text.strip()
        if shorter.endswith((".", "\u3002")) and not shorter.endswith(".."):
            shorter = shorter[:-1].rstrip()
        for opens, closes in _AROUND:
            if len(shorter) > len(opens) + len(closes) and _is_around(shorter, opens, closes):
                shorter = shorter[len(opens) : -len(closes)].strip()
        if shorter == text:
            return text
        text = shorter


def _is_around(text: str, opens: str, closes: str) -> bool:
    """Return True if the marks are one pair around the full text, not two separate quotations."""
    inside = text[len(opens) : -len(closes)]
    is_pair = text.startswith(opens) and text.endswith(closes)
    return is_pair and opens not in inside and closes not in inside


def _space(found: re.Match[str]) -> str:
    before, after = found.string[found.start() - 1], found.string[found.end()]
    if before == "," and after.isdecimal():  # "1, 200" is two numbers
        return " "
    return " " if _parts_words(before) and _parts_words(after) else ""


def _parts_words(character: str) -> bool:
    """Return True if words of this script are separated by spaces."""
    return character.isalnum() and unicodedata.east_asian_width(character) not in {"W", "F"}


# Grading by rule, and the question to the judge for all other answers.
#
# The rule only accepts a response equal to the reference or an alias (``sameness``). A judge
# decides whether a longer response contains or contradicts the answer, or gives none; substring
# search is never used.

Grade = Literal["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]


GRADES: tuple[Grade, ...] = get_args(Grade)


# A, B and C are the labels of published graders.
_LETTERS: dict[str, Grade] = dict(zip("ABC", GRADES, strict=True))


class _Words(Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the judge prompt's words in one language."""

    task: str
    labels: dict[Grade, str]
    question: str
    reference: str
    alias: str
    tolerance: str
    response: str


def settled_as(text: str, asked: ShortAnswer) -> str:
    """Return why an answer is correct by rule: ``reference``, ``alias`` or ``within tolerance``.

    Empty if a judge has to decide.
    """
    said = plain_answer(without_label(text))
    if not said:
        return ""
    if said == plain_answer(asked.answer):
        return "reference"
    if said in {plain_answer(alias) for alias in asked.aliases}:
        return "alias"
    return "within tolerance" if _is_near(said, asked) else ""


def grade_question(text: str, asked: ShortAnswer, language: str) -> JudgeQuestion:
    """Return the judge question about an answer: one of three labels, given question and
    reference."""
    words = bundled_words(__package__, "prompts/grade", language, _Words)
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
            Exhibit(words.response, text),
        ),
        language="zh" if is_chinese(language) else "en",
    )


def read_grade(text: str) -> Grade | None:
    """Return the grade in a cell: A, B, C, or its words in any case; None for anything else.

    Words may be separated by a space, a hyphen or an underscore.
    """
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


# The answer in a response, and its stated confidence.

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
    """Hold a parsed response.

    ``text`` is graded. ``sure`` is the confidence in [0, 1], None if missing or unparsed.
    ``is_stated`` is False if a required answer line is missing. ``flags``: ``no-answer-line``,
    ``several-answers``, ``no-confidence``.
    """

    text: str
    sure: float | None = None
    is_stated: bool = True
    flags: tuple[str, ...] = ()


def read_answer(text: str, way: str) -> ReadAnswer:
    """Parse the answer of a response under the prompting method ``way``.

    With direct or published prompting, the answer is the full response. With reasoning, it is the
    text from the answer line on, since later text may retract the answer. Without such a line, or
    with two different ones, it is the full response.
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


# How each outcome counts: CO, NA, IN, CGA and F (section 4.3 of the paper).
#
# ``answered`` responses are graded CORRECT (1) or INCORRECT (0). ``refused`` and ``truncated`` ones
# are NOT_ATTEMPTED. ``unparsed`` ones have no label by the judges, or no chosen option; they are
# excluded, and their rate is reported. With A correct, B incorrect and C not attempted, over n = A
# + B + C: CO = A / n, NA = C / n, IN = B / n, CGA = A / (A + B). F, the harmonic mean of CO and
# CGA, is 2A / (2A + 2B + C).

HEADLINE = "correct"


GRADED = "correct"


BY_RULE = "by_rule"


SURE = STATED_CONFIDENCE


_ALL = noted("all responses with a grade")


_NOWHERE: Mapping[Outcome, Worth] = {
    "answered": None,
    "refused": None,
    "unparsed": None,
    "truncated": None,
}


_RIGHT: Mapping[Outcome, Worth] = {
    **_NOWHERE,
    "answered": "value",
    "refused": 0.0,
    "truncated": 0.0,
}


_STATED: Mapping[Outcome, Worth] = {**_NOWHERE, "answered": "value"}


_graded = partial(Measure, of=GRADED, judged=True, by_group=True)


MEASURES = (
    Measure(name=HEADLINE, of=GRADED, counts=_RIGHT, denominator=_ALL, judged=True),
    _graded(
        name="not_attempted",
        counts={**_NOWHERE, "answered": 0.0, "refused": 1.0, "truncated": 1.0},
        denominator=_ALL,
        label="NA",
    ),
    _graded(
        name="incorrect",
        counts={**_NOWHERE, "answered": "rest", "refused": 0.0, "truncated": 0.0},
        denominator=_ALL,
        label="IN",
    ),
    _graded(
        name="correct_given_attempted",
        counts=_STATED,
        weights={"answered": 1.0},
        denominator=noted("all responses graded correct or incorrect"),
        label="CGA",
    ),
    _graded(
        name="f_score",
        counts=_RIGHT,
        weights={"answered": 2.0},
        denominator=noted("all responses with a grade, those with an answer counted twice"),
        label="F",
    ),
    Measure(
        name=BY_RULE,
        of=BY_RULE,
        counts=_STATED,
        denominator=noted("all responses submitted for grading"),
        label=noted("by rule"),
    ),
    Measure(
        name=SURE,
        of=SURE,
        counts=_STATED,
        denominator=noted("all responses with a stated confidence"),
        label=noted("sure"),
    ),
    likelihood.MEASURES[0],
)
