"""Define stored payloads: statements, composed, single-statement and imported questions, verdicts.

Also loads the phrasings of questions.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from proofstone.texts.templates import bundled_words


class Statement(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.statement"):
    """Hold a knowledge statement.

    A false one names its true fact (``origin``), its error type, and the reason why it is false.
    ``title`` names the knowledge point.
    """

    text: str
    correct: bool
    title: str = ""
    origin: bytes | None = None
    error_type: str = ""
    reason: str = ""


class ComposedQuestion(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.composed"):
    """Hold a question over the item's facts, shown in order as statements i, ii, iii, ...

    ``asks_correct``: the question asks for the correct (or incorrect) statements. Each option is a
    tuple of places (0-based, ascending) among the facts. Option ``answer_key`` is exactly the set
    of all facts with the requested truth value. ``template`` and ``wording`` number the phrasing in
    the language's lists.
    """

    asks_correct: bool
    template: int
    wording: int
    options: tuple[tuple[int, ...], ...]
    answer_key: int


class ChoiceQuestion(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="encyclo_k.choice"
):
    """Hold an imported multiple-choice question, with its texts.

    ``also`` are the places of further correct options after ``answer_key``, ascending: a correct
    answer then names exactly all of them. ``answer_format`` is the row's answer format, if given
    (``regex:...`` or ``json:...``).
    """

    question: str
    options: tuple[str, ...]
    answer_key: int
    also: tuple[int, ...] = ()
    answer_format: str = ""

    @property
    def answer_keys(self) -> tuple[int, ...]:
        """Return the places of all correct options."""
        return (self.answer_key, *self.also)


class SingleStatement(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.single"):
    """Mark an item about its one fact, which holds all data."""


class JudgedStatement(Struct, frozen=True, gc=False, kw_only=True, tag="encyclo_k.judged"):
    """Identify a unit: the verdict on the statement at ``place`` (from 0) of a composed
    question."""

    place: int


# Phrasings of true/false prompts, by language.


class Judging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the phrases of one language.

    They are the question about one ``statement`` and about ``each`` of several, both verdicts, and
    their lines.
    """

    statement: str
    each: str
    true: str
    false: str
    answer: str
    verdict: str

    def word(self, *, correct: bool) -> str:
        """Return the correct verdict on a statement."""
        return self.true if correct else self.false

    def line(self, numeral: str, verdict: str) -> str:
        """Return the line with the verdict on a numbered statement: ``ii: False``."""
        return self.verdict.replace("{numeral}", numeral).replace("{verdict}", verdict)


def judging(language: str) -> Judging:
    """Return the true/false phrases for statements in this language."""
    return bundled_words(__package__, "prompts/judging", language, Judging)


# Phrasings of questions by language; their numbers are permanent.


class Phrasing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the phrases of one language.

    Each template has ``{wording}`` once; wordings of one number are opposites; ``options`` is the
    heading of the options.
    """

    templates: tuple[str, ...]
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]
    options: str

    def ask(self, template: int, wording: int, *, correct: bool) -> str:
        """Return the sentence that asks for the correct or the incorrect statements."""
        wordings = self.correct if correct else self.incorrect
        return self.templates[template].replace("{wording}", wordings[wording])


def phrasing(language: str) -> Phrasing:
    """Return the phrases for statements in this language."""
    return bundled_words(__package__, "prompts/phrasing", language, Phrasing)


# The paper's taxonomy of errors (3.1.2): six types, and their spellings in files.

ErrorType: TypeAlias = Literal[
    "concept substitution",
    "causal inversion",
    "detail falsification",
    "temporal dislocation",
    "logical paradox",
    "scope change",
]


ERROR_TYPES: tuple[ErrorType, ...] = get_args(ErrorType)


_SPELLINGS: dict[ErrorType, str] = {
    "concept substitution": """concept swap; concept swapping; conceptual substitution;
        concept replacement; concept confusion; substitution of concepts;
        概念替换; 概念置换; 概念偷换; 偷换概念; 概念混淆""",
    "causal inversion": """cause inversion; causal reversal; causality inversion;
        causality reversal; cause effect inversion; cause effect reversal; inverted causality;
        reversed causality; reversal of cause and effect; inversion of cause and effect;
        因果倒置; 因果颠倒; 因果反转; 倒因为果""",
    "detail falsification": """detail alteration; detail modification; detail tampering;
        detail change; detail distortion; alteration of details; falsification of details;
        factual detail alteration; 细节篡改; 细节伪造; 细节歪曲; 细节修改; 细节错误; 细节造假""",
    "temporal dislocation": """temporal displacement; temporal misplacement; temporal shift;
        chronological displacement; chronological dislocation; time dislocation;
        time displacement; anachronism; 时间错位; 时序错位; 时空错位; 时间错置; 时间顺序错误;
        时间错乱; 时代错位""",
    "logical paradox": """logical gap; logical gaps; logic gap; logical fallacy;
        logical contradiction; logical flaw; logical break; 逻辑悖论; 逻辑断裂; 逻辑漏洞; 逻辑谬误;
        逻辑矛盾; 逻辑跳跃""",
    "scope change": """scope modification; scope alteration; scope shift; scope expansion;
        scope contraction; scope expansion contraction; scope expansion or contraction;
        scope extension; scope narrowing; scope generalization; overgeneralization;
        范围改变; 范围变更; 范围修改; 范围扩大; 范围缩小; 范围扩缩; 范围扩大缩小; 扩大范围;
        缩小范围; 以偏概全""",
}


# The reason format that the paper's prompt requires: the error type comes first.
_AT_THE_HEAD = re.compile(
    r"\s*\**(?:error type|type of error|错误类型)\**\s*[:：]\s*\**\s*"
    r"(?P<name>[^.。;；,，\n*(（]{2,60})",
    re.IGNORECASE,
)


_APART = re.compile(r"[\s_\-‐‑–/、与和或]+")


def read_error_type(text: str) -> ErrorType | None:
    """Return the error type of a name in any usual English or Chinese spelling, or None."""
    return _types_by_spelling().get(_plain(text))


def error_type_of(statement: Statement) -> ErrorType | None:
    """Return the error type of a false statement, from its field or from the start of its reason.

    For example "Error type: detail alteration. ...". None for a correct statement, or without a
    type.
    """
    if statement.correct:
        return None
    if statement.error_type:
        return read_error_type(statement.error_type)
    found = _AT_THE_HEAD.match(statement.reason)
    return read_error_type(found["name"]) if found else None


@cache
def _types_by_spelling() -> dict[str, ErrorType]:
    return {
        _plain(spelling): name
        for name in ERROR_TYPES
        for spelling in [name, *_SPELLINGS[name].split(";")]
    }


def _plain(text: str) -> str:
    """Normalize to lower case without separators: scope_change and Scope-Change are equal."""
    return _APART.sub("", text.strip().strip(".。").lower()).removesuffix("error")
