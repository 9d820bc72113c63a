"""Questions with several right options: the set that a reply states, compared as a whole."""

from __future__ import annotations

import pytest

from proofstone.choices.answer_sets import extract_choices
from proofstone.choices.outcomes import read_choices
from proofstone.records.runs import Response


@pytest.mark.parametrize(
    ("response", "letters"),
    [
        ("Answer: A, C", "A, C"),
        ("Answer: C, A", "A, C"),
        ("The answer is (A) and (C).", "A, C"),
        ("The answer is (B).", "B"),
        ("The correct options are clear.\n\nAnswer: A, B and D", "A, B, D"),
        ("答案：ABD", "A, B, D"),
        ("答案：A、C", "A, C"),
        ("\\boxed{A, C}", "A, C"),
        ("My choice is [[A, C]], since both float.", "A, C"),
        ('{"answer": ["A", "C"]}', "A, C"),
        ("A, C", "A, C"),
        ("**A, C**", "A, C"),
        ("ACD", "A, C, D"),
        ("a, c", "A, C"),
        ("La respuesta es A y C.", "A, C"),
        ("Die Antworten sind A und C.", "A, C"),
        ("答えはAとCです。", "A, C"),
        ("정답은 A와 C입니다.", "A, C"),
        ("الإجابات الصحيحة هي A و C.", "A, C"),
        ("First I thought the answer is A, B. No: the answer is B, D.", "B, D"),
        ("The answer is A or C.", ""),
        ("Answer: A, Z", ""),
        ("None of them is right.", ""),
        ("A and C float, while B sinks.", ""),
        ("The answer is not listed.", ""),
        ("Vitamin A and vitamin C are healthy.", ""),
    ],
)
def test_a_set_of_letters_is_read(response: str, letters: str) -> None:
    reading = read_choices(Response(text=response), "ABCDE")
    assert (reading.extraction.letter if reading.outcome == "answered" else "") == letters


def test_letters_that_are_no_options_are_kept_and_choose_nothing() -> None:
    found = extract_choices("Answer: A, Z", "ABC")
    assert (found.letter, found.is_option) == ("A, Z", False)


@pytest.mark.parametrize("response", ["Answer: DB", "Answer: BB"])
def test_letters_run_together_out_of_order_or_twice_are_no_choice(response: str) -> None:
    assert extract_choices(response, "ABCD").letter == ""
