"""What goes into the store comes out again, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from msgspec import structs
from rows_for_tests import Note, built, call, item, item_set, open_store, run, source
from sqlalchemy import text

from proofstone.errors import BadUsage, NotFound, RunInUse, StoreFailed
from proofstone.records.knowledge import Passage, Role, passage_id
from proofstone.records.runs import Score
from proofstone.records.scores import Respondent
from proofstone.store.scores import ScoreRow, UnitRow, load_table
from proofstone.store.store import Store
from proofstone.store.writer import Place


@pytest.fixture
def store(url: str):
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.mark.parametrize("size", [1, 3, 4, 7, 100])
def test_a_banks_pages_are_its_facts_in_order(store: Store, size: int) -> None:
    """Whatever the pages hold, together they are the bank as it is read at once."""
    bank, _ = store.knowledge.add_bank("b", "test", [built(f"fact {i}") for i in range(7)], now=1.0)
    found = store.lookup.find(bank.id.hex(), ("bank",))
    pages = list(store.knowledge.pages_of_bank(found.key, size))
    assert [fact for page in pages for fact in page] == store.knowledge.bank(bank.id).facts()
    assert [len(page) for page in pages[:-1]] == [size] * (len(pages) - 1)


def filled(store: Store, n: int = 3):
    """A bank of n facts, a set of n items on them, and a run; returns (set, run key, run)."""
    facts = [built(f"fact {i}") for i in range(n)]
    store.knowledge.add_bank("a bank", "test", facts, now=1.0)
    items = [item(f"item {i}", (facts[i].fact.id,), number=i) for i in range(n)]
    made = item_set(items)
    store.items.add_set(made, items, now=2.0)
    asked = run(made)
    return made, store.runs.add(asked, 3.0, "0.1"), asked


def test_facts_come_back_with_source_roles_and_payload(store: Store) -> None:
    """A bank gives back what was added, whatever the order in which it came."""
    role = Role("perturbed", "scripted/writer")
    handed_in = [built("b", (role,)), built("a")]
    bank, is_new = store.knowledge.add_bank("two", "test", handed_in, now=1.0)
    again, is_new_again = store.knowledge.add_bank("two", "test", handed_in[::-1], now=2.0)
    assert (is_new, is_new_again) == (True, False)
    assert bank == again
    facts = store.knowledge.bank(bank.id).facts()
    assert list(facts) == sorted((b.fact for b in handed_in), key=lambda fact: fact.id)
    by_id = {b.fact.id: b for b in handed_in}
    assert store.knowledge.built_facts(facts) == [by_id[fact.id] for fact in facts]


def test_a_correction_names_the_fact_it_corrects(store: Store) -> None:
    """Both rows stand; the newer one names the older."""
    first = built("Gold has atomic number 78.")
    second = built("Gold has atomic number 79.", corrects=first.fact.id)
    store.knowledge.add_bank("b", "test", [second, first], now=1.0)
    found = store.knowledge.facts_by_id([first.fact.id, second.fact.id])
    assert found[second.fact.id].corrects == first.fact.id
    assert found[first.fact.id].payload == Note("Gold has atomic number 78.")


def test_passages_stand_with_their_offsets(store: Store) -> None:
    """A passage comes back by its id with page and offsets."""
    made = Passage(source=source().id, page=3, start=5, end=9, text="gold", language="en")
    made = msgspec.structs.replace(made, id=passage_id(made))
    store.knowledge.add_passages(source(), [made])
    assert store.knowledge.passage(made.id) == made
    assert store.knowledge.passage(bytes(32)) is None


def test_items_come_in_order_in_pages_with_their_facts(store: Store) -> None:
    """Pages of two over five items: 2 + 2 + 1, in the set's order."""
    made, _key, _run = filled(store, 5)
    pages = list(store.items.pages(made.id, 2))
    assert [len(page) for page in pages] == [2, 2, 1]
    loaded = [stored.loaded for page in pages for stored in page]
    assert [entry.item.number for entry in loaded] == [0, 1, 2, 3, 4]
    assert [entry.facts[0].payload.text for entry in loaded] == [f"fact {i}" for i in range(5)]
    assert store.items.item_set(made.id) == made
    assert not store.items.add_set(made, [], now=9.0)


