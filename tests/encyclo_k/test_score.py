"""Scores of composed and imported questions: right, wrong, or nothing chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.choices import likelihood
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    SingleStatement,
    Statement,
)
from proofstone.methods.encyclo_k.score import (
    MEASURES,
    SCORER_VERSION,
    answer_key,
    options_shown,
    score,
    units,
)
from proofstone.records.items import Item, LoadedItem, Unit
from proofstone.records.knowledge import Fact
from proofstone.records.runs import OUTCOMES, Response, Score


def _fact(name: str, *, origin: str = "") -> Fact:
    payload = Statement(text=name, correct=not origin, origin=origin.encode() if origin else None)
    return Fact(id=name.encode(), kind="encyclo_k.statement", payload=payload)


QUESTION = ComposedQuestion(
    asks_correct=True,
    template=0,
    wording=0,
    options=((0, 2), (0, 1), (1, 2), (0, 3)),
    answer_key=1,
)
FACTS = (_fact("one"), _fact("two"), _fact("not three", origin="three"), _fact("no", origin="four"))
COMPOSED = LoadedItem(
    Item(id=b"item", kind="encyclo_k.composed", payload=QUESTION, facts=tuple(f.id for f in FACTS)),
    FACTS,
)
IMPORTED = LoadedItem(
    Item(
        id=b"made elsewhere",
        kind="encyclo_k.choice",
        payload=ChoiceQuestion(question="Which?", options=("iron", "gold", "tin"), answer_key=2),
    ),
    (),
)


def _unit(item: LoadedItem, text: str = "", **about: Any) -> Unit:
    [unit] = units(item, {"answer": Response(text=text, **about)}, 0)
    return unit


def _score(item: LoadedItem, text: str = "", **about: Any) -> Score:
    [scored] = asyncio.run(score([_unit(item, text, **about)], None))
    return scored


# ---------------------------------------------------------------- units


def test_the_item_is_the_unit_with_its_replies_and_sample() -> None:
    responses = {"think": Response(text="..."), "answer": Response(text="B")}
    [unit] = units(COMPOSED, responses, 3)
    assert (unit.item, unit.kind, unit.sample, unit.responses) == (COMPOSED, "item", 3, responses)


def test_without_the_reply_of_the_last_step_there_is_nothing_to_score() -> None:
    """A missing response is not a score."""
    assert units(COMPOSED, {}, 0) == ()
    assert units(COMPOSED, {"think": Response(text="B")}, 0) == ()


def test_a_falsified_statement_clusters_as_the_true_one_it_came_from() -> None:
    assert _unit(COMPOSED).clusters == (
        ("statement", b"one"),
        ("statement", b"two"),
        ("statement", b"three"),
        ("statement", b"four"),
    )


def test_a_true_statement_beside_its_falsification_is_one_edge() -> None:
    both = LoadedItem(COMPOSED.item, (_fact("three"), _fact("not three", origin="three")))
    assert _unit(both).clusters == (("statement", b"three"),)


def test_a_question_without_statements_clusters_by_itself() -> None:
    assert _unit(IMPORTED).clusters == (("item", b"made elsewhere"),)


# ---------------------------------------------------------------- scores


def test_the_gold_letter_is_right_and_another_is_wrong() -> None:
    assert _score(COMPOSED, "Answer: B") == Score(
        unit=0,
        measure="accuracy",
        outcome="answered",
        value=1.0,
        answer="B",
        basis="marked, last line",
    )
    wrong = _score(COMPOSED, "Answer: A")
    assert (wrong.outcome, wrong.value, wrong.answer) == ("answered", 0.0, "A")


@pytest.mark.parametrize(
    "text", ["i, ii", "II, I", "Answer: ⅱ、ⅰ", "Statements i and ii are right."]
)
def test_a_composed_option_may_be_given_by_its_numerals(text: str) -> None:
    scored = _score(COMPOSED, text)
    assert (scored.answer, scored.value, scored.basis) == ("B", 1.0, "content, whole text")


def test_an_imported_option_may_be_given_by_its_text() -> None:
    scored = _score(IMPORTED, "The answer is tin.")
    assert (scored.answer, scored.value, scored.basis) == ("C", 1.0, "content, whole text")


def test_what_is_no_answer_has_no_value() -> None:
    unparsed = _score(COMPOSED, "The answer is (K).")
    assert unparsed == Score(
        unit=0,
        measure="accuracy",
        outcome="unparsed",
        value=None,
        answer="K",
        basis="marked, last line",
        flags=("no option",),
    )
    refused = _score(COMPOSED, finish="content_filter")
    assert (refused.outcome, refused.value, refused.answer, refused.basis, refused.flags) == (
        "refused",
        None,
        "",
        "",
        ("by endpoint",),
    )
    assert _score(COMPOSED, "B", finish="length").value is None


def test_a_truncated_reply_with_a_stated_answer_is_scored_and_flagged() -> None:
    scored = _score(COMPOSED, "Answer: B. Because", finish="length")
    assert (scored.outcome, scored.value, scored.flags) == ("answered", 1.0, ("truncated",))


def test_a_score_names_the_place_of_its_unit() -> None:
    given = [_unit(COMPOSED, "Answer: A"), _unit(IMPORTED, "Answer: C"), _unit(COMPOSED, "B")]
    scores = asyncio.run(score(given, None))
    assert [scored.unit for scored in scores] == [0, 1, 2]
    assert [scored.value for scored in scores] == [0.0, 1.0, 1.0]
    assert asyncio.run(score([], None)) == []


def test_gold_is_the_letter_and_the_number_of_options() -> None:
    assert answer_key(_unit(COMPOSED)) == ("B", 4)
    assert answer_key(_unit(IMPORTED)) == ("C", 3)


@given(
    st.integers(2, 26).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1))), st.data()
)
def test_a_letter_is_right_exactly_where_it_is_gold(sizes: tuple[int, int], data: Any) -> None:
    n, right = sizes
    question = ChoiceQuestion(
        question="?", options=tuple(f"text {i}" for i in range(n)), answer_key=right
    )
    item = LoadedItem(Item(id=b"x", kind="encyclo_k.choice", payload=question), ())
    chosen = data.draw(st.integers(0, n - 1))
    by_letter = _score(item, f"Answer: {ascii_uppercase[chosen]}")
    by_text = _score(item, f"Answer: text {chosen}")
    assert by_letter.value == by_text.value == float(chosen == right)


# ---------------------------------------------------------------- measures


def test_what_each_outcome_counts_as() -> None:
    """The printed table: a missing answer is wrong and also counted as a miss; failed is none."""
    own = [measure for measure in MEASURES if measure not in likelihood.MEASURES]
    table = {measure.name: dict(measure.counts) for measure in own if not measure.answer_keys}
    verdicts = {name: table.pop(name) for name in ("verdict_accuracy", "verdict_miss")}
    assert verdicts == {"verdict_accuracy": table["accuracy"], "verdict_miss": table["no answer"]}
    assert table == {
        "accuracy": {"answered": "value", "refused": 0.0, "unparsed": 0.0, "truncated": 0.0},
        "no answer": {"answered": 0.0, "refused": 1.0, "unparsed": 1.0, "truncated": 1.0},
        "refused": {"answered": 0.0, "refused": 1.0, "unparsed": 0.0, "truncated": 0.0},
        "unparsed": {"answered": 0.0, "refused": 0.0, "unparsed": 1.0, "truncated": 0.0},
        "truncated": {"answered": 0.0, "refused": 0.0, "unparsed": 0.0, "truncated": 1.0},
    }
    for measure in MEASURES[:5]:
        assert (measure.of, measure.denominator) == ("accuracy", "all scored responses")
        assert set(measure.counts) == set(OUTCOMES) - {"failed"}


def test_the_scorer_has_a_version() -> None:
    assert SCORER_VERSION == 2


# ---------------------------------------------------------------- options as shown


def test_options_are_shown_with_the_places_of_the_right_ones() -> None:
    composed, imported = options_shown(COMPOSED), options_shown(IMPORTED)
    assert composed is not None
    assert imported is not None
    assert (len(composed.options), composed.right, composed.several) == (4, (1,), False)
    assert (imported.options, imported.right) == (("iron", "gold", "tin"), (2,))
    payload = ChoiceQuestion(question="Which?", options=("a", "b", "c"), answer_key=0, also=(2,))
    several = options_shown(
        LoadedItem(Item(id=b"two", kind="encyclo_k.choice", payload=payload), ())
    )
    assert several is not None
    assert (several.right, several.several) == ((0, 2), True)
    assert options_shown(_single(correct=True)) is None


# ---------------------------------------------------------------- single statements


def _single(*, correct: bool) -> LoadedItem:
    fact = _fact("one") if correct else _fact("not three", origin="three")
    item = Item(id=b"s", kind="encyclo_k.single", payload=SingleStatement(), facts=(fact.id,))
    return LoadedItem(item, (fact,))


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize(
    ("text", "says"), [("Answer: True", True), ("答案：错误", False), ("It is false.", False)]
)
def test_a_verdict_is_right_where_it_is_the_statements_truth(
    correct: bool, text: str, says: bool
) -> None:
    item = _single(correct=correct)
    scored = _score(item, text)
    assert answer_key(_unit(item)) == ("true" if correct else "false", 2)
    assert (scored.outcome, scored.value) == ("answered", float(says == correct))
    assert scored.answer == ("true" if says else "false")


def test_a_statement_and_its_falsification_vary_together() -> None:
    """One key, the true statement's: who knows it can tell the false one."""
    assert _unit(_single(correct=True)).clusters == (("statement", b"one"),)
    assert _unit(_single(correct=False)).clusters == (("statement", b"three"),)


