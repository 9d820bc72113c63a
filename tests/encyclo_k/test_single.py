"""Forms of single statements: a fair mixture in any first part, and one item a statement."""

from __future__ import annotations

from collections import Counter

import pytest
from banks_for_tests import Book, ListBank, bank_of
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.errors import BadInput, BadUsage
from proofstone.methods.encyclo_k.compose import recipe
from proofstone.methods.encyclo_k.method import METHOD
from proofstone.methods.encyclo_k.questions import read_items, write_item
from proofstone.records.items import Item, item_id
from proofstone.records.knowledge import Stratum
from proofstone.records.tables import Row

BOOKS = [
    Book(Stratum("Science", "Physics", "Heat", "Heat I"), correct=40, false=20, paired=20),
    Book(Stratum("Law", "Law", "Civil law", "Contracts"), correct=30, false=30, language="zh"),
]
BANK = bank_of(BOOKS)


def composed(bank: ListBank = BANK, seed: int = 0, **params: object) -> list[Item]:
    plain = recipe({"setting": "statements", **params})
    return list(METHOD.compose(bank, plain, seed))


def test_every_statement_of_the_bank_is_one_item() -> None:
    items = composed()
    assert [item.facts for item in items] != [(fact.id,) for fact in BANK.facts()]
    assert {item.facts for item in items} == {(fact.id,) for fact in BANK.facts()}
    assert len(items) == len(BANK.facts()) == 40 + 20 + 30 + 30
    for item in items:
        (fact,) = BANK.load(item).facts
        assert (item.language, item.stratum) == (fact.language, fact.stratum)
        assert item.id == item_id(item)


def test_a_sample_is_the_first_part_of_a_larger_one() -> None:
    assert composed(sample=12) == composed(sample=50)[:12] == composed()[:12]


def test_a_statement_is_the_same_item_in_every_form() -> None:
    """So that samples of one bank by different seeds pair by item."""
    assert {item.id for item in composed(seed=1)} == {item.id for item in composed(seed=2)}
    assert composed(seed=1) != composed(seed=2)


@settings(max_examples=50)
@given(st.integers(1, 120), st.integers(0, 10_000))
def test_any_first_part_has_its_share_of_each_book_and_polarity(n: int, seed: int) -> None:
    """Each of the four groups to within two statements of proportion."""
    kinds = Counter(
        (item.stratum.book, BANK.load(item).facts[0].payload.correct)
        for item in composed(seed=seed, sample=n)
    )
    sizes = {("Heat I", True): 40, ("Heat I", False): 20}
    sizes |= {("Contracts", True): 30, ("Contracts", False): 30}
    assert all(abs(kinds[kind] - n * size / 120) < 2 for kind, size in sizes.items())


def test_the_recipe_of_statements_says_nothing_of_questions() -> None:
    plain = recipe({"setting": "statements", "sample": "30"})
    assert plain == {"composer": 1, "setting": "statements", "sample": 30}
    assert recipe(plain) == plain


@pytest.mark.parametrize(
    ("params", "named"),
    [
        (
            {"setting": "statements", "options": "4-5"},
            "options: not available with setting statements",
        ),
        ({"sample": 5}, "sample: not available with setting questions"),
        ({"setting": "statements", "sample": 0}, "sample: expected a whole number"),
        ({"setting": "words"}, "setting: expected questions or statements, got 'words'"),
        (
            {"setting": "statements", "composer": 7},
            "the recipe is from composer 7; this version has 1",
        ),
    ],
)
def test_what_cannot_be_is_named(params: dict[str, object], named: str) -> None:
    with pytest.raises(BadUsage) as caught:
        recipe(params)
    assert named in str(caught.value)


def test_the_defaults_that_a_command_passes_say_nothing() -> None:
    """The command line hands over every parameter, ranges as text."""
    given_all = {"options": "4-8", "base": 5000, "siblings": False, "questions": None}
    assert recipe({"setting": "statements", **given_all})["setting"] == "statements"


def test_a_sample_larger_than_the_bank_is_refused() -> None:
    with pytest.raises(BadInput, match="has 120 statements"):
        composed(sample=121)


def test_an_empty_bank_is_refused() -> None:
    with pytest.raises(BadInput, match="empty"):
        composed(ListBank([]))


def test_an_exported_statement_comes_back_as_the_question_that_it_shows() -> None:
    (item,) = composed(sample=1)
    row = write_item(BANK.load(item))
    (back,) = read_items([Row("line 1", row)])
    assert back.payload.question.endswith(row["statement"])
    assert back.payload.options[back.payload.answer_key] in {"True", "False", "正确", "错误"}
    assert row["statement_id"] == item.facts[0].hex()