async def test_calls_and_responses_are_committed_in_groups(store: Store) -> None:
    """A complete call gives a response; a failed one a failure, and no response."""
    made, key, _run = filled(store)
    places = [place for _position, place in store.items.places(made.id, -1, 10)]
    committed: list[str] = []
    async with store.writer() as writer:
        await writer.write(
            call("one"), Place(key, places[0], 0, "answer"), lambda: committed.append("one")
        )
        await writer.write(call("two", state="failed"), Place(key, places[1], 0, "answer"))
        await writer.flush()
        assert committed == ["one"]
    assert store.runs.count_done(key, "answer") == 1
    assert store.runs.steps_among(key, made.id, -1, 3) == {(places[0], 0): {"answer"}}
    (failure,) = store.runs.failures(key, "answer")
    assert (failure.item, failure.error) == (places[1], "timeout")
    ((sample, step, stored),) = store.runs.calls_of_item(key, places[0])
    assert (sample, step) == (0, "answer")
    assert stored == call("one")
    totals = store.runs.totals(key)
    assert (totals.calls, totals.prompt_tokens, totals.completion_tokens) == (1, 10, 3)


async def test_a_failure_that_later_succeeded_is_no_failure_any_more(store: Store) -> None:
    """The run's failures are those (item, sample) that still lack their last step."""
    made, key, _run = filled(store)
    place = store.items.places(made.id, -1, 1)[0][1]
    async with store.writer() as writer:
        await writer.write(call("two", state="failed"), Place(key, place, 0, "answer"))
        await writer.write(call("two"), Place(key, place, 0, "answer"))
    assert store.runs.failures(key, "answer") == []


async def test_a_cached_call_gives_a_response_without_a_new_call(store: Store) -> None:
    """The second response points to the first one's call."""
    made, key, _run = filled(store)
    (_, first), (_, second), _ = store.items.places(made.id, -1, 10)
    async with store.writer() as writer:
        await writer.write(call("same"), Place(key, first, 0, "answer"))
    same = call("same").request_hash
    found = store.calls.find_calls([same, bytes(32)]).get(same)
    assert found is not None
    assert found[1] == call("same")
    assert not store.calls.find_calls([bytes(32)])
    assert call("same").request_hash in store.calls.known_hashes("scripted/one")
    assert call("other").request_hash not in store.calls.known_hashes("scripted/one")
    assert call("same").request_hash not in store.calls.known_hashes("scripted/two")
    async with store.writer() as writer:
        await writer.write(found[0], Place(key, second, 0, "answer"))
    assert store.runs.count_done(key, "answer") == 2
    with store.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM call")).scalar() == 1


async def test_a_failed_call_never_serves_as_cache(store: Store) -> None:
    """Only complete calls are found by their hash."""
    async with store.writer() as writer:
        await writer.write(call("two", state="failed"))
    assert not store.calls.find_calls([call("two").request_hash])


async def test_many_rows_wait_for_the_queue_and_all_arrive(store: Store) -> None:
    """3,000 writes through a queue of 1,024 rows: none is lost, prompts are stored once."""
    made, key, _run = filled(store)
    place = store.items.places(made.id, -1, 1)[0][1]
    async with store.writer() as writer:
        for sample in range(3000):
            await writer.write(call(f"{sample % 10}"), Place(key, place, sample, "answer"))
    assert store.runs.count_done(key, "answer") == 3000
    with store.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM prompt")).scalar() == 10


async def test_scores_are_committed_with_their_replies(store: Store) -> None:
    """Scores handed in behind a reply are on disk when the writer is flushed, scored once."""
    made, key, asked = filled(store)
    scoring = store.scores.begin(key, asked, 1, "", now=5.0)
    places = [place for _position, place in store.items.places(made.id, -1, 10)]
    async with store.writer() as writer:
        for place in places[:2]:
            await writer.write(call(f"{place}"), Place(key, place, 0, "answer"))
            unit = UnitRow(place, "item", b"", 1, b"", "A", 4, (("book", b"b"),))
            score = Score(unit=0, measure="accuracy", outcome="answered", value=1.0, answer="A")
            writer.write_scores(scoring, [ScoreRow(unit, 0, score)])
        await writer.flush()
        assert store.scores.n_scored(scoring) == 2
    assert store.scores.scored_among(scoring, places) == {(place, 0) for place in places[:2]}
    newest = store.scores.newest(key, 1, "")
    assert newest is not None
    assert (newest.key, newest.completed_at) == (scoring, None)
    assert store.scores.newest(key, 2, "") is None


