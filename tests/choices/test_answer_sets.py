"""Sets of options read from replies: the table of labelled replies, and every known form."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.choices.answer_sets import extract_choices
from proofstone.choices.outcomes import read_choices
from proofstone.records.runs import Response

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "labelled" / "sets.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["response"][:40])
def test_a_reply_is_read_as_labelled(case: dict[str, Any]) -> None:
    options = case.get("options", ())
    found = extract_choices(case["response"], "ABCD" if options else "ABCDE", options)
    assert (found.letter.replace(", ", "") if found.is_option else "") == case["set"]


FORMS = [
    ("\\boxed{{{}}}", ""),
    ("\\boxed{{{}}}", ", "),
    ("\\boxed{{\\text{{{}}}}}", ", "),
    ("Answer: {}", ", "),
    ("The correct options are {}.", ", "),
    ("The correct answers are {}.", " and "),
    ("I choose {}.", ", "),
    ("{} are the correct options.", ", "),
    ("答案：{}", "、"),
    ("正确选项是{}。", "和"),
    ("故选{}。", ""),
    ("{}", ", "),
    ("{}", "\n"),
    ("Die Antworten sind {}.", " und "),
    ("Las respuestas correctas son {}.", ", "),
    ("Правильные ответы: {}.", ", "),
]


@given(
    st.sets(st.sampled_from("ABCDE"), min_size=2, max_size=3),
    st.sampled_from(FORMS),
    st.sampled_from(["", "B looks right at first, but D may hold too.\n\n", "Let me think.\n"]),
)
def test_any_set_in_a_known_form_is_read_back(
    letters: set[str], form: tuple[str, str], before: str
) -> None:
    template, between = form
    reply = before + template.format(between.join(sorted(letters)))
    assert extract_choices(reply, "ABCDE").letter == ", ".join(sorted(letters))


@given(st.text(alphabet="ABCDEx ,.()\\{}andborxcept选和不：\n*[]", max_size=120))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = extract_choices(text, "ABCDE", ["f(A)", "(B)", "A and B", "x", "none"])
    assert not found.is_option or set(found.letter.split(", ")) <= set("ABCDE")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("The answers are A, C", "truncated"),
        ("The answers are A, C and", "truncated"),
        ("The answers are A, C. This is because the", "answered"),
        ("\\boxed{A, C}", "answered"),
        ("The paper says that", "truncated"),
    ],
)
def test_a_reply_cut_within_the_set_is_truncated(text: str, outcome: str) -> None:
    assert read_choices(Response(text=text, finish="length"), "ABCDE").outcome == outcome


def test_texts_must_match_the_letters() -> None:
    with pytest.raises(ValueError, match="expected 2 option texts, got 1"):
        extract_choices("A", "AB", ["one"])


@pytest.mark.parametrize("piece", ["\\boxed{", "answer ", "A, ", "A is B and ", "\n- A. x"])
def test_a_million_characters_of_one_piece_are_read_at_once(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    extract_choices(text, "ABCDE")
    assert time.process_time() - started < 2


METALS = ("iron", "silver", "zinc", "gold")


@pytest.mark.parametrize(
    ("response", "options", "letters"),
    [
        ("Answer: (A, C) are incorrect.", (), ""),
        ("I choose A is incorrect.", (), ""),
        ("If all except B and D are right, we stop.", (), ""),
        ("All except B and D are wrong.", (), ""),
        ("The correct options are:\nA. right\nB. wrong\n", (), ""),
        ("The correct options are:\nA. tin\nB. zinc\nC. gold\nD. lead\nE. iron", (), ""),
        ("A and C are right.\n\nSo it goes.", (), "A, C"),
        ("A and C are right. B and D are right.\n\nSo it goes.", (), ""),
        ("iron zinc", METALS, "A, C"),
        ("all of the above.", ("iron", "zinc", "gold", "all of the above"), "D"),
    ],
)
def test_denied_hypothetical_and_discussed_options_are_no_answer(
    response: str, options: tuple[str, ...], letters: str
) -> None:
    found = extract_choices(response, "ABCD" if options else "ABCDE", options)
    assert (found.letter if found.is_option else "") == letters


def test_a_response_that_cannot_be_read_has_no_set() -> None:
    filtered = Response(text="\\boxed{AC}", finish="content_filter")
    assert read_choices(filtered, "ABCD").outcome == "refused"
    assert read_choices(Response(text="\\boxed{AC}"), "ABCD").extraction.letter == "A, C"
