"""Strict scores of sets of options: exactly the correct ones, whatever else is shown."""

from __future__ import annotations

import asyncio
import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.methods.elaipbench.payloads import AskedQuestion, PaperQuestion
from proofstone.methods.elaipbench.score import MEASURES, answer_key, score, units
from proofstone.records.items import Item, LoadedItem, Unit
from proofstone.records.knowledge import Fact
from proofstone.records.runs import OUTCOMES, Response, Score

OPTIONS = ("iron", "silver", "zinc", "gold")


def question(key: tuple[int, ...], document: bytes | None = b"document") -> LoadedItem:
    payload = PaperQuestion(
        question="Which?", options=OPTIONS, answer_key=key,
        question_type="single" if len(key) == 1 else "multiple", evidence=(),
    )  # fmt: skip
    fact = Fact(id=b"fact", kind="elaipbench.question", payload=payload, source=document)
    asked = AskedQuestion(order=(0, 1, 2, 3))
    return LoadedItem(Item(id=b"item", kind="elaipbench.asked", payload=asked), (fact,))


def unit(item: LoadedItem, text: str, **about: Any) -> Unit:
    (made,) = units(item, {"answer": Response(text=text, **about)}, 0)
    return made


def scored(key: tuple[int, ...], text: str, **about: Any) -> dict[str, Score]:
    found = asyncio.run(score([unit(question(key), text, **about)], None))
    return {each.measure: each for each in found}


@pytest.mark.parametrize(
    ("key", "text", "values"),
    [
        ((0, 2), "\\boxed{AC}", (1, 1, 1, 0, 0)),
        ((0, 2), "\\boxed{C, A}", (1, 1, 1, 0, 0)),
        ((0, 2), "\\boxed{A}", (0, 1 / 2, 3 / 4, 0, 1)),
        ((0, 2), "\\boxed{ABC}", (0, 2 / 3, 3 / 4, 1, 0)),
        ((0, 2), "\\boxed{BD}", (0, 0, 0, 1, 1)),
        ((1,), "\\boxed{B}", (1, 1, 1, 0, 0)),
        ((1,), "\\boxed{AB}", (0, 1 / 2, 3 / 4, 1, 0)),
        ((1,), "\\boxed{silver}", (1, 1, 1, 0, 0)),
    ],
)
def test_a_set_is_right_or_wrong_and_the_rest_is_shown(
    key: tuple[int, ...], text: str, values: tuple[float, ...]
) -> None:
    found = scored(key, text)
    names = ("accuracy", "overlap", "by option", "over-selected", "under-selected")
    assert [found[name].value for name in names] == list(values)
    assert {each.outcome for each in found.values()} == {"answered"}


def test_two_options_of_a_single_answer_question_are_wrong_and_flagged() -> None:
    found = scored((1,), "\\boxed{AB}")["accuracy"]
    assert (found.value, found.answer) == (0.0, "A, B")
    assert found.flags == ("inadmissible number of options",)


@pytest.mark.parametrize(
    ("about", "outcome"),
    [
        ({"text": "I cannot tell."}, "unparsed"),
        ({"text": "Let me think about", "finish": "length"}, "truncated"),
        ({"text": "", "finish": "content_filter"}, "refused"),
    ],
)
def test_nothing_chosen_has_no_value(about: dict[str, Any], outcome: str) -> None:
    found = scored((0, 2), **about)
    assert {each.outcome for each in found.values()} == {outcome}
    assert {each.value for each in found.values()} == {None}


def test_accuracy_counts_no_answer_as_wrong_and_errors_never() -> None:
    accuracy = next(measure for measure in MEASURES if measure.name == "accuracy")
    assert accuracy.counts["unparsed"] == accuracy.counts["truncated"] == 0.0
    assert accuracy.counts["refused"] == 0.0
    assert units(question((0,)), {}, 0) == ()
    assert set(accuracy.counts) <= set(OUTCOMES)


def test_questions_of_one_document_are_one_cluster() -> None:
    assert unit(question((0,)), "A").clusters == (("document", b"document"),)
    assert unit(question((0,), None), "A").clusters == (("item", b"item"),)


@given(key=st.sets(st.sampled_from(range(4)), min_size=1, max_size=3))
def test_chance_is_that_of_a_guesser_who_knows_the_type(key: set[int]) -> None:
    """It draws one of the sets that the question admits: 4, or 10 of two or three of four."""
    right = tuple(sorted(key))
    letters, n = answer_key(unit(question(right), "A"))
    assert letters == ", ".join("ABCD"[place] for place in right)
    sizes = (1,) if len(right) == 1 else (2, 3)
    admissible = [each for size in sizes for each in combinations(range(4), size)]
    assert n == len(admissible)
    draws = random.Random(7)
    hits = sum(draws.choice(admissible) == right for _ in range(4000))
    assert abs(hits / 4000 - 1 / n) < 4 * (1 / n * (1 - 1 / n) / 4000) ** 0.5