async def test_the_writer_waits_for_another_one_that_is_writing(store: Store) -> None:
    """Rows written while another connection holds the database arrive when it lets go."""
    made, key, _asked = filled(store)
    place = store.items.places(made.id, -1, 1)[0][1]
    async with store.writer() as writer:
        with store.database.writing() as other:
            other.execute(text("UPDATE run SET lease_owner = 'host:1'"))
            await writer.write(call("one"), Place(key, place, 0, "answer"))
            await asyncio.sleep(0.2)
            assert store.runs.count_done(key, "answer") == 0 or not store.database.is_sqlite
        await writer.flush()
        assert store.runs.count_done(key, "answer") == 1


async def test_a_store_that_fails_stops_the_writer_and_keeps_what_was_committed(
    store: Store,
) -> None:
    """After a failed commit, writing raises StoreFailed; earlier rows stand."""
    made, key, _run = filled(store)
    place = store.items.places(made.id, -1, 1)[0][1]
    writer = store.writer()
    with pytest.raises(StoreFailed):
        async with writer:
            await writer.write(call("kept"), Place(key, place, 0, "answer"))
            await writer.flush()
            await writer.write(call("lost"), Place(key, 987654, 0, "answer"))  # no such item
            await writer.flush()
    assert store.runs.count_done(key, "answer") == 1


def test_a_lease_is_held_by_one_and_ends_by_itself(store: Store) -> None:
    """A second owner is refused by the holder's name until the lease has run out."""
    _made, key, _run = filled(store)
    store.runs.take_lease(key, "host:1", now=100.0)
    store.runs.take_lease(key, "host:1", now=110.0)
    with pytest.raises(RunInUse, match="host:1"):
        store.runs.take_lease(key, "host:2", now=120.0)
    store.runs.take_lease(key, "host:2", now=1000.0)
    store.runs.give_back_lease(key, "host:1")  # not the holder any more: nothing happens
    with pytest.raises(RunInUse, match="host:2"):
        store.runs.take_lease(key, "host:3", now=1001.0)
    store.runs.give_back_lease(key, "host:2")
    store.runs.take_lease(key, "host:3", now=1002.0)


def scored(store: Store, n: int = 3) -> tuple[bytes, int]:
    made, key, asked = filled(store, n)
    scoring = store.scores.begin(key, asked, 1, "", now=5.0)
    rows = []
    for number, (_position, place) in enumerate(store.items.places(made.id, -1, n)):
        unit = UnitRow(
            place, "item", b"", 1, b"", "A", 4, (("statement", bytes([number])), ("book", b"b"))
        )
        score = Score(unit=0, measure="accuracy", outcome="answered", value=1.0, answer="A")
        rows.append(ScoreRow(unit, 0, score))
        rows.append(
            ScoreRow(unit, 1, msgspec.structs.replace(score, outcome="refused", value=None))
        )
    store.scores.add(scoring, rows)
    assert store.scores.current(key) is None
    store.scores.complete(scoring, now=6.0)
    return made.id, scoring


def test_scores_load_as_columns_with_their_clusters(store: Store) -> None:
    """Three units, two samples each, two cluster keys each: 6 rows and 6 edges."""
    set_id, scoring = scored(store)
    table = load_table(
        store.database,
        respondents=[Respondent("scripted/one", "direct")],
        scorings={scoring: 0},
        item_sets={set_id: "a form"},
        expected=[6],
        measure="accuracy",
    )
    assert len(table.unit) == 6
    assert sorted(table.sample) == [0, 0, 0, 1, 1, 1]
    assert sum(value == 1.0 for value in table.value) == 3
    assert sum(value != value for value in table.value) == 3  # noqa: PLR0124 - NaN
    assert len(table.cluster_unit) == 3 * 2
    assert len(set(table.cluster_key)) == 3 + 1
    assert table.forms == ("a form",)
    assert list(table.n_options) == [4, 4, 4]


