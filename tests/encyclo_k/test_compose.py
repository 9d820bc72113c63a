"""Composition: the invariants of every question, and what a seed fixes."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.errors import BadInput, BadUsage
from proofstone.methods.encyclo_k.compose import chance, recipe, reuse
from proofstone.methods.encyclo_k.compose import compose_items as compose
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records.items import Item, item_id
from proofstone.records.knowledge import Fact, Stratum, fact_id


class Bank:
    """A bank in memory, in the order of its ids."""

    name = "in memory"

    def __init__(self, facts: list[Fact]) -> None:
        self._facts = sorted(facts, key=lambda fact: fact.id)
        self.id = sha256(b"".join(fact.id for fact in self._facts)).digest()

    def facts(self) -> list[Fact]:
        return self._facts


def bank_of(books: int = 3, pairs: int = 14, language: str = "en") -> Bank:
    """Books with so many true statements, each with its falsification."""
    facts = []
    for book in range(books):
        stratum = Stratum("Science", f"field {book % 2}", f"subfield {book}", f"book {book}")
        for i in range(pairs):
            true = _fact(Statement(text=f"Fact {i} of {book}.", correct=True), stratum, language)
            false = Statement(text=f"False {i} of {book}.", correct=False, origin=true.id)
            facts += [true, _fact(false, stratum, language)]
    return Bank(facts)


def _fact(payload: Statement, stratum: Stratum, language: str) -> Fact:
    fact = Fact(kind="encyclo_k.statement", payload=payload, language=language, stratum=stratum)
    return msgspec.structs.replace(fact, id=fact_id(fact))


def composed(bank: Bank, seed: int = 1, **params: Any) -> list[Item]:
    return list(compose(bank, recipe({"questions": 40, **params}), seed))


RECIPES = st.fixed_dictionaries(
    {
        "statements": st.sampled_from(["8-10", "8", "9-10", "6-7"]),
        "options": st.sampled_from(["4-8", "2", "4", "10", "3-9"]),
        "combination": st.sampled_from(["2-4", "2", "3-4", "1-3"]),
        "correct_share": st.sampled_from([0.0, 0.5, 1.0]),
        "forbid_subsets": st.booleans(),
        "siblings": st.booleans(),
        "within": st.sampled_from(["book", "field", "discipline"]),
    }
)


@given(RECIPES, st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_every_question_keeps_every_invariant(params: dict[str, Any], seed: int) -> None:
    """The gold option is exactly all statements of the asked polarity; every other one holds one of
    the other polarity; none alike; no statement twice; one group; siblings apart."""
    bank = bank_of()
    known = {fact.id: fact for fact in bank.facts()}
    if params["forbid_subsets"] and params["options"] in {"10", "3-9"}:
        params = {**params, "options": "4"}  # so many options without subsets there may not be
    made = recipe({**params, "questions": 12})
    sizes = range(made["combination"][0], made["combination"][1] + 1)
    for item in compose(bank, made, seed):
        question = item.payload
        facts = [known[identity] for identity in item.facts]
        asked = {i for i, f in enumerate(facts) if f.payload.correct is question.asks_correct}
        assert made["statements"][0] <= len(facts) <= made["statements"][1]
        assert made["options"][0] <= len(question.options) <= made["options"][1]
        assert set(question.options[question.answer_key]) == asked
        assert len(set(question.options)) == len(question.options)
        assert len(set(item.facts)) == len(item.facts)
        for place, option in enumerate(question.options):
            assert len(option) in sizes
            assert list(option) == sorted(set(option))
            if place != question.answer_key:
                assert set(option) - asked
        if made["forbid_subsets"]:
            chosen = [set(option) for option in question.options]
            assert not any(a < b for a in chosen for b in chosen)
        groups = {getattr(fact.stratum, made["within"]) for fact in facts}
        assert groups == {getattr(item.stratum, made["within"])}
        if not made["siblings"]:
            origins = [fact.payload.origin or fact.id for fact in facts]
            assert len(set(origins)) == len(origins)


def test_the_same_seed_gives_the_same_items_and_another_one_others() -> None:
    """Ids are content hashes, so equal ids are equal questions."""
    bank = bank_of()
    ids = [item.id for item in composed(bank, seed=5)]
    assert ids == [item.id for item in composed(bank, seed=5)]
    assert not set(ids) & {item.id for item in composed(bank, seed=6)}


def test_a_small_form_is_the_same_on_every_machine_for_ever() -> None:
    """A golden value: if it changes, every form id in the world means other questions."""
    ids = b"".join(item.id for item in composed(bank_of(), seed=40))
    assert sha256(ids).hexdigest()[:16] == GOLDEN


def test_an_items_quick_id_is_its_id() -> None:
    """The composer's way to the id, and the record's own, agree."""
    for item in composed(bank_of(language="zh")) + composed(bank_of()):
        assert item.id == item_id(item)


def test_the_order_of_the_banks_file_changes_nothing() -> None:
    """A bank is a set of facts."""
    bank = bank_of()
    turned = Bank(bank.facts()[::-1])
    assert [item.id for item in composed(bank)] == [item.id for item in composed(turned)]


def test_a_sweep_of_options_only_adds_distractors() -> None:
    """From 4 to 10 options, a question keeps statements, gold, wording, and the order of the
    options it had."""
    bank = bank_of()
    sweeps = [composed(bank, options=f"{n}") for n in range(4, 11)]
    for fewer, more in pairwise(sweeps):
        for a, b in zip(fewer, more, strict=True):
            assert a.facts == b.facts
            assert (a.payload.template, a.payload.wording) == (
                b.payload.template,
                b.payload.wording,
            )
            assert (
                a.payload.options[a.payload.answer_key] == b.payload.options[b.payload.answer_key]
            )
            assert len(b.payload.options) == len(a.payload.options) + 1
            kept = [option for option in b.payload.options if option in a.payload.options]
            assert tuple(kept) == a.payload.options


def test_statements_are_used_evenly_over_a_form() -> None:
    """84 statements, 40 questions of about 9 places: about 4 uses each, none left out."""
    used = reuse(composed(bank_of()))
    assert used.statements == 3 * 14 * 2
    assert 40 * 8 <= used.places <= 40 * 10
    assert used.most - used.least <= 4


def test_languages_stay_apart() -> None:
    """A question is in one language, also where a book holds two."""
    bank = Bank(bank_of().facts() + bank_of(language="zh").facts())
    known = {fact.id: fact for fact in bank.facts()}
    items = composed(bank)
    assert {item.language for item in items} == {"en", "zh"}
    for item in items:
        assert {known[identity].language for identity in item.facts} == {item.language}


def test_chance_is_the_mean_of_one_over_the_options() -> None:
    """Options of 4 and 5 only: between a fifth and a quarter."""
    items = composed(bank_of(), options="4-5")
    fours = sum(len(item.payload.options) == 4 for item in items)
    assert chance(items) == pytest.approx((fours / 4 + (40 - fours) / 5) / 40)


def test_books_with_too_few_statements_are_named_together() -> None:
    """Each group says what it has and what it needs."""
    small = bank_of(books=2, pairs=3)
    with pytest.raises(BadInput, match="groups of the bank have too few statements") as refused:
        composed(small)
    assert [problem.where for problem in refused.value.problems] == sorted(
        problem.where for problem in refused.value.problems
    )
    mixed = Bank(small.facts() + bank_of(books=4, pairs=14).facts())
    assert composed(mixed, skip_small=True)


def test_an_empty_bank_is_refused() -> None:
    with pytest.raises(BadInput):
        composed(Bank([]))


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"statements": "ten"}, "statements"),
        ({"options": "8-4"}, "options"),
        ({"options": "1"}, "options"),
        ({"correct_share": 2.0}, "correct_share"),
        ({"questions": 0}, "questions"),
        ({"within": "shelf"}, "within"),
        ({"unheard": 1}, "unheard"),
    ],
)
def test_parameters_that_cannot_be_are_named(params: dict[str, Any], named: str) -> None:
    with pytest.raises(BadUsage, match=named):
        recipe(params)


GOLDEN = "7c5060ea28961e7c"
