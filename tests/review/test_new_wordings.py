"""A reader cannot turn a deliberately false statement true without anybody noticing."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from proofstone.api import Workspace
from proofstone.errors import BadInput, BadUsage
from proofstone.files.xlsx import read_grids
from proofstone.records.tables import Grid
from review.filled import fill, rows_of, save_xlsx
from review.test_sheets import ANSWER, CLAIM, NEW, give, keep_all
from told import Proofstone

FALSE = "Leaf 2 of the Herbal shows 5 drawings."
TRUE = "Leaf 2 of the Herbal shows 4 drawings."


def fixing(text: str, new: str, claim: str) -> object:
    def one(_number: int, row: Mapping[str, str]) -> Mapping[str, str]:
        if row["Statement"] == text:
            return {ANSWER: "fix it", NEW: new, CLAIM: claim}
        return {ANSWER: "keep it"}

    return one


def one_fix(workspace: Workspace, folder: Path, new: str, claim: str, text: str = FALSE) -> None:
    give(workspace, folder, "Anna")
    fill(folder / "sheet.xlsx", fixing(text, new, claim))  # type: ignore[arg-type]
    workspace.import_reviews([folder / "sheet.xlsx"])


def second(workspace: Workspace, folder: Path, verdict: str) -> None:
    """Ben is asked what is open, and says this of the new wording."""
    given = give(workspace, folder / "second", "Ben", undecided=True)
    assert [one.n_rows for one in given.sheets] == [1]
    file = folder / "second" / "sheet.xlsx"
    fill(file, lambda _n, _row: {"Is the new wording true?": verdict})
    workspace.import_reviews([file])
    file.unlink()


@pytest.fixture(autouse=True)
def a_folder(tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()


def test_the_sheet_says_that_half_are_false_on_purpose(
    workspace: Workspace, tmp_path: Path
) -> None:
    give(workspace, tmp_path, "Anna")
    about = [row[0] for row in read_grids(tmp_path / "sheet.xlsx")[0].rows if row]
    assert (
        "About half of these statements are intentionally false, and not marked. Leave them false."
    ) in about
    give(workspace, tmp_path / "second", "Ben", only="true")
    about = [row[0] for row in read_grids(tmp_path / "second" / "sheet.xlsx")[0].rows if row]
    assert not [line for line in about if "state whether its new text is true" in line]


def test_a_corrected_false_statement_is_no_fix_and_the_work_list_says_what_it_is(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Anna writes the truth into a false statement and says so; nothing is carried out."""
    one_fix(workspace, tmp_path, TRUE, "it is true")
    (row,) = workspace.review_decisions("old-books").work
    assert (row.text, row.key, row.outcome, row.decision, row.changes) == (
        FALSE, "false", "open", "", ""
    )  # fmt: skip
    assert row.why == "intended to be false, and 1 of 1 reviewers find the new wording true"


