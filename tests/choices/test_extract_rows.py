"""Rows of a file of replies: what each chose, or every problem by line and field."""

from __future__ import annotations

from typing import Any

import pytest

from proofstone.choices.outcomes import extract_rows
from proofstone.errors import BadInput, Problem
from proofstone.records.tables import Row


def _one(**values: Any) -> dict[str, Any]:
    [extracted] = extract_rows([Row("line 1", values)])
    return extracted


def test_other_columns_are_carried_through() -> None:
    extracted = _one(id=7, response="Answer: B", options=["iron", "gold"], model="m")
    assert extracted == {
        "id": 7,
        "model": "m",
        "letter": "B",
        "tier": "marked",
        "outcome": "answered",
    }


@pytest.mark.parametrize("options", [2, "AB", ["A", "B"], ["iron", "gold"], ("iron", "gold")])
def test_options_are_texts_or_letters_or_a_number(options: object) -> None:
    assert _one(response="Answer: B", options=options)["letter"] == "B"
    assert _one(response="Answer: C", options=options) == {
        "letter": "C",
        "tier": "marked",
        "outcome": "unparsed",
    }


def test_only_texts_allow_the_content_tier() -> None:
    assert _one(response="Answer: gold", options=["iron", "gold"])["tier"] == "content"
    assert _one(response="Answer: gold", options=2)["outcome"] == "unparsed"


def test_a_thinking_block_is_not_the_reply() -> None:
    assert _one(response="<think>Answer: A</think>Answer: B", options=2)["letter"] == "B"
    assert _one(response="so A</think>\nB", options=2)["letter"] == "B"
    unclosed = _one(response="\n<think>Answer: A", options=2)
    assert (unclosed["letter"], unclosed["outcome"]) == ("", "truncated")


def test_how_a_reply_ended_may_be_told() -> None:
    assert _one(response="B", options=2, finish="length")["outcome"] == "truncated"
    assert _one(response="B", options=2, finish=None)["outcome"] == "answered"
    assert _one(response="", options=2, refusal="No.")["outcome"] == "refused"


@pytest.mark.parametrize(
    ("response", "answer", "score"),
    [("Answer: B", "B", 1), ("Answer: B", "gold", 1), ("Answer: A", "gold", 0), ("Hm.", "A", 0)],
)
def test_an_answer_key_scores_the_letter(response: str, answer: str, score: int) -> None:
    """A key is a letter or an option's text; without a letter the score is 0."""
    row = _one(response=response, options=["iron", "gold"], answer=answer)
    assert (row["answer"], row["score"]) == (answer, score)


def test_a_key_that_names_no_option_is_refused() -> None:
    with pytest.raises(BadInput) as refused:
        _one(response="A", options="AB", answer="C")
    assert refused.value.problems == (
        Problem("line 1, field answer", "expected one of AB, got 'C'"),
    )


def test_no_rows_are_no_rows() -> None:
    assert extract_rows([]) == []


def test_every_problem_of_all_rows_is_reported_with_line_and_field() -> None:
    rows = [
        Row("line 1", {"response": "B", "options": 2}),
        Row("line 2", {"options": 2}),
        Row("line 4", {"response": None, "options": [], "finish": "done", "refusal": 3}),
        Row("line 5", {"response": "B"}),
    ]
    with pytest.raises(BadInput) as raised:
        extract_rows(rows)
    options = "expected 1 to 26 texts, their number, or letters such as ABCD, got"
    assert raised.value.problems == (
        Problem("line 2, field response", "expected text, got nothing"),
        Problem("line 4, field response", "expected text, got None"),
        Problem("line 4, field options", f"{options} []"),
        Problem(
            "line 4, field finish",
            "expected one of stop, length, content_filter, tool_calls, other, got 'done'",
        ),
        Problem("line 4, field refusal", "expected text, got 3"),
        Problem("line 5, field options", f"{options} nothing"),
    )


@pytest.mark.parametrize(
    "options",
    [0, 27, -1, True, "", "AA", "ab", "A B", [], ["a", 1], ["x"] * 27, {"A": "x"}, None, 2.0],
)
def test_options_that_are_none_are_refused(options: object) -> None:
    with pytest.raises(BadInput):
        extract_rows([Row("line 1", {"response": "A", "options": options})])


def test_a_long_value_is_quoted_in_part() -> None:
    with pytest.raises(BadInput) as raised:
        extract_rows([Row("line 1", {"response": "A", "options": "?" * 1000})])
    [problem] = raised.value.problems
    assert problem.what.endswith("?...")
    assert len(problem.what) < 150
