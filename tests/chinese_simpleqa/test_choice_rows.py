"""Multiple-choice sets as they stand: every shape that is common, every problem at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofstone.errors import BadInput
from proofstone.files.tables import read_checked
from proofstone.methods.chinese_simpleqa.method import METHOD
from proofstone.methods.chinese_simpleqa.payloads import Choice, Closed, Twin
from proofstone.methods.chinese_simpleqa.questions import read_facts, write_fact
from proofstone.records.knowledge import BuiltFact, Stratum
from proofstone.records.tables import Row
from proofstone.run.forms import method_of_bank_file, method_of_file

METALS = Choice(
    question="Which is liquid?", options=("tin", "mercury", "lead", "zinc"), answer_key=1
)
TWIN: dict[str, Any] = {
    "question": "Which metal is liquid?",
    "answer": "mercury",
    "aliases": ["Hg"],
    "answer_type": "other",
    "closed_question": "Which is liquid?",
    "options": list(METALS.options),
    "answer_letter": "B",
    "origin": "ab" * 32,
    "made": "converted",
    "primary_category": "Chemistry",
    "language": "en",
}


def rows_of(*values: dict[str, Any]) -> list[Row]:
    return [Row(f"line {number}", value) for number, value in enumerate(values, start=1)]


def choice_of(**row: Any) -> Choice:
    (built,) = read_facts(rows_of(row))
    assert built.fact.kind == "chinese_simpleqa.choice"
    payload: Choice = built.fact.payload
    return payload


def problems_of(*values: dict[str, Any]) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_facts(rows_of(*values))
    return [str(problem) for problem in caught.value.problems]


LETTERS = dict(zip("ABCD", METALS.options, strict=True))


@pytest.mark.parametrize(
    "row",
    [
        {"id": "0", "question": METALS.question, **LETTERS, "answer": "B", "explanation": ""},
        {"Question": METALS.question, **LETTERS, "Answer": "B"},
        {
            "question": METALS.question,
            "subject": "metals",
            "choices": [*METALS.options],
            "answer": 1,
        },
        {
            "question": METALS.question,
            "options": [*METALS.options],
            "answer": "B",
            "answer_index": 1,
            "category": "chemistry",
        },
        {
            "question": METALS.question,
            "choices": {"text": [*METALS.options], "label": ["1", "2", "3", "4"]},
            "answerKey": "2",
        },
        {"question": METALS.question, "options": LETTERS, "answer": "mercury"},
    ],
    ids=["columns", "capitals", "index", "letter and index", "labels", "object"],
)
def test_sets_are_read_as_they_stand(row: dict[str, Any]) -> None:
    assert choice_of(**row) == METALS


def test_a_csv_with_numbered_rows_is_read_as_it_stands(tmp_path: Path) -> None:
    """As data frames write one: the first column has no name."""
    path = tmp_path / "metals.csv"
    path.write_text(
        ",Question,A,B,C,D,Answer\n0,Which is liquid?,tin,mercury,lead,zinc,B\n", encoding="utf-8"
    )
    (built,) = read_checked(path, METHOD.read_facts)
    assert built.fact.payload == METALS
    assert method_of_bank_file(path) == "chinese_simpleqa"
    assert method_of_file(path) == "encyclo_k"


def test_every_problem_is_told_at_once() -> None:
    good = {"question": METALS.question, **LETTERS, "answer": "B", "id": "q1"}
    assert problems_of(
        good,
        {**good, "id": "q2"},
        {**good, "question": "", "id": "q1"},
        {**good, "question": "Else?", "answer": "E", "id": None},
        {**good, "question": "Also?", "answer": None, "id": None},
        {**good, "question": "More?", "B": "tin", "id": None},
        {"question": "Open?", "answer": "mercury"},
    ) == [
        "line 3, field question: is missing or empty",
        'line 4, field answer: expected a letter, index from 0 or option text, got "E"',
        "line 5, field answer: is missing; expected a letter, index from 0 or option text",
        "line 6, field options: two options are identical",
        "line 7, field options: expected 2 to 26 options, got 0",
        "line 2, field question: repeats the question of line 1 with the same options",
        'line 3, field id: "q1" is already the id of line 1',
    ]


def test_a_twin_and_a_choice_come_back_as_they_were_written() -> None:
    """Also their origin, aliases and categories; the same fact has the same id."""
    choice = {"question": METALS.question, **LETTERS, "answer": "B", "subject": "metals"}
    for row in (TWIN, choice):
        (built,) = read_facts(rows_of(row))
        (again,) = read_facts(rows_of(write_fact(built, {})))
        assert again.fact == built.fact
    twin: Twin = read_facts(rows_of(TWIN))[0].fact.payload
    assert twin.closed == Closed(question=METALS.question, options=METALS.options, answer_key=1)
    assert (twin.origin, twin.made, twin.answers) == (b"\xab" * 32, "converted", ("mercury", "Hg"))


def test_what_a_twin_lacks_is_told() -> None:
    assert problems_of(
        {**TWIN, "answer_letter": ""}, {**TWIN, "closed_question": "Else?", "made": "found"}
    ) == [
        "line 1, field answer_letter: is missing; expected the letter of the correct option",
        'line 2, field made: expected converted or generated, got "found"',
    ]


def test_categories_of_sets_are_taken_under_their_names() -> None:
    built: BuiltFact = read_facts(
        rows_of(
            {"question": "Which?", **LETTERS, "answer": "B", "category": "law", "subject": "tax"}
        )
    )[0]
    assert built.fact.stratum == Stratum(discipline="law", field="tax")


def test_short_questions_do_not_take_options_as_items() -> None:
    """They are asked over options from a bank; the file itself another method runs as it stands."""
    with pytest.raises(BadInput, match="these questions have options"):
        METHOD.read_items(rows_of({"question": "Which?", **LETTERS, "answer": "B"}))
