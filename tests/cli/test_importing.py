"""What is exported comes back the same; roles of models and filters are told as it comes in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.test_commands import QUESTIONS, STATEMENTS
from small_bank import rows, write_bank, write_lines
from told import Proofstone


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "jsonl.gz"])
def test_a_bank_goes_out_and_comes_back_the_same(
    made: Path, empty: Path, tmp_path: Path, proofstone: Proofstone, suffix: str
) -> None:
    """Exported and imported into another workspace, a bank has the very same id."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"out.{suffix}"
    out = proofstone("export", "old-books", "-o", file, "-w", made, "--json")
    assert out.json == {"file": str(file), "rows": STATEMENTS}
    back = proofstone("import", file, "--as", "bank", "-w", empty, "--json")
    assert back.code == 0, back.err
    (there,) = proofstone("list", "bank", "-w", made, "--json").json
    assert back.json == {"bank": there["id"], "name": "out", "rows": STATEMENTS}


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_form_goes_out_and_comes_back_to_be_asked(
    made: Path, empty: Path, tmp_path: Path, proofstone: Proofstone, suffix: str
) -> None:
    """A form's file holds whole questions: elsewhere it is asked and ranked without its bank."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"made.{suffix}"
    (form,) = proofstone("list", "form", "-w", made, "--json").json
    assert proofstone("export", f"form:{form['id']}", "-o", file, "-w", made).code == 0
    back = proofstone("import", file, "--as", "form", "-w", empty)
    assert re.fullmatch(rf"form   made-\w{{4}}   {QUESTIONS} questions\n", back.out), back.err
    run = proofstone("run", "made", "-m", "sim/ann?ability=1", "-w", empty, "--json")
    assert [result["scored"] for result in run.json] == [QUESTIONS]
    board = proofstone("leaderboard", "made", "-w", empty, "--json").json
    assert board["standings"][0]["ranked"][0]["estimate"]["value"] == 1.0


def test_columns_that_mean_nothing_are_named(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """A misspelt column would be lost unseen: it is named with the one it may mean; the statements
    are taken. A column that only some rows need is no such one."""
    lines = [
        {**{k: v for k, v in row.items() if k != "discipline"}, "Disipline": "Lore", "shelf": 3}
        for row in sorted(rows(), key=lambda row: not row["correct"])
    ]
    file = write_lines(tmp_path / "bank.jsonl", lines)
    said = proofstone("import", file, "--as", "bank", "-w", empty)
    assert said.code == 0
    note, _next = said.err.splitlines()
    assert note == "note: not taken, for they mean nothing here: Disipline (discipline?), shelf"
    filtered = proofstone("import", file, "--as", "bank", "--filter", "-w", empty)
    assert note in filtered.err
    sound = proofstone("import", write_bank(tmp_path), "--as", "bank", "-w", empty)
    assert "note:" not in sound.err


def test_rows_that_were_dropped_need_a_folder_before_anything_is_stored(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    target = tmp_path / "missing" / "dropped.csv"
    said = proofstone(
        "import",
        write_bank(tmp_path),
        "--as",
        "bank",
        "--filter",
        "--dropped-to",
        target,
        "-w",
        empty,
    )
    assert (said.code, said.out) == (2, "")
    assert "missing does not exist" in said.err
    assert proofstone("list", "bank", "-w", empty, "--json").json == []


def test_importing_what_is_here_says_under_which_name(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The next step that is printed works."""
    file = write_bank(tmp_path)
    said = proofstone("import", file, "--as", "bank", "--name", "other", "-w", made)
    assert said.out.startswith("bank   old-books-")
    assert "are here already, under the name old-books\n" in said.err
    step = re.search(r"Next: proofstone (.*)\n", said.err)
    assert step is not None
    assert proofstone(*step[1].split(), "--questions", 4, "-w", made).code == 0


