"""After a purge what people reviewed still shows: what is left is read, what went is counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace, open_workspace
from review.filled import fill
from small_bank import write_lines
from told import Proofstone

BOOKS = ("Herbal", "Almanac")
PER_BOOK = 12


def write_bank(folder: Path) -> Path:
    """Two books of twelve true statements each, every one with a falsified one."""
    lines: list[dict[str, object]] = []
    for book in BOOKS:
        place = {"book": book, "discipline": "Lore", "source": book}
        for n in range(PER_BOOK):
            said = f"Leaf {n} of the {book} shows {{}} drawings."
            lines += [
                {"id": f"{book}-{n}", "text": said.format(n + 2), "correct": True, **place},
                {
                    "id": f"{book}-{n}-f", "text": said.format(n + 3), "correct": False,
                    "origin": f"{book}-{n}", "error_type": "detail falsification",
                    "reason": f"it shows {n + 2}", **place,
                },
            ]  # fmt: skip
    return write_lines(folder / "books.jsonl", lines)


def decision(_number: int, row: Mapping[str, str]) -> Mapping[str, str]:
    if row["Statement"].startswith("Leaf 1 "):
        return {"Your decision": "drop it", "Reason or remark": f"why? {row['Statement']}"}
    return {"Your decision": "keep it"}


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """A bank of which people read the format and checked the truth; a run on a form of it."""
    folder = tmp_path / "work"
    with create_workspace(folder) as workspace:
        forms = workspace.build_form(workspace.import_bank(write_bank(tmp_path)), questions=6)
        workspace.run(forms, models=["sim/ann?ability=0.8", "sim/bob?ability=0.5"])
    return folder


@pytest.fixture
def reviewed(books: Path, tmp_path: Path, proofstone: Proofstone) -> Path:
    sheet, truth = tmp_path / "sheet.xlsx", tmp_path / "truth.xlsx"
    named = ("--people", "Anna,Ben", "--shared", "100%", "-w", books)
    assert proofstone("review", "export", "books", "--to", sheet, *named).code == 0
    anna = tmp_path / "sheet-anna.xlsx"
    fill(anna, decision)
    assert proofstone("review", "import", anna, "-w", books).code == 0
    some = ("--fact-check", 48, "--people", "Anna", "-w", books)
    assert proofstone("review", "export", "books", "--to", truth, *some).code == 0
    fill(truth, lambda _n, _row: {"Is it true?": "it is true"}, tab=1)
    fill(truth, lambda _n, _row: {"Does the reason fit?": "the reason fits"}, tab=2)
    assert proofstone("review", "import", truth, "-w", books).code == 0
    return books


def purge_the_herbal(folder: Path) -> None:
    with open_workspace(folder) as workspace:
        workspace.purge(f"source:{source_of(workspace, 'Herbal')}", reason="the licence has ended")


def source_of(workspace: Workspace, title: str) -> str:
    (found,) = (
        row.id.hex()
        for row in workspace.store.knowledge.sources(
            fact.source
            for fact in workspace.store.knowledge.bank(workspace.find("books", "bank").id).facts()
            if fact.source
        ).values()
        if row.title == title
    )
    return found


def test_leaderboard_and_page_of_an_unreviewed_bank_stand(
    books: Path, proofstone: Proofstone, tmp_path: Path
) -> None:
    before = proofstone("leaderboard", "books", "-w", books).out
    purge_the_herbal(books)
    assert proofstone("leaderboard", "books", "-w", books).out == before
    told = proofstone("report", "books", "-o", tmp_path / "page.html", "-w", books)
    assert told.code == 0, told.err


def test_leaderboard_page_and_card_of_a_reviewed_bank_stand(
    reviewed: Path, proofstone: Proofstone, tmp_path: Path
) -> None:
    """24 of 48 statements are purged: twelve meant to be false stay, all of them found true."""
    before = proofstone("leaderboard", "books", "-w", reviewed).out
    purge_the_herbal(reviewed)
    assert proofstone("leaderboard", "books", "-w", reviewed).out == before
    told = proofstone("report", "books", "-o", tmp_path / "page.html", "-w", reviewed)
    assert told.code == 0, told.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Reviewers found 12 of 12 false statements to be true: 100.0%" in page
    assert "24 statements with a review were purged and are in no rate." in page
    assert "Purged with their source" in page
    card = proofstone("show", "books", "-w", reviewed)
    assert "24 of 48 reviewed by 1 person: 22 keep, 2 drop" in card.out
    assert re.search(r"purged +24 of these", card.out)


def test_status_agreement_and_decisions_are_of_what_is_left(
    reviewed: Path, proofstone: Proofstone, tmp_path: Path
) -> None:
    purge_the_herbal(reviewed)
    told = proofstone("review", "status", "books", "-w", reviewed)
    assert told.code == 0, told.err
    lines = told.out.splitlines()
    assert lines[0] == "books   24 of 48 statements read for their format, by 1 person in all"
    assert "decided: 22 keep, 2 drop; of 2 to drop or fix 0 are done" in lines
    assert "purged: 24 statements, and what was said of them" in lines
    work = tmp_path / "work.csv"
    for command in (
        ("agreement", "books"), ("status", "books"), ("decide", "books", "--flagged-items", work),
        ("export", "books", "-o", tmp_path / "reviews.jsonl"),
        ("export", "books", "--to", tmp_path / "more.xlsx", "--people", "Chen"),
    ):  # fmt: skip
        told = proofstone("review", *command, "-w", reviewed)
        assert told.code == 0, told.err
    for made in (work, tmp_path / "reviews.jsonl"):
        assert "Herbal" not in made.read_text(encoding="utf-8")
    form = proofstone("list", "form", "-w", reviewed, "--json").json[0]["id"]
    told = proofstone("review", "status", f"form:{form}", "-w", reviewed)
    assert told.code == 0, told.err


def test_a_sheet_that_comes_back_late_is_taken_in_without_what_was_purged(
    reviewed: Path, proofstone: Proofstone, tmp_path: Path
) -> None:
    """Ben's sheet holds 48 rows; what he says of purged statements quotes them, and stays out. So
    it is with rows of a file."""
    rows = tmp_path / "rows.jsonl"
    proofstone("review", "export", "books", "-o", rows, "-w", reviewed)
    ben = tmp_path / "sheet-ben.xlsx"
    fill(ben, decision)  # filled in before: as it was given out it would go with the purge
    purge_the_herbal(reviewed)
    told = proofstone("review", "import", ben, "-w", reviewed)
    assert told.code == 0, told.err
    assert told.out.splitlines()[0] == (
        "sheet-ben.xlsx   24 new, 24 of purged statements, passed over"
    )
    assert "books, format   24 with 2 or more of 2 reviewers, 0 judged differently" in told.out
    told = proofstone("review", "import", rows, "-w", reviewed)
    assert told.code == 0, told.err
    n = len(rows.read_text(encoding="utf-8").splitlines())
    said = f"{n // 2} already here, {n // 2} of purged statements, passed over"
    assert told.out.splitlines()[0] == f"rows.jsonl   0 new, {said}"
    proofstone("review", "export", "books", "-o", tmp_path / "after.jsonl", "-w", reviewed)
    assert "Herbal" not in (tmp_path / "after.jsonl").read_text(encoding="utf-8")
