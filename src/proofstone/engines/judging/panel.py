"""Asking judges: each in one or several orders, re-asked a bounded number of times, then voted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, structs

from proofstone.engines.judging.arranging import arrangements
from proofstone.engines.judging.posing import ReplyForm, label_schema, pose
from proofstone.engines.judging.reading import read_label
from proofstone.engines.judging.votes import PanelRules, decide
from proofstone.errors import BadUsage, CallFailed
from proofstone.records import Ballot, Heard, JudgeQuestion, Message, PanelVerdict, Reply

__all__ = ["JudgeModel", "JudgingRules", "Panel"]


class JudgeModel(Protocol):
    """A model as a judge: cached, limited, budgeted and recorded by whoever hands it in.

    ``takes_schema``: its endpoint holds replies to a JSON schema. Raises CallFailed when no reply
    came.
    """

    name: str
    takes_schema: bool

    async def __call__(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, reask: int
    ) -> Reply:
        """The reply to one request; ``reask`` tells repeated ones apart in the cache."""
        ...


class JudgingRules(Struct, frozen=True, kw_only=True):
    """How each judge is asked: in how many ``orders`` of labels and compared texts, and how often
    again in each where no label could be read (``reasks``)."""

    orders: int = 1
    reasks: int = 2


class Panel:
    """One judge or several, and the rules by which they decide.

    Raises BadUsage for no judge, one named twice, or a quorum that they cannot reach.
    """

    def __init__(
        self,
        judges: Sequence[JudgeModel],
        *,
        asking: JudgingRules | None = None,
        rules: PanelRules | None = None,
    ) -> None:
        self._judges = tuple(judges)
        self._asking = asking or JudgingRules()
        self.rules = rules or PanelRules()
        _check(self._judges, self._asking, self.rules)

    @property
    def names(self) -> tuple[str, ...]:
        """The judges' names, in their order."""
        return tuple(judge.name for judge in self._judges)

    async def decide(self, question: JudgeQuestion) -> PanelVerdict:
        """All judges asked at once, and what they come to. Raises BadUsage for a question without
        two different labels, or a tie rule that is none of them."""
        _check_labels(question, self.rules)
        asked = (_ballot(judge, question, self._asking) for judge in self._judges)
        return decide(await asyncio.gather(*asked), self.rules)


async def _ballot(judge: JudgeModel, question: JudgeQuestion, rules: JudgingRules) -> Ballot:
    """One judge's ballot. A failure in any order ends it: half a hearing is no vote."""
    heard: list[Heard] = []
    try:
        for order, arranged in enumerate(arrangements(question, rules.orders)):
            heard += await _hear(judge, arranged, order, rules.reasks)
    except CallFailed as failure:
        return Ballot(judge=judge.name, state="failed", trouble=failure.kind, heard=tuple(heard))
    return _counted(Ballot(judge=judge.name, state="unparsed", heard=tuple(heard)))


async def _hear(judge: JudgeModel, question: JudgeQuestion, order: int, reasks: int) -> list[Heard]:
    form: ReplyForm = "json" if judge.takes_schema else "line"
    schema = label_schema(question) if judge.takes_schema else None
    heard: list[Heard] = []
    for reask in range(reasks + 1):
        reply = await judge(pose(question, form, is_again=reask > 0), schema=schema, reask=reask)
        read = read_label(reply, question.names, form)
        listed_at = question.names.index(read.label) if read.label else -1
        heard.append(
            Heard(
                order=order,
                reask=reask,
                label=read.label,
                reason=read.reason,
                trouble=read.trouble,
                listed_at=listed_at,
            )
        )
        if read.label:
            break
    return heard


def _counted(ballot: Ballot) -> Ballot:
    """The vote of a judge who was heard: the label of more than half of the orders in which it
    gave one."""
    labels = [heard.label for heard in ballot.heard if heard.label]
    if not labels:
        trouble = ballot.heard[-1].trouble if ballot.heard else ""
        return structs.replace(ballot, trouble=trouble)
    label, n = Counter(labels).most_common(1)[0]
    if 2 * n <= len(labels):
        return structs.replace(ballot, state="split")
    reason = next(heard.reason for heard in ballot.heard if heard.label == label)
    return structs.replace(ballot, state="voted", label=label, reason=reason)


def _check(judges: Sequence[JudgeModel], asking: JudgingRules, rules: PanelRules) -> None:
    names = [judge.name for judge in judges]
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if not names:
        raise BadUsage("a panel needs a judge", hint="name one: --judge provider/model")
    if twice:
        raise BadUsage(f"{', '.join(twice)} would judge twice; each judge has one vote")
    if rules.quorum > len(names):
        raise BadUsage(f"a quorum of {rules.quorum} cannot be had from {len(names)} judges")
    if asking.orders < 1 or asking.reasks < 0:
        raise BadUsage("a judge is asked in one order at least, and never fewer than 0 times again")


def _check_labels(question: JudgeQuestion, rules: PanelRules) -> None:
    folded = {name.casefold() for name in question.names}
    if len(folded) < 2 or len(folded) < len(question.names) or not all(question.names):
        raise BadUsage(f"labels must be two or more different words, not {question.names}")
    if rules.tie and rules.tie not in question.names:
        raise BadUsage(f"the tie rule gives {rules.tie!r}, which is none of {question.names}")
