"""Scores of single answers out of ten: what counts, what has no value, and chance."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proofstone.choices import likelihood
from proofstone.methods.kina.payloads import Asked, Composed, Question, Statement
from proofstone.methods.kina.score import HEADLINE, MEASURES, answer_key, score, units
from proofstone.records.items import Item, LoadedItem, Unit
from proofstone.records.knowledge import Fact
from proofstone.records.runs import OUTCOMES, Response, Score

METALS = ("iron", "tin", "zinc", "gold", "lead", "copper", "silver", "nickel", "cobalt", "mercury")


def asked(order: tuple[int, ...] = tuple(range(10))) -> LoadedItem:
    question = Question(stem="Which?", answer_key=2, texts=METALS)
    fact = Fact(id=b"fact", kind="kina.question", payload=question)
    item = Item(id=b"item", kind="kina.asked", payload=Asked(order=order), facts=(fact.id,))
    return LoadedItem(item, (fact,))


def composed() -> LoadedItem:
    facts = tuple(
        Fact(
            id=bytes([n]),
            kind="kina.statement",
            payload=Statement(text=f"s{n}", correct=n in (1, 3)),
        )
        for n in range(6)
    )
    sets = ((0, 1), (1, 3), (2, 3), (4, 5), (0, 5), (0, 2), (1, 2), (2, 4), (3, 4), (3, 5))
    payload = Composed(sets=sets, answer_key=1)
    item = Item(id=b"item", kind="kina.composed", payload=payload, facts=tuple(f.id for f in facts))
    return LoadedItem(item, facts)


def scored(item: LoadedItem, responses: dict[str, Response]) -> list[Score]:
    (unit,) = units(item, responses, 0)
    return list(asyncio.run(score([unit], None)))


def answered(item: LoadedItem, text: str, **about: Any) -> Score:
    (found,) = scored(item, {"answer": Response(text=text, **about)})
    return found


@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [("So.\nAnswer: C", 1.0, "C"), ("Answer: J", 0.0, "J"), ("答案：C", 1.0, "C")],
)
def test_the_last_letter_counts(text: str, value: float, answer: str) -> None:
    found = answered(asked(), text)
    assert (found.value, found.answer, found.outcome) == (value, answer, "answered")


def test_the_right_letter_follows_the_order_shown() -> None:
    item = asked((2, 0, 1, 3, 4, 5, 6, 7, 8, 9))
    assert answered(item, "Answer: A").value == 1.0
    assert answer_key(Unit(item=item)) == ("A", 10)


def test_a_composed_question_has_the_set_of_its_true_statements() -> None:
    assert answered(composed(), "Answer: B").value == 1.0


@pytest.mark.parametrize(
    ("about", "outcome"),
    [
        ({"text": "I cannot tell."}, "unparsed"),
        ({"text": "Let me think about", "finish": "length"}, "truncated"),
        ({"text": "", "finish": "content_filter"}, "refused"),
    ],
)
def test_nothing_chosen_has_no_value(about: dict[str, Any], outcome: str) -> None:
    found = answered(asked(), **about)
    assert (found.outcome, found.value) == (outcome, None)


def test_a_response_without_the_last_step_is_no_unit() -> None:
    assert units(asked(), {}, 0) == ()


def test_composed_questions_share_the_clusters_of_their_statements() -> None:
    response = {"answer": Response(text="Answer: B")}
    (one,), (other,) = units(asked(), response, 0), units(composed(), response, 0)
    assert one.clusters == (("item", b"item"),)
    assert other.clusters == tuple(("statement", bytes([n])) for n in range(6))


def test_the_likeliest_option_is_the_answer() -> None:
    steps = [*(f"{likelihood.STEP} {n}" for n in range(1, 10)), likelihood.STEP]
    responses = {
        step: Response(text="", token_logprobs=(-1.0 if place == 2 else -2.0 - place,))
        for place, step in enumerate(steps)
    }
    found = {each.measure: each for each in scored(asked(), responses)}
    assert (found[HEADLINE].value, found[HEADLINE].answer) == (1.0, "C")
    assert found["by_sum"].value == 1.0


def test_every_measure_counts_every_outcome_but_failed() -> None:
    assert all(set(each.counts) == set(OUTCOMES) - {"failed"} for each in MEASURES)
