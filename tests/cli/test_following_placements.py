"""A bank that follows placements: new versions of facts, a corrected bank, forms as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import describe
from proofstone.errors import BadUsage
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact, Stratum
from serving import HurriedClock
from small_bank import BOOKS, PER_BOOK, rows, write_lines
from told import Proofstone


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """The small bank, each book a source of its own, and a form of four questions."""
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        lines = [{**row, "source": row["book"], "source_kind": "document"} for row in rows()]
        bank = opened.import_bank(write_lines(tmp_path / "old-books.jsonl", lines))
        opened.build_form(bank, questions=4)
        yield opened


def facts(workspace: Workspace, name: str = "old-books") -> list[Fact]:
    return list(workspace.store.knowledge.bank(workspace.find(name, "bank").id).facts())


def place(workspace: Workspace, book: str = "Herbal") -> None:
    workspace.place(book, {"discipline": "Lore", "field": "Plants"}, reason="seen", by="Ada")


def test_facts_stand_where_their_source_was_placed_in_a_bank_that_names_the_former(
    workspace: Workspace,
) -> None:
    """Twelve true and twelve falsified statements of one book move; the other book stays."""
    before = {fact.id: fact for fact in facts(workspace)}
    place(workspace)
    made = workspace.follow_taxonomy_labels("old-books", reason="placed since", by="Ada")
    assert (made.n_facts, made.n_sources, made.n_with_them) == (2 * PER_BOOK, 1, 0)
    after = facts(workspace)
    moved = [fact for fact in after if fact.corrects is not None]
    assert len(after) == len(before) == 2 * PER_BOOK * len(BOOKS)
    assert len(moved) == 2 * PER_BOOK
    assert {fact.stratum for fact in moved} == {Stratum("Lore", "Plants", "", "Herbal")}
    for fact in moved:
        former = before[fact.corrects or b""]
        assert (fact.payload.text, fact.source) == (former.payload.text, former.source)
        (correction,) = workspace.store.corrections.of(
            "fact", workspace.find(f"fact:{fact.id.hex()}", "fact").key
        )
        assert (correction.action, correction.reason) == ("edit", "placed since")
    # A falsified statement names the new version of the one that it came from.
    true = {fact.id for fact in moved if fact.payload.correct}
    assert {fact.payload.origin for fact in moved if not fact.payload.correct} == true


def test_forms_and_the_former_bank_stay_as_they_are(workspace: Workspace) -> None:
    former = workspace.find("old-books", "bank")
    held = [fact.id for fact in facts(workspace)]
    (form,) = workspace.store.lookup.every("form")
    place(workspace)
    made = workspace.follow_taxonomy_labels("old-books", reason="placed since", by="Ada")
    assert [found.id for found in workspace.store.lookup.every("form")] == [form.id]
    assert [f.id for f in workspace.store.knowledge.bank(former.id).facts()] == held
    assert workspace.find("old-books", "bank").id == made.bank_id
    with pytest.raises(BadUsage, match="was corrected into old-books-"):
        workspace.follow_taxonomy_labels(f"bank:{short(former.id)}", reason="again", by="Ada")


def test_what_stands_there_already_is_not_made_anew(workspace: Workspace) -> None:
    with pytest.raises(BadUsage, match="all facts of old-books have their sources' labels already"):
        workspace.follow_taxonomy_labels("old-books", reason="placed since", by="Ada")
    place(workspace)
    workspace.follow_taxonomy_labels("old-books", reason="placed since", by="Ada")
    with pytest.raises(BadUsage, match="nothing is changed"):
        workspace.follow_taxonomy_labels("old-books", reason="placed since", by="Ada")


def test_what_is_retired_stays_retired(workspace: Workspace) -> None:
    false = next(
        f for f in facts(workspace) if f.stratum.book == "Herbal" and not f.payload.correct
    )
    workspace.exclude(f"fact:{false.id.hex()}", reason="unclear", by="Ada")
    place(workspace)
    workspace.follow_taxonomy_labels("old-books", reason="placed since", by="Ada")
    ids = [fact.id for fact in facts(workspace)]
    (excluded,) = workspace.store.corrections.excluded_facts(ids)
    assert workspace.store.knowledge.facts_by_id([excluded])[excluded].corrects == false.id


def test_the_card_says_what_stands_elsewhere_and_the_command_follows(
    workspace: Workspace, proofstone: Proofstone
) -> None:
    place(workspace, "Almanac")
    told = dict(describe(workspace.store, workspace.find("old-books", "bank")).lines)
    assert told["places"].startswith("24 facts have other taxonomy labels than their source: ")
    at = ("-w", workspace.folder)
    asked = ("correct", "edit", "old-books", "--as-labeled", "--actor", "Ada")
    assert "a correction needs its reason" in proofstone(*asked, *at).err
    with_set = proofstone(*asked, "--set", "field=x", "--reason", "placed", *at)
    assert with_set.code == 2
    assert "takes its values from the taxonomy labels only" in with_set.err
    done = proofstone(*asked, "--reason", "placed since", *at)
    assert done.code == 0, done.err
    assert done.out.splitlines()[1] == "  moved    24 facts of 1 source"
    assert "places" not in dict(describe(workspace.store, workspace.find("old-books")).lines)
