"""The questions that judges are asked of statements, by one judge or a panel of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from proofstone.engines.judging import SeatedJudges, WordedQuestions, panel_parameters
from proofstone.ports import StepContext
from proofstone.records import PanelVerdict

__all__ = ["PANEL_PARAMETERS", "QuestionName", "ask_judges", "judged_by"]

QuestionName = Literal["standing", "support", "falsity", "reason"]
_KEEPS: Mapping[str, str] = {
    "standing": "stands",
    "support": "supported",
    "falsity": "false",
    "reason": "fits",
}
_QUESTIONS = WordedQuestions(__package__, _KEEPS)
PANEL_PARAMETERS = panel_parameters(
    votes="Votes of each judge on support and falsity; more than half are its vote.",
    orders="Orders of the labels in which each vote is asked for; more than half decide.",
    tie="What becomes of a row on which a panel has no majority.",
    usual_tie="drop",
)


def judged_by(judges: SeatedJudges, name: QuestionName, votes: int = 1) -> dict[str, Any]:
    """What a step that asks this question depends on besides its row and the models."""
    return _QUESTIONS.config(judges, name, votes)


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
    question = _QUESTIONS.question(name, language, texts)
    return await _QUESTIONS.ask(judges, context, name, question, votes=votes)