def test_a_new_wording_of_a_false_statement_goes_to_a_second_reader(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Two who find it false make it a fix that states its key; one who finds it true, none."""
    new = "The second leaf of the Herbal shows 5 drawings."
    one_fix(workspace, tmp_path, new, "it is false")
    (row,) = workspace.review_decisions("old-books").work
    assert (row.outcome, row.decision) == ("open", "")
    assert row.why == (
        "intended to be false: a second reviewer must say whether the new wording still is"
    )
    with pytest.raises(BadUsage, match="nothing to assign to Anna"):
        give(workspace, tmp_path / "second", "Anna", undecided=True)
    second(workspace, tmp_path, "it is true")
    assert workspace.review_decisions("old-books").outcomes["open"] == 1
    given = give(workspace, tmp_path / "second", "Chen", undecided=True)
    assert [(one.reviewer, one.n_rows) for one in given.sheets] == [("Chen", 1)]
    file = tmp_path / "second" / "sheet.xlsx"
    head, row_given = rows_of(file)
    assert row_given[head.index("Wording that a reviewer proposed")] == new
    fill(file, lambda _n, _row: {"Is the new wording true?": "it is false"})
    workspace.import_reviews([file])
    (row,) = workspace.review_decisions("old-books").work
    assert (row.key, row.decision) == ("false", "edit")
    assert row.changes == f'{{"text": "{new}", "correct": false}}'
    (edited,) = workspace.edited_statements("old-books")
    assert (edited.text, edited.key, edited.new, dict(edited.said)) == (
        FALSE, "false", new, {"Anna": "false", "Ben": "true", "Chen": "false"}
    )  # fmt: skip


def test_a_fix_of_a_true_statement_needs_no_second_reader_unless_it_turned_false(
    workspace: Workspace, tmp_path: Path
) -> None:
    one_fix(
        workspace, tmp_path, "The second leaf of the Herbal has 4 drawings.", "it is true", TRUE
    )
    (row,) = workspace.review_decisions("old-books").work
    assert (row.key, row.decision) == ("true", "edit")
    fill(tmp_path / "sheet.xlsx", fixing(TRUE, "It shows 7.", "it is false"))  # type: ignore[arg-type]
    workspace.import_reviews([tmp_path / "sheet.xlsx"])
    (row,) = workspace.review_decisions("old-books").work
    assert (row.key, row.decision) == ("true", "")


def test_an_edit_of_a_false_statement_states_its_key(
    proofstone: Proofstone, workspace: Workspace, tmp_path: Path
) -> None:
    facts = workspace.store.knowledge.bank(workspace.find("old-books", "bank").id).facts()
    false = next(fact for fact in facts if fact.payload.text == FALSE)
    name = f"fact:{false.id.hex()}"
    with pytest.raises(BadInput, match="state whether its new text is true"):
        workspace.edit(name, {"text": TRUE}, reason="wrong", by="Chief")
    edited = workspace.edit(
        name, {"text": "It shows 9.", "correct": False}, reason="shorter", by="Chief"
    )
    assert "text" in edited.fields
    told = proofstone(
        "correct", "edit", name, "--set", f"text={TRUE}", "--reason", "x", "-w", tmp_path / "work"
    )
    assert told.code == 2


def test_rows_that_were_deleted_are_counted_and_told(
    proofstone: Proofstone, workspace: Workspace, tmp_path: Path
) -> None:
    give(workspace, tmp_path, "Anna")
    fill(tmp_path / "sheet.xlsx", keep_all)
    grids = read_grids(tmp_path / "sheet.xlsx")
    save_xlsx(tmp_path / "cut.xlsx", [*grids[:1], Grid(name="Statements", rows=grids[1].rows[:41])])
    taken = workspace.import_reviews([tmp_path / "cut.xlsx"])
    assert (taken.new, taken.missing, taken.without_now) == (40, 8, 0)
    told = proofstone("review", "import", tmp_path / "cut.xlsx", "-w", tmp_path / "work")
    assert ("8 assigned rows are in none of these files, and counted as not reviewed") in told.err
    workspace.import_reviews([tmp_path / "sheet.xlsx"])
    again = workspace.import_reviews([tmp_path / "cut.xlsx"])
    assert (again.already, again.missing, again.without_now) == (40, 8, 8)


def test_a_withdrawn_sheet_counts_nowhere(
    proofstone: Proofstone, workspace: Workspace, tmp_path: Path
) -> None:
    """Its decisions, its rows and the file are out; its statements go to somebody else."""
    give(workspace, tmp_path, "Anna", "Ben", overlap=1.0)
    files = [tmp_path / "sheet-anna.xlsx", tmp_path / "sheet-ben.xlsx"]
    for file in files:
        fill(file, keep_all)
    workspace.import_reviews(files)
    told = proofstone(
        "review",
        "withdraw",
        files[1],
        "--reason",
        "filled in by a chatbot",
        "-w",
        tmp_path / "work",
    )
    assert told.out.endswith(" of Ben, 48 rows; 48 decisions of it count no longer\n")
    standing = workspace.review_standing("old-books")
    assert (standing.n_people, [one.reviewer for one in standing.readers]) == (1, ["Anna"])
    assert workspace.review_agreement("old-books") == ()
    with pytest.raises(BadInput) as caught:
        workspace.import_reviews([files[1]])
    assert "was withdrawn" in caught.value.problems[0].what
    told = proofstone("review", "withdraw", "feed", "-w", tmp_path / "work")
    assert (told.code, "spreadsheet 'feed' not found" in told.err) == (2, True)


def test_agreement_lists_what_was_reworded(
    proofstone: Proofstone, workspace: Workspace, tmp_path: Path
) -> None:
    one_fix(workspace, tmp_path, TRUE, "it is true")
    told = proofstone("review", "agreement", "old-books", "-w", tmp_path / "work")
    lines = told.out.splitlines()
    start = lines.index("1 new wording asked for")
    assert lines[start + 1].endswith(f"meant to be false  {FALSE}")
    assert lines[start + 2 : start + 5] == [
        f"    Anna: {TRUE}",
        "    true? Anna: true",
        "    open: intended to be false, and 1 of 1 reviewers find the new wording true",
    ]


def test_a_work_list_file_has_the_key(
    proofstone: Proofstone, workspace: Workspace, tmp_path: Path
) -> None:
    one_fix(workspace, tmp_path, TRUE, "it is true")
    work = tmp_path / "work.csv"
    proofstone("review", "decide", "old-books", "--flagged-items", work, "-w", tmp_path / "work")
    with work.open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["key"], row["decision"]) == ("false", "")
