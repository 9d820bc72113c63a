"""Pairs against their criteria: another model says what each misses, and the author revises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from proofstone.engines.replies import ask_for
from proofstone.methods.chinese_simpleqa.building.criteria import (
    CRITERIA,
    Scope,
    criteria_digest,
    criteria_in,
)
from proofstone.methods.chinese_simpleqa.building.rows import Draft, Written
from proofstone.methods.chinese_simpleqa.building.words import block, prompt_digest, render
from proofstone.methods.chinese_simpleqa.building.writing import PAIR_SCHEMA
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import Message

__all__ = ["check_prompt", "check_step", "revise_prompt"]

_UNCHECKED, _MISSED, _GIVEN_UP = "not checked", "criteria not met", "given up by its author"
_REASKS = 2


class _Checked(Struct, frozen=True, forbid_unknown_fields=True):
    label: Literal["met", "missed"]
    suggestion: str = ""


# One entry a criterion, all of them there: a reply that leaves one out is none.
_Review = msgspec.defstruct(
    "_Review", [(name, _Checked) for name in CRITERIA], frozen=True, forbid_unknown_fields=True
)
_ENTRY: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "enum": ["met", "missed"]},
        "suggestion": {"type": "string"},
    },
    "required": ["label", "suggestion"],
    "additionalProperties": False,
}
_SCHEMA: Mapping[str, Any] = {
    "title": "review",
    "type": "object",
    "properties": dict.fromkeys(CRITERIA, _ENTRY),
    "required": list(CRITERIA),
    "additionalProperties": False,
}


def check_step(scope: Scope, rounds: int) -> Step:
    """Drops pairs that miss a criterion still after ``rounds`` revisions, and those that no check
    could be read of."""

    async def check(row: Draft, context: StepContext) -> Kept:
        draft, left = row, rounds
        while missed := await _missed(draft, scope, context, rounds - left):
            if isinstance(missed, Drop):
                return missed
            if not left:
                return Drop(_MISSED, f"{', '.join(missed)}: {draft.question}")
            new = await _revised(draft, missed, scope, context, rounds - left)
            if isinstance(new, Drop):
                return new
            draft, left = new, left - 1
        return draft

    return Step(
        name="criteria",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_UNCHECKED, _MISSED, _GIVEN_UP),
        config={
            "scope": scope,
            "rounds": rounds,
            "reasks": _REASKS,
            "criteria": criteria_digest(scope),
            "prompts": [prompt_digest("check"), prompt_digest("revise")],
        },
        asks=("checker", *(("author",) if rounds else ())),
    )


def check_prompt(draft: Draft, scope: Scope) -> str:
    """What the checker is sent; of a private document the passage too."""
    text = draft.ground.text if scope.is_private else ""
    return render(
        "check",
        draft.language,
        private=scope.is_private,
        criteria=tuple(criteria_in(draft.language, scope, draft.asked().validity).items()),
        question=block("question", draft.question, draft.language),
        answer=block("answer", draft.answer, draft.language),
        passage=block("passage", text, draft.language) if text else "",
    )


def revise_prompt(draft: Draft, missed: Mapping[str, str], scope: Scope) -> str:
    """What the author is sent of a pair that misses criteria."""
    language, text = draft.language, draft.ground.text
    criteria = criteria_in(language, scope, draft.asked().validity)
    return render(
        "revise",
        language,
        private=scope.is_private,
        missed=[(criteria[name], suggestion) for name, suggestion in missed.items()],
        question=block("question", draft.question, language),
        answer=block("answer", draft.answer, language),
        passage=block("passage", text, language) if text else "",
    )


async def _missed(
    draft: Draft, scope: Scope, context: StepContext, number: int
) -> dict[str, str] | Drop:
    """The criteria that are missed, each with a suggestion; a drop where no reply could be read."""
    found: Any = await ask_for(
        context.calls["checker"],
        f"check {number + 1}",
        [Message("user", check_prompt(draft, scope))],
        _Review,
        _SCHEMA,
        reasks=_REASKS,
    )
    if isinstance(found, str):
        return Drop(_UNCHECKED, draft.question)
    entries = {name: getattr(found, name) for name in CRITERIA}
    return {
        name: " ".join(entry.suggestion.split())
        for name, entry in entries.items()
        if entry.label == "missed"
    }


async def _revised(
    draft: Draft, missed: Mapping[str, str], scope: Scope, context: StepContext, number: int
) -> Draft | Drop:
    """The pair as its author writes it now; a drop where there is none, or still the same."""
    prompt = revise_prompt(draft, missed, scope)
    call = context.calls["author"]
    name = f"revise {number + 1}"
    new = await ask_for(call, name, [Message("user", prompt)], Written, PAIR_SCHEMA)
    if isinstance(new, str):
        return Drop(_GIVEN_UP, new)
    revised = draft.with_pair(new)
    if not revised.question or not plain_answer(revised.answer):
        return Drop(_GIVEN_UP, draft.question)
    if (revised.question, revised.answer) == (draft.question, draft.answer):
        return Drop(_MISSED, f"{', '.join(missed)}: {draft.question}")
    return revised
