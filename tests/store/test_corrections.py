"""Corrections and rulings as rows: the newest holds, older ones stay, and they name each other."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec import structs
from rows_for_tests import Note, built, call, item, item_set, open_store, run

from proofstone.records.items import ItemSet, corrected_set, item_id
from proofstone.records.knowledge import Role
from proofstone.records.reviews import (
    Action,
    Correction,
    Override,
    Person,
    Verdict,
    correction_id,
    override_id,
)
from proofstone.records.runs import Run
from proofstone.store.calls import StoredResponse
from proofstone.store.store import Store
from proofstone.store.writer import Place


@dataclass
class Filled:
    """Three facts, three items on them, a form, and two runs that one cached reply serves."""

    store: Store
    form: ItemSet
    facts: list[bytes]
    items: list[bytes]
    runs: list[tuple[int, Run]]
    person: Person


@pytest.fixture
async def filled(url: str):
    store = open_store(url)
    facts = [built(f"fact {i}", (Role("wrote", f"lab/{i}"),)) for i in range(3)]
    store.knowledge.add_bank("bank", "test", facts, now=1.0)
    items = [item(f"item {i}", (facts[i].fact.id,), number=i) for i in range(3)]
    form = item_set(items)
    store.items.add_set(form, items, now=2.0)
    runs = [run(form, "lab/a"), structs.replace(run(form, "lab/a"), id=bytes([7]) * 32)]
    keys = [store.runs.add(one, 3.0, "0.1") for one in runs]
    places = [key for _position, key in store.items.places(form.id, -1, 9)]
    async with store.writer() as writer:
        for key in places:
            await writer.write(call(f"item {key}", model="lab/a"), Place(keys[0], key, 0, "answer"))
    for key in places:  # the second run is served from the cache
        (response,) = store.responses.of_item(keys[0], key, "answer")
        async with store.writer() as writer:
            await writer.write(response.call, Place(keys[1], key, 0, "answer"))
    person = store.people.add("Ada", now=1.0)
    yield Filled(
        store, form, [f.fact.id for f in facts], [i.id for i in items],
        list(zip(keys, runs, strict=True)), person,
    )  # fmt: skip
    store.close()


def override(
    filled: Filled, verdict: Verdict, at: float, former: Override | None = None
) -> Override:
    _key, asked = filled.runs[0]
    made = Override(
        run=asked.id, item=filled.items[0], sample=0, verdict=verdict, reason="why",
        actor=filled.person.actor, at=at, replaces=former.id if former else None,
    )  # fmt: skip
    return structs.replace(made, id=override_id(made))


def response(filled: Filled) -> StoredResponse:
    place = filled.store.lookup.find(filled.items[0].hex()).key
    (found,) = filled.store.responses.of_item(filled.runs[0][0], place, "answer")
    return found


async def test_the_newest_ruling_holds_in_every_run_that_the_reply_serves(filled: Filled) -> None:
    store, given = filled.store, response(filled)
    first = override(filled, "invalidated", 10.0)
    store.overrides.add(first, given)
    second = override(filled, "correct", 11.0, first)
    store.overrides.add(second, given)
    assert store.overrides.over(given) == [first, second]
    held = store.overrides.in_force([key for key, _run in filled.runs])
    assert [(one.run, one.override) for one in held] == [
        (filled.runs[0][0], second), (filled.runs[1][0], second)
    ]  # fmt: skip
    assert store.overrides.n_runs(given) == 2


async def test_storing_a_ruling_twice_is_once(filled: Filled) -> None:
    made = override(filled, "invalidated", 10.0)
    filled.store.overrides.add(made, response(filled))
    filled.store.overrides.add(made, response(filled))
    assert filled.store.overrides.over(response(filled)) == [made]


def acted(filled: Filled, action: Action, kind: str, target: bytes, at: float) -> Correction:
    made = Correction(
        action=action, kind=kind, target=target, reason="why",  # type: ignore[arg-type]
        actor=filled.person.actor, at=at,
    )  # fmt: skip
    made = structs.replace(made, id=correction_id(made))
    filled.store.corrections.add([made])
    return made


async def test_the_newest_of_retire_and_restore_says_how_a_row_stands(filled: Filled) -> None:
    store, place = filled.store, filled.store.lookup.find(filled.items[1].hex())
    first = acted(filled, "exclude", "item", filled.items[1], 10.0)
    assert store.corrections.excluded([filled.form.id]).ids == {filled.items[1]}
    second = acted(filled, "include", "item", filled.items[1], 11.0)
    assert store.corrections.excluded([filled.form.id]).ids == set()
    assert store.corrections.of("item", place.key) == [first, second]
    assert store.corrections.exclusion("item", place.key) == second


async def test_a_retired_fact_takes_along_the_items_that_rest_on_it(filled: Filled) -> None:
    acted(filled, "exclude", "fact", filled.facts[2], 10.0)
    acted(filled, "exclude", "item", filled.items[0], 10.0)
    excluded = filled.store.corrections.excluded([filled.form.id])
    assert excluded.ids == {filled.items[0], filled.items[2]}
    assert (len(excluded.keys), excluded.n_places) == (2, 2)
    assert filled.store.corrections.excluded([bytes(32)]).n_places == 0
    assert filled.store.corrections.excluded_facts(filled.facts) == [filled.facts[2]]


async def test_an_edit_is_no_retirement(filled: Filled) -> None:
    acted(filled, "edit", "item", filled.items[0], 10.0)
    acted(filled, "edit", "form", filled.form.id, 10.0)
    assert filled.store.corrections.excluded([filled.form.id]).ids == set()
    key = filled.store.lookup.find(filled.form.id.hex(), ("form",)).key
    assert [one.kind for one in filled.store.corrections.of("form", key)] == ["form"]


async def test_roles_reach_items_through_facts_and_through_the_set(filled: Filled) -> None:
    filled.store.roles.add_to_set(filled.form.id, [Role("judged", "lab/judge")])
    assert filled.store.roles.of_items([filled.form.id]) == {
        Role("judged", "lab/judge"): set(filled.items),
        **{Role("wrote", f"lab/{i}"): {filled.items[i]} for i in range(3)},
    }
    assert filled.store.roles.of_items([bytes(32)]) == {}


def test_a_person_is_known_by_name_until_erased(url: str) -> None:
    """Then the same name is a new person with another random id."""
    store = open_store(url)
    ada = store.people.add("Ada", now=1.0)
    assert store.people.of_name("Ada") == [ada]
    assert store.people.like(ada.actor.hex()[:6]) == [ada]
    store.people.erase(ada.actor)
    other = store.people.add("Ada", now=3.0)
    assert other.actor != ada.actor
    assert store.people.every() == [other]
    store.close()


async def test_corrected_sets_and_banks_lead_from_version_to_version(filled: Filled) -> None:
    """First, second, third: names mean the third; forms of the first bank belong to the second."""
    store = filled.store
    old = store.items.page(filled.form.id, -1, 1)[0].loaded.item
    olds = [s.loaded.item for s in store.items.page(filled.form.id, -1, 9)]
    new = structs.replace(old, payload=Note("mended"), corrects=old.id)
    new = structs.replace(new, id=item_id(new))
    second = corrected_set(filled.form, [new, *olds[1:]])
    store.items.add_set(second, [new, *olds[1:]], now=5.0)
    third = corrected_set(second, olds)
    store.items.add_set(third, olds, now=6.0)
    assert store.items.item_set(second.id).corrects == filled.form.id
    chain = [filled.form.id, second.id, third.id]
    assert store.items.superseded(chain) == set(chain[:2])
    assert store.items.superseded([chain[0], chain[2]]) == {chain[0]}
    assert store.items.superseded([chain[0]]) == set()
    assert store.lookup.find(filled.form.name, ("form",)).id == third.id
    keys = [store.lookup.find(identity.hex(), ("form",)).key for identity in chain]
    assert store.corrections.newer("form", keys[0]) == [second.id]
    assert store.corrections.former("form", keys[2]) == second.id
    assert store.corrections.former("form", keys[0]) is None
    item_keys = [store.lookup.find(i.hex(), ("item",)).key for i in (old.id, new.id)]
    assert store.corrections.newer("item", item_keys[0]) == [new.id]
    assert store.corrections.former("item", item_keys[1]) == old.id


async def test_what_holds_an_item_or_fact_is_found(filled: Filled) -> None:
    store, form = filled.store, filled.form.id
    item_key = store.lookup.find(filled.items[1].hex(), ("item",)).key
    fact_key = store.lookup.find(filled.facts[1].hex(), ("fact",)).key
    assert store.items.sets_with("item", item_key) == [(form, 1)]
    assert store.items.sets_with("fact", fact_key) == [(form, 1)]
    assert store.items.within(form, "fact", [fact_key]) == [item_key]
    assert store.items.within(form, "item", [item_key]) == [item_key]
    bank = store.lookup.find("bank", ("bank",))
    assert store.knowledge.banks_with([filled.facts[0]]) == [bank.id]


async def test_a_corrected_bank_has_the_forms_of_the_one_it_corrects(filled: Filled) -> None:
    store, first = filled.store, filled.store.lookup.find("bank", ("bank",))
    form = structs.replace(filled.form, id=bytes([3]) * 32, bank=first.id, name="composed")
    items = [s.loaded.item for s in store.items.page(filled.form.id, -1, 9)]
    store.items.add_set(form, items, now=4.0)
    extra = [built("fact 0"), built("fact 1"), built("a corrected one", corrects=filled.facts[2])]
    second, _is_new = store.knowledge.add_bank("bank", "test", extra, now=5.0)
    store.knowledge.correct_bank(second, first.id)
    store.knowledge.correct_bank(second, first.id)
    assert store.items.sets_of_bank(second.id) == [form.id]
    assert store.items.sets_of_bank(first.id) == [form.id]
    assert store.lookup.find("bank", ("bank",)).id == second.id
    assert store.knowledge.banks_with([filled.facts[0]]) == [second.id]
    assert store.knowledge.banks_with([filled.facts[2]]) == []
