"""Composition over random banks and recipes; allocation, refusals and uniformity of forms."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from banks_for_tests import Book, ListBank, bank_of, fact_of, paper_bank
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from proofstone.errors import BadInput, BadUsage
from proofstone.methods.encyclo_k.compose import LEVELS, Reuse, chance, recipe, reuse
from proofstone.methods.encyclo_k.compose import compose_items as compose
from proofstone.records.items import Item, item_id
from proofstone.records.knowledge import Stratum


@st.composite
def banks(draw: st.DrawFn) -> ListBank:
    """One to four books in a small taxonomy, some in Chinese, with some pairs."""
    found = []
    for i in range(draw(st.integers(1, 4))):
        discipline, field = draw(st.sampled_from(["D", "学"])), draw(st.sampled_from("FG"))
        stratum = Stratum(discipline, field, draw(st.sampled_from("ST")), f"B{i}")
        correct, false = draw(st.integers(8, 24)), draw(st.integers(8, 24))
        language = draw(st.sampled_from(["en", "zh", ""]))
        pairs = draw(st.integers(0, false))
        found.append(Book(stratum, correct, false, pairs, language))
    return bank_of(found)


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    """Recipes that can be, small enough for small banks, of all parameters."""
    low, high = sorted([draw(st.integers(4, 9)), draw(st.integers(4, 9))])
    small, large = sorted([draw(st.integers(1, 4)), draw(st.integers(1, 4))])
    within = draw(st.sampled_from(LEVELS))
    params: dict[str, Any] = {
        "statements": [low, high],
        "combination": [small, large],
        "options": sorted([draw(st.integers(2, 9)), draw(st.integers(2, 9))]),
        "correct_share": draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
        "within": within,
        "allocate": draw(st.sampled_from(LEVELS[LEVELS.index(within) :])),
        "forbid_subsets": draw(st.booleans()),
        "siblings": draw(st.booleans()),
        "skip_small": True,
        "base": draw(st.integers(1, 12)),
        "questions": draw(st.one_of(st.none(), st.integers(1, 12))),
    }
    try:
        return recipe(params)
    except BadUsage:
        assume(False)
        raise


def composed(bank: ListBank, plan: dict[str, Any], seed: int) -> list[Item]:
    try:
        return list(compose(bank, plan, seed))
    except BadInput:
        assume(False)
        raise


_MANY = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@_MANY
@given(banks(), recipes(), st.integers())
def test_what_holds_of_every_question(bank: ListBank, plan: dict[str, Any], seed: int) -> None:
    """Gold is the set of all statements of the asked polarity; every other option holds one of
    the other; no two options are alike; no statement comes twice; all from one group and
    language; sizes as the recipe says; the id is the record's own."""
    facts = {fact.id: fact for fact in bank.facts()}
    depth = LEVELS.index(plan["within"]) + 1
    for number, item in enumerate(composed(bank, plan, seed)):
        question = item.payload
        polarity = [facts[identity].payload.correct for identity in item.facts]
        asked = {i for i, correct in enumerate(polarity) if correct == question.asks_correct}
        assert set(question.options[question.answer_key]) == asked
        assert all(
            set(option) - asked
            for at, option in enumerate(question.options)
            if at != question.answer_key
        )
        assert len({frozenset(option) for option in question.options}) == len(question.options)
        assert len(set(item.facts)) == len(item.facts)
        assert plan["statements"][0] <= len(item.facts) <= plan["statements"][1]
        assert plan["options"][0] <= len(question.options) <= plan["options"][1]
        sizes = {len(option) for option in question.options}
        assert min(sizes) >= plan["combination"][0]
        assert max(sizes) <= plan["combination"][1]
        assert item.number == number
        assert item.id == item_id(item)
        paths = {_path(facts[identity].stratum)[:depth] for identity in item.facts}
        assert paths == {_path(item.stratum)[:depth]}
        assert _path(item.stratum)[depth:] == ("",) * (4 - depth)
        assert {facts[identity].language for identity in item.facts} == {item.language}


