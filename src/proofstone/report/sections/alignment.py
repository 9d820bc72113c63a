"""What training to chat changes: base models beside the chat models made from them."""

from __future__ import annotations

from proofstone.report.board import BoardRow
from proofstone.report.kinds_of_training import is_base, stem_of
from proofstone.report.sections.factors import describe_factor, levels_of
from proofstone.report.sections.ranked_values import ranked_values
from proofstone.report.sections.section import Evidence, Section
from proofstone.wording import say

__all__ = ["alignment_section"]


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
        by_model.setdefault(stem_of(row.name), {}).setdefault(
            "base" if _is_base(row) else "chat", column
        )
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
        otherwise=say("Chat training has no statistically significant effect."),
    )


def _is_base(row: BoardRow) -> bool:
    return is_base(row.name, "" if row.card is None else row.card.kind)