def test_a_role_in_a_whole_file_marks_the_model(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Of a bank it is a role in each statement, of a form one in the set; ROLE=MODEL is checked."""
    bank = write_bank(tmp_path)
    done = proofstone("import", bank, "--as", "bank", "--role", "checked=sim/ann", "-w", empty)
    assert done.code == 0
    proofstone("build", "form", "old-books", "--questions", QUESTIONS, "-w", empty)
    proofstone("run", "old-books", "-m", "sim/ann,sim/bob", "-q", "-w", empty)
    said = proofstone("leaderboard", "old-books", "-w", empty).out
    checked = f"* sim/ann: checked {QUESTIONS} of the {QUESTIONS} items"
    assert f"{checked}; no item is unaffected" in said
    wrong = proofstone("import", bank, "--as", "bank", "--role", "made=sim/ann", "-w", empty)
    assert wrong.code == 2
    assert "expected ROLE=MODEL, with one of wrote, perturbed, checked" in wrong.err


RAW = (
    {"id": "a", "text": "Heat flows from hot to cold (see Section 3).", "correct": True},
    {"id": "b", "text": "Figure 2 shows how heat flows.", "correct": True},
    {"text": "Heat flows uphill in our country.", "correct": False, "origin": "a"},
    {"text": "Heat flows from cold to hot by itself.", "correct": False, "origin": "b"},
    {"text": "Heat rests.", "correct": False, "origin": "a"},
)


FUNNEL = """\
                   correct  perturbed  all
entered                  2          3    5
figure                  -1          0   -1
reference                0          0    0
ambiguous                0         -1   -1
too short                0         -1   -1
same once cleaned        0          0    0
origin dropped           0         -1   -1
left                     1          0    1
of these cleaned         1          0    1
"""


def test_import_with_filters_prints_and_keeps_the_funnel(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The table on stdout, each row that went in the file, and the counts again by ``show``."""
    write_lines(tmp_path / "raw.jsonl", list(RAW))
    dropped = tmp_path / "dropped.jsonl"
    taken = ("import", tmp_path / "raw.jsonl", "--as", "bank", "--filter", "-w", empty)
    said = proofstone(*taken, "--dropped-to", dropped)
    assert said.code == 0
    assert said.out.startswith(FUNNEL + "bank   raw-")
    assert f"{dropped}   5 rows dropped or cleaned, each with its reason\n" in said.err
    rows = [json.loads(line) for line in dropped.read_text(encoding="utf-8").splitlines()]
    assert [(row["filter_place"], row["filter_reason"]) for row in rows] == [
        ("line 1", "cleaned"),
        ("line 2", "figure"),
        ("line 3", "ambiguous"),
        ("line 4", "origin dropped"),
        ("line 5", "too short"),
    ]
    assert rows[0]["filter_before"] == RAW[0]["text"]
    assert rows[0]["text"] == "Heat flows from hot to cold."
    shown = proofstone("show", "raw", "-w", empty).out
    for line in (
        "5 (2 correct, 3 perturbed) entered, by encyclo_k filters 2",
        "1 (1 correct, 0 perturbed) left, 1 of them cleaned",
    ):
        assert re.search(rf"(?m)^funnel +{re.escape(line)}$", shown)
    again = proofstone(*taken, "--json").json
    assert (again["rows"], again["funnel"]["left"]) == (1, [1, 0])
    assert again["funnel"]["steps"][0] == {"reason": "figure", "dropped": [1, 0]}
    assert proofstone("show", "raw", "-w", empty).out == shown


def test_filters_are_refused_where_they_cannot_be(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Of a form, without --filter, with a file that cannot be written, and with nothing left."""
    write_lines(tmp_path / "raw.jsonl", [RAW[1]])
    file = tmp_path / "raw.jsonl"
    said = proofstone("import", file, "--as", "form", "--filter", "-w", empty)
    assert (said.code, "--filter is for statements: --as bank" in said.err) == (2, True)
    said = proofstone("import", file, "--as", "bank", "--dropped-to", "d.jsonl", "-w", empty)
    assert (said.code, "--dropped-to FILE needs --filter" in said.err) == (2, True)
    said = proofstone(
        "import", file, "--as", "bank", "--filter", "--dropped-to", tmp_path / "d.doc", "-w", empty
    )
    assert (said.code, "unsupported table format" in said.err) == (2, True)
    said = proofstone("import", file, "--as", "bank", "--filter", "-w", empty)
    assert (said.code, "the filters leave no row of raw.jsonl: 1 figure" in said.err) == (2, True)
    assert proofstone("list", "bank", "-w", empty, "--json").json == []