@_MANY
@given(banks(), recipes(), st.integers())
def test_siblings_stand_apart_unless_they_may_meet(
    bank: ListBank, plan: dict[str, Any], seed: int
) -> None:
    """No two statements of one origin in a question, however few the group has."""
    plan["siblings"] = False
    facts = {fact.id: fact for fact in bank.facts()}
    for item in composed(bank, plan, seed):
        origins = [facts[one].payload.origin or one for one in item.facts]
        assert len(set(origins)) == len(origins)


@_MANY
@given(banks(), recipes(), st.integers())
def test_no_option_is_part_of_another_where_forbidden(
    bank: ListBank, plan: dict[str, Any], seed: int
) -> None:
    assume(plan["forbid_subsets"])
    for item in composed(bank, plan, seed):
        options = [set(option) for option in item.payload.options]
        assert not any(a < b for a in options for b in options)


@_MANY
@given(banks(), recipes(), st.integers())
def test_questions_are_allocated_exactly(bank: ListBank, plan: dict[str, Any], seed: int) -> None:
    """``questions`` is exact; ``base`` rounds up unit by unit of ``allocate``."""
    plan |= {"siblings": True, "skip_small": False}
    items = composed(bank, plan, seed)
    if plan["questions"] is not None:
        assert len(items) == plan["questions"]
        return
    depth = LEVELS.index(plan["allocate"]) + 1
    correct = [fact for fact in bank.facts() if fact.payload.correct]
    units = Counter((_path(fact.stratum)[:depth], fact.language) for fact in correct)
    assert len(items) == sum(math.ceil(plan["base"] * n / len(correct)) for n in units.values())


@_MANY
@given(banks(), recipes(), st.integers())
def test_reuse_is_even(bank: ListBank, plan: dict[str, Any], seed: int) -> None:
    """Within a book and polarity no statement is used twice before all are used once, where no
    sibling holds one back."""
    plan |= {"siblings": True, "within": "book", "allocate": "book", "questions": 30}
    uses = Counter(one for item in composed(bank, plan, seed) for one in item.facts)
    decks: dict[object, list[int]] = {}
    for fact in bank.facts():
        key = (fact.stratum, fact.language, fact.payload.correct)
        decks.setdefault(key, []).append(uses[fact.id])
    assert all(max(deck) - min(deck) <= 1 for deck in decks.values())


@_MANY
@given(banks(), recipes(), st.integers(), st.integers(2, 8))
def test_a_sweep_keeps_all_but_the_added_distractor(
    bank: ListBank, plan: dict[str, Any], seed: int, options: int
) -> None:
    """With m + 1 options each item has the statements, gold set, template and wording that it has
    with m, and the options of m in the same order."""
    try:
        fewer = composed(bank, recipe({**plan, "options": options}), seed)
        more = composed(bank, recipe({**plan, "options": options + 1}), seed)
    except BadUsage:
        assume(False)
        raise
    for a, b in zip(fewer, more, strict=True):
        assert (a.number, a.facts, a.stratum) == (b.number, b.facts, b.stratum)
        assert a.payload.template == b.payload.template
        assert a.payload.wording == b.payload.wording
        assert a.payload.asks_correct == b.payload.asks_correct
        kept = [one for one in b.payload.options if one in a.payload.options]
        assert tuple(kept) == a.payload.options
        assert kept[a.payload.answer_key] == b.payload.options[b.payload.answer_key]


def _path(stratum: Stratum) -> tuple[str, ...]:
    return (stratum.discipline, stratum.field, stratum.subfield, stratum.book)


# ---------------------------------------------------------------- forms as a whole


def small_bank(correct: int = 40, false: int = 40, paired: int = 40) -> ListBank:
    return bank_of(
        Book(Stratum("Science", "Physics", subfield, f"{subfield} I"), correct, false, paired)
        for subfield in ("Optics", "Heat", "Sound")
    )


def test_the_bank_in_memory_stays_as_it_is_and_composes_again() -> None:
    """Two streams of one form, read in turns, give the same items."""
    bank, plan = small_bank(), recipe({"questions": 20})
    pairs = zip(compose(bank, plan, 3), compose(bank, plan, 3), strict=True)
    assert all(a == b for a, b in pairs)


