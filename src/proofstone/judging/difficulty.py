"""Whether a question stays, by how many members of a panel got it wrong.

Published filters are one rule with different numbers: keep where at least k are wrong. KINA keeps
what 3 of 5 miss; Chinese SimpleQA drops what all 5 get right (k = 1); ELAIPBench keeps what all 3
miss (k = n).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from msgspec import Struct

from proofstone.errors import BadUsage, CallFailed, NotAsked
from proofstone.records.builds import Drop, Kept, Step, StepContext
from proofstone.records.calls import Message
from proofstone.records.items import Oracle
from proofstone.records.knowledge import Role
from proofstone.records.runs import Outcome, Response, Score

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


# A panel as a step of a build: rows that are too easy are dropped, with who got them right.

# All members of a panel asked at once, each reply scored by the method's own rule.

Ask = Callable[[], Awaitable[Response]]


# The method's scorer of one reply; None where it could not be scored (a judge was not heard).
Rate = Callable[[Response], Awaitable[Score | None]]


# A refusal is an answer that is not right; what nobody can read is wrong too, and counted apart.
_STATE_OF: Mapping[Outcome, MemberState] = {
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
    return MemberAnswer(
        member=member, state=_STATE_OF.get(score.outcome, state), answer=score.answer
    )


async def _answer(name: str, ask: Ask, rate: Rate) -> MemberAnswer:
    try:
        return member_answer(name, await rate(await ask()))
    except NotAsked:
        raise
    except CallFailed as failure:
        return MemberAnswer(member=name, state="failed", trouble=failure.kind)


TOO_EASY = "too easy"


class PanelFilter(Struct, frozen=True, kw_only=True):
    """How a panel filters rows. ``slots`` are the models by seat; ``messages`` puts a row's
    question, ``rate`` scores a reply to it by the method's own rule, with the judge of the step
    where that needs one (None: not scored). ``kept`` writes the decision into the row that goes on;
    without it the row stays as it is. ``oracle`` is what simulated members may look at."""

    slots: Mapping[str, str]
    rule: DifficultyRule
    messages: Callable[[Any], Sequence[Message]]
    rate: Callable[[Any, Response, StepContext], Awaitable[Score | None]]
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
    if len(set(panel.slots.values())) != panel.rule.n or len(panel.slots) != panel.rule.n:
        raise BadUsage(
            f"a panel of {panel.rule.n} needs so many different models, not "
            f"{', '.join(panel.slots.values()) or 'none'}"
        )
    rule = {"n": panel.rule.n, "least_wrong": panel.rule.least_wrong}
    return Step(
        name=name,
        version=version,
        takes=takes,
        work=partial(_work, panel),
        reasons=(TOO_EASY,),
        config={**config, "panel": rule},
        asks=(*panel.slots, *judges),
    )


def filtered_roles(slots: Mapping[str, str]) -> tuple[Role, ...]:
    """The part that members had in what is left: they filtered it."""
    return tuple(Role("filtered", model) for model in dict.fromkeys(slots.values()))


async def _work(panel: PanelFilter, row: Any, context: StepContext) -> Kept:
    messages = panel.messages(row)
    oracle = None if panel.oracle is None else panel.oracle(row)
    asks = {
        model: partial(context.calls[slot], "panel", messages, oracle=oracle)
        for slot, model in panel.slots.items()
    }
    answers = await ask_members(asks, lambda response: panel.rate(row, response, context))
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
