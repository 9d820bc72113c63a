"""A panel of models answers each pair's question: what all of them know is too easy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import structs

from proofstone.engines.judging import SeatedJudges
from proofstone.engines.panel import DifficultyRule, PanelDecision, PanelFilter, panel_step
from proofstone.methods.chinese_simpleqa.ask import STEPS, messages, oracle, prepare
from proofstone.methods.chinese_simpleqa.building.rows import Draft
from proofstone.methods.chinese_simpleqa.building.words import QUESTIONS
from proofstone.methods.chinese_simpleqa.measures import GRADED
from proofstone.methods.chinese_simpleqa.score import SCORER_VERSION, score
from proofstone.ports import Step, StepContext
from proofstone.records import (
    Item,
    ItemSet,
    JudgeQuestion,
    LoadedItem,
    Message,
    Oracle,
    PanelVerdict,
    Reply,
    Score,
    Unit,
    item_id,
)

__all__ = ["difficulty_step"]

_WAY = prepare("direct", 0, ItemSet(name="", kind="form", method="chinese_simpleqa"), None)


def difficulty_step(judges: SeatedJudges, seats: Mapping[str, str], least_wrong: int) -> Step:
    """Drops pairs that fewer than ``least_wrong`` members get wrong. Raises BadUsage where the
    panel has not so many."""
    panel = PanelFilter(
        seats=dict(seats),
        rule=DifficultyRule(len(seats), least_wrong),
        messages=_messages,
        rate=partial(_rate, judges),
        kept=_kept,
        oracle=_oracle,
    )
    return panel_step(
        "difficulty",
        panel,
        version=1,
        takes=Draft,
        config={
            "scorer": SCORER_VERSION,
            "prompt": _WAY.prompt_hash.hex(),
            **judges.config(),
        },
        judges=judges.asks,
    )


def _item(row: Draft) -> LoadedItem:
    item = Item(
        kind="chinese_simpleqa.question",
        payload=row.asked(),
        language=row.language,
        stratum=row.stratum,
    )
    return LoadedItem(structs.replace(item, id=item_id(item)), ())


def _messages(row: Draft) -> list[Message]:
    return messages(_item(row), _WAY)


def _oracle(row: Draft) -> Oracle:
    return oracle(_item(row), _WAY.name)


async def _rate(
    judges: SeatedJudges, row: Draft, reply: Reply, context: StepContext
) -> Score | None:
    """The grade of one reply by the method's own scorer; the judges of the build decide what no
    rule settles."""

    async def judge(question: JudgeQuestion) -> PanelVerdict:
        return await judges.ask(context, "grade", question, kept_by_tie=QUESTIONS.keeps["grade"])

    unit = Unit(item=_item(row), sample=0, replies={STEPS[_WAY.name]: reply}, clusters=())
    scores = await score([unit], judge)
    return next((each for each in scores if each.measure == GRADED), None)


def _kept(row: Draft, decision: PanelDecision) -> Draft:
    return structs.replace(row, wrong=decision.wrong)