def test_the_first_items_are_a_fair_mixture() -> None:
    """Of three equal books, the first 3k questions hold k of each, give or take one."""
    items = list(compose(small_bank(), recipe({"questions": 60}), 5))
    for k in range(1, 20):
        counts = Counter(item.stratum.subfield for item in items[: 3 * k])
        assert all(abs(counts[name] - k) <= 1 for name in ("Optics", "Heat", "Sound"))


def test_questions_are_shared_out_by_largest_remainder() -> None:
    """10 questions for 30, 20 and 10 correct statements: 5, 3.33 and 1.67, so 5, 3 and 2."""
    bank = bank_of(
        Book(Stratum("D", "F", "S", name), correct, 30)
        for name, correct in (("a", 30), ("b", 20), ("c", 10))
    )
    items = compose(bank, recipe({"questions": 10}), 1)
    assert Counter(item.stratum.book for item in items) == {"a": 5, "b": 3, "c": 2}


def test_books_of_a_subfield_are_mixed_and_allocated_by_book() -> None:
    """Within subfields, base 3: two books of 40 of 80 correct statements give ceil(1.5) each."""
    bank = bank_of(Book(Stratum("D", "F", "S", name), 40, 40) for name in ("a", "b"))
    items = list(compose(bank, recipe({"base": 3, "within": "subfield"}), 1))
    assert len(items) == 2 + 2
    assert {item.stratum for item in items} == {Stratum("D", "F", "S", "")}
    first_book = {fact.id for fact in bank.facts() if fact.stratum.book == "a"}
    assert all(0 < len(first_book.intersection(item.facts)) < len(item.facts) for item in items)


def test_every_group_that_is_too_small_is_named() -> None:
    """8 statements of a polarity may be needed: of 10, with 2 of the other asked for."""
    bank = bank_of(
        [
            Book(Stratum("D", "F", "S", "full"), 8, 8),
            Book(Stratum("D", "F", "S", "few"), 7, 8),
            Book(Stratum("D", "", "S", "no false"), 20, 0, language="zh"),
        ]
    )
    with pytest.raises(BadInput) as caught:
        compose(bank, recipe({}), 1)
    assert str(caught.value) == (
        "2 groups of the bank have too few statements\n  D / S / no false "
        "(zh): has 20 correct and 0 incorrect statements of different origin, "
        "20 in all; a question may need 8 correct, 8 incorrect, 10 in all\n  D "
        "/ F / S / few (en): has 7 correct and 8 incorrect statements of "
        "different origin, 15 in all; a question may need 8 correct, 8 "
        "incorrect, 10 in all\n  add statements, use a coarser level than "
        "--within book, lower --statements, or skip these groups with "
        "--skip-small"
    )


def test_small_groups_are_left_out_when_asked() -> None:
    books = [Book(Stratum("D", "F", "S", "full"), 8, 8), Book(Stratum(), 7, 8, language="")]
    items = list(compose(bank_of(books), recipe({"skip_small": True, "base": 6}), 1))
    assert [item.stratum.book for item in items] == ["full"] * 6
    with pytest.raises(BadInput, match=r"\(no taxonomy label\): has 7 correct"):
        compose(bank_of(books[1:]), recipe({"skip_small": True}), 1)


def test_falsifications_of_the_same_few_statements_do_not_count_as_many() -> None:
    """20 false statements of 5 origins, apart from each other, can fill 5 places, not 8."""
    bank = bank_of([Book(Stratum("D", "F", "S", "B"), 20, 0)])
    true = bank.facts()[:5]
    book = Book(Stratum("D", "F", "S", "B"), 0, 20)
    false = [fact_of(book, i, correct=False, origin=true[i % 5].id) for i in range(20)]
    both = ListBank([*bank.facts(), *false])
    with pytest.raises(BadInput, match="has 20 correct and 5 incorrect statements of different"):
        compose(both, recipe({}), 1)
    assert len(list(compose(both, recipe({"siblings": True, "questions": 4}), 1))) == 4


