"""All members of a panel asked at once, each reply scored by the method's own rule."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from proofstone.engines.panel.difficulty import MemberAnswer, MemberState
from proofstone.errors import CallFailed, NotAsked
from proofstone.records import Outcome, Reply, Score

__all__ = ["Ask", "Rate", "ask_members", "member_answer"]

Ask = Callable[[], Awaitable[Reply]]
# The method's scorer of one reply; None where it could not be scored (a judge was not heard).
Rate = Callable[[Reply], Awaitable[Score | None]]
# A refusal is an answer that is not right; what nobody can read is wrong too, and counted apart.
_STATES: Mapping[Outcome, MemberState] = {
    "refused": "wrong",
    "unparsed": "unparsed",
    "truncated": "unparsed",
    "failed": "failed",
}


async def ask_members(members: Mapping[str, Ask], rate: Rate) -> tuple[MemberAnswer, ...]:
    """The answers of all members, in their order. A call that failed is an answer ``failed``; the
    others are heard all the same. Raises NotAsked, once all have ended, where one was not asked."""
    found = await asyncio.gather(
        *(_answer(name, ask, rate) for name, ask in members.items()), return_exceptions=True
    )
    answers = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        answers.append(each)
    return tuple(answers)


def member_answer(member: str, score: Score | None) -> MemberAnswer:
    """A member's answer by its score: right at 1, wrong below it."""
    if score is None:
        return MemberAnswer(member=member, state="failed", trouble="not scored")
    state: MemberState = "right" if score.value == 1.0 else "wrong"
    return MemberAnswer(member=member, state=_STATES.get(score.outcome, state), answer=score.answer)


async def _answer(name: str, ask: Ask, rate: Rate) -> MemberAnswer:
    try:
        return member_answer(name, await rate(await ask()))
    except NotAsked:
        raise
    except CallFailed as failure:
        return MemberAnswer(member=name, state="failed", trouble=failure.kind)
