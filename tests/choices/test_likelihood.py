"""Options by their log-probabilities: the mean, the sum, the letter, the confidence."""

from __future__ import annotations

import math

import pytest

from proofstone.choices.likelihood import (
    STEP,
    is_unfinished,
    likelihood_scores,
    read_option_scores,
)
from proofstone.records.runs import Response


def scored(*tokens: float) -> Response:
    return Response(text="", token_logprobs=tokens)


def listed(**logprobs: float) -> Response:
    return Response(text="A", next_tokens=tuple(logprobs.items()))


def test_a_long_option_may_win_by_the_mean_and_lose_by_the_sum() -> None:
    """Sums -2 and -3, means -2 and -1: the mean is graded, the sum is kept beside it."""
    responses = {f"{STEP} 1": scored(-2.0), STEP: scored(-1.0, -0.5, -1.5)}
    found = read_option_scores(responses, "AB")
    assert found is not None
    assert (found.sums, found.means) == ((-2.0, -3.0), (-2.0, -1.0))
    graded, by_sum, sure = likelihood_scores(7, responses, "AB", "B", "accuracy")
    assert (graded.measure, graded.value, graded.answer) == ("accuracy", 1.0, "B")
    assert (by_sum.measure, by_sum.value, by_sum.answer) == ("by_sum", 0.0, "A")
    assert sure.measure == "confidence"
    assert sure.value == pytest.approx(math.exp(-1) / (math.exp(-1) + math.exp(-2)))
    assert {graded.unit, by_sum.unit, sure.unit} == {7}


def test_the_confidence_of_equal_options_is_chance_and_the_first_one_is_chosen() -> None:
    responses = {f"{STEP} 1": scored(-3.0), f"{STEP} 2": scored(-3.0), STEP: scored(-3.0)}
    found = read_option_scores(responses, "ABC")
    assert found is not None
    assert (found.chosen, found.confidence) == (0, pytest.approx(1 / 3))


def test_no_probability_is_too_small_to_be_compared() -> None:
    """The exponent of each alone is 0 in floating point."""
    responses = {f"{STEP} 1": scored(-5000.0), STEP: scored(-4999.0)}
    found = read_option_scores(responses, "AB")
    assert found is not None
    assert found.confidence == pytest.approx(1 / (1 + math.exp(-1)))


def test_a_letter_counts_with_and_without_white_space() -> None:
    response = listed(**{"A": -1.5, " B": -1.6, "B": -1.6, "b": -0.1, "Be": -0.1})
    found = read_option_scores({STEP: response}, "ABCD")
    assert found is not None
    assert found.means == (-1.5, pytest.approx(-1.6 + math.log(2)), -math.inf, -math.inf)
    graded, sure = likelihood_scores(0, {STEP: response}, "ABCD", "B", "accuracy")
    assert (graded.answer, graded.value, graded.basis) == (
        "B",
        1.0,
        "log-probability of the letter",
    )
    a, b = math.exp(-1.5), 2 * math.exp(-1.6)
    assert sure.value == pytest.approx(b / (a + b))


def test_without_any_letter_among_the_next_tokens_nothing_is_chosen() -> None:
    (score,) = likelihood_scores(0, {STEP: listed(The=-0.2, I=-2.0)}, "ABCD", "A", "accuracy")
    assert (score.outcome, score.value, score.answer) == ("unparsed", None, "")


def test_an_item_with_an_option_that_was_not_scored_has_no_answer() -> None:
    """Three options, of which the second has no response; and one whose response has no tokens."""
    some = {f"{STEP} 1": scored(-2.0), STEP: scored(-1.0)}
    assert read_option_scores(some, "ABC") is None
    assert read_option_scores({**some, f"{STEP} 2": scored()}, "ABC") is None
    (score,) = likelihood_scores(0, some, "ABC", "A", "accuracy")
    assert (score.outcome, score.value) == ("unparsed", None)


def test_a_filter_s_refusal_is_refused() -> None:
    refusal = Response(text="", finish="content_filter", refusal="no")
    (score,) = likelihood_scores(0, {STEP: refusal}, "ABCD", "A", "accuracy")
    assert (score.outcome, score.value) == ("refused", None)


@pytest.mark.parametrize(
    ("question", "continues"),
    [
        ("The capital of France is", True),
        ("法国的首都是", True),
        ("In 1901, the prize went to", True),
        ("What is the capital of France?", False),
        ("法国的首都是哪里？", False),
        ("Choose the right one:", False),
        ("Name it.", False),
        ("Fill in: ____", False),
    ],
)
def test_an_unfinished_question_is_one_that_options_continue(
    question: str, continues: bool
) -> None:
    assert is_unfinished(question) is continues
