"""Which questions over options certainly have no open form: what a rule can tell without a model.

Only what is certain: a question that points at its options, options that speak of other options,
and a choice of yes or no. All else a model decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone.errors import BadInput
from proofstone.files.tables import read_checked
from proofstone.methods.chinese_simpleqa.build.rows import Draft
from proofstone.methods.chinese_simpleqa.payloads import Choice, Closed, Pair
from proofstone.methods.chinese_simpleqa.rows import read_facts
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.knowledge import BuiltFact, Stratum

# Choices as sets have them, and pairs that get options: each with the fact that it is.


class ChoiceRow(Struct, frozen=True, kw_only=True):
    """A question over options, with the id of the fact that an import of its file makes of it."""

    closed: Closed
    origin: bytes
    language: str = ""
    stratum: Stratum = Stratum()


def choices_of(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[ChoiceRow]:
    """The choices of files. Raises BadInput with every problem of a file, and for one of other
    rows."""
    for built in _facts(inputs, Choice, "questions with options"):
        fact = built.fact
        closed = Closed(
            question=fact.payload.question, options=fact.payload.options, gold=fact.payload.gold
        )
        yield ChoiceRow(closed=closed, origin=fact.id, language=fact.language, stratum=fact.stratum)


def pairs_of(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[Draft]:
    """The pairs of files. Raises as ``choices_of``."""
    for built in _facts(inputs, Pair, "short questions without options"):
        fact = built.fact
        asked: Pair = fact.payload
        yield Draft(
            question=asked.question,
            answer=asked.answer,
            aliases=asked.aliases,
            answer_type=asked.answer_type,
            tolerance=asked.tolerance,
            urls=asked.urls,
            valid_at=asked.valid_at,
            language=fact.language,
            stratum=fact.stratum,
            origin=fact.id,
        )


def _facts(inputs: Sequence[str], kind: type[Struct], wanted: str) -> Iterator[BuiltFact]:
    for name in inputs:
        path = Path(name)
        if not path.is_file():
            raise BadInput(
                f"{name} is no file; expected a file of {wanted}",
                hint="of a bank: proofstone export BANK -o FILE, then name the file",
            )
        for built in read_checked(path, read_facts):
            if not isinstance(built.fact.payload, kind):
                raise BadInput(f"{name} does not hold {wanted}")
            yield built


AMONG, NAMES_OPTIONS, YES_OR_NO = (
    "asks among its options",
    "options that name options",
    "a choice of yes or no",
)


_AMONG_ENGLISH = re.compile(
    r"\bof the following\b"
    r"|\bthe following (?:statements?|options?|sentences?|pairs?|items?|claims?|answers?|is|are|"
    r"was|were|best|does|do|would|can|will|could|has|have|cannot)\b"
    r"|\b(?:of|among|from|between) (?:these|those|the (?:given )?(?:options|choices))\b"
    r"|\b(?:options?|choices?|answers?|statements?) (?:below|above|given|listed)\b"
    r"|\bexcept(?: for)?\b[\s:.?_-]*\Z",
    re.IGNORECASE,
)


# In capitals alone: what is asked for is what does not fit, and of that there is no end.
_NEGATED = re.compile(r"\b(?:NOT|EXCEPT|LEAST|INCORRECT|FALSE)\b")


_AMONG_CHINESE = re.compile(
    r"下列|下述|下面(?:[各哪几四]|关于|对|有关|属于|不|的)"
    r"|以下(?:[各哪几四]|关于|对|有关|属于|不|说法|叙述|表述|选项|陈述)"
    r"|(?:哪个|哪一个|各|备)选项"
    r"|(?:[不非]|错误|有误)[^，。；？?]{0,12}的(?:一项|选项|说法|叙述|表述)?(?:是|有|为)"
    r"|(?:错误|不正确|不当|有误)的(?:一项|选项|说法|叙述|表述)"
)


_OF_OPTIONS = re.compile(
    r"\A\W*(?:"
    r"(?:all|none|neither|both|any|either|some|two)(?: of)?(?: the)? "
    r"(?:above|below|others?|these|those|them|options|choices|answers|following)\b.*"
    r"|(?:以上|上述|前面)(?:都|皆|均|全|各|选|答|说|三|两|四|皆|几).*"
    r"|(?:都|皆|均|全)(?:不?是|不?对|正确|错误|不正确)"
    r"|[①-⑳㈠-㈩ⅰ-ⅹⅠ-Ⅹ]{2,}|[①-⑳](?:[和、与及,，\s]*[①-⑳])+"
    r")\W*\Z",
    re.IGNORECASE | re.DOTALL,
)


_LETTERS = re.compile(
    r"\A\W*(?i:both |either |neither |only )?"
    r"\(?[A-J]\)?(?:\s*(?:,|and|or|nor|&|和|、|与|及|或)+\s*\(?[A-J]\)?)+\W*\Z"
)


_YES_NO = frozenset(
    {"yes", "no", "true", "false", "correct", "incorrect", "right", "wrong", "是", "否", "不是"}
    | {"对", "错", "正确", "错误", "不正确", "可以", "不可以", "能", "不能", "会", "不会"}
)


def why_not_open(closed: Closed) -> str:
    """The reason for which a question certainly cannot be asked without its options; empty where
    none is certain."""
    question = closed.question
    if _AMONG_ENGLISH.search(question) or _NEGATED.search(question):
        return AMONG
    if _AMONG_CHINESE.search(question):
        return AMONG
    if any(_names_options(option, place) for place, option in enumerate(closed.options)):
        return NAMES_OPTIONS
    said = {plain_answer(option).lower() for option in closed.options}
    return YES_OR_NO if said <= _YES_NO else ""


def _names_options(option: str, place: int) -> bool:
    """Whether an option speaks of others: by words, or by letters of options that stand before it
    ("A and D" as the second is no such: vitamins have letters too)."""
    if _OF_OPTIONS.match(option):
        return True
    found = _LETTERS.match(option)
    if found is None:
        return False
    named = re.findall(r"\b[A-J]\b|(?<![A-Za-z])[A-J](?![A-Za-z])", option)
    return all(ord(letter) - ord("A") < place for letter in named)
