"""A panel as a step of a build: rows that are too easy are dropped, with who got them right."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from proofstone.errors import BadUsage, CallFailed, NotAsked
from proofstone.judging.difficulty import (
    DifficultyRule,
    MemberAnswer,
    MemberState,
    PanelDecision,
    decide_difficulty,
)
from proofstone.records.building import Drop, Kept, Step, StepContext
from proofstone.records.calls import Message
from proofstone.records.items import Oracle
from proofstone.records.knowledge import Role
from proofstone.records.runs import Outcome, Reply, Score

# All members of a panel asked at once, each reply scored by the method's own rule.

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


TOO_EASY = "too easy"


class PanelFilter(Struct, frozen=True, kw_only=True):
    """How a panel filters rows. ``seats`` are the models by seat; ``messages`` puts a row's
    question, ``rate`` scores a reply to it by the method's own rule, with the judge of the step
    where that needs one (None: not scored). ``kept`` writes the decision into the row that goes on;
    without it the row stays as it is. ``oracle`` is what simulated members may look at."""

    seats: Mapping[str, str]
    rule: DifficultyRule
    messages: Callable[[Any], Sequence[Message]]
    rate: Callable[[Any, Reply, StepContext], Awaitable[Score | None]]
    kept: Callable[[Any, PanelDecision], Struct] | None = None
    oracle: Callable[[Any], Oracle] | None = None


def panel_step(
    name: str,
    panel: PanelFilter,
    *,
    version: int,
    takes: type[Struct],
    config: Mapping[str, Any],
    judges: Sequence[str] = (),
) -> Step:
    """The step that asks all of a panel about each row. ``config`` is what the messages and the
    rating depend on (prompts, the scorer's version); ``judges`` are seats that the rating asks.

    A row whose panel is blocked raises CallFailed and is tried again the next time; members that
    have answered are not asked again, for their replies are kept. Raises BadUsage where the seats
    are not those of ``rule.n`` different models.
    """
    if len(set(panel.seats.values())) != panel.rule.n or len(panel.seats) != panel.rule.n:
        raise BadUsage(
            f"a panel of {panel.rule.n} needs so many different models, not "
            f"{', '.join(panel.seats.values()) or 'none'}"
        )
    rule = {"n": panel.rule.n, "least_wrong": panel.rule.least_wrong}
    return Step(
        name=name,
        version=version,
        takes=takes,
        work=partial(_work, panel),
        reasons=(TOO_EASY,),
        config={**config, "panel": rule},
        asks=(*panel.seats, *judges),
    )


def filtered_roles(seats: Mapping[str, str]) -> tuple[Role, ...]:
    """The part that members had in what is left: they filtered it."""
    return tuple(Role("filtered", model) for model in dict.fromkeys(seats.values()))


async def _work(panel: PanelFilter, row: Any, context: StepContext) -> Kept:
    messages = panel.messages(row)
    oracle = None if panel.oracle is None else panel.oracle(row)
    asks = {
        model: partial(context.calls[seat], "panel", messages, oracle=oracle)
        for seat, model in panel.seats.items()
    }
    answers = await ask_members(asks, lambda reply: panel.rate(row, reply, context))
    decision = decide_difficulty(answers, panel.rule)
    if decision.state == "blocked":
        failed = next(answer for answer in answers if answer.state == "failed")
        raise CallFailed(failed.trouble, f"{failed.member} of the panel gave no answer")
    if decision.state == "drop":
        return Drop(TOO_EASY, _told(decision))
    return row if panel.kept is None else panel.kept(row, decision)


def _told(decision: PanelDecision) -> str:
    """How many were right, and who was not."""
    wrong = [answer.member for answer in decision.answers if answer.state != "right"]
    others = f"; not {', '.join(wrong)}" if wrong else ""
    return f"{decision.right} of {decision.rule.n} right{others}"
