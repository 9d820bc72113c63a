"""Maps that were kept: on the card and the page without being made again; none of their texts for
the public."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import describe
from proofstone.check.semantic_map import stored_map_section
from proofstone.page.section import Section
from proofstone.records.runs import Estimate
from proofstone.records.tables import GroupsApart, GroupSeparation, StoredMap
from proofstone.results.report import bank_sections
from proofstone.store.copies import merge
from small_bank import BOOKS, PER_BOOK

LONG = (
    "Almanac of all that grows, and of much that does not, in the gardens of the old town of York"
)
PER_GROUP = PER_BOOK  # true statements of each book


def estimate(value: float) -> Estimate:
    return Estimate(
        value=value, n=2 * PER_GROUP, low=value - 0.1, high=value + 0.1, level=0.95, population="x",
        made_by="x", resampled="sources",
    )  # fmt: skip


@pytest.fixture
def kept(workspace: Workspace) -> StoredMap:
    """A map of the small bank's true statements by their book."""
    found = workspace.find("old-books", "bank")
    facts = [f for f in workspace.store.knowledge.bank(found.id).facts() if f.payload.correct]
    groups = [GroupSeparation(name=name, n=PER_GROUP, agreement=0.75, chance=0.5)
              for name in ("Herbal", LONG)]  # fmt: skip
    made = StoredMap(
        nature="true statements", level="book", embedding_model="test", seed=7, n_all=2 * PER_GROUP,
        separation=GroupsApart(
            k=10, n=2 * PER_GROUP, agreement=estimate(0.75), chance=0.5, index=estimate(0.5),
            groups=tuple(groups),
        ),
        rows=tuple(fact.id for fact in facts),
        group=tuple(BOOKS.index(fact.stratum.book) for fact in facts),
        places=tuple((float(place), -float(place)) for place, _fact in enumerate(facts)),
    )  # fmt: skip
    workspace.store.maps.add("bank", found.id, made, 1.0)
    return made


def section(workspace: Workspace, audience: str = "internal") -> Section:
    found = workspace.find("old-books", "bank")
    made = stored_map_section(workspace.store, found, audience)  # type: ignore[arg-type]
    assert made is not None
    return made


def test_a_page_shows_the_map_that_was_kept(workspace: Workspace, kept: StoredMap) -> None:
    """A dot a statement, at its place, with its text; the index and each group's share beside."""
    made = section(workspace)
    assert (
        made.finding == "Separation by book: 0.50 [0.40, 0.60], where 0 is mixed and 1 is separate."
    )
    (figure,) = made.figures
    assert len(figure.marks) == 2 * PER_GROUP
    assert {mark.text for mark in figure.marks} == {
        f"Leaf {n} of the {book} shows {n + 2} drawings." for book in BOOKS for n in range(PER_BOOK)
    }
    assert sorted(mark.x for mark in figure.marks) == sorted(x for x, _y in kept.places)
    assert made.tables[0].rows[0] == ("Herbal", PER_GROUP, 0.75, 0.5)


@pytest.mark.usefixtures("kept")
def test_for_the_public_it_holds_no_text_and_no_name_that_is_one(workspace: Workspace) -> None:
    whole = msgspec.json.encode(section(workspace, "public")).decode()
    assert "Leaf" not in whole
    assert LONG not in whole
    assert "group 2" in whole


@pytest.mark.usefixtures("kept")
def test_the_card_says_it_in_a_line_and_the_page_has_it_among_its_sections(
    workspace: Workspace,
) -> None:
    bank = workspace.find("old-books", "bank")
    line = dict(describe(workspace.store, bank).lines)["map"]
    assert line == (
        "separation of 24 true statements by book: 0.50 [0.40, 0.60] (0 mixed, 1 separate), test"
    )
    (form,) = workspace.store.lookup.every("form")
    sections = bank_sections(workspace.store, [workspace.store.items.item_set(form.id)])
    assert [each.name for each in sections] == [section(workspace).name]


def test_without_a_map_nothing_is_shown(workspace: Workspace) -> None:
    bank = workspace.find("old-books", "bank")
    assert stored_map_section(workspace.store, bank, "internal") is None
    assert "map" not in dict(describe(workspace.store, bank).lines)


def test_the_newest_map_is_shown_and_maps_travel(
    workspace: Workspace, kept: StoredMap, tmp_path: Path
) -> None:
    bank = workspace.find("old-books", "bank").id
    newer = msgspec.structs.replace(kept, seed=8)
    workspace.store.maps.add("bank", bank, newer, 2.0)
    workspace.store.maps.add("bank", bank, newer, 3.0)
    assert "seed 8" in section(workspace).figures[0].subtitle
    with create_workspace(tmp_path / "other") as other:
        for _twice in range(2):
            merge(workspace.store.database, other.store.database)
        assert [each.seed for each in other.store.maps.every(bank)] == [7, 8]
