"""When two texts are the same answer by rule, and when somebody has to look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.methods.chinese_simpleqa.payloads import ShortQuestion
from proofstone.methods.chinese_simpleqa.sameness import plain_answer, read_grade, settled_as


def asked(answer: str, *aliases: str, tolerance: float = 0.0) -> ShortQuestion:
    return ShortQuestion(question="?", answer=answer, aliases=aliases, tolerance=tolerance)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Paris.", "Paris"),
        ("**Paris**", "paris"),
        ("Answer: Paris", "Paris"),
        ("答案：巴黎。", "巴黎"),
        ("“脾胃论”", "《脾胃论》"),
        ("罗瑟林（Roscellinus）", "罗瑟林 (Roscellinus)"),
        ("大卫・奥苏伯尔", "大卫·奥苏伯尔"),
        ("１９７７", "1977"),
        ("4 – 2", "4-2"),
        ("15 英镑", "15英镑"),
        ("New  York ", "New York"),
        ("U.S.", "U.S"),
        ("cafe\u0301 central", "café Central"),
    ],
)
def test_dress_makes_no_other_answer(said: str, answer: str) -> None:
    assert settled_as(said, asked(answer)) == "reference"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Paris or Lyon", "Paris"),  # never by containment
        ("Not Paris", "Paris"),
        ("Paris?", "Paris"),
        ("Paris\nLyon", "Paris Lyon"),
        ("CO", "Co"),  # carbon monoxide, cobalt
        ("5 MW", "5 mW"),
        ("102", "10²"),
        ("12", "½"),
        ("1, 200", "1,200"),
        ("1,977", "1977"),
        ("1977.0", "1977"),
        ("1977年", "1977"),
        ("-5", "5"),
        ("巴黎，还是里昂", "巴黎"),
        ("罗瑟林", "罗瑟林 (Roscellinus)"),
        ("New York", "NewYork"),
        ("", "Paris"),
        ("Answer:", "Paris"),
    ],
)
def test_what_may_mean_something_else_is_left_to_a_judge(said: str, answer: str) -> None:
    assert settled_as(said, asked(answer)) == ""


def test_an_alias_is_the_answer_too() -> None:
    assert settled_as("Fe", asked("iron", "Fe", "ferrum")) == "alias"


@pytest.mark.parametrize(
    ("said", "tolerance", "basis"),
    [
        ("3.15", 0.01, "within tolerance"),
        ("3.13", 0.01, "within tolerance"),
        ("3.151", 0.01, ""),
        ("3.15", 0.0, ""),
        ("about 3.15", 0.01, ""),
        ("3.14", 0.0, "reference"),
    ],
)
def test_a_number_may_be_near_only_where_the_question_says_so(
    said: str, tolerance: float, basis: str
) -> None:
    assert settled_as(said, asked("3.14", tolerance=tolerance)) == basis


@given(st.text(max_size=40))
def test_taking_the_dress_off_twice_takes_nothing_more(text: str) -> None:
    assert plain_answer(plain_answer(text)) == plain_answer(text)


@given(st.text(alphabet="ab C1.·《》\"'*", max_size=12), st.text(alphabet="xyz", min_size=1))
def test_nothing_beside_the_answer_is_overlooked(answer: str, more: str) -> None:
    """A letter more, before or behind, is never settled."""
    known = asked(f"Q{answer}Q")
    assert settled_as(f"Q{answer}Q{more}", known) == ""
    assert settled_as(f"{more} Q{answer}Q", known) == ""


@pytest.mark.parametrize(
    ("cell", "grade"),
    [
        ("A", "CORRECT"), ("b", "INCORRECT"), (" C ", "NOT_ATTEMPTED"), ("correct", "CORRECT"),
        ("Not attempted", "NOT_ATTEMPTED"), ("not-attempted", "NOT_ATTEMPTED"),
        ("incorrect", "INCORRECT"), ("D", None), ("", None), ("not correct", None),
        ("CORRECT.", None),
    ],
)  # fmt: skip
def test_grades_are_read_whole(cell: str, grade: str | None) -> None:
    """The first letter of "CORRECT" is no C, and that of "NOT_ATTEMPTED" hides no A."""
    assert read_grade(cell) == grade
