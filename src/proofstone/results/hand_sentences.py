"""What a contestant did to the material, in a sentence, with its figure on the rest."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.page.numbers import shown_estimate, shown_rank
from proofstone.results.board import BoardRow, Hand, HandRole
from proofstone.wording.messages import counted, joined, say, word

# Stands behind the name of a respondent that, or whose family, had a hand in its items.
HAND_MARK = "*"


def marked(row: BoardRow) -> str:
    """The respondent's name, with the mark where it or its family had a hand in its items."""
    return row.name if row.hand is None else f"{row.name}{HAND_MARK}"


def hand_sentence(row: BoardRow, hand: Hand) -> str:
    """``wrote 12 and falsified 30 of the 60 items; on the other 26: 61.5 [45.0, 75.8], rank 2``."""
    n_items = row.estimate.n
    did = {"did": deeds(hand), "items": counted(n_items, "item")}
    left = n_items - hand.n_touched
    if not left:
        return say("{did} of the {items}; none is left without that hand", **did)
    score = shown_estimate(hand.untouched)
    if hand.rank is None:
        return say("{did} of the {items}; on the other {n:,}: {score}", n=left, score=score, **did)
    return say(
        "{did} of the {items}; on the other {n:,}: {score}, rank {rank}",
        n=left,
        score=score,
        rank=shown_rank(hand.rank),
        **did,
    )


def deeds(hand: Hand) -> str:
    """What the model itself did, then what others of its family did."""
    own = [role for role in hand.roles if role.is_itself]
    kin: dict[str, list[HandRole]] = {}
    for role in hand.roles:
        if not role.is_itself:
            kin.setdefault(role.model, []).append(role)
    said = [_listed(own)] if own else []
    said += [
        say("its family's {model} {did}", model=model, did=_listed(roles))
        for model, roles in kin.items()
    ]
    return joined(said)


def _listed(roles: Sequence[HandRole]) -> str:
    return joined([say("{role} {n:,}", role=word(role.role), n=role.n_items) for role in roles])
