"""Composed questions: ten balanced options without subsets, one of them exactly what is true."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kina.kina_rows import combination, statement, write_rows
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.kina.compose import MOST_APART, N_OPTIONS, compose, recipe
from proofstone.methods.kina.payloads import question_of
from proofstone.methods.kina.questions import read_facts
from proofstone.records.items import Item, LoadedItem
from proofstone.records.knowledge import Fact
from proofstone.records.tables import Row
from told import Proofstone


class Bank:
    """A bank in memory, in the order of the ids."""

    id, name = b"bank", "ores"

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        read = read_facts(Row(f"line {n}", row) for n, row in enumerate(rows, 1))
        self.by_id = {built.fact.id: built.fact for built in read}

    def facts(self, kind: str = "") -> Iterator[Fact]:
        return iter([self.by_id[each] for each in sorted(self.by_id)])


def bank(n: int, **changed: Any) -> Bank:
    return Bank([statement(k, correct=k % 3 == 0, **changed) for k in range(n)])


def made(held: Bank, seed: int = 0, **params: Any) -> list[Item]:
    return list(compose(held, recipe(params), seed))  # type: ignore[arg-type]


def loaded(held: Bank, item: Item) -> LoadedItem:
    return LoadedItem(item, tuple(held.by_id[each] for each in item.facts))


BIG = bank(900)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    fewest=st.integers(6, 9),
    more=st.integers(0, 3),
    sizes=st.sampled_from(["2", "2-3", "2-4", "3", "3-5", "3-4", "4"]),
)
def test_every_question_keeps_the_rules_of_combinations(
    seed: int, fewest: int, more: int, sizes: str
) -> None:
    params = {"statements": f"{fewest}-{fewest + more}", "combination": sizes, "questions": 8}
    for item in made(BIG, seed, **params):
        question = question_of(loaded(BIG, item))
        true = tuple(p for p, f in enumerate(loaded(BIG, item).facts) if f.payload.correct)
        assert fewest <= len(question.statements) <= fewest + more
        assert len(question.sets) == len(set(question.sets)) == N_OPTIONS
        assert not any(set(a) < set(b) for a, b in permutations(question.sets, 2))
        lengths = [len(each) for each in question.sets]
        assert max(lengths) - min(lengths) <= MOST_APART
        assert [place for place, each in enumerate(question.sets) if each == true] == [
            question.answer_key
        ]


def test_the_same_seed_gives_the_same_form_and_another_one_another() -> None:
    assert made(BIG, 3) == made(BIG, 3)
    assert made(BIG, 3) != made(BIG, 4)


def test_a_statement_is_used_once_in_a_form() -> None:
    used = Counter(fact for item in made(BIG) for fact in item.facts)
    assert set(used.values()) == {1}
    assert len(used) > 600


def test_positions_of_the_right_option_are_uniform() -> None:
    """Chi-squared over ten positions; 27.9 is exceeded by chance once in 1,000."""
    places = Counter(
        item.payload.answer_key for seed in range(20) for item in made(BIG, seed, questions=60)
    )
    expected = places.total() / N_OPTIONS
    assert places.total() == 1200
    assert sum((places[k] - expected) ** 2 / expected for k in range(N_OPTIONS)) < 27.9


def test_sizes_of_right_and_of_other_options_are_alike() -> None:
    """The standard error of a share of 1,200 right options is 0.0144 at most."""
    right: Counter[int] = Counter()
    other: Counter[int] = Counter()
    for seed in range(20):
        for item in made(BIG, seed, questions=60):
            for place, each in enumerate(item.payload.sets):
                (right if place == item.payload.answer_key else other)[len(each)] += 1
    for size in (2, 3, 4):
        assert abs(right[size] / right.total() - other[size] / other.total()) < 0.06


def test_statements_of_one_group_are_never_together() -> None:
    rows = [statement(k, correct=k % 2 == 0, group=f"g{k // 2}") for k in range(240)]
    held = Bank(rows)
    items = made(held)
    assert items
    for item in items:
        groups = [fact.payload.group for fact in loaded(held, item).facts]
        assert len(set(groups)) == len(groups)


def test_statements_of_a_question_share_subfield_and_language() -> None:
    rows = [statement(k, correct=k % 3 == 0) for k in range(60)]
    rows += [
        statement(k, correct=k % 3 == 0, subfield="Structural Geology") for k in range(60, 120)
    ]
    held = Bank(rows)
    for item in made(held):
        assert {f.stratum.subfield for f in loaded(held, item).facts} == {item.stratum.subfield}
    mixed = {
        len({f.stratum.subfield for f in loaded(held, item).facts})
        for item in made(held, within="field")
    }
    assert 2 in mixed


def test_each_option_says_which_of_its_statements_hold_and_what_it_leaves_out() -> None:
    question = question_of(loaded(BIG, made(BIG)[0]))
    for place, note in enumerate(question.notes):
        assert ("is false" in note.explanation or "leaves out" in note.explanation) == (
            place != question.answer_key
        )
        assert note.source
        assert note.page
        assert ".; " not in note.explanation
        assert note.explanation.endswith(".")
        assert note.explanation.startswith("Statement ")


def test_an_imported_bank_is_named_by_what_it_holds(proofstone: Proofstone, tmp_path: Path) -> None:
    proofstone("init", tmp_path / "work")
    held = {"statements": [statement(k, correct=k % 2 == 0) for k in range(9)]}
    held["questions"] = [combination(k) for k in range(3)]
    for name, rows in held.items():
        file = write_rows(tmp_path / f"{name}.jsonl", rows)
        told = proofstone("import", file, "--as", "bank", "-w", tmp_path / "work")
        assert re.search(rf"   {len(rows)} {name}\n$", told.out), told
        shown = proofstone("show", name, "-w", tmp_path / "work").out
        assert re.search(rf"(?m)^{name} +{len(rows)}$", shown)


def test_sentences_of_an_explanation_are_joined_with_their_full_stops() -> None:
    """A reason keeps its own, and a sentence without one gets one."""
    reasons = ["It was measured.", 'It is "small"', "(See p. 3.)", "", "Really?", "x", "y", "z"]
    rows = [
        {**statement(k, correct=k % 3 == 0), "explanation": reasons[k % len(reasons)]}
        for k in range(60)
    ]
    held = Bank(rows)
    for item in made(held):
        for note in question_of(loaded(held, item)).notes:
            assert not re.search(r"[.?!]\)?[.;]|[a-z\"] Statement", note.explanation)
            assert re.search(r"[.?!]\)?$", note.explanation)


def test_stored_questions_keep_or_change_the_order_of_options() -> None:
    held = Bank([combination(n) for n in range(12)])
    kept = {item.payload.order for item in made(held)}
    assert kept == {tuple(range(10))}
    shuffled = made(held, option_order="shuffled")
    assert len({item.payload.order for item in shuffled}) == 12
    for item in shuffled:
        question = question_of(loaded(held, item))
        assert question.options[question.answer_key] == "2, 4"
        assert question.notes[question.answer_key].explanation.startswith("Statements 2, 4")


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"statements": "5-8"}, "statements must be 6"),
        ({"combination": "1-5"}, "at most 2 apart"),
        ({"combination": "1", "statements": "6"}, "fewer than 10 options"),
        ({"statements": "many"}, "LOW-HIGH"),
        ({"questions": 0.5}, "whole number"),
        ({"within": "page"}, "within must be one of"),
        ({"option_order": "up"}, "option_order must be one of"),
    ],
)
def test_impossible_parameters_are_refused(params: dict[str, Any], told: str) -> None:
    with pytest.raises(BadUsage, match=told):
        recipe(params)


def test_too_few_questions_and_mixed_banks_are_refused() -> None:
    with pytest.raises(BadInput, match="expected at least 900"):
        made(bank(30), questions=900)
    with pytest.raises(BadInput, match="expected at least 1 "):
        made(bank(4))
    with pytest.raises(BadInput, match="a form is of one of the two"):
        made(Bank([combination(0), statement(1, correct=True)]))
    with pytest.raises(BadInput, match="expected at least 3"):
        made(Bank([combination(0)]), questions=3)
