"""What training to chat changes: base models beside the chat models made from them."""

from __future__ import annotations

import re

from proofstone.report.board import BoardRow
from proofstone.report.sections.factors import describe_factor, levels_of
from proofstone.report.sections.ranked_values import ranked_values
from proofstone.report.sections.section import Evidence, Section
from proofstone.wording import say

__all__ = ["alignment_section"]

_BASE = re.compile(r"[-_ ](base|pt)$", re.IGNORECASE)
_CHAT = re.compile(r"[-_ ](chat|instruct|it)$", re.IGNORECASE)


def alignment_section(evidence: Evidence) -> Section | None:
    """Each chat model less its base model, known by the card's kind, else by the name's ending
    (``-Base``, ``-Instruct``, ``-Chat``; where one is called base, its namesake is the other). None
    without such a pair."""
    ranked = ranked_values(evidence)
    if ranked is None:
        return None
    by_model: dict[str, dict[str, int]] = {}
    rows = list(enumerate(ranked.group.ranked))
    # Base models first, so that they are the reference.
    for column, row in sorted(rows, key=lambda pair: not _is_base(pair[1])):
        stem = _CHAT.sub("", _BASE.sub("", row.name))
        by_model.setdefault(stem, {}).setdefault("base" if _is_base(row) else "chat", column)
    levels = levels_of(ranked, by_model)
    if levels is None:
        return None
    return describe_factor(
        evidence,
        ranked,
        levels,
        name="alignment",
        title=say("What training to chat changes"),
        matters=say("Training to chat matters"),
        otherwise=say("Training to chat makes no difference here that luck would not make too."),
    )


def _is_base(row: BoardRow) -> bool:
    if row.card is not None and row.card.kind:
        return row.card.kind == "base"
    return _BASE.search(row.name) is not None
