"""What a purge reaches beside the rows of its source, what it names, and how work goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_purge import PLANTED, books, books_once, every_text, statements

from proofstone.errors import TextPurged
from proofstone.wiring import create_workspace, open_workspace
from small_bank import write_lines
from told import Proofstone

__all__ = ["books", "books_once"]


def test_exports_pages_and_copies_go_and_changed_files_are_named(
    books: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Files as they were written are deleted; one that somebody changed stays and is named; an
    export of the other source stays."""
    exported, changed = tmp_path / "bank.jsonl", tmp_path / "form.csv"
    page = tmp_path / "page.html"
    with open_workspace(books) as workspace:
        workspace.export("bank:books", exported)
        form = workspace.store.lookup.every("form")[0]
        workspace.export(form, changed)
        workspace.report(form, path=page)
    changed.write_text(changed.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    said = proofstone("workspace", "purge", "Herbal", "--dry-run", "-w", books)
    assert f"would go  {exported}\n" in said.out
    assert f"stays     {changed}   was changed after it was written\n" in said.out
    assert exported.exists()
    said = proofstone("workspace", "purge", "Herbal", "--reason", "x", "--yes", "-w", books)
    assert (exported.exists(), page.exists(), changed.exists()) == (False, False, True)
    assert f"gone      {exported}\n" in said.out
    assert f"stays     {changed}   was changed after it was written\n" in said.out


def test_an_export_that_was_imported_again_is_found(books: Path, tmp_path: Path) -> None:
    """As a bank that lost its source, and as questions without their statements."""
    plain = [
        {"id": row["id"], "text": row["text"], "correct": row["correct"]}
        for row in statements()
        if row["correct"]
    ]
    asked = [
        {"question": f"True? {PLANTED}", "options": ["yes", "no"], "answer": "A", "from": PLANTED}
    ]
    with open_workspace(books) as workspace:
        workspace.import_bank(write_lines(tmp_path / "again.jsonl", plain))
        workspace.import_form(write_lines(tmp_path / "asked.jsonl", asked))
        workspace.purge("Herbal", reason="x")
        left = every_text(workspace)
        assert PLANTED not in left
        assert "of the Herbal shows" not in left
        assert "of the Almanac shows" in left


def test_the_keys_of_a_purged_table_go(tmp_path: Path) -> None:
    """A fact made of a table names its row's key where others name a page; numbers of pages
    stay."""
    with create_workspace(tmp_path / "w") as workspace:
        bank = workspace.build_bank("statements", ["elements"], name="elements")
        before = workspace.store.knowledge.bank(bank.id).facts()
        assert "Iron" in {fact.page for fact in before} | {fact.page.title() for fact in before}
        for source in workspace.store.lookup.every("source"):
            workspace.purge(source, reason="x")
        with workspace.store.database.reading() as connection:
            pages = set(connection.exec_driver_sql("SELECT page FROM fact").scalars())
    assert pages == {""}


def test_what_was_sent_is_told_after_a_purge(books: Path, proofstone: Proofstone) -> None:
    """An emptied prompt has no size, and the log of what was sent says so."""
    with open_workspace(books) as workspace:
        with workspace.store.database.writing() as connection:
            connection.exec_driver_sql("UPDATE profile SET simulated = 0, endpoint = 'http://x/v1'")
        workspace.purge("Herbal", reason="x")
    said = proofstone("doctor", "--egress", "-w", books, "--json")
    assert said.code == 0, said.err
    assert '"purged": 25' in said.out


def test_a_bank_that_lost_a_part_goes_on(books: Path, proofstone: Proofstone) -> None:
    """The purge names the command; the version that it makes has the other source's statements, and
    its forms the questions that are left: they compose, export and run."""
    said = proofstone("workspace", "purge", "Herbal", "--reason", "x", "--yes", "-w", books)
    (line,) = [each for each in said.err.splitlines() if each.startswith("next: ")]
    with open_workspace(books) as workspace, pytest.raises(TextPurged, match="repair BANK"):
        workspace.build_form("books", seeds=[9])
    made = proofstone(*line.removeprefix("next: proofstone ").split(), "-w", books)
    assert made.out.splitlines()[0].endswith("24 of 48 facts left")
    with open_workspace(books) as workspace:
        bank = workspace.find("bank:books", "bank")
        assert len(workspace.store.knowledge.bank(bank.id).facts()) == 24
        workspace.build_form("bank:books", seeds=[9], questions=5)
        assert workspace.export("bank:books", books / "out.jsonl") == 24
        workspace.run("bank:books", models="sim/new")
    again = proofstone("workspace", "repair", "bank:books", "-w", books)
    assert (again.code, "nothing of books was purged" in again.err) == (2, True)


def test_the_error_says_how_to_go_on() -> None:
    assert "workspace repair BANK" in TextPurged.remedy
    assert TextPurged.code == "PS-209"
