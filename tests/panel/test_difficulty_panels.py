"""Panels that answer: the three published rules, a missing member, unread replies, and a step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from proofstone.errors import BadUsage, CallFailed, NotAsked
from proofstone.judging.difficulty import (
    DifficultyRule,
    MemberAnswer,
    MemberState,
    PanelDecision,
    PanelFilter,
    ask_members,
    decide_difficulty,
    filtered_roles,
    panel_step,
)
from proofstone.records.builds import Drop, Kept, StepCall, StepContext
from proofstone.records.calls import Message
from proofstone.records.knowledge import Role
from proofstone.records.runs import Response, Score

SHORT: Mapping[str, MemberState] = {"+": "right", "-": "wrong", "?": "unparsed", "!": "failed"}


def answers(signs: str) -> list[MemberAnswer]:
    return [MemberAnswer(member=f"m{n}", state=SHORT[sign]) for n, sign in enumerate(signs)]


@pytest.mark.parametrize(
    ("rule", "signs", "state"),
    [
        (DifficultyRule(5, 3), "++---", "keep"),  # KINA
        (DifficultyRule(5, 3), "+++--", "drop"),
        (DifficultyRule(5, 3), "++?--", "keep"),  # an unread reply is wrong
        (DifficultyRule(5, 1), "+++++", "drop"),  # Chinese SimpleQA
        (DifficultyRule(5, 1), "++++-", "keep"),
        (DifficultyRule(5, 1), "++++?", "keep"),
        (DifficultyRule(3, 3), "---", "keep"),  # ELAIPBench
        (DifficultyRule(3, 3), "--+", "drop"),
        (DifficultyRule(3, 3), "?-?", "keep"),
        (DifficultyRule(5, 3), "---!+", "blocked"),  # though three are wrong whatever it says
        (DifficultyRule(3, 3), "+!-", "blocked"),  # though one is right already
    ],
)
def test_the_published_rules(rule: DifficultyRule, signs: str, state: str) -> None:
    decision = decide_difficulty(answers(signs), rule)
    assert decision.state == state
    assert decision.right == signs.count("+")
    assert decision.wrong == signs.count("-") + signs.count("?")
    assert decision.unparsed == signs.count("?")
    assert decision.missing == tuple(f"m{n}" for n, sign in enumerate(signs) if sign == "!")


@given(st.text(alphabet="+-?", min_size=1, max_size=7), st.data())
def test_order_means_nothing_and_a_lower_bar_keeps_no_less(signs: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(signs)))
    found = answers(signs)
    shuffled = data.draw(st.permutations(found))
    states = [
        decide_difficulty(shuffled, DifficultyRule(len(signs), bar)).state
        for bar in range(1, len(signs) + 1)
    ]
    assert states[k - 1] == decide_difficulty(found, DifficultyRule(len(signs), k)).state
    assert states == sorted(states, key="keep drop".index)  # kept up to some bar, then dropped


def test_rules_say_what_they_do() -> None:
    said = [
        str(rule) for rule in (DifficultyRule(5, 3), DifficultyRule(5, 1), DifficultyRule(3, 3))
    ]
    assert said == [
        "kept if at least 3 of 5 are wrong",
        "dropped if all 5 are right",
        "kept if all 3 are wrong",
    ]


def test_panels_that_cannot_decide_are_refused() -> None:
    for k, n in ((0, 3), (4, 3), (1, 0)):
        with pytest.raises(BadUsage, match="least_wrong for a panel of"):
            DifficultyRule(n, k)
    with pytest.raises(BadUsage, match="expected 3 answers of different members, got 2 of 2"):
        decide_difficulty(answers("+-"), DifficultyRule(3, 3))
    with pytest.raises(BadUsage, match="got 3 of 1"):
        decide_difficulty([*answers("+")] * 3, DifficultyRule(3, 3))


async def rate(response: Response) -> Score | None:
    """Right where the reply says so; no score where a judge would be missing."""
    if response.text == "waits":
        return None
    if response.text in {"refused", "unparsed", "truncated"}:
        return Score(unit=0, measure="m", outcome=cast("Any", response.text), value=None)
    value = float(response.text == "right")
    return Score(unit=0, measure="m", outcome="answered", value=value, answer=response.text)


def saying(text: str | Exception) -> Callable[[], Awaitable[Response]]:
    async def ask() -> Response:
        if isinstance(text, Exception):
            raise text
        return Response(text=text, finish="stop")

    return ask


async def test_every_member_is_heard_whatever_becomes_of_another() -> None:
    """A refusal is wrong, what cannot be read is unparsed, a failed or unscored one is missing."""
    down = CallFailed("overloaded", "busy")
    said: dict[str, str | Exception] = {
        "a": "right", "b": "lies", "c": "refused", "d": "truncated", "e": down, "f": "waits",
    }  # fmt: skip
    found = await ask_members({name: saying(text) for name, text in said.items()}, rate)
    assert [(each.member, each.state, each.trouble) for each in found] == [
        ("a", "right", ""), ("b", "wrong", ""), ("c", "wrong", ""), ("d", "unparsed", ""),
        ("e", "failed", "overloaded"), ("f", "failed", "not scored"),
    ]  # fmt: skip
    with pytest.raises(NotAsked):
        await ask_members({"a": saying("right"), "b": saying(NotAsked("budget", "reached"))}, rate)


class Asked(Struct, frozen=True):
    """A row: a question, and who missed it."""

    question: str
    missed: tuple[str, ...] = ()


def slot(text: str | Exception) -> StepCall:
    async def call(name: str, messages: Sequence[Message], **_: object) -> Response:
        assert name == "panel"
        assert messages[0].text == "Who?"
        return await saying(text)()

    return cast("StepCall", call)


async def worked(*said: str | Exception, rule: DifficultyRule | None = None) -> Kept:
    """What the step makes of a row whose members say so."""
    slots = {f"solver {n}": f"model/{n}" for n in range(len(said))}

    async def rated(_row: Asked, response: Response, _context: StepContext) -> Score | None:
        return await rate(response)

    def kept(row: Asked, decision: PanelDecision) -> Asked:
        missed = tuple(each.member for each in decision.answers if each.state != "right")
        return Asked(row.question, missed)

    panel = PanelFilter(
        slots=slots,
        rule=rule or DifficultyRule(len(said), 1),
        messages=lambda row, _context: [Message("user", row.question)],
        rate=rated,
        kept=kept,
    )
    step = panel_step("difficulty", panel, version=1, takes=Asked, config={"prompt": "x"})
    assert step.asks == tuple(slots)
    assert step.config == {"prompt": "x", "panel": {"n": len(said), "least_wrong": 1}}
    calls = {name: slot(text) for name, text in zip(slots, said, strict=True)}
    made = step.work(Asked("Who?"), StepContext(row=b"row", calls=calls))
    return await cast("Awaitable[Kept]", made)


async def test_a_step_drops_what_is_too_easy_and_says_who_knew() -> None:
    assert await worked("right", "right", "right") == Drop("too easy", "3 of 3 correct")
    assert await worked("right", "lies", "unparsed") == Asked("Who?", ("model/1", "model/2"))


async def test_a_blocked_row_is_tried_again_another_time() -> None:
    """The failure passes: to a build the row is pending, neither kept nor dropped."""
    with pytest.raises(CallFailed, match="panel member model/1 gave no answer"):
        await worked("lies", CallFailed("timeout", "too slow"), "lies")


async def test_a_panel_has_as_many_models_as_its_rule() -> None:
    with pytest.raises(BadUsage, match="expected 4 different models for the panel"):
        await worked("right", "right", "right", rule=DifficultyRule(4, 1))


def test_members_are_recorded_by_role() -> None:
    assert filtered_roles({"solver 1": "a/x", "solver 2": "b/y"}) == (
        Role("filtered", "a/x"),
        Role("filtered", "b/y"),
    )
