"""The questions that judges are asked of statements, by one judge or a panel of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec
from msgspec import Struct

from proofstone.engines.judging import JudgingRules, Panel, RowJudge
from proofstone.errors import BadUsage, CallFailed
from proofstone.identity import digest
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.ports import Parameter, StepContext
from proofstone.records import (
    Exhibit,
    JudgeQuestion,
    Label,
    Majority,
    PanelRules,
    PanelVerdict,
    RowVerdict,
    seats_of,
)

__all__ = ["PANEL_PARAMETERS", "Judges", "QuestionName", "judges_of", "why_undecided"]

QuestionName = Literal["standing", "support", "falsity", "reason"]
_UNJUDGED, _TIED = "not judged", "judges tied"
_REASKS = 2
# The label that keeps a row: what a tie comes to under ``--tie keep``.
_KEEPS: Mapping[QuestionName, str] = {
    "standing": "stands",
    "support": "supported",
    "falsity": "false",
    "reason": "fits",
}
PANEL_PARAMETERS = (
    Parameter(
        name="votes",
        kind="int",
        default=1,
        help="Votes of each judge on support and falsity; more than half are its vote.",
    ),
    Parameter(
        name="orders",
        kind="int",
        default=1,
        help="Orders of the labels in which each vote is asked for; more than half decide.",
    ),
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
    Parameter(
        name="tie",
        kind="choice",
        default="drop",
        choices=("drop", "keep"),
        help="What becomes of a row on which a panel has no majority.",
    ),
)


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    labels: dict[str, str]
    names: dict[str, str]


class Judges(Struct, frozen=True, kw_only=True):
    """The judges of a build: the model at each seat, and how they decide. Of one judge the quorum
    is itself and there are no ties."""

    seats: dict[str, str]
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
        return tuple(self.seats) or ("judge",)

    @property
    def silent(self) -> tuple[str, ...]:
        """Why a step drops what they do not decide."""
        return (_UNJUDGED, _TIED) if self.is_panel and self.tie == "drop" else (_UNJUDGED,)

    def config(self, name: QuestionName, votes: int = 1) -> dict[str, Any]:
        """What a step that asks this question depends on besides its row and the models. What is
        as usual is not in it, so that one judge's steps are those that they were before panels."""
        words = digest(_text("en") + _text("zh")).hex()
        found: dict[str, Any] = {
            "question": name, "votes": votes, "reasks": _REASKS, "words": words,
        }  # fmt: skip
        if self.orders > 1:
            found["orders"] = self.orders
        if self.is_panel:
            found |= {"quorum": self.quorum, "majority": self.majority, "tie": self.tie}
        return found

    async def ask(
        self,
        context: StepContext,
        name: QuestionName,
        language: str,
        texts: Mapping[str, str],
        *,
        votes: int = 1,
    ) -> PanelVerdict:
        """What they come to on ``texts``, by their names in the question; kept with the row.

        A judge whose call failed is no vote. Where the others decide without it, their decision
        stands; else CallFailed passes, and the row waits for it.
        """
        tie = _KEEPS[name] if self.is_panel and self.tie == "keep" else ""
        panel = Panel(
            [RowJudge(context.calls[seat], name, name=model) for seat, model in self.seats.items()],
            asking=JudgingRules(votes=votes, orders=self.orders, reasks=_REASKS),
            rules=PanelRules(quorum=self.quorum, majority=self.majority, tie=tie),
        )
        verdict = await panel.decide(_question(name, language, texts))
        failed = next((each for each in verdict.ballots if each.state == "failed"), None)
        if failed is not None and (verdict.state != "decided" or verdict.by_rule):
            raise CallFailed(failed.trouble, f"the judge {failed.judge} was not heard")
        context.verdicts.append(RowVerdict(question=name, verdict=verdict))
        return verdict


def judges_of(params: Mapping[str, Any], models: Mapping[str, str]) -> Judges:
    """The judges among the models of a build. Raises BadUsage for parameters that cannot be."""
    seats = seats_of("judge", models)
    for name in ("votes", "orders"):
        if params[name] < 1:
            raise BadUsage(f"--{name} is 1 or more, not {params[name]}")
    n = max(1, len(seats))
    if not 0 <= params["quorum"] <= n:
        judges = "1 judge" if n == 1 else f"{n} judges"
        raise BadUsage(f"a quorum of {params['quorum']} cannot be had from {judges}")
    return Judges(
        seats=seats,
        votes=params["votes"],
        orders=params["orders"],
        quorum=params["quorum"] or n,
        majority=params["majority"],
        tie=params["tie"],
    )


def why_undecided(verdict: PanelVerdict) -> str:
    """The reason of a drop for want of a decision."""
    return _TIED if verdict.state == "tied" else _UNJUDGED


def _question(name: QuestionName, language: str, texts: Mapping[str, str]) -> JudgeQuestion:
    asked = _questions(_kind(language))[name]
    return JudgeQuestion(
        task=asked.task,
        labels=tuple(Label(label, meaning) for label, meaning in asked.labels.items()),
        exhibits=tuple(Exhibit(asked.names[part], text) for part, text in texts.items()),
        language=_kind(language),
    )


def _kind(language: str) -> str:
    return "zh" if is_chinese(language) else "en"


@cache
def _questions(kind: str) -> dict[str, _Question]:
    return msgspec.convert(tomllib.loads(_text(kind).decode()), dict[str, _Question])


@cache
def _text(kind: str) -> bytes:
    return (files(__package__) / f"questions.{kind}.toml").read_bytes()
