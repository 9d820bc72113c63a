"""What panels made of one question over many rows: how it was decided, and each judge's part."""

from __future__ import annotations

from msgspec import Struct

from proofstone.engines.judging.accounts import JudgeAccount, JudgeTally
from proofstone.records import PanelVerdict

__all__ = ["QuestionAccount", "QuestionTally"]


class QuestionAccount(Struct, frozen=True, kw_only=True):
    """One question of a step over its ``n`` verdicts: those ``decided`` (by the tie rule:
    ``by_rule``), ``tied`` and without a quorum; those ``unanimous`` had two votes or more, all for
    one label. ``labels`` counts what was decided."""

    step: str
    question: str
    n: int
    decided: int
    by_rule: int
    tied: int
    no_quorum: int
    unanimous: int
    labels: dict[str, int]
    judges: tuple[JudgeAccount, ...]


class QuestionTally:
    """Adds up the verdicts of one question."""

    def __init__(self) -> None:
        self._judges = JudgeTally()
        self._labels: dict[str, int] = {}
        self._states = {"decided": 0, "tied": 0, "no_quorum": 0}
        self._by_rule = self._unanimous = 0

    def add(self, verdict: PanelVerdict) -> None:
        """Counts one verdict."""
        self._judges.add(verdict)
        self._states[verdict.state] += 1
        self._by_rule += verdict.by_rule
        votes = verdict.votes()
        self._unanimous += len(votes) == 1 and sum(votes.values()) > 1
        if verdict.label:
            self._labels[verdict.label] = self._labels.get(verdict.label, 0) + 1

    def account(self, step: str, question: str) -> QuestionAccount:
        """What was counted."""
        return QuestionAccount(
            step=step,
            question=question,
            n=sum(self._states.values()),
            decided=self._states["decided"],
            tied=self._states["tied"],
            no_quorum=self._states["no_quorum"],
            by_rule=self._by_rule,
            unanimous=self._unanimous,
            labels=dict(sorted(self._labels.items())),
            judges=self._judges.accounts(),
        )
