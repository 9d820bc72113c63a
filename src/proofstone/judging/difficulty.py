"""Whether a question stays, by how many members of a panel got it wrong.

Published filters are one rule with different numbers: keep where at least k are wrong. KINA keeps
what 3 of 5 miss; Chinese SimpleQA drops what all 5 get right (k = 1); ELAIPBench keeps what all 3
miss (k = n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from proofstone.errors import BadUsage

MemberState = Literal["right", "wrong", "unparsed", "failed"]


class MemberAnswer(Struct, frozen=True, gc=False, kw_only=True):
    """What one member came to. ``unparsed``: it replied, and no answer could be read; ``failed``:
    it did not reply, or nobody could score it (``trouble`` says why). ``answer`` is what was read.
    """

    member: str
    state: MemberState
    answer: str = ""
    trouble: str = ""


class DifficultyRule(Struct, frozen=True):
    """Keep a question where at least ``least_wrong`` of ``n`` members are wrong."""

    n: int
    least_wrong: int

    def __post_init__(self) -> None:
        """Raises BadUsage for numbers that cannot be."""
        if not 1 <= self.least_wrong <= self.n:
            raise BadUsage(
                f"a panel of {self.n} keeps what 1 to {self.n} of them get wrong, not "
                f"{self.least_wrong}",
                hint="name more members, or ask for fewer wrong ones",
            )

    def __str__(self) -> str:
        if self.least_wrong == self.n:
            return f"kept if all {self.n} are wrong"
        if self.least_wrong == 1:
            return f"dropped if all {self.n} are right"
        return f"kept if at least {self.least_wrong} of {self.n} are wrong"


class PanelDecision(Struct, frozen=True, kw_only=True):
    """``keep``, ``drop``, or ``blocked``: a member is missing, and nothing is decided without it.
    ``wrong`` counts the ``unparsed`` ones too."""

    state: Literal["keep", "drop", "blocked"]
    right: int
    wrong: int
    unparsed: int
    missing: tuple[str, ...]
    answers: tuple[MemberAnswer, ...]
    rule: DifficultyRule


def at_least_wrong(k: int, n: int) -> DifficultyRule:
    """Keep what at least k of n members get wrong. Raises BadUsage."""
    return DifficultyRule(n, k)


def not_all_right(n: int) -> DifficultyRule:
    """Drop what all n members get right. Raises BadUsage."""
    return DifficultyRule(n, 1)


def all_wrong(n: int) -> DifficultyRule:
    """Keep only what all n members get wrong. Raises BadUsage."""
    return DifficultyRule(n, n)


def decide_difficulty(answers: Sequence[MemberAnswer], rule: DifficultyRule) -> PanelDecision:
    """What the answers of all members come to, in any order.

    A member that failed blocks the decision, also where the others would settle it: a panel that
    shrinks where an endpoint is down is another panel. Raises BadUsage where the answers are not
    those of ``rule.n`` different members.
    """
    names = [answer.member for answer in answers]
    if len(names) != rule.n or len(set(names)) != rule.n:
        raise BadUsage(
            f"a panel of {rule.n} decides by {rule.n} answers of different members, not by "
            f"{len(names)} of {len(set(names))}"
        )
    count = {state: sum(answer.state == state for answer in answers) for state in _STATES}
    wrong = count["wrong"] + count["unparsed"]
    missing = tuple(answer.member for answer in answers if answer.state == "failed")
    kept: Literal["keep", "drop"] = "keep" if wrong >= rule.least_wrong else "drop"
    return PanelDecision(
        state="blocked" if missing else kept,
        right=count["right"],
        wrong=wrong,
        unparsed=count["unparsed"],
        missing=missing,
        answers=tuple(answers),
        rule=rule,
    )


_STATES: tuple[MemberState, ...] = ("right", "wrong", "unparsed", "failed")
