"""The questions that judges are asked of statements, and a step's judge as a panel of votes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from proofstone.engines.judging import JudgingRules, Panel, PanelRules, RowJudge
from proofstone.identity import digest
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.ports import StepCall
from proofstone.records import (
    Exhibit,
    JudgeQuestion,
    Label,
    PanelVerdict,
)

__all__ = ["QuestionName", "ask_judges", "question_config"]

QuestionName = Literal["standing", "support", "falsity", "reason"]
_REASKS = 2


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    labels: dict[str, str]
    names: dict[str, str]


async def ask_judges(
    call: StepCall,
    name: QuestionName,
    language: str,
    texts: Mapping[str, str],
    *,
    votes: int = 1,
) -> PanelVerdict:
    """What ``votes`` votes of the judge come to on ``texts``, by their names in the question. Each
    vote counts only where all were heard; a call that fails for good passes."""
    asked = _questions(_kind(language))[name]
    question = JudgeQuestion(
        task=asked.task,
        labels=tuple(Label(label, meaning) for label, meaning in asked.labels.items()),
        exhibits=tuple(Exhibit(asked.names[part], text) for part, text in texts.items()),
        language=_kind(language),
    )
    judges = [RowJudge(call, name, name=f"vote {vote + 1}", sample=vote) for vote in range(votes)]
    panel = Panel(judges, asking=JudgingRules(reasks=_REASKS), rules=PanelRules(quorum=votes))
    verdict = await panel.decide(question)
    for judge in judges:
        if judge.failure is not None:
            raise judge.failure
    return verdict


def question_config(name: QuestionName, votes: int) -> dict[str, Any]:
    """What a step that asks this question depends on besides its row."""
    words = digest(_text("en") + _text("zh")).hex()
    return {"question": name, "votes": votes, "reasks": _REASKS, "words": words}


def _kind(language: str) -> str:
    return "zh" if is_chinese(language) else "en"


@cache
def _questions(kind: str) -> dict[str, _Question]:
    return msgspec.convert(tomllib.loads(_text(kind).decode()), dict[str, _Question])


@cache
def _text(kind: str) -> bytes:
    return (files(__package__) / f"questions.{kind}.toml").read_bytes()
