"""Sheets out and back in: what is in them, what is read of them, and every problem at its cell."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import structs

from proofstone.api import Workspace
from proofstone.errors import BadInput, BadUsage
from proofstone.files.write import write_rows
from proofstone.files.xlsx import read_grids
from proofstone.records.tables import Grid
from proofstone.review.request import SheetsAsked
from proofstone.review.sheets import GivenOut
from proofstone.wording.messages import speaking
from review.filled import column_of, fill, rows_of, save_csv, save_xlsx

ANSWER, NEW, WHY = "Your decision", "New wording", "Reason or remark"
CLAIM = "Truth of the new wording"


def give(workspace: Workspace, folder: Path, *people: str, **asked: object) -> GivenOut:
    wanted = SheetsAsked(people=people or ("Anna", "Ben"), **asked)  # type: ignore[arg-type]
    return workspace.give_out_sheets("old-books", wanted, folder / "sheet.xlsx")


def keep_all(_number: int, _row: Mapping[str, str]) -> Mapping[str, str]:
    return {ANSWER: "keep it"}


def test_a_sheet_holds_what_a_reviewer_needs_and_not_what_is_meant(
    workspace: Workspace, tmp_path: Path
) -> None:
    given = give(workspace, tmp_path, "Anna", overlap=1.0)
    assert [(Path(s.file).name, s.n_rows) for s in given.sheets] == [("sheet.xlsx", 48)]
    about, sheet = read_grids(tmp_path / "sheet.xlsx")
    assert about.rows[0] == ["Review of old-books"]
    assert about.rows[1] == ["For Anna: 48 statements, round 1."]
    assert sheet.rows[0] == [
        "proofstone key", "No.", "Statement", "Source", "Your decision", "New wording",
        "Truth of the new wording", "Reason or remark",
    ]  # fmt: skip
    assert {row[3] for row in sheet.rows[1:]} == {"Herbal", "Almanac"}
    assert {row[2] for row in sheet.rows[1:]} >= {"=1+1 is how the Herbal's first leaf writes two."}


def test_a_text_like_a_formula_is_none_in_the_file(workspace: Workspace, tmp_path: Path) -> None:
    give(workspace, tmp_path, "Anna")
    with zipfile.ZipFile(tmp_path / "sheet.xlsx") as parts:
        texts = parts.read("xl/sharedStrings.xml").decode()
        cells = parts.read("xl/worksheets/sheet2.xml").decode()
    assert ">'=1+1 is how" in texts
    assert "<f>" not in cells
    assert "<sheetProtection" in cells
    assert 'sqref="E2:E49"' in cells
    assert '"keep it,fix it,drop it"' in cells


def test_the_same_command_gives_the_same_sheets(workspace: Workspace, tmp_path: Path) -> None:
    first = give(workspace, tmp_path, seed=3)
    kept = {one.file: Path(one.file).read_bytes() for one in first.sheets}
    with pytest.raises(BadInput, match="existing spreadsheets may contain decisions"):
        give(workspace, tmp_path, seed=3)
    for file in kept:
        Path(file).unlink()
    again = give(workspace, tmp_path, seed=3)
    assert [one.sheet for one in again.sheets] == [one.sheet for one in first.sheets]
    assert {one.file: Path(one.file).read_bytes() for one in again.sheets} == kept
    other = give(workspace, tmp_path, "Chen", seed=4)
    assert other.sheets[0].sheet not in {one.sheet for one in first.sheets}


def test_what_was_filled_in_comes_back_sorted_filtered_and_shortened(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Any order of rows and columns, rows left out, spaces and case around labels."""
    give(workspace, tmp_path, "Anna")
    head, *body = rows_of(tmp_path / "sheet.xlsx")
    column = head.index(ANSWER)
    for number, row in enumerate(body):
        row[column] = [" Keep it ", "keep it", ""][number % 3]
    body = sorted(body, key=lambda row: row[2])[:30]
    filled = sum(1 for row in body if row[column])
    turned = [[row[place] for place in reversed(range(len(head)))] for row in [head, *body]]
    save_xlsx(tmp_path / "back.xlsx", [Grid(name="Sheet 7", rows=turned)])
    taken = workspace.import_reviews([tmp_path / "back.xlsx"])
    assert (taken.new, taken.changed, taken.already, taken.empty) == (filled, 0, 0, 30 - filled)
    again = workspace.import_reviews([tmp_path / "back.xlsx"])
    assert (again.new, again.already) == (0, filled)


