"""Replies from a file, and what became of them: ``grade FILE``.

Columns, beside those of a question (``question_rows``): ``reply`` | ``response`` | ``prediction``,
the text as it came (an empty one is a reply without an answer); ``ask``, the way in which the
question was put, direct where nothing is said. All columns are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proofstone.engines.ingest import Fields, came
from proofstone.errors import BadInput, Problem
from proofstone.methods.chinese_simpleqa.ask import STEPS
from proofstone.methods.chinese_simpleqa.measures import GRADED, SURE
from proofstone.methods.chinese_simpleqa.payloads import asked_of
from proofstone.methods.chinese_simpleqa.question_rows import read_question
from proofstone.ports import Row
from proofstone.records import LoadedItem, Reply, Score, Unit

__all__ = ["graded_row", "item_columns", "read_replies"]

_REPLY = ("reply", "response", "prediction")


def read_replies(rows: Iterable[Row]) -> Sequence[Unit]:
    """A unit a row, in order: a question, and the reply to it. The same question may come often.

    Raises BadInput with every problem of all rows.
    """
    problems: list[Problem] = []
    units = [_unit(row, problems) for row in rows]
    if problems:
        raise BadInput("The replies cannot be read.", problems, hint="See grade --help.")
    return units


def graded_row(values: Mapping[str, Any], scores: Sequence[Score]) -> dict[str, Any]:
    """A row with its ``grade`` (empty where it has none), what that rests on (``basis``; waiting
    without a score), the judges' ``reason``, and the ``confidence`` that was stated."""
    graded = next((score for score in scores if score.measure == GRADED), None)
    sure = next((score.value for score in scores if score.measure == SURE), None)
    told = {} if sure is None else {"confidence": sure}
    if graded is None:
        return {**values, "grade": "", "basis": "waiting", "reason": "", **told}
    return {
        **values,
        "grade": _grade(graded),
        "basis": graded.basis,
        "reason": _reason(graded),
        **told,
    }


def item_columns(item: LoadedItem) -> dict[str, Any]:
    """The categories and the type of answer of an item, as files name them."""
    place = item.item.stratum
    return {
        "primary_category": place.discipline,
        "secondary_category": place.field,
        "answer_type": asked_of(item).answer_type,
    }


def _unit(row: Row, problems: list[Problem]) -> Unit:
    fields = Fields(row, problems)
    item = read_question(fields)
    if all(row.values.get(name) is None for name in _REPLY):
        fields.wrong(_REPLY[0], "is missing; give the reply's text, empty where nothing came")
    way = fields.text("ask") or "direct"
    if way not in STEPS:
        fields.wrong("ask", f"expected one of {', '.join(STEPS)}; came {came(way)}")
        way = "direct"
    reply = Reply(text=fields.text(*_REPLY), finish="stop")
    return Unit(item=LoadedItem(item, ()), replies={STEPS[way]: reply})


def _grade(score: Score) -> str:
    """The grade that a score stands for; empty where judges gave none."""
    if score.outcome == "answered":
        return "CORRECT" if score.value else "INCORRECT"
    return "" if score.outcome == "unparsed" else "NOT_ATTEMPTED"


def _reason(score: Score) -> str:
    """What the judges that carried the verdict said, the first of them; else why it has none."""
    verdict = score.verdict
    if verdict is None:
        return ""
    found = [ballot for ballot in verdict.ballots if ballot.label == verdict.label]
    return next((ballot.reason or ballot.trouble for ballot in found), "")
