"""What a contestant did to the material, in a sentence, with its figure on the rest."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.report.board import BoardRow, Hand, HandRole
from proofstone.report.numbers import shown_estimate, shown_rank
from proofstone.wording import counted, joined

__all__ = ["HAND_MARK", "deeds", "hand_sentence", "marked"]

# Stands behind the name of a respondent that, or whose family, had a hand in its items.
HAND_MARK = "*"


def marked(row: BoardRow) -> str:
    """The respondent's name, with the mark where it or its family had a hand in its items."""
    return row.name if row.hand is None else f"{row.name}{HAND_MARK}"


def hand_sentence(row: BoardRow, hand: Hand) -> str:
    """``wrote 12 and falsified 30 of the 60 items; on the other 26: 61.5 [45.0, 75.8], rank 2``."""
    n_items = row.estimate.n
    on_all = f"{deeds(hand)} of the {counted(n_items, 'item')}"
    left = n_items - hand.n_touched
    if not left:
        return f"{on_all}; none is left without that hand"
    rank = "" if hand.rank is None else f", rank {shown_rank(hand.rank)}"
    return f"{on_all}; on the other {left:,}: {shown_estimate(hand.untouched)}{rank}"


def deeds(hand: Hand) -> str:
    """What the model itself did, then what others of its family did."""
    own = [role for role in hand.roles if role.is_itself]
    kin: dict[str, list[HandRole]] = {}
    for role in hand.roles:
        if not role.is_itself:
            kin.setdefault(role.model, []).append(role)
    said = [_listed(own)] if own else []
    said += [f"its family's {model} {_listed(roles)}" for model, roles in kin.items()]
    return joined(said)


def _listed(roles: Sequence[HandRole]) -> str:
    return joined([f"{role.role} {role.n_items:,}" for role in roles])