def test_a_changed_sheet_corrects_and_an_emptied_row_leaves_what_was_said(
    workspace: Workspace, tmp_path: Path
) -> None:
    give(workspace, tmp_path, "Anna")
    fill(tmp_path / "sheet.xlsx", keep_all)
    assert workspace.import_reviews([tmp_path / "sheet.xlsx"]).new == 48

    def other(number: int, _row: Mapping[str, str]) -> Mapping[str, str]:
        if number == 0:
            return {ANSWER: "drop it", WHY: "it points at a leaf"}
        return {ANSWER: "" if number == 1 else "keep it"}

    fill(tmp_path / "sheet.xlsx", other)
    taken = workspace.import_reviews([tmp_path / "sheet.xlsx"])
    assert (taken.new, taken.changed, taken.already) == (0, 1, 46)
    assert (taken.empty, taken.missing, taken.without_now) == (1, 0, 1)
    decided = workspace.review_decisions("old-books")
    assert decided.outcomes == {"keep": 47, "fix": 0, "drop": 1, "open": 0}
    (row,) = decided.work
    assert (row.decision, row.why, row.votes) == ("exclude", "it points at a leaf", "1 drop")


def test_a_corrected_bank_still_knows_what_was_given_and_each_task_apart(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Anna did 10 of her 24, then one of these was fixed; Ben checked 20 for their truth."""
    give(workspace, tmp_path, "Anna", only="true")
    fill(
        tmp_path / "sheet.xlsx",
        lambda n, row: (
            {}
            if n >= 10
            else {ANSWER: "keep it"}
            if n
            else {ANSWER: "fix it", NEW: f"{row['Statement']} So it is.", CLAIM: "it is true"}
        ),
    )
    workspace.import_reviews([tmp_path / "sheet.xlsx"])
    wanted = SheetsAsked(people=("Ben",), fact_check=20)
    workspace.give_out_sheets("old-books", wanted, tmp_path / "truth.xlsx")
    fill(tmp_path / "truth.xlsx", lambda _n, _row: {"Is it true?": "it is true"}, tab=1)
    workspace.import_reviews([tmp_path / "truth.xlsx"])

    def lines() -> list[tuple[object, ...]]:
        standing = workspace.review_standing("old-books")
        assert (standing.n_read, standing.n_people) == (10, 1)
        return [(r.reviewer, r.task, r.given, r.done, dict(r.verdicts)) for r in standing.readers]

    before = lines()
    assert before == [
        ("Anna", "format", 24, 10, {"keep": 9, "fix": 1}),
        ("Ben", "truth", 20, 20, {"true": 20}),
        ("Ben", "reason", 10, 0, {}),
    ]
    work = tmp_path / "work.csv"
    decided = workspace.review_decisions("old-books")
    write_rows(work, [structs.asdict(row) for row in decided.work if row.outcome == "fix"])
    assert len(workspace.apply_flagged_items(work, by="Chief").edited) == 1
    assert lines() == before


def test_a_csv_is_read_with_commas_and_with_semicolons(
    workspace: Workspace, tmp_path: Path
) -> None:
    give(workspace, tmp_path, "Anna")
    rows_now = rows_of(tmp_path / "sheet.xlsx")
    for row in rows_now[1:]:
        row[column_of(rows_now, ANSWER)] = "keep it"
    save_csv(tmp_path / "back.csv", rows_now)
    assert workspace.import_reviews([tmp_path / "back.csv"]).new == 48
    body = [";".join(f'"{cell}"' for cell in row) for row in rows_now[1:]]
    text = "\r\n".join([";".join(rows_now[0]), *body])
    (tmp_path / "semicolons.csv").write_text(text, encoding="utf-8-sig", newline="")
    assert workspace.import_reviews([tmp_path / "semicolons.csv"]).already == 48


def test_a_chinese_sheet_comes_back(workspace: Workspace, tmp_path: Path) -> None:
    with speaking("zh"):
        give(workspace, tmp_path, "安娜", "Ben", overlap=1.0)
    assert (tmp_path / "sheet-安娜.xlsx").exists()
    assert read_grids(tmp_path / "sheet-安娜.xlsx")[0].rows[0] == ["审阅：old-books"]

    def drop(_number: int, _row: Mapping[str, str]) -> Mapping[str, str]:
        return {"您的决定": "删除", "理由或备注": "含义不清"}

    fill(tmp_path / "sheet-安娜.xlsx", drop)
    taken = workspace.import_reviews([tmp_path / "sheet-安娜.xlsx"])
    assert taken.new == 48
    assert workspace.review_decisions("old-books").outcomes["drop"] == 48


def test_what_is_open_goes_to_a_third_who_has_not_read_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    give(workspace, tmp_path, overlap=1.0)

    def says(dropped: int) -> None:
        def one(number: int, row: Mapping[str, str]) -> Mapping[str, str]:
            is_first = row["Statement"].startswith("Leaf 1 of the Herbal")
            return {ANSWER: "drop it", WHY: "no"} if is_first and dropped else {ANSWER: "keep it"}

        name = "sheet-anna.xlsx" if dropped else "sheet-ben.xlsx"
        fill(tmp_path / name, one)
        workspace.import_reviews([tmp_path / name])

    says(1)
    says(0)
    assert workspace.review_decisions("old-books").outcomes["open"] == 2
    with pytest.raises(BadUsage, match="duplicate reviewer: Anna and anna"):
        give(workspace, tmp_path, "Anna", "Ben", "anna", undecided=True)
    with pytest.raises(
        BadUsage, match="nothing to assign to Anna, Ben: they reviewed all of the 2"
    ):
        give(workspace, tmp_path, "Anna", "Ben", undecided=True)
    third = give(workspace, tmp_path, "Anna", "Chen", undecided=True)
    assert [(one.reviewer, one.n_rows) for one in third.sheets] == [("Chen", 2)]
    assert (third.round, third.n_barred) == (2, 0)
    fill(tmp_path / "sheet-chen.xlsx", lambda _n, _row: {ANSWER: "drop it", WHY: "no"})
    workspace.import_reviews([tmp_path / "sheet-chen.xlsx"])
    assert workspace.review_decisions("old-books").outcomes["drop"] == 2


def test_a_truth_check_keeps_three_rates_apart(workspace: Workspace, tmp_path: Path) -> None:
    """20 of 48 in proportion: 10 true, 10 falsified, five of each book; 2 true ones are found
    false, 1 falsified one true, one reason misses, one reader cannot tell once."""
    given = give(workspace, tmp_path, "Anna", fact_check=20)
    assert (given.sheets[0].n_statements, given.sheets[0].n_rows) == (20, 30)
    file = tmp_path / "sheet.xlsx"
    assert [grid.name for grid in read_grids(file)] == [
        "What to do", "1 True or false", "2 Reasons"
    ]  # fmt: skip
    first, second = rows_of(file, 1), rows_of(file, 2)
    assert "Reason why it is false" not in first[0]
    false = {row[column_of(second, "Statement")] for row in second[1:]}
    true = [row[2] for row in first[1:] if row[2] not in false]
    odd = {*true[:2], min(false)}

    def truth(_number: int, row: Mapping[str, str]) -> Mapping[str, str]:
        text = row["Statement"]
        if text == true[2]:
            return {"Is it true?": "Not sure"}
        return {"Is it true?": "it is false" if (text in false) != (text in odd) else "it is true"}

    def reason(number: int, _row: Mapping[str, str]) -> Mapping[str, str]:
        return {"Does the reason fit?": "it does not fit" if number == 0 else "the reason fits"}

    fill(file, truth, tab=1)
    fill(file, reason, tab=2)
    assert workspace.import_reviews([file]).new == 30
    rates = workspace.review_standing("old-books").rates
    assert [(one.name, one.wrong, one.rate.n, one.unsure) for one in rates] == [
        ("true", 2, 9, 1), ("false", 1, 10, 0), ("reason", 1, 10, 0)
    ]  # fmt: skip
    assert rates[0].rate.value == pytest.approx(2 / 9)
    assert rates[0].rate.low < 2 / 9 < rates[0].rate.high
    assert rates[0].rate.resampled
    wrong = {row.text for row in workspace.review_decisions("old-books").work}
    assert wrong == odd


def test_reviews_travel_as_rows(workspace: Workspace, tmp_path: Path, bank_once: Path) -> None:
    give(workspace, tmp_path, "Anna")
    fill(tmp_path / "sheet.xlsx", keep_all)
    workspace.import_reviews([tmp_path / "sheet.xlsx"])
    assert workspace.export_reviews("old-books", tmp_path / "reviews.jsonl") == 48
    assert workspace.import_reviews([tmp_path / "reviews.jsonl"]).already == 48
    with Workspace(Path(shutil.copytree(bank_once, tmp_path / "other"))) as other:
        taken = other.import_reviews([tmp_path / "reviews.jsonl"])
        assert (taken.new, taken.already) == (48, 0)
        assert other.review_decisions("old-books").outcomes["keep"] == 48
        (reader,) = other.review_standing("old-books").readers
        assert reader.reviewer.startswith("actor ")  # names stay where they were


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_libreoffice_saves_it_and_it_still_reads(workspace: Workspace, tmp_path: Path) -> None:
    """Through .ods and back to .xlsx, and as .csv of its second sheet."""
    give(workspace, tmp_path, "Anna")
    fill(tmp_path / "sheet.xlsx", keep_all)
    original = rows_of(tmp_path / "sheet.xlsx")

    def convert(file: str, to: str, folder: str) -> None:
        profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
        subprocess.run(
            ["soffice", profile, "--headless", "--convert-to", to, "--outdir", folder, file],
            cwd=tmp_path, check=True, capture_output=True, timeout=300,
        )  # fmt: skip

    convert("sheet.xlsx", "ods", "ods")
    convert("ods/sheet.ods", "xlsx", "xlsx")
    convert("sheet.xlsx", "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,,,2", ".")
    (separated,) = tmp_path.glob("sheet*.csv")
    assert rows_of(tmp_path / "ods" / "sheet.ods") == original
    assert rows_of(tmp_path / "xlsx" / "sheet.xlsx") == original
    assert workspace.import_reviews([tmp_path / "ods" / "sheet.ods"]).new == 48
    for file in (tmp_path / "xlsx" / "sheet.xlsx", separated):
        assert workspace.import_reviews([file]).already == 48
