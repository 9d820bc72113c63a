"""What is wrong in a sheet is told by its file and cell, all at once, and nothing is taken in."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from proofstone.api import Workspace
from proofstone.errors import BadInput
from proofstone.records.tables import Grid
from review.filled import fill, rows_of, save_csv, save_xlsx
from review.test_sheets import ANSWER, CLAIM, NEW, WHY, give, keep_all
from small_bank import write_lines


def test_every_problem_is_told_by_its_cell_and_nothing_is_taken_in(
    workspace: Workspace, tmp_path: Path
) -> None:
    give(workspace, tmp_path, "Anna")
    rows_now = rows_of(tmp_path / "sheet.xlsx")
    head, body = rows_now[0], rows_now[1:]
    at = {name: head.index(name) for name in head}
    heads = {"answer": ANSWER, "new": NEW, "claim": CLAIM, "why": WHY}

    def put(row: int, **cells: str) -> None:
        for name, text in cells.items():
            body[row - 2][at[heads.get(name, name)]] = text

    put(2, answer="maybe")
    put(3, answer="drop it")
    put(4, answer="fix it", claim="it is true")
    put(5, answer="fix it", claim="it is true", new=f"  {body[3][at['Statement']]} ")
    put(6, answer="keep it", new="Something else.")
    put(7, why="no idea")
    put(8, answer="keep it", Statement="Somebody wrote here.")
    put(9, answer="keep it", **{"proofstone key": ""})
    key = body[8][0]
    put(10, answer="keep it", **{"proofstone key": key[:-1] + ("1" if key[-1] == "0" else "0")})
    put(11, answer="keep it", **{"proofstone key": "0" * 16 + "-1-00000000"})
    put(12, answer="keep it")
    body.append([*body[10]])
    body[-1][at[ANSWER]], body[-1][at[WHY]] = "drop it", "no"
    save_xlsx(tmp_path / "back.xlsx", [Grid(name="Statements", rows=rows_now[:1] + body)])
    with pytest.raises(BadInput) as caught:
        workspace.import_reviews([tmp_path / "back.xlsx"])
    told = [str(problem) for problem in caught.value.problems]
    assert [text.partition(":")[0].partition(", ")[2] for text in told] == [
        "Statements!E2", "Statements!H3", "Statements!F4", "Statements!F5", "Statements!F6",
        "Statements!E7", "Statements!C8", "Statements!A9", "Statements!A10", "Statements!A11",
        "Statements!E50",
    ]  # fmt: skip
    assert told[0] == (
        "back.xlsx, Statements!E2: expected one of: keep it, fix it, drop it; got 'maybe'"
    )
    assert (
        told[5] == "back.xlsx, Statements!E7: there is no decision, but Statements!H7 is filled in"
    )
    assert told[-1].startswith("back.xlsx, Statements!E50: contradicts back.xlsx, Statements!E12")
    assert workspace.review_standing("old-books").n_read == 0


def test_files_that_are_no_sheets_are_told_together(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "torn.xlsx").write_bytes(b"PK\x03\x04 torn")
    save_xlsx(tmp_path / "other.xlsx", [Grid(name="Prices", rows=[["what", "EUR"], ["tea", "2"]])])
    save_csv(tmp_path / "chinese.csv", [["序号", "您的决定"]], encoding="gb18030")
    files = [tmp_path / name for name in ("torn.xlsx", "other.xlsx", "chinese.csv")]
    with pytest.raises(BadInput) as caught:
        workspace.import_reviews(files)
    assert [problem.where for problem in caught.value.problems] == [
        "torn.xlsx", "chinese.csv", "other.xlsx"
    ]  # fmt: skip
    assert "save it again as .xlsx" in caught.value.problems[0].what
    assert "--encoding" in caught.value.problems[1].what


def test_a_cell_whose_text_is_lost_is_told_by_its_place(
    workspace: Workspace, tmp_path: Path
) -> None:
    """What is no number of a shared text, or of none that there is, is not read as another text."""
    give(workspace, tmp_path, "Anna")
    fill(tmp_path / "sheet.xlsx", keep_all)
    with zipfile.ZipFile(tmp_path / "sheet.xlsx") as parts:
        held = {name: parts.read(name) for name in parts.namelist()}
    sheet = "xl/worksheets/sheet2.xml"
    for cell, number in ((b"E2", b"x"), (b"E3", b"-1"), (b"E4", b"99999"), (b"E5", b"1.0")):
        held[sheet], n = re.subn(
            rb'(<c r="' + cell + rb'"[^>]*><v>)\d+(</v>)', rb"\g<1>" + number + rb"\2", held[sheet]
        )
        assert n == 1
    with zipfile.ZipFile(tmp_path / "damaged.xlsx", "w") as parts:
        for name, content in held.items():
            parts.writestr(name, content)
    with pytest.raises(BadInput) as caught:
        workspace.import_reviews([tmp_path / "damaged.xlsx"])
    n = held["xl/sharedStrings.xml"].count(b"<si>")
    assert [str(problem) for problem in caught.value.problems] == [
        f"damaged.xlsx, Statements!{cell}: its text is missing from the file: "
        f"expected one of {n} texts, got the number '{number}'"
        for cell, number in (("E2", "x"), ("E3", "-1"), ("E4", "99999"), ("E5", "1.0"))
    ]
    assert workspace.import_reviews([tmp_path / "sheet.xlsx"]).new == 48


def test_a_sign_that_nobody_sees_is_refused_in_its_cell(
    workspace: Workspace, tmp_path: Path
) -> None:
    """In sheets, in rows, and in an edit; line ends and tabs are none."""
    give(workspace, tmp_path, "Anna")

    def says(number: int, _row: Mapping[str, str]) -> Mapping[str, str]:
        if number == 0:
            return {ANSWER: "fix it", NEW: "A new\x07 wording.", CLAIM: "it is true"}
        return {ANSWER: "drop it", WHY: "of no\tuse\nat all"}

    fill(tmp_path / "sheet.xlsx", says)
    with pytest.raises(BadInput) as caught:
        workspace.import_reviews([tmp_path / "sheet.xlsx"])
    (problem,) = caught.value.problems
    assert str(problem) == (
        "sheet.xlsx, Statements!F2: contains a control character, U+0007: remove it"
    )
    (fact, *_others) = workspace.store.lookup.every("fact")
    target = f"fact:{fact.id.hex()}"
    row = {"target": target, "task": "format", "verdict": "fix", "reviewer": "Anna",
           "changes": {"text": "New\u0007."}}  # fmt: skip
    write_lines(tmp_path / "rows.jsonl", [row])
    with pytest.raises(BadInput, match="1 problem") as caught:
        workspace.import_reviews([tmp_path / "rows.jsonl"])
    assert str(caught.value.problems[0]).startswith("rows.jsonl, line 1: text: contains a control")
    with pytest.raises(BadInput, match="nothing was stored") as caught:
        workspace.edit(target, {"text": "New\x1b wording."}, reason="x", by="Ada")
    assert [str(p) for p in caught.value.problems] == [
        "text: contains a control character, U+001B: remove it"
    ]


def test_a_cell_beyond_what_csv_is_read_with_is_told_in_words(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Most likely a quote was left open."""
    most = csv.field_size_limit()
    rows_now = [["proofstone key", ANSWER], ["x" * (most + 1), "keep it"]]
    save_csv(tmp_path / "huge.csv", rows_now)
    with pytest.raises(BadInput) as caught:
        workspace.import_reviews([tmp_path / "huge.csv"])
    assert [str(problem) for problem in caught.value.problems] == [
        f"huge.csv, line 2: a cell that ends here has more than {most:,} characters; is a quote "
        "left open?"
    ]


def test_a_bomb_is_not_unpacked(workspace: Workspace, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", b"\0" * (260 * 2**20))
    with pytest.raises(BadInput, match="1 problem") as caught:
        workspace.import_reviews([tmp_path / "bomb.xlsx"])
    assert "unpacks to" in caught.value.problems[0].what
