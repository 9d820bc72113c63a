"""A reply of a million characters costs milliseconds, however it is made."""

from __future__ import annotations

from time import process_time

import pytest

from proofstone.choices.answers import MOST_ANCHORS
from proofstone.choices.extraction import extract_choice

CHARACTERS = 1_000_000
# The promise is 50 ms on an idle machine; the margin is for a busy one.
BUDGET_S = 0.15

REPEATED = (
    "answer is ", "answer the ", "answer", "answer: A, B, ", "answer is (A), ", "answer i, ii, ",
    "answer A A ", "answer that is x", "answer to the question which is is is ", "answer:\nA. ",
    "answer" + " " * 50, "the answer is none ", "option ", "choice is the ", "closest to ",
    "(", "[", "【", "((A", "(A) ", "\\boxed{", "\\text{", "$", "*", "#", "`", "_",
    "A ", "A\n", "B. x\n", "- (A", "I ", "I think ", "A", "i", "ix", "i, ii, ", "A、", "Ａ", "İ",
    "B is the best answer ", "A is the correct ", "is ", "abc def ", " ", "\n", "-\n", "\t\n", ",",
    "<", "</s>", "<think>", "答案选项", "选", "选项是", "正确", "不选A", "\u0000",
    "答案 answer \\boxed{ (B choice option ", "[[", "[[B]] ", "[[A]] or ",
    "respuesta es la ",
    "respuesta que es ", "antwort ", "Antwort, die ist ", "la opción A o ",
    "B es la respuesta ",
    "resposta é a ", "ответ ", "ответ на x ", "B — правильный ", "答えは", "答えとして",
    "選択肢A、",
    "Aが", "답은 ",
    "정답으로 ", "보기 A ", "الإجابة هي ", "إجاب ", "الخيار A و", "réponse : A) ",
)  # fmt: skip
OPTIONS = (
    (),
    ("i, iii, viii", "ii, iv", "i, ii", "v, vii"),
    ("x" * 500, "answer", "the answer is", "(((("),
    (" ", "A", "a" * 100_000, "the " * 50_000),
)


def _fastest(text: str, options: tuple[str, ...]) -> float:
    """The processor time of the faster of two readings, in seconds."""
    taken = []
    for _ in range(2):
        start = process_time()
        extract_choice(text, "ABCD", options)
        taken.append(process_time() - start)
    return min(taken)


@pytest.mark.parametrize("piece", REPEATED, ids=repr)
def test_a_million_characters_of_anything_are_read_at_once(piece: str) -> None:
    text = (piece * (CHARACTERS // len(piece) + 1))[:CHARACTERS]
    assert max(_fastest(text, options) for options in OPTIONS[:3]) < BUDGET_S


@pytest.mark.parametrize(
    "text",
    [
        "answer" + " " * CHARACTERS,
        "answer is B" + " " * CHARACTERS + "x",
        "answer" + "*" * CHARACTERS,
        "answer" + "," * CHARACTERS,
        "answer is " + "(" * CHARACTERS + "B",
        " " * CHARACTERS + "B",
        "B" + "." * CHARACTERS,
        "\\boxed{" * 100_000 + "B" + "}" * 100_000,
        "x\n" + "(" * CHARACTERS,
        ("word " * 20 + "\n") * 10_000,
        "Answer: B\n" + "so on and on, " * 70_000,
    ],
    ids=range(11),
)
def test_one_long_stretch_is_read_at_once(text: str) -> None:
    assert max(_fastest(text, options) for options in OPTIONS) < BUDGET_S


def test_twice_the_text_costs_about_twice_the_time() -> None:
    """No square: 16 times the characters in 16 times the time, four times over for noise."""
    for piece in ("answer is ", "(A) ", "\\boxed{", "答案选项"):
        short, long = (_fastest(piece * n, OPTIONS[1]) for n in (10_000, 160_000))
        assert long < 4 * 16 * max(short, 0.001)


def test_a_statement_before_a_long_tail_is_found() -> None:
    """The whole text is searched for anchors, not its end alone."""
    text = "Answer: B\n" + "so on and on, " * 70_000
    assert extract_choice(text, "ABCD").letter == "B"


def test_of_more_anchors_than_are_looked_at_the_last_decide() -> None:
    """Beyond the bound a reply has degenerated, and what it stated before is not sought."""
    assert extract_choice("Answer: B\n" + "answer? " * (MOST_ANCHORS - 1), "ABCD").letter == "B"
    assert extract_choice("Answer: B\n" + "answer? " * MOST_ANCHORS, "ABCD").letter == ""


def test_a_last_line_too_long_to_be_read_whole_is_read_at_its_end() -> None:
    words = "so on and on, " * 70_000
    assert extract_choice(f"{words}which is (B).", "ABCD").letter == "B"
    assert extract_choice(f"It is B.{words}", "ABCD").letter == ""
    assert extract_choice(f"B. {words}", "ABCD").scope == "whole text"
