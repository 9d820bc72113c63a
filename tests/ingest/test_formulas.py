"""Texts that a spreadsheet would evaluate are written so that it does not, and read back as they
were; numbers stay numbers."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadInput
from proofstone.files.csv import neutralised, restored
from proofstone.files.tables import read_rows
from proofstone.files.write import write_rows

LIVE = [
    '=HYPERLINK("http://x","y")', "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "-", "'=1",
    "''+1",
]  # fmt: skip
TAME = ["", "plain", "1-2", "'quoted'", "a=b", "'", "''", " =1", "−1"]
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.mark.parametrize("text", LIVE)
def test_a_live_text_gets_one_apostrophe(text: str) -> None:
    assert neutralised(text) == f"'{text}"
    assert restored(f"'{text}") == text


@pytest.mark.parametrize("text", TAME)
def test_a_tame_text_stays(text: str) -> None:
    assert neutralised(text) == text
    assert restored(text) == text


@given(st.text(alphabet="'=+-@\t\r\n＝1a ", max_size=6))
def test_every_text_comes_back(text: str) -> None:
    """And no written one begins with a sign that a spreadsheet takes for a formula."""
    assert restored(neutralised(text)) == text
    assert not re.match("[=+\\-@\t\r\n＝＋－＠]", neutralised(text))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_a_file_reads_back_what_was_written(tmp_path: Path, suffix: str) -> None:
    """Texts by their apostrophe, in cells and in the header; numbers without one."""
    file = tmp_path / f"rows.{suffix}"
    rows = [{"=name": text, "n": -1.5, "i": -3} for text in LIVE + [t for t in TAME if t]]
    write_rows(file, rows)
    back = [row.values for row in read_rows(file)]
    assert back == [{"=name": row["=name"], "n": "-1.5", "i": "-3"} for row in rows]
    if suffix == "csv":
        assert file.read_text(encoding="utf-8").startswith("'=name,n,i\n")
        assert "\n'+1,-1.5,-3\n" in file.read_text(encoding="utf-8")


def cells(file: Path) -> list[list[tuple[str, str]]]:
    """The cells of a workbook's one sheet: (type, text); no formula anywhere."""
    with zipfile.ZipFile(file) as packed:
        xml = packed.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in xml
    tree = ElementTree.fromstring(xml)  # noqa: S314 - our own file
    return [
        [
            (cell.get("t", "n"), "".join(part.text for part in cell.iter() if part.text))
            for cell in row.iter(f"{SHEET}c")
        ]
        for row in tree.iter(f"{SHEET}row")
    ]


def test_a_workbook_holds_texts_as_texts_and_numbers_as_numbers(tmp_path: Path) -> None:
    """No formula, no link; a text that would be one is marked; what is missing is an empty cell;
    a whole number that Excel could not keep is a text."""
    pytest.importorskip("xlsxwriter")
    file = tmp_path / "rows.xlsx"
    rows = [
        {"text": "=1+1", "n": -1.5, "flag": True, "more": None, "big": 10**15, "list": [1, "=2"]},
        {"text": "http://x.org", "n": 3, "flag": False, "more": float("nan"), "big": 7, "list": {}},
    ]
    assert write_rows(file, rows) == 2
    assert cells(file) == [
        [("inlineStr", name) for name in ("text", "n", "flag", "more", "big", "list")],
        [
            ("inlineStr", "'=1+1"), ("n", "-1.5"), ("b", "1"), ("inlineStr", str(10**15)),
            ("inlineStr", '[1,"=2"]'),
        ],
        [("inlineStr", "http://x.org"), ("n", "3"), ("b", "0"), ("n", "7"), ("inlineStr", "{}")],
    ]  # fmt: skip
    again = tmp_path / "again.xlsx"
    write_rows(again, rows)
    assert again.read_bytes() == file.read_bytes()


def test_a_text_too_long_for_a_cell_is_named(tmp_path: Path) -> None:
    """All of them, with their places; nothing is written."""
    pytest.importorskip("xlsxwriter")
    file = tmp_path / "rows.xlsx"
    with pytest.raises(BadInput, match="an Excel cell holds at most 32,767 characters") as told:
        write_rows(file, [{"a": "x"}, {"a": "x" * 32_768}, {"a": "y" * 32_767}])
    assert [str(problem) for problem in told.value.problems] == [
        "row 2, column a: has 32,768 characters"
    ]
    assert list(tmp_path.iterdir()) == []


def test_an_empty_export_is_a_workbook_without_rows(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    assert write_rows(tmp_path / "rows.xlsx", []) == 0
    assert cells(tmp_path / "rows.xlsx") == []
