"""Files as the method reads and writes them: short questions, choices, and twins of both.

The columns are listed in ``question_rows`` and ``choice_rows``. The rows of one file are of one
sort: where any has options, all do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proofstone.errors import BadInput
from proofstone.files.fields import ANSWER_COLUMNS, QUESTION_COLUMNS
from proofstone.methods.chinese_simpleqa import choices as choice_rows
from proofstone.methods.chinese_simpleqa import questions as question_rows
from proofstone.methods.chinese_simpleqa.payloads import closed_of, closed_of_fact
from proofstone.records.items import Item, LoadedItem
from proofstone.records.knowledge import BuiltFact, Fact
from proofstone.records.tables import Row

recognises = question_rows.recognises


def recognises_facts(columns: Iterable[str]) -> bool:
    """Whether a file with these columns holds facts: short questions, or questions with options."""
    names = set(columns)
    if question_rows.recognises(names):
        return True
    is_asked = not names.isdisjoint(QUESTION_COLUMNS)
    has_answer = not names.isdisjoint((*ANSWER_COLUMNS, "answer_letter", "answer_index"))
    return is_asked and has_answer and choice_rows.is_choice_row(names)


def read_items(rows: Iterable[Row]) -> Sequence[Item]:
    """Short questions in the order of their rows. Raises BadInput with every problem of all rows,
    and for questions with options, which are asked from a bank."""
    listed = list(rows)
    if any(choice_rows.is_choice_row(row.values) for row in listed):
        raise BadInput(
            "these questions have options; short questions have none",
            hint="run the file as it stands: proofstone run FILE; or make a bank of it, whose "
            "forms ask it in both ways: proofstone import FILE --as bank",
        )
    return question_rows.read_items(listed)


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """The facts of a file. Raises BadInput with every problem of all rows."""
    listed = list(rows)
    if any(choice_rows.is_choice_row(row.values) for row in listed):
        return choice_rows.read_choices(listed)
    return question_rows.read_facts(listed)


def write_item(loaded: LoadedItem) -> dict[str, Any]:
    """The row of an item with its texts; of one asked over options as multiple-choice sets have
    it."""
    if closed_of(loaded) is not None:
        return choice_rows.write_closed_item(loaded)
    return question_rows.write_item(loaded)


def write_fact(built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """The row of a fact, from which ``read_facts`` makes this very fact again."""
    if closed_of_fact(built.fact) is not None:
        return choice_rows.write_choice(built)
    return question_rows.write_fact(built, facts)
