"""What a purge reaches beside the rows of its source, what it names, and how work goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_purge import PLANTED, books, books_once, every_text, statements

from proofstone.api import create_workspace, open_workspace
from proofstone.errors import TextPurged
from review.filled import fill
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
    (line,) = [each for each in said.err.splitlines() if each.startswith("Next: ")]
    with open_workspace(books) as workspace, pytest.raises(TextPurged, match="repair BANK"):
        workspace.build_form("books", seeds=[9])
    made = proofstone(*line.removeprefix("Next: proofstone ").split(), "-w", books)
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


def test_the_same_content_under_another_title_or_license_goes_too(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """It is named before and after, has a tombstone of its own, and one lifting lets all of them
    back; what was made of the copy goes with it."""
    work, file, copy = tmp_path / "w", tmp_path / "manual.txt", tmp_path / "copy.txt"
    create_workspace(work).close()
    for each in (file, copy):
        each.write_text("Prime the pump with distilled water before it is started.\n", "utf-8")
    proofstone("ingest", file, "-w", work)
    proofstone("ingest", copy, "--license", "CC-BY-4.0", "-w", work)
    (tmp_path / "other.txt").write_text(
        "The attic is dry, and is aired twice in a year.\n", "utf-8"
    )
    proofstone("ingest", tmp_path / "other.txt", "-w", work)
    told = proofstone("workspace", "purge", "manual", "--dry-run", "-w", work)
    assert "  copy   the same content\n" in told.out
    assert "passages 2 " in told.out
    told = proofstone("workspace", "purge", "manual", "--reason", "x", "--yes", "-w", work)
    assert "  copy   the same content\n" in told.out
    with open_workspace(work) as workspace:
        left = every_text(workspace)
        assert "distilled" not in left
        assert "attic is dry" in left
        assert len(workspace.store.tombstones.in_force()) == 2
        workspace.lift("copy", reason="y")
        assert workspace.store.tombstones.in_force() == []
    assert proofstone("ingest", file, "-w", work).code == 0


def test_the_same_content_under_a_new_title_does_not_come_back(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """It is neither read again nor merged in from a workspace that has it under that title."""
    here, there, file = tmp_path / "here", tmp_path / "there", tmp_path / "manual.txt"
    for work in (here, there):
        create_workspace(work).close()
    file.write_text("Prime the pump with distilled water before it is started.\n", "utf-8")
    assert proofstone("ingest", file, "-w", here).code == 0
    purge = ("workspace", "purge", "manual", "--reason", "x", "--yes", "-w", here)
    assert proofstone(*purge).code == 0
    file = file.rename(tmp_path / "renamed.txt")
    told = proofstone("ingest", file, "-w", here)
    assert told.err.startswith("not read [PS-208]: renamed.txt: ")
    assert proofstone("ingest", file, "-w", there).code == 0
    told = proofstone("workspace", "merge", there, "-w", here)
    assert told.err.startswith("error[PS-208]: ")
    with open_workspace(here) as workspace:
        assert "distilled" not in every_text(workspace)


def test_another_document_with_the_same_passages_is_named(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """It may be anybody's, so it stays; the purge says that it is not complete, and the command."""
    work = tmp_path / "w"
    create_workspace(work).close()
    same = "Prime the pump with distilled water before it is started."
    (tmp_path / "manual.txt").write_text(same + "\n", "utf-8")
    (tmp_path / "digest.md").write_text(f"# First\n\n{same}\n\n# Second\n\nThe attic is dry, "
                                        "and is aired twice in a year.\n", "utf-8")  # fmt: skip
    for name in ("manual.txt", "digest.md"):
        assert proofstone("ingest", tmp_path / name, "-w", work).code == 0
    told = proofstone("workspace", "purge", "manual", "--dry-run", "-w", work)
    assert "1 of 2 passages are the same\n" in told.out
    told = proofstone("workspace", "purge", "manual", "--reason", "x", "--yes", "-w", work)
    (line,) = [each for each in told.err.splitlines() if each.startswith("not complete: ")]
    again = line.partition("proofstone ")[2].split()
    assert proofstone(*again, "--reason", "x", "--yes", "-w", work).code == 0
    with open_workspace(work) as workspace:
        assert "distilled" not in every_text(workspace)


def test_an_empty_review_sheet_goes_and_a_filled_one_is_named(
    books: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Before and after: what somebody wrote into a sheet is lost to nobody."""
    named = ("--people", "Anna,Ben", "-w", books)
    told = proofstone("review", "export", "bank:books", "--to", tmp_path / "s.xlsx", *named)
    assert told.code == 0, told.err
    anna, ben = tmp_path / "s-anna.xlsx", tmp_path / "s-ben.xlsx"
    fill(anna, lambda _n, _row: {"Your decision": "keep it"})
    told = proofstone("workspace", "purge", "Herbal", "--dry-run", "-w", books)
    assert f"would go  {ben}\n" in told.out
    assert f"stays     {anna}   was changed after it was written\n" in told.out
    told = proofstone("workspace", "purge", "Herbal", "--reason", "x", "--yes", "-w", books)
    assert (anna.exists(), ben.exists()) == (True, False)
    assert f"gone      {ben}\n" in told.out
    assert f"stays     {anna}   was changed after it was written\n" in told.out
