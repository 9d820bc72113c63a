"""Asking judges: each in one or several orders, re-asked a bounded number of times, then voted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, structs

from proofstone.engines.judging.arranging import arrangements
from proofstone.engines.judging.posing import ReplyForm, label_schema, pose
from proofstone.engines.judging.reading import read_label
from proofstone.engines.judging.votes import decide
from proofstone.errors import BadUsage, CallFailed, NotAsked
from proofstone.records import (
    Ballot,
    Heard,
    JudgeQuestion,
    Message,
    PanelRules,
    PanelVerdict,
    Reply,
)

__all__ = ["JudgeModel", "JudgingRules", "Panel"]


class JudgeModel(Protocol):
    """A model as a judge: cached, limited, budgeted and recorded by whoever hands it in.

    ``takes_schema``: its endpoint holds replies to a JSON schema. Raises CallFailed when no reply
    came.
    """

    name: str
    takes_schema: bool

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Reply:
        """The reply to one request; ``reask`` and ``vote`` tell it from others in the cache."""
        ...


class JudgingRules(Struct, frozen=True, kw_only=True):
    """How each judge is asked: for how many ``votes``, each in how many ``orders`` of labels and
    compared texts, and how often again in each where no label could be read (``reasks``)."""

    votes: int = 1
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
        two different labels, or a tie rule that is none of them; NotAsked, once all have ended,
        where one was not asked: that says nothing of the judge."""
        _check_labels(question, self.rules)
        asked = (_ballot(judge, question, self._asking) for judge in self._judges)
        return decide(await _all(asked), self.rules)


async def _all(asked: Iterable[Awaitable[Ballot]]) -> list[Ballot]:
    """What all come to. The first that raises is heard only when nobody is at work any more."""
    found = await asyncio.gather(*asked, return_exceptions=True)
    ballots = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        ballots.append(each)
    return ballots


async def _ballot(judge: JudgeModel, question: JudgeQuestion, rules: JudgingRules) -> Ballot:
    """One judge's ballot. A failure in any vote or order ends it: half a hearing is no vote."""
    votes = await asyncio.gather(
        *(_vote(judge, question, vote, rules) for vote in range(rules.votes))
    )
    heard = tuple(each for replies, _trouble in votes for each in replies)
    trouble = next((trouble for _replies, trouble in votes if trouble), "")
    if trouble:
        return Ballot(judge=judge.name, state="failed", trouble=trouble, heard=heard)
    return _counted(Ballot(judge=judge.name, state="unparsed", heard=heard), rules.votes)


async def _vote(
    judge: JudgeModel, question: JudgeQuestion, vote: int, rules: JudgingRules
) -> tuple[list[Heard], str]:
    """What was heard for one vote, and the kind of the failure that ended it."""
    heard: list[Heard] = []
    try:
        for order, arranged in enumerate(arrangements(question, rules.orders)):
            heard += await _hear(judge, arranged, vote, order, rules.reasks)
    except NotAsked:
        raise
    except CallFailed as failure:
        return heard, failure.kind
    return heard, ""


async def _hear(
    judge: JudgeModel, question: JudgeQuestion, vote: int, order: int, reasks: int
) -> list[Heard]:
    form: ReplyForm = "json" if judge.takes_schema else "line"
    schema = label_schema(question) if judge.takes_schema else None
    heard: list[Heard] = []
    for reask in range(reasks + 1):
        posed = pose(question, form, is_again=reask > 0)
        reply = await judge(posed, schema=schema, reask=reask, vote=vote)
        read = read_label(reply, question.names, form, question.citing)
        listed_at = question.names.index(read.label) if read.label else -1
        heard.append(
            Heard(
                order=order,
                reask=reask,
                label=read.label,
                reason=read.reason,
                trouble=read.trouble,
                listed_at=listed_at,
                vote=vote,
                cited=read.cited,
            )
        )
        if read.label:
            break
    return heard


def _counted(ballot: Ballot, n_votes: int) -> Ballot:
    """The ballot of a judge who was heard: the label of more than half of its votes, all of which
    must be there; each is the label of more than half of the orders in which it gave one."""
    votes = []
    for vote in range(n_votes):
        heard = [each for each in ballot.heard if each.vote == vote]
        labels = [each.label for each in heard if each.label]
        if not labels:
            return structs.replace(ballot, trouble=heard[-1].trouble if heard else "")
        votes.append(_of_most(labels))
    label = _of_most(votes) if all(votes) else ""
    if not label:
        return structs.replace(ballot, state="split")
    first = next(heard for heard in ballot.heard if heard.label == label)
    return structs.replace(
        ballot, state="voted", label=label, reason=first.reason, cited=first.cited
    )


def _of_most(labels: Sequence[str]) -> str:
    """The label of more than half of them, or none."""
    label, n = Counter(labels).most_common(1)[0]
    return label if 2 * n > len(labels) else ""


def _check(judges: Sequence[JudgeModel], asking: JudgingRules, rules: PanelRules) -> None:
    names = [judge.name for judge in judges]
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if not names:
        raise BadUsage("a panel needs a judge", hint="name one: --judge provider/model")
    if twice:
        raise BadUsage(f"{', '.join(twice)} would judge twice; each judge has one vote")
    if rules.quorum > len(names):
        raise BadUsage(f"a quorum of {rules.quorum} cannot be had from {len(names)} judges")
    if asking.votes < 1 or asking.orders < 1 or asking.reasks < 0:
        raise BadUsage(
            "a judge has one vote and is asked in one order at least, and never fewer than 0 times "
            "again"
        )


def _check_labels(question: JudgeQuestion, rules: PanelRules) -> None:
    folded = {name.casefold() for name in question.names}
    if len(folded) < 2 or len(folded) < len(question.names) or not all(question.names):
        raise BadUsage(f"labels must be two or more different words, not {question.names}")
    if rules.tie and rules.tie not in question.names:
        raise BadUsage(f"the tie rule gives {rules.tie!r}, which is none of {question.names}")