def test_flags_come_back_as_they_were_given(store: Store) -> None:
    """They are words with spaces between; none, one and two of them."""
    made, key, asked = filled(store, 3)
    scoring = store.scores.begin(key, asked, 1, "", now=5.0)
    given: list[tuple[str, ...]] = [(), ("several answers",), ("truncated", "missing verdicts")]
    places = [place for _position, place in store.items.places(made.id, -1, 3)]
    score = Score(unit=0, measure="accuracy", outcome="unparsed", value=None)
    store.scores.add(
        scoring,
        [
            ScoreRow(
                UnitRow(place, "item", b"", 1, b"", "A", 4, ()),
                0,
                msgspec.structs.replace(score, flags=flags),
            )
            for place, flags in zip(places, given, strict=True)
        ],
    )
    found = store.scores.of_items(scoring, places)
    assert sorted(each.flags for group in found.values() for each in group) == sorted(given)
    assert sorted(store.scores.flags(scoring, "accuracy")) == sorted(sum(given, ()))
    assert store.scores.flags(scoring, "another") == []


def test_scores_are_tallied_by_kind_gold_measure_and_outcome(store: Store) -> None:
    """Three units, right in the first of two samples and refused in the second."""
    _set, scoring = scored(store)
    tallies = store.scores.tallies(scoring)
    assert {tally.measure for tally in tallies} == {"accuracy"}
    by_outcome = {(t.kind, t.answer_key, t.outcome): (t.n, t.total) for t in tallies}
    assert by_outcome == {("item", "A", "answered"): (3, 3.0), ("item", "A", "refused"): (3, 0.0)}
    assert store.scores.tallies(scoring + 1) == []


def test_the_latest_complete_scoring_is_current(store: Store) -> None:
    """Scoring again makes a new one; both stay."""
    _set, first = scored(store)
    key, asked = store.runs.every()[0]
    second = store.scores.begin(key, asked, 2, "", now=7.0)
    assert store.scores.current(key).key == first
    store.scores.complete(second, now=8.0)
    assert store.scores.current(key).key == second


def test_rows_are_found_by_digits_kind_and_name(store: Store) -> None:
    """A name, a name with digits, bare digits and kind:digits all lead to the row."""
    made, _key, asked = filled(store)
    digits = made.id.hex()
    for spelled in ("a form", f"a form-{digits[:4]}", digits[:8], f"form:{digits[:6]}", digits):
        assert store.lookup.find(spelled).id == made.id
    assert store.lookup.find(f"run:{asked.id.hex()[:5]}").kind == "run"
    with pytest.raises(NotFound, match="nothing"):
        store.lookup.find("nothing")
    with pytest.raises(BadUsage, match="is a form"):
        store.lookup.find(f"form:{digits[:6]}", kinds=("run",))


def test_a_person_can_be_erased_and_the_actor_stays(store: Store) -> None:
    """The name goes, the random id does not."""
    person = store.people.add("Ada", now=1.0, mail="ada@example.org")
    assert store.people.person(person.actor) == person
    assert store.people.erase(person.actor)
    assert not store.people.erase(person.actor)
    assert store.people.person(person.actor) is None


def test_two_stores_on_one_database_write_in_turn(url: str) -> None:
    """Two connections that write at once wait for each other; nothing is lost."""
    one, two = open_store(url), open_store(url)

    async def both() -> None:
        async def add(store: Store, name: str) -> None:
            for i in range(20):
                fact = built(f"{name} {i}")
                await asyncio.to_thread(
                    store.knowledge.add_bank, f"{name} {i}", "test", [fact], float(i)
                )

        await asyncio.gather(add(one, "one"), add(two, "two"))

    asyncio.run(both())
    assert one.lookup.count("bank") == 40
    one.close()
    two.close()


async def test_many_calls_are_found_at_once_each_the_newest_that_is_complete(store: Store) -> None:
    """More than one look-up's worth; a repeated hash, one that is not there, and none at all."""
    names = [f"call {n}" for n in range(600)]
    async with store.writer() as writer:
        for name in names:
            await writer.write(call(name))
        await writer.write(structs.replace(call(names[7]), attempt=1))
        await writer.write(structs.replace(call(names[8], state="failed"), attempt=1))
    hashes = [call(name).request_hash for name in names]
    found = store.calls.find_calls([*hashes, hashes[0], bytes(32)])
    assert list(found) == hashes
    assert found[hashes[7]][1] == structs.replace(call(names[7]), attempt=1)
    assert found[hashes[8]][1] == call(names[8])
    assert store.calls.find_calls([]) == {}
