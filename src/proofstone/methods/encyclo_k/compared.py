"""Which questions to judges people are asked too, and what their verdicts amount to there.

``standing`` and the review of formats ask whether a statement can stand as it is: one that people
would fix or drop counts as leaning. ``support`` is asked of the passage, truth of the world: a true
statement that its passage does not support is a disagreement here, and rightly looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proofstone.methods.encyclo_k.extraction.rows import Claim, Draft
from proofstone.ports import ComparedQuestion, JudgedText
from proofstone.records import ReviewText

__all__ = ["COMPARED"]


def _drafted(row: Draft) -> JudgedText:
    text = ReviewText(text=row.text, field="text", claim="true", key_field="correct")
    return JudgedText(text, row.ground.passage, row.ground.source)


def _falsified(row: Claim) -> JudgedText | None:
    if row.false is None:
        return None
    ground, false = row.draft.ground, row.false
    text = ReviewText(
        text=false.text, field="text", claim="false", key_field="correct", because=false.reason
    )
    return JudgedText(text, ground.passage, ground.source)


COMPARED: Mapping[str, ComparedQuestion] = MappingProxyType(
    {
        "standing": ComparedQuestion(
            task="format",
            labels=("stands", "leans"),
            people={"keep": "stands", "fix": "leans", "drop": "leans"},
            takes=Draft,
            judged=_drafted,
        ),
        "support": ComparedQuestion(
            task="truth",
            labels=("supported", "unsupported"),
            people={"true": "supported", "false": "unsupported"},
            takes=Draft,
            judged=_drafted,
        ),
        "falsity": ComparedQuestion(
            task="truth",
            labels=("false", "true", "open"),
            people={"false": "false", "true": "true"},
            takes=Claim,
            judged=_falsified,
        ),
        "reason": ComparedQuestion(
            task="reason",
            labels=("fits", "misses"),
            people={"fits": "fits", "misses": "misses"},
            takes=Claim,
            judged=_falsified,
        ),
    }
)
