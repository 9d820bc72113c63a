"""From ballots to a verdict: quorum, majority and what a tie is worth."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.records import Ballot, Majority, PanelRules, PanelVerdict

__all__ = ["decide", "without"]


def decide(ballots: Sequence[Ballot], rules: PanelRules) -> PanelVerdict:
    """What ballots come to, in any order. Raises BadUsage for a quorum below 1."""
    if rules.quorum < 1:
        raise BadUsage(f"a panel needs a quorum of one judge at least, not {rules.quorum}")
    made = PanelVerdict(state="no_quorum", ballots=tuple(ballots), rules=rules)
    votes = made.votes()
    cast = sum(votes.values())
    if cast < rules.quorum:
        return made
    most = max(votes.values())
    leaders = [label for label, n in votes.items() if n == most]
    if len(leaders) == 1 and _suffices(most, cast, rules.majority):
        return structs.replace(made, state="decided", label=leaders[0])
    if rules.tie:
        return structs.replace(made, state="decided", label=rules.tie, by_rule=True)
    return structs.replace(made, state="tied")


def without(verdict: PanelVerdict, judge: str) -> PanelVerdict:
    """The verdict that the other judges alone come to by the same rules, their quorum one less
    where all were needed."""
    left = [ballot for ballot in verdict.ballots if ballot.judge != judge]
    quorum = max(1, min(verdict.rules.quorum, len(left)))
    return decide(left, structs.replace(verdict.rules, quorum=quorum))


def _suffices(most: int, cast: int, majority: Majority) -> bool:
    if majority == "all":
        return most == cast
    return majority == "most" or 2 * most > cast
