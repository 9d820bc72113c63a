"""Filter questions by the number of panel members that answer incorrectly.

Published filters keep questions with at least k incorrect members. KINA keeps questions that 3 of 5
miss. Chinese SimpleQA drops those that all 5 answer correctly (k = 1). ELAIPBench keeps those that
all 3 miss (k = n).
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
    """Hold one member's answer and outcome.

    ``unparsed``: no answer was found in its response. ``failed``: no response, or no score
    (``trouble`` says why). ``answer`` is the parsed answer.
    """

    member: str
    state: MemberState
    answer: str = ""
    trouble: str = ""


class DifficultyRule(Struct, frozen=True):
    """Keep a question if at least ``least_wrong`` of ``n`` members answer incorrectly."""

    n: int
    least_wrong: int

    def __post_init__(self) -> None:
        """Raise BadUsage for invalid numbers."""
        if not 1 <= self.least_wrong <= self.n:
            raise BadUsage(
                f"least_wrong for a panel of {self.n} must be 1 to {self.n}, got "
                f"{self.least_wrong}",
                hint="add panel members, or lower the number",
            )

    def __str__(self) -> str:
        if self.least_wrong == self.n:
            return f"kept if all {self.n} are wrong"
        if self.least_wrong == 1:
            return f"dropped if all {self.n} are right"
        return f"kept if at least {self.least_wrong} of {self.n} are wrong"


class PanelDecision(Struct, frozen=True, kw_only=True):
    """Hold ``keep``, ``drop``, or ``blocked``: a member is missing, so nothing is decided.

    ``wrong`` includes ``unparsed`` answers.
    """

    state: Literal["keep", "drop", "blocked"]
    right: int
    wrong: int
    unparsed: int
    missing: tuple[str, ...]
    answers: tuple[MemberAnswer, ...]
    rule: DifficultyRule


def decide_difficulty(answers: Sequence[MemberAnswer], rule: DifficultyRule) -> PanelDecision:
    """Return the decision from the answers of all members, in any order.

    A failed member blocks the decision, even if the others would settle it: a smaller panel is a
    different panel. Raises BadUsage if the answers are not those of ``rule.n`` different members.
    """
    names = [answer.member for answer in answers]
    if len(names) != rule.n or len(set(names)) != rule.n:
        raise BadUsage(
            f"expected {rule.n} answers of different members, got {len(names)} of {len(set(names))}"
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


# A panel as a build step: easy rows are dropped, with the members that answered correctly.

# Prompt all members of a panel at once; the method's rule scores each response.

Ask = Callable[[], Awaitable[Response]]


# The method's scorer of one response; None without a score (no judge responded).
Rate = Callable[[Response], Awaitable[Score | None]]


# A refusal is incorrect; unparsed answers are incorrect too, and counted separately.
_STATE_OF: Mapping[Outcome, MemberState] = {
    "refused": "wrong",
    "unparsed": "unparsed",
    "truncated": "unparsed",
    "failed": "failed",
}


async def ask_members(members: Mapping[str, Ask], rate: Rate) -> tuple[MemberAnswer, ...]:
    """Return the answers of all members, in order.

    A failed call is an answer ``failed``; the other calls continue. Raises NotAsked after all have
    ended, if one was not called.
    """
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
    """Return a member's answer by its score: correct at 1, incorrect below."""
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


TOO_EASY, NO_ANSWER = "too easy", "no parsed answer"


class PanelFilter(Struct, frozen=True, kw_only=True):
    """Define how a panel filters rows.

    ``slots`` are the models by slot. ``messages`` returns a row's prompt. ``rate`` scores a
    response with the method's rule, or with the step's judge if needed (None: no score). ``kept``
    writes the decision into a kept row; without it the row is unchanged. ``oracle`` is the data for
    simulated members. Rows are dropped for ``reason``. With ``needs_answers`` a row is also dropped
    if it would be kept only because an answer was not parsed.
    """

    slots: Mapping[str, str]
    rule: DifficultyRule
    messages: Callable[[Any, StepContext], Sequence[Message]]
    rate: Callable[[Any, Response, StepContext], Awaitable[Score | None]]
    kept: Callable[[Any, PanelDecision], Struct] | None = None
    oracle: Callable[[Any], Oracle] | None = None
    reason: str = TOO_EASY
    needs_answers: bool = False


def panel_step(
    name: str,
    panel: PanelFilter,
    *,
    version: int,
    takes: type[Struct],
    config: Mapping[str, Any],
    judges: Sequence[str] = (),
    reads: Sequence[str] = (),
) -> Step:
    """Return the step that prompts the panel about each row.

    ``config`` is what the messages and the rating depend on (prompts, the scorer's version).
    ``judges`` are slots that the rating calls, ``reads`` what the messages show. A row with a
    blocked panel raises CallFailed and is retried the next time; stored responses of members are
    reused. Raises BadUsage if the slots are not ``rule.n`` different models.
    """
    if len(set(panel.slots.values())) != panel.rule.n or len(panel.slots) != panel.rule.n:
        raise BadUsage(
            f"expected {panel.rule.n} different models for the panel, got "
            f"{', '.join(panel.slots.values()) or 'none'}"
        )
    rule = {"n": panel.rule.n, "least_wrong": panel.rule.least_wrong}
    return Step(
        name=name,
        version=version,
        takes=takes,
        work=partial(_work, panel),
        reasons=(panel.reason, *((NO_ANSWER,) if panel.needs_answers else ())),
        config={**config, "panel": rule},
        asks=(*panel.slots, *judges),
        reads=tuple(reads),
    )


def filtered_roles(slots: Mapping[str, str]) -> tuple[Role, ...]:
    """Return the role of panel members for kept rows: filtering."""
    return tuple(Role("filtered", model) for model in dict.fromkeys(slots.values()))


async def _work(panel: PanelFilter, row: Any, context: StepContext) -> Kept:
    messages = panel.messages(row, context)
    oracle = None if panel.oracle is None else panel.oracle(row)
    asks = {
        model: partial(context.calls[slot], "panel", messages, oracle=oracle)
        for slot, model in panel.slots.items()
    }
    answers = await ask_members(asks, lambda response: panel.rate(row, response, context))
    decision = decide_difficulty(answers, panel.rule)
    if decision.state == "blocked":
        failed = next(answer for answer in answers if answer.state == "failed")
        raise CallFailed(failed.trouble, f"panel member {failed.member} gave no answer")
    if decision.state == "drop":
        return Drop(panel.reason, _told(decision))
    if panel.needs_answers and decision.wrong - decision.unparsed < panel.rule.least_wrong:
        return Drop(NO_ANSWER, _unparsed(decision))
    return row if panel.kept is None else panel.kept(row, decision)


def _told(decision: PanelDecision) -> str:
    """Return the number of correct members, and the names of the others."""
    wrong = [answer.member for answer in decision.answers if answer.state != "right"]
    others = f"; not {', '.join(wrong)}" if wrong else ""
    return f"{decision.right} of {decision.rule.n} correct{others}"


def _unparsed(decision: PanelDecision) -> str:
    """Return the names of the members whose answers were not parsed."""
    return ", ".join(each.member for each in decision.answers if each.state == "unparsed")
