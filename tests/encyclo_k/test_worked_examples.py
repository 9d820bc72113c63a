"""Worked examples share nothing with the question, speak its language and are always the same."""

from __future__ import annotations

import pytest
from banks_for_tests import Book, ListBank, bank_of, fact_of

from encyclo_k.test_ask import BOOK, IMPORTED, form_of
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.encyclo_k.ask import choose_shots, messages, prepare
from proofstone.methods.encyclo_k.compose import compose_items as compose
from proofstone.records.items import ItemSet, LoadedItem
from proofstone.records.knowledge import Stratum


def items_of(bank: ListBank, form: ItemSet) -> list[LoadedItem]:
    assert form.seed is not None
    return [bank.load(item) for item in compose(bank, form.recipe, form.seed)]


def test_worked_examples_share_no_origin_with_the_item() -> None:
    """Neither a statement nor the true one behind a false one; each as often as asked for."""
    bank = bank_of([BOOK])
    form = form_of(bank)
    prompt_method = prepare("direct", 3, form, bank)
    for item in items_of(bank, form):
        taken = {fact.payload.origin or fact.id for fact in item.facts}
        shots = choose_shots(item, prompt_method.shots, prompt_method.n_shots)
        assert len({shot.item.id for shot in shots}) == 3
        for shot in shots:
            assert taken.isdisjoint(fact.payload.origin or fact.id for fact in shot.facts)


def test_worked_examples_are_in_the_items_language() -> None:
    bank = bank_of([BOOK, replace_language(BOOK, "zh")])
    form = form_of(bank)
    prompt_method = prepare("cot", 2, form, bank)
    for item in items_of(bank, form):
        chosen = choose_shots(item, prompt_method.shots, 2)
        assert {shot.item.language for shot in chosen} == {item.item.language}


def replace_language(book: Book, language: str) -> Book:
    return Book(book.stratum, book.correct, book.false, book.paired, language)


def test_the_same_item_is_shown_the_same_examples() -> None:
    bank = bank_of([BOOK])
    form = form_of(bank)
    item = items_of(bank, form)[4]
    once, again = (prepare("direct", 2, form, bank) for _ in range(2))
    assert once == again
    assert messages(item, once) == messages(item, again)
    assert len(messages(item, once)) == 2 + 2 + 1


def test_too_small_a_bank_for_worked_examples_is_refused_before_the_run() -> None:
    """12 pairs: a question takes 8 to 10 of their origins, an example at least 8."""
    bank = bank_of([Book(Stratum("D", "F", "S", "B"), 12, 12, 12)])
    with pytest.raises(
        BadUsage, match=r"expected 1 few-shot examples; the bank has 0 that share no statement"
    ):
        prepare("direct", 1, form_of(bank), bank)


def test_a_language_left_out_by_skip_small_has_no_examples() -> None:
    """Its statements make no item either; without skip_small the form itself is refused."""
    bank = bank_of([BOOK, Book(BOOK.stratum, 3, 3, language="zh")])
    prompt_method = prepare("direct", 1, form_of(bank, skip_small=True), bank)
    assert {shot.item.language for shot in prompt_method.shots} == {"en"}
    with pytest.raises(BadInput, match="groups of the bank have too few statements"):
        prepare("direct", 1, form_of(bank), bank)


def test_an_imported_set_may_borrow_a_bank() -> None:
    """Its recipe is empty, so examples come by the published one; its items need no statements."""
    bank = bank_of([BOOK])
    imported = ItemSet(name="file", kind="imported", method="encyclo_k", bank=bank.id)
    prompt_method = prepare("direct", 1, imported, bank)
    assert len(messages(IMPORTED, prompt_method)) == 3


def test_the_prompt_hash_holds_way_shots_and_pool() -> None:
    """Whatever may change a prompt changes it; nothing else does."""
    bank = bank_of([BOOK])
    other = ListBank([*bank.facts(), fact_of(BOOK, 999, correct=True)])
    form = form_of(bank)
    same = prepare("direct", 0, form, None).prompt_hash
    assert same == prepare("direct", 0, form_of(other), other).prompt_hash
    hashes = {
        same,
        prepare("cot", 0, form, None).prompt_hash,
        prepare("direct", 1, form, bank).prompt_hash,
        prepare("direct", 2, form, bank).prompt_hash,
        prepare("direct", 1, form_of(other), other).prompt_hash,
    }
    assert len(hashes) == 5
