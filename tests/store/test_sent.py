"""Where questions come from and what was sent, read back from rows on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from rows_for_tests import Note, built, call, item, item_set, open_store, run, source

from proofstone.records.calls import image_part
from proofstone.records.knowledge import BuiltFact, Fact, Passage, Stratum, fact_id, passage_id
from proofstone.store.provenance import Origin, SentSource
from proofstone.store.store import Store
from proofstone.store.writer import Place

NOT_SENT = frozenset({"unreachable"})
HERE = "http://127.0.0.1/v1"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


def fact(text: str, book: str = "", **fields: bytes | None) -> BuiltFact:
    made = Fact(kind="test.note", payload=Note(text), stratum=Stratum(book=book), **fields)
    return BuiltFact(msgspec.structs.replace(made, id=fact_id(made)))


def filled(store: Store) -> tuple[bytes, int, list[int]]:
    """Five items: on a source, on a passage of another, on a book, on a bare fact, on nothing.
    Returns the set, a run's key, and the items' keys."""
    other = source("Another")
    passage = Passage(source=other.id, start=0, end=4, text="text")
    passage = msgspec.structs.replace(passage, id=passage_id(passage))
    store.knowledge.add_passages(other, [passage])
    facts = [built("a"), fact("b", passage=passage.id), fact("c", book="Herbal"), fact("d")]
    store.knowledge.add_bank("a bank", "test", facts, now=1.0)
    items = [item(f"on {b.fact.payload.text}", (b.fact.id,), i) for i, b in enumerate(facts)]
    items.append(item("on nothing", number=4))
    made = item_set(items)
    store.items.add_set(made, items, now=2.0)
    key = store.runs.add(run(made), 3.0, "0.1")
    return made.id, key, [stored.key for stored in store.items.page(made.id, -1, 5)]


def test_each_item_has_an_origin_by_which_a_rule_may_know_it(store: Store) -> None:
    """A source's title, that of a passage's source, a book, else the set's name."""
    made, _run, _items = filled(store)
    assert store.origins.of_set(made) == [
        Origin("A book", "", 1, ("A book",)),
        Origin("Another", "", 1, ("Another",)),
        Origin("Herbal", "", 1, ("Herbal",)),
        Origin("a form", "", 2, ("a form",)),
    ]
    assert store.origins.of_set(made, 1) == [Origin("A book", "", 1, ("A book",))]
    ids = sorted(stored.loaded.facts[0].id for stored in store.items.page(made, -1, 4))
    assert [origin.title for origin in store.origins.of_facts(ids, "bank")] == [
        "A book", "Another", "Herbal", "bank",
    ]  # fmt: skip


async def test_what_was_sent_is_added_up_from_calls(store: Store) -> None:
    """Attempts are counted with their bytes; simulated and unreached calls are not."""
    _set, key, items = filled(store)
    sent = [call("one"), msgspec.structs.replace(call("second"), attempts=3)]
    lost = msgspec.structs.replace(call("lost", state="failed"), error="unreachable")
    late = call("late", state="failed")
    sim = msgspec.structs.replace(call("sim", model="sim/a"), simulated=True, endpoint="sim:a")
    async with store.writer() as writer:
        for place, made in enumerate([*sent, lost, late, sim]):
            await writer.write(made, Place(key, items[place], 0, "answer"))
    (found,) = store.sent.calls(NOT_SENT)
    one, second, late_bytes = (len(c.prompt) for c in (*sent, late))
    assert (found.endpoint, found.model) == (HERE, "scripted/one")
    assert (found.calls, found.attempts, found.not_sent) == (3, 1 + 3 + 1, 1)
    assert found.n_bytes == one + 3 * second + late_bytes
    assert (found.first_at, found.last_at) == (1000.0 + len("one"), 1000.0 + len("second"))
    assert store.sent.sources(NOT_SENT) == [
        SentSource(HERE, "A book", "", 1),  # "one"
        SentSource(HERE, "Another", "", 1),  # "second"
        SentSource(HERE, "a form", "", 1),  # "late"; nothing of Herbal, whose call was lost
    ]
    assert store.troubles.errors() == {"timeout": 1, "unreachable": 1}
    assert [record.prompt for record in store.troubles.last_failed(1)] == [late.prompt]
    assert store.troubles.counts()["call"] == 5


async def test_an_empty_store_sent_nothing(store: Store) -> None:
    assert store.sent.calls(NOT_SENT) == []
    assert store.sent.sources(NOT_SENT) == []
    assert store.sent.checks() == []
    assert store.troubles.last_failed(5) == []


async def test_images_count_as_they_are_sent(store: Store) -> None:
    """In base64: four bytes for each three, or part of three."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(25)
    part = store.images.add(picture)
    assert part == image_part(picture)
    prompt = msgspec.json.encode([{"content": [part], "role": "user"}])
    async with store.writer() as writer:
        await writer.write(msgspec.structs.replace(call("x"), prompt=prompt))
    (found,) = store.sent.calls(NOT_SENT)
    assert found.n_bytes == len(prompt) + 4 * -(-len(picture) // 3)