def test_a_verdict_both_ways_is_no_verdict() -> None:
    scored = _score(_single(correct=True), "Answer: True or False")
    assert (scored.outcome, scored.value, scored.flags) == ("unparsed", None, ("several answers",))


# ---------------------------------------------------------------- a verdict on each statement


def _verdict_units(text: str, **about: Any) -> Sequence[Unit]:
    return units(COMPOSED, {"verdicts": Response(text=text, **about)}, 2)


def _verdict_scores(text: str, **about: Any) -> list[Score]:
    return list(asyncio.run(score(_verdict_units(text, **about), None)))


def test_the_question_and_each_of_its_statements_are_units() -> None:
    """The question keeps its letter, so that it is the same unit however it was asked."""
    whole, *judged = _verdict_units("")
    assert (whole.kind, whole.payload, answer_key(whole)) == ("item", None, ("B", 4))
    assert whole.clusters == _unit(COMPOSED).clusters
    assert [unit.kind for unit in judged] == ["encyclo_k.judged"] * 4
    assert [unit.payload.place for unit in judged] == [0, 1, 2, 3]
    assert [answer_key(unit) for unit in judged] == [
        ("true", 2),
        ("true", 2),
        ("false", 2),
        ("false", 2),
    ]
    assert [unit.clusters for unit in judged] == [
        (("statement", key),) for key in (b"one", b"two", b"three", b"four")
    ]
    assert {unit.sample for unit in (whole, *judged)} == {2}


