"""Workspaces merge by hash, from SQLite to PostgreSQL and back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs
from rows_for_tests import Note, built, call, item, item_set, open_store, run
from sqlalchemy import text

from proofstone.records.items import Item, ItemSet, corrected_set, item_id
from proofstone.records.knowledge import Role
from proofstone.records.reviews import (
    Correction,
    Override,
    Person,
    Review,
    ReviewPlace,
    ReviewSheet,
    correction_id,
    override_id,
    review_id,
    review_sheet_id,
)
from proofstone.records.runs import Plan, Run, Score, plan_id
from proofstone.records.tables import Funnel, FunnelStep
from proofstone.store.copies import _ALONG, _IDENTITY, _LEFT_BEHIND, merge
from proofstone.store.schema import metadata
from proofstone.store.scores import ScoreRow, UnitRow
from proofstone.store.store import Store
from proofstone.store.writer import Place


async def fill(store: Store, model: str, texts: list[str]) -> None:
    """A whole path: facts, items, a run with calls, a failure, scores, and a person."""
    first = built("to be corrected")
    facts = [first, built("corrected", corrects=first.fact.id)]
    facts += [built(t, (Role("wrote", "scripted/writer"),)) for t in texts]
    bank, _is_new = store.knowledge.add_bank("bank", "test", facts, now=1.0)
    counts = Funnel(
        filters="test 1", groups=("all",), entered=(9,), changed=(0,),
        steps=(FunnelStep("too long", (9 - len(facts),)),),
    )  # fmt: skip
    store.funnels.add(bank.id, counts, now=1.0)
    store.funnels.add(bank.id, counts, now=2.0)
    assert store.funnels.of_bank(bank.id) == [counts]
    assert counts.left == (len(facts),)
    items = [item(t, (built(t).fact.id,), number=i) for i, t in enumerate(texts)]
    made = item_set(items)
    store.items.add_set(made, items, now=2.0)
    for kind, target in (("form", made.id), ("bank", bank.id)):
        plan = Plan(
            kind=kind, target=target, measure="accuracy", population="bank", n_items=len(items),
            stopping="once", at=1.5,
        )  # fmt: skip
        store.plans.add(structs.replace(plan, id=plan_id(plan)))
    asked = run(made, model)
    key = store.runs.add(asked, 3.0, "0.1")
    places = [place for _position, place in store.items.places(made.id, -1, 100)]
    async with store.writer() as writer:
        for t, place in zip(texts, places, strict=True):
            await writer.write(call(t, model=model), Place(key, place, 0, "answer"))
        failed = call("failed", model=model, state="failed")
        await writer.write(failed, Place(key, places[0], 1, "answer"))
    scoring = store.scores.begin(key, asked, 1, "", now=4.0)
    units = [UnitRow(p, "item", b"", 1, b"", "A", 4, (("statement", b"k"),)) for p in places]
    score = Score(unit=0, measure="accuracy", outcome="answered", value=1.0)
    store.scores.add(scoring, [ScoreRow(unit, 0, score) for unit in units])
    store.scores.complete(scoring, now=5.0)
    person = store.people.add(f"Somebody of {model}", now=1.0)
    correct(store, person, made, items, asked)
    review(store, person, bank.id, first.fact.id, items[0].id)


def review(store: Store, person: Person, bank: bytes, fact: bytes, item_: bytes) -> None:
    """A sheet, a decision in it, the same reviewer's correction of it, and a judge's on an item."""
    sheet = ReviewSheet(
        kind="bank", target=bank, reviewer=person.actor, recipe={"seed": 1}, at=30.0,
        places=(ReviewPlace("format", "fact", fact), ReviewPlace("format", "item", item_)),
    )  # fmt: skip
    sheet = structs.replace(sheet, id=review_sheet_id(sheet))
    store.reviews.add_sheets([sheet, sheet])
    assert store.reviews.sheets_of(bank) == [sheet]
    assert store.reviews.sheet(sheet.id.hex()[:16]) == sheet
    one = Review(
        target=fact, task="format", verdict="drop", reviewer=person.actor, reason="r", at=31.0,
        sheet=sheet.id,
    )  # fmt: skip
    one = structs.replace(one, id=review_id(one))
    two = structs.replace(
        one, id=b"", verdict="fix", reason="", changes={"text": "x"}, rubric={"clear": 3},
        seconds=4.5, at=32.0, corrects=one.id,
    )  # fmt: skip
    two = structs.replace(two, id=review_id(two))
    judged = Review(
        kind="item", target=item_, task="truth", verdict="true", judge="scripted/judge", at=33.0
    )
    judged = structs.replace(judged, id=review_id(judged))
    assert store.reviews.add([one, two, judged]) == 3
    assert store.reviews.add([one, two, judged]) == 0
    assert store.reviews.of_facts([fact])[-2:] == [one, two]
    assert judged in store.reviews.of_items([item_])


def correct(store: Store, person: Person, made: ItemSet, items: list[Item], asked: Run) -> None:
    """A second version of the set, an item retired and restored, two rulings over one reply."""
    store.roles.add_to_set(made.id, [Role("filtered", "scripted/panel")])
    fresh = structs.replace(items[0], payload=Note("corrected"), corrects=items[0].id)
    fresh = structs.replace(fresh, id=item_id(fresh))
    second = corrected_set(made, [fresh, *items[1:]])
    store.items.add_set(second, [fresh, *items[1:]], now=6.0)
    former: bytes | None = None
    for at, action in enumerate(("exclude", "include", "exclude")):
        one = Correction(
            action=action, kind="item", target=items[0].id, reason="r", actor=person.actor,
            at=10.0 + at, follows=former,
        )  # fmt: skip
        one = structs.replace(one, id=correction_id(one))
        store.corrections.add([one])
        former = one.id
    key, _run = store.runs.run(asked.id)
    place = store.items.places(made.id, -1, 1)[0][1]
    (response,) = store.responses.of_item(key, place, "answer")
    former = None
    for at, verdict in enumerate(("invalidated", "correct")):
        override = Override(
            run=asked.id, item=items[0].id, sample=0, verdict=verdict, reason="r",
            actor=person.actor, at=20.0 + at, replaces=former,
        )  # fmt: skip
        override = structs.replace(override, id=override_id(override))
        store.overrides.add(override, response)
        former = override.id


def counts(store: Store) -> dict[str, int]:
    with store.database.reading() as connection:
        return {
            name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one()
            for name in metadata.tables
        }


@pytest.fixture
def two_stores(new_database: Callable[[], str], tmp_path, postgres: str):
    """A store of the parametrised kind, and one on the other kind or the same."""
    one, two = open_store(new_database()), open_store(f"sqlite:///{tmp_path / 'two.sqlite'}")
    yield one, two
    one.close()
    two.close()


@pytest.mark.parametrize("direction", ["to", "from"])
async def test_merging_joins_what_is_common_and_adds_what_is_new(two_stores, direction) -> None:
    """Texts a, b here and b, c there: three facts and items, two runs, each reply once."""
    target, origin = two_stores if direction == "to" else two_stores[::-1]
    await fill(target, "scripted/one", ["a", "b"])
    await fill(origin, "scripted/two", ["b", "c"])
    report = merge(origin.database, target.database)
    merged = counts(target)
    assert merged["fact"] == 2 + 3
    # "b" is item 1 here and item 0 there: two draws, two items; and one corrected in each.
    assert merged["item"] == 3 + 1 + 2
    assert merged["run"] == 2
    assert merged["call"] == 3 + 3
    assert merged["response"] == 2 + 2
    assert merged["failure"] == 2
    assert merged["score"] == 4
    assert merged["actor"] == 2
    assert merged["person"] == 1
    assert merged["correction"] == 3 + 3
    assert merged["override"] == 2 + 2
    assert merged["plan"] == 2 + 2
    assert len(target.plans.of_sets([target.runs.every()[0][1].item_set])) == 1
    assert merged["corrected_set"] == merged["item_set_role"] == 2
    assert report.added["run"] == 1
    key, asked = next(pair for pair in target.runs.every() if pair[1].respondent == "scripted/two")
    pages = list(target.runs.response_pages(key, asked.item_set))
    assert [len(responses.responses) for page in pages for responses in page] == [1, 1]
    texts = [responses.item.loaded.facts[0].payload.text for page in pages for responses in page]
    assert texts == ["b", "c"]
    assert target.scores.current(key) is not None
    (overridden,) = target.overrides.in_force([key])
    assert (overridden.override.verdict, overridden.override.replaces is not None) == (
        "correct",
        True,
    )
    assert len(target.corrections.excluded([asked.item_set]).ids) == 1
    assert target.roles.of_set(asked.item_set) == (Role("filtered", "scripted/panel"),)
    (newer,) = target.corrections.newer("form", target.lookup.find(asked.item_set.hex()).key)
    assert target.items.item_set(newer).corrects == asked.item_set


async def test_merging_twice_changes_nothing(two_stores) -> None:
    """Also a merge into the origin's own copy adds no row."""
    target, origin = two_stores
    await fill(origin, "scripted/one", ["a", "b"])
    merge(origin.database, target.database)
    once = counts(target)
    again = merge(origin.database, target.database)
    assert counts(target) == once
    assert set(again.added.values()) == {0}
    back = merge(target.database, origin.database)
    assert set(back.added.values()) == {0}


def test_every_table_is_merged_behind_those_that_it_refers_to() -> None:
    """A new table is copied unless it is left behind on purpose; its keys are known by then."""
    assert {table.name for table in _LEFT_BEHIND} == {"person", "workspace", "written_file"}
    known: set[str] = set()
    for table in metadata.tables.values():
        known.add(table.name)
        assert {key.column.table.name for key in table.foreign_keys} <= known
    for table in set(metadata.tables.values()) - _LEFT_BEHIND - _ALONG - {*_IDENTITY}:
        assert "hash" in table.c or "id" not in table.c  # else nothing tells its rows apart
