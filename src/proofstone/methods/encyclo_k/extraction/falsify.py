"""Falsified statements: a model picks the error that suits a true one, and says why it is false."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from proofstone.engines.judging import fence
from proofstone.engines.replies import ask_for
from proofstone.identity import digest
from proofstone.methods.encyclo_k.error_types import ERROR_TYPES, ErrorType, read_error_type
from proofstone.methods.encyclo_k.extraction.rows import Claim, Draft, Falsehood
from proofstone.methods.encyclo_k.filters import FILTERS_VERSION, sift_row
from proofstone.methods.encyclo_k.prompting import render_template, template_bytes
from proofstone.ports import Drop, Kept, Row, Step, StepContext
from proofstone.records import Message, SiftedRow

__all__ = ["claim_step", "falsify_step"]

_UNREADABLE, _UNCHANGED, _UNTYPED = "unreadable reply", "not changed", "no known type of error"
_LENGTH, _FILTERED = "of another length", "fails a filter"
# The same length (the paper's demand): by this factor at most, either way.
_MOST_LONGER = 1.6


class _Made(Struct, frozen=True):
    error_type: str
    statement: str
    reason: str
    analysis: str = ""
    right: str = ""
    wrong: str = ""


_SCHEMA: Mapping[str, Any] = {
    "title": "falsified",
    "type": "object",
    "properties": {
        "analysis": {"type": "string"},
        "error_type": {"type": "string", "enum": list(ERROR_TYPES)},
        "right": {"type": "string"},
        "wrong": {"type": "string"},
        "statement": {"type": "string"},
        "reason": {"type": "string"},
    },
    "required": ["analysis", "error_type", "right", "wrong", "statement", "reason"],
    "additionalProperties": False,
}


def claim_step(share: float) -> Step:
    """Each draft as a claim, and ``share`` of them, drawn, once more to be falsified."""

    def claim(row: Draft, context: StepContext) -> Kept:
        true = Claim(draft=row)
        if context.draws("falsify").uniform() >= share:
            return true
        return [true, Claim(draft=row, turned=True)]

    return Step(
        name="claims", version=1, takes=Draft, work=claim, config={"share": share}, draws=True
    )


def falsify_step(types: Mapping[ErrorType, float]) -> Step:
    """What is to be falsified with its false words; all else goes by. With no ``types`` the model
    picks the one that suits; else one is drawn for each by its weight."""

    async def falsify(row: Claim, context: StepContext) -> Kept:
        if not row.turned:
            return row
        drawn = _drawn(types, context) if types else None
        made = await ask_for(
            context.call, "falsify", [Message("user", _prompt(row, drawn))], _Made, _SCHEMA
        )
        if isinstance(made, str):
            return Drop(_UNREADABLE, made)
        return _checked(row, made)

    return Step(
        name="falsify",
        version=2,
        takes=Claim,
        work=falsify,
        reasons=(_UNREADABLE, _UNTYPED, _UNCHANGED, _LENGTH, _FILTERED),
        config={
            "types": dict(types),
            "filters": FILTERS_VERSION,
            "prompt": digest(template_bytes("falsify")).hex(),
        },
        asks=("falsifier",),
        draws=bool(types),
    )


def _prompt(row: Claim, drawn: ErrorType | None) -> str:
    language = row.draft.ground.language
    return render_template(
        "falsify",
        language,
        statement=fence("statement", row.draft.text, language),
        book=row.draft.ground.book,
        types=(drawn,) if drawn else ERROR_TYPES,
    )


def _drawn(types: Mapping[ErrorType, float], context: StepContext) -> ErrorType:
    left = context.draws("error type").uniform() * sum(types.values())
    for name, weight in types.items():
        left -= weight
        if left < 0:
            return name
    return list(types)[-1]


def _checked(row: Claim, made: _Made) -> Kept:
    text = _changed(row.draft.text, made)
    kind = read_error_type(made.error_type)
    if kind is None:
        return Drop(_UNTYPED, made.error_type)
    if _signless(text) in ("", _signless(row.draft.text)) or not made.reason.strip():
        return Drop(_UNCHANGED, text)
    ratio = len(text) / len(row.draft.text)
    if not 1 / _MOST_LONGER <= ratio <= _MOST_LONGER:
        return Drop(_LENGTH, f"{ratio:.2f} times as long")
    sifted = sift_row(Row("", {"text": text, "correct": False}))
    if isinstance(sifted, SiftedRow) and sifted.reason:
        return Drop(_FILTERED, f"{sifted.reason}: {sifted.found}")
    return structs.replace(row, false=Falsehood(text, kind, made.reason.strip()))


def _changed(true: str, made: _Made) -> str:
    """The false words. Where a model names its change and then copies the true statement (a small
    one often does), the change is made for it."""
    text, right = " ".join(made.statement.split()), made.right.strip()
    if _signless(text) == _signless(true) and right and true.count(right) == 1:
        return true.replace(right, made.wrong.strip())
    return text


def _signless(text: str) -> str:
    """Letters and digits in their order, of one case: quotes and stops make no other statement."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