def test_a_questions_score_is_the_share_of_its_statements_judged_right() -> None:
    """Truth: true, true, false, false. Said: true, false, false, true."""
    whole, *judged = _verdict_scores("i: True\nii: False\niii: False\niv: True")
    assert (whole.measure, whole.outcome, whole.value) == ("accuracy", "answered", 2 / 4)
    assert whole.answer == "true, false, false, true"
    assert [(one.measure, one.value) for one in judged] == [
        ("verdict", 1.0), ("verdict", 0.0), ("verdict", 1.0), ("verdict", 0.0),
    ]  # fmt: skip


def test_a_missing_verdict_is_wrong_and_reported_as_missing() -> None:
    whole, *judged = _verdict_scores("i: True\niii: False\niv: True or False")
    assert (whole.value, whole.answer) == (2 / 4, "true, -, false, -")
    assert whole.flags == ("missing verdicts",)
    assert [one.outcome for one in judged] == ["answered", "unparsed", "answered", "unparsed"]
    assert [one.flags for one in judged[1::2]] == [("missing verdict",), ("several answers",)]


def test_a_reply_without_any_verdict_has_no_share() -> None:
    """It counts 0 by its outcome, like any other reply that answers nothing."""
    whole, *judged = _verdict_scores("Who knows.")
    assert (whole.outcome, whole.value) == ("unparsed", None)
    assert {one.outcome for one in judged} == {"unparsed"}


@given(st.lists(st.sampled_from(["True", "False", None]), min_size=4, max_size=4))
def test_the_share_is_the_mean_over_the_statements_missing_ones_counting_0(
    said: list[str | None],
) -> None:
    text = "\n".join(f"{at + 1}: {one}" for at, one in enumerate(said) if one)
    whole, *judged = _verdict_scores(text)
    values = [one.value or 0.0 for one in judged]
    assert (whole.value or 0.0) == sum(values) / 4
    right = ["True", "True", "False", "False"]
    assert values == [float(one == truth) for one, truth in zip(said, right, strict=True)]
