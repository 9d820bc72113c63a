"""The paper's taxonomy of errors (3.1.2): six types, and the names under which files have them.

The paper itself has two sets of names, in its text and in its prompt (A.2); both are read, and the
usual Chinese ones. The stored name is always the first of each list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, TypeAlias, get_args

from proofstone.method import Contrast, Contrasts
from proofstone.methods.encyclo_k.payloads import ChoiceQuestion, ComposedQuestion, Statement
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import ReviewText

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


# The form in which the paper's prompt has the falsifier write its reason: the type comes first.
_AT_THE_HEAD = re.compile(
    r"\s*\**(?:error type|type of error|错误类型)\**\s*[:：]\s*\**\s*"
    r"(?P<name>[^.。;；,，\n*(（]{2,60})",
    re.IGNORECASE,
)


_APART = re.compile(r"[\s_\-‐‑–/、与和或]+")


def read_error_type(text: str) -> ErrorType | None:
    """The type that a name means, in any usual spelling of English or Chinese, or None."""
    return _types_by_spelling().get(_plain(text))


def error_type_of(statement: Statement) -> ErrorType | None:
    """The type of a falsified statement: the one it states, or the one its reason opens with
    ("Error type: detail alteration. ..."). None for a correct one, and where neither says it."""
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
    """Lower case, without what stands between words: scope_change and Scope-Change are one."""
    return _APART.sub("", text.strip().strip(".。").lower()).removesuffix("error")


# What reviewers are shown of a statement: its text alone, and apart from it what it is meant to
# be.


def review_text(fact: Fact) -> ReviewText:
    """A statement; its reason is asked about only where it was falsified."""
    statement: Statement = fact.payload
    return ReviewText(
        text=statement.text,
        field="text",
        claim="true" if statement.correct else "false",
        key_field="correct",
        because="" if statement.correct else statement.reason,
    )


# What must not be told apart without knowledge: true and falsified statements, gold and other
# options.

_ROMAN = (
    "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x",
    "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx",
)  # fmt: skip


def fact_contrasts(facts: Iterable[Fact]) -> Iterator[Contrast]:
    """Statements, the falsified ones being the second kind."""
    for fact in facts:
        yield Contrast(
            text=fact.payload.text,
            is_second=not fact.payload.correct,
            source=_source(fact),
            row=fact.id,
        )


def item_contrasts(items: Iterable[LoadedItem]) -> Iterator[Contrast]:
    """Options, the gold ones being the second kind; of a composed question as the numerals that
    they are made of. An item about a single statement offers none."""
    for loaded in items:
        payload = loaded.item.payload
        if isinstance(payload, ComposedQuestion):
            texts = [" ".join(map(_numeral, option)) for option in payload.options]
        elif isinstance(payload, ChoiceQuestion):
            texts = list(payload.options)
        else:
            continue
        source = _source(loaded.facts[0]) if loaded.facts else loaded.item.id.hex()
        for place, text in enumerate(texts):
            yield Contrast(
                text=text, is_second=place == payload.gold, source=source, row=loaded.item.id
            )


def _source(fact: Fact) -> str:
    """The book, else the document, else the fact itself: nothing says that it shares one."""
    return fact.stratum.book or (fact.source or fact.id).hex()


def _numeral(place: int) -> str:
    return _ROMAN[place] if place < len(_ROMAN) else str(place + 1)


CONTRASTS = Contrasts(
    kinds={"fact": ("true", "falsified"), "item": ("other options", "right options")},
    of_facts=fact_contrasts,
    of_items=item_contrasts,
)
