"""Calls of pilots belong to no run, and yet it is known what they asked, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from rows_for_tests import built, call, item, item_set, open_store

from proofstone.store.copies import merge
from proofstone.store.provenance import SentSource
from proofstone.store.purge import plan_purge
from proofstone.store.store import Store
from proofstone.store.writer import PilotPlace

HERE = "http://127.0.0.1/v1"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


async def piloted(store: Store, shots: int = 0) -> None:
    """A form of two items, on nothing and on a fact of a source; a pilot asked the second, or the
    first with worked examples of the bank."""
    bank, _added = store.knowledge.add_bank("a bank", "test", [built("a"), built("b")], now=1.0)
    items = [item("on nothing"), item("on a", (built("a").fact.id,), 1)]
    made = item_set(items)
    made = msgspec.structs.replace(made, bank=bank.id)
    store.items.add_set(made, items, now=2.0)
    places = store.items.page(made.id, -1, 2)
    asked = places[0] if shots else places[1]
    async with store.writer() as writer:
        place = PilotPlace(asked.key, store.items.set_key(made.id), shots)
        await writer.write(call("x"), place)


async def test_their_sources_are_listed_as_sent(store: Store) -> None:
    await piloted(store)
    assert store.sent.sources(()) == [SentSource(HERE, "A book", "", 1)]


async def test_their_prompts_go_with_the_source(store: Store) -> None:
    """Also where the text is too short to be searched for."""
    await piloted(store)
    with store.database.reading() as connection:
        key = connection.exec_driver_sql("SELECT id FROM source").scalar_one()
        plan = plan_purge(connection, [key])
    assert (len(plan.prompts), len(plan.responses)) == (1, 1)


async def test_they_come_along_in_a_merge(store: Store, tmp_path: Path) -> None:
    await piloted(store)
    other = open_store(f"sqlite:///{tmp_path / 'other.sqlite'}")
    try:
        for _ in range(2):
            report = merge(store.database, other.database)
        assert report.added["pilot_call"] == 0
        assert other.sent.sources(()) == store.sent.sources(()) != []
    finally:
        other.close()


async def test_worked_examples_may_have_been_sent_too(store: Store) -> None:
    await piloted(store, shots=3)
    assert store.sent.sources(()) == [
        SentSource(HERE, "a bank", "", 1),
        SentSource(HERE, "A book", "", 0),
    ]