@pytest.mark.parametrize(("share", "expected"), [(1.0, {True}), (0.0, {False})])
def test_the_polarity_asked_for_can_be_fixed(share: float, expected: set[bool]) -> None:
    """Then fewer statements of the other polarity are needed: 4 asked for, 8 beside them."""
    correct, false = (4, 8) if share else (8, 4)
    bank = bank_of([Book(Stratum("D", "F", "S", "B"), correct, false)])
    items = compose(bank, recipe({"correct_share": share, "questions": 30}), 1)
    assert {item.payload.asks_correct for item in items} == expected


def test_reuse_counts_places_and_statements() -> None:
    """Three questions over two sets of statements: 3 + 3 + 2 places, 4 statements."""
    items = [
        Item(kind="k", payload=None, facts=facts)
        for facts in ((b"a", b"b", b"c"), (b"a", b"b", b"c"), (b"a", b"d"))
    ]
    assert reuse(items) == Reuse(places=8, statements=4, most=3, least=1)
    assert reuse([]) == Reuse(0, 0, 0, 0)


def test_chance_is_the_mean_of_one_over_options() -> None:
    """With 4 to 8 options: the mean of 1/4 ... 1/8 is 0.177."""
    items = list(compose(small_bank(), recipe({"questions": 40, "options": 5}), 1))
    assert chance(items) == pytest.approx(1 / 5)
    mixed = chance(compose(small_bank(), recipe({"questions": 3000}), 1))
    assert mixed == pytest.approx(sum(1 / m for m in range(4, 9)) / 5, abs=0.004)
    assert math.isnan(chance([]))


# ---------------------------------------------------------------- full size


@pytest.fixture(scope="module")
def paper_form() -> list[Item]:
    return list(compose(paper_bank(), recipe({}), 2026))


def test_the_paper_s_bank_gives_about_the_paper_s_form(paper_form: list[Item]) -> None:
    """62 roundings up of a base of 5,000 add about 31 (the paper's books add 38); at 9 statements
    a question that is about 45,241 places for 43,019 statements."""
    assert 5000 < len(paper_form) <= 5062
    used = reuse(paper_form)
    assert used.places == pytest.approx(45_241, rel=0.01)
    assert used.statements > 0.985 * 43_019
    assert (used.most, used.least) <= (3, 1)


def test_what_is_drawn_is_uniform(paper_form: list[Item]) -> None:
    """Polarity, options, statements, gold's size, template, wording; gold's place for each number
    of options: chi-square against equal parts, at p < 1e-4 each."""
    n = len(paper_form)
    questions = [item.payload for item in paper_form]
    for values, kinds, bound in (
        ([one.asks_correct for one in questions], 2, 15.1),
        ([len(one.options) for one in questions], 5, 23.5),
        ([len(item.facts) for item in paper_form], 3, 18.4),
        ([len(one.options[one.answer_key]) for one in questions], 3, 18.4),
        ([one.template for one in questions], 14, 42.6),
        ([one.wording for one in questions], 12, 37.4),
    ):
        assert _chi_square(values, kinds, n) < bound
    for m in range(4, 9):
        answer_key = [one.answer_key for one in questions if len(one.options) == m]
        assert _chi_square(answer_key, m, len(answer_key)) < 29.9


def _chi_square(values: list[int] | list[bool], kinds: int, n: int) -> float:
    counts = Counter(values)
    assert len(counts) == kinds
    return sum((seen - n / kinds) ** 2 / (n / kinds) for seen in counts.values())


def test_gold_places_near_the_paper_s_table_5(paper_form: list[Item]) -> None:
    """A stands for gold in (1/4 + ... + 1/8)/5 = 17.7% of questions, H in 1/40 = 2.5%."""
    places = Counter(item.payload.answer_key for item in paper_form)
    n = len(paper_form)
    assert places[0] / n == pytest.approx(sum(1 / m for m in range(4, 9)) / 5, abs=0.02)
    assert places[7] / n == pytest.approx(1 / 40, abs=0.01)
