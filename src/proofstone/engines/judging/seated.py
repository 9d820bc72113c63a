"""The judges of a build: a model at each seat of a role, and how they come to one verdict a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from proofstone.engines.judging.panel import JudgingRules, Panel
from proofstone.engines.judging.row_judge import RowJudge
from proofstone.errors import BadUsage, CallFailed
from proofstone.ports import Parameter, StepContext
from proofstone.records import (
    JudgeQuestion,
    Majority,
    PanelRules,
    PanelVerdict,
    RowVerdict,
    seats_of,
)

__all__ = [
    "TIED",
    "UNJUDGED",
    "SeatedJudges",
    "panel_parameters",
    "seated_judges",
    "why_undecided",
]

_ROLE = "judge"
UNJUDGED, TIED = "not judged", "judges tied"
_REASKS = 2


class SeatedJudges(Struct, frozen=True, kw_only=True):
    """The judges of a build in a ``role``: the model at each seat, and how they decide. Of one
    judge the quorum is itself and there are no ties."""

    seats: dict[str, str]
    role: str = _ROLE
    votes: int = 1
    orders: int = 1
    quorum: int = 1
    majority: Majority = "half"
    tie: str = "drop"

    @property
    def is_panel(self) -> bool:
        """Whether they are several."""
        return len(self.seats) > 1

    @property
    def asks(self) -> tuple[str, ...]:
        """The seats that a step of theirs asks; the role where nobody is named."""
        return tuple(self.seats) or (self.role,)

    @property
    def silent(self) -> tuple[str, ...]:
        """Why a step drops what they do not decide."""
        return (UNJUDGED, TIED) if self.is_panel and self.tie == "drop" else (UNJUDGED,)

    def config(self) -> dict[str, Any]:
        """What a step of theirs depends on besides its question, its votes and the models. What is
        as usual is not in it, so that one judge's steps are those that they were before panels."""
        found: dict[str, Any] = {"reasks": _REASKS}
        if self.orders > 1:
            found["orders"] = self.orders
        if self.is_panel:
            found |= {"quorum": self.quorum, "majority": self.majority, "tie": self.tie}
        return found

    async def ask(
        self,
        context: StepContext,
        name: str,
        question: JudgeQuestion,
        *,
        votes: int = 1,
        kept_by_tie: str = "",
    ) -> PanelVerdict:
        """What they come to on a ``question``, which is called ``name``; kept with the row.
        ``kept_by_tie`` is the label that a tie comes to where ties keep rows.

        A judge whose call failed is no vote. Where the others decide without it, their decision
        stands; else CallFailed passes, and the row waits for it.
        """
        tie = kept_by_tie if self.is_panel and self.tie == "keep" else ""
        panel = Panel(
            [RowJudge(context.calls[seat], name, name=model) for seat, model in self.seats.items()],
            asking=JudgingRules(votes=votes, orders=self.orders, reasks=_REASKS),
            rules=PanelRules(quorum=self.quorum, majority=self.majority, tie=tie),
        )
        verdict = await panel.decide(question)
        failed = next((each for each in verdict.ballots if each.state == "failed"), None)
        if failed is not None and (verdict.state != "decided" or verdict.by_rule):
            raise CallFailed(failed.trouble, f"the judge {failed.judge} was not heard")
        context.verdicts.append(RowVerdict(question=name, verdict=verdict))
        return verdict


def panel_parameters(*, votes: str, orders: str, tie: str, usual_tie: str) -> tuple[Parameter, ...]:
    """The parameters of a build whose judges may be a panel; the texts say what votes are asked
    of, what has orders, and what becomes of a tie."""
    return (
        Parameter(name="votes", kind="int", default=1, help=votes),
        Parameter(name="orders", kind="int", default=1, help=orders),
        Parameter(
            name="quorum",
            kind="int",
            default=0,
            help="Judges of a panel that must have voted; 0: all of them.",
        ),
        Parameter(
            name="majority",
            kind="choice",
            default="half",
            choices=("half", "most", "all"),
            help="What decides in a panel: more than half of the votes cast, the most, or all.",
        ),
        Parameter(name="tie", kind="choice", default=usual_tie, choices=("drop", "keep"), help=tie),
    )


def seated_judges(
    params: Mapping[str, Any], models: Mapping[str, str], role: str = _ROLE
) -> SeatedJudges:
    """The judges in a role among the models of a build, by ``panel_parameters``. Raises BadUsage
    for what they cannot be."""
    seats = seats_of(role, models)
    for name in ("votes", "orders"):
        if params[name] < 1:
            raise BadUsage(f"--{name} is 1 or more, not {params[name]}")
    n = max(1, len(seats))
    if not 0 <= params["quorum"] <= n:
        judges = "1 judge" if n == 1 else f"{n} judges"
        raise BadUsage(f"a quorum of {params['quorum']} cannot be had from {judges}")
    return SeatedJudges(
        seats=seats,
        role=role,
        votes=params["votes"],
        orders=params["orders"],
        quorum=params["quorum"] or n,
        majority=params["majority"],
        tie=params["tie"],
    )


def why_undecided(verdict: PanelVerdict) -> str:
    """The reason of a drop for want of a decision."""
    return TIED if verdict.state == "tied" else UNJUDGED
