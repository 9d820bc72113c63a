"""Cards, prices and checks of models over time: rows are added and never changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rows_for_tests import call, item, item_set, open_store, run

from proofstone.records.models import Card, CardSnapshot, ModelCheck, Price
from proofstone.store.copies import merge
from proofstone.store.store import Store
from proofstone.store.writer import Place

ONE = "scripted/one"
CHAT = Card(lab="Acme", kind="chat", total_parameters_b=8.0)
HYBRID = Card(lab="Acme", kind="hybrid", total_parameters_b=8.0)
PRICE = Price(input=1.0, output=2.0, date="2025-01-01", source="https://acme.example")


@pytest.fixture
def store(url: str):
    opened = open_store(url)
    yield opened
    opened.close()


def snapshot(card: Card, at: float, price: Price | None = None) -> CardSnapshot:
    return CardSnapshot(model=ONE, card=card, price=price, recorded_at=at)


def some_run(store: Store, name: str = "a form") -> int:
    items = [item(f"item of {name}")]
    made = item_set(items, name)
    store.items.add_set(made, items, now=1.0)
    return store.runs.add(run(made, ONE), 2.0, "0.1")


def test_a_run_keeps_the_card_that_it_saw_and_the_newest_is_in_force(store: Store) -> None:
    first, second = some_run(store, "one"), some_run(store, "two")
    store.models.record([snapshot(CHAT, 10.0, PRICE)], {first: ONE})
    store.models.record([snapshot(HYBRID, 20.0, PRICE)], {second: ONE})
    assert store.models.cards([ONE]) == {ONE: snapshot(HYBRID, 20.0, PRICE)}
    assert store.models.cards_of_runs([first, second]) == {
        first: snapshot(CHAT, 10.0, PRICE),
        second: snapshot(HYBRID, 20.0, PRICE),
    }


def test_what_says_nothing_new_adds_no_row(store: Store) -> None:
    """The first day that a card was known stays known; a new price is new."""
    key = some_run(store)
    for at in (10.0, 20.0, 30.0):
        store.models.record([snapshot(CHAT, at)], {key: ONE})
    assert store.models.cards([ONE])[ONE].recorded_at == 10.0
    store.models.record([snapshot(CHAT, 40.0, PRICE)], {key: ONE})
    assert store.models.cards_of_runs([key])[key] == snapshot(CHAT, 40.0, PRICE)


def test_a_card_that_returns_is_in_force_again(store: Store) -> None:
    for at, card in ((10.0, CHAT), (20.0, HYBRID), (30.0, CHAT)):
        store.models.record([snapshot(card, at)], {})
    assert store.models.cards([ONE]) == {ONE: snapshot(CHAT, 30.0)}


def test_an_empty_card_is_none(store: Store) -> None:
    key = some_run(store)
    store.models.record([snapshot(Card(), 10.0)], {key: ONE})
    assert store.models.cards([ONE]) == {}
    assert store.models.cards_of_runs([key]) == {}
    assert store.models.cards_of_runs([]) == {}


def test_the_newest_check_of_a_model_counts(store: Store) -> None:
    answered = ModelCheck(model=ONE, state="answered", endpoint="http://h/v1", checked_at=10.0)
    unavailable = ModelCheck(
        model=ONE, state="unavailable", detail="unknown_model", checked_at=20.0
    )
    store.models.add_checks([answered])
    assert store.models.last_checks() == {ONE: answered}
    store.models.add_checks([unavailable, unavailable])
    assert store.models.last_checks() == {ONE: unavailable}
    store.models.add_checks([])


async def test_a_model_was_run_once_it_has_replied(store: Store) -> None:
    """A run without a reply may be of a misspelled name."""
    key = some_run(store)
    assert store.models.once_run() == []
    (_position, place), *_ = store.items.places(store.runs.every()[0][1].item_set, -1, 1)
    async with store.writer() as writer:
        await writer.write(call("one"), Place(key, place, 0, "answer"))
    assert store.models.once_run() == [ONE]


def test_merging_joins_two_histories_of_a_card(new_database: Callable[[], str]) -> None:
    """The newer of both is in force in both, and merging again changes nothing."""
    here, there = open_store(new_database()), open_store(new_database())
    mine, theirs = some_run(here, "one"), some_run(there, "two")
    here.models.record([snapshot(CHAT, 10.0)], {mine: ONE})
    there.models.record([snapshot(HYBRID, 20.0)], {theirs: ONE})
    there.models.add_checks([ModelCheck(model=ONE, state="unavailable", checked_at=5.0)])
    for _ in range(2):
        merge(there.database, here.database)
        merge(here.database, there.database)
    for store in (here, there):
        assert store.models.cards([ONE]) == {ONE: snapshot(HYBRID, 20.0)}
        assert store.models.last_checks()[ONE].state == "unavailable"
        keys = [key for key, _run in store.runs.every()]
        seen = store.models.cards_of_runs(keys).values()
        assert sorted(found.card.kind for found in seen) == ["chat", "hybrid"]
    here.close()
    there.close()
