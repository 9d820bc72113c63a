"""The questions that judges are asked of statements, by one judge or a panel of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from proofstone.engines.judging import SeatedJudges, panel_parameters
from proofstone.identity import digest
from proofstone.methods.encyclo_k.phrasing import is_chinese
from proofstone.ports import StepContext
from proofstone.records import Exhibit, JudgeQuestion, Label, PanelVerdict

__all__ = ["PANEL_PARAMETERS", "QuestionName", "ask_judges", "judged_by"]

QuestionName = Literal["standing", "support", "falsity", "reason"]
# The label that keeps a row: what a tie comes to under ``--tie keep``.
_KEEPS: Mapping[QuestionName, str] = {
    "standing": "stands",
    "support": "supported",
    "falsity": "false",
    "reason": "fits",
}
PANEL_PARAMETERS = panel_parameters(
    votes="Votes of each judge on support and falsity; more than half are its vote.",
    orders="Orders of the labels in which each vote is asked for; more than half decide.",
    tie="What becomes of a row on which a panel has no majority.",
    usual_tie="drop",
)


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    labels: dict[str, str]
    names: dict[str, str]


def judged_by(judges: SeatedJudges, name: QuestionName, votes: int = 1) -> dict[str, Any]:
    """What a step that asks this question depends on besides its row and the models."""
    words = digest(_text("en") + _text("zh")).hex()
    return {"question": name, "votes": votes, "words": words, **judges.config()}


async def ask_judges(
    judges: SeatedJudges,
    context: StepContext,
    name: QuestionName,
    language: str,
    texts: Mapping[str, str],
    *,
    votes: int = 1,
) -> PanelVerdict:
    """What the judges come to on ``texts``, by their names in the question. See
    ``SeatedJudges.ask``."""
    question = _question(name, language, texts)
    return await judges.ask(context, name, question, votes=votes, kept_by_tie=_KEEPS[name])


def _question(name: QuestionName, language: str, texts: Mapping[str, str]) -> JudgeQuestion:
    asked = _questions(_kind(language))[name]
    return JudgeQuestion(
        task=asked.task,
        labels=tuple(Label(label, meaning) for label, meaning in asked.labels.items()),
        exhibits=tuple(Exhibit(asked.names[part], text) for part, text in texts.items()),
        language=_kind(language),
    )


def _kind(language: str) -> str:
    return "zh" if is_chinese(language) else "en"


@cache
def _questions(kind: str) -> dict[str, _Question]:
    return msgspec.convert(tomllib.loads(_text(kind).decode()), dict[str, _Question])


@cache
def _text(kind: str) -> bytes:
    return (files(__package__) / f"questions.{kind}.toml").read_bytes()
