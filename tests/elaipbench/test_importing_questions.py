"""Questions over documents are imported with places of their quotes, or with every problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elaipbench.whole_documents import TITLE, document, row, sentence, several, write_rows
from told import Proofstone, Told


@pytest.fixture
def folder(tmp_path: Path, proofstone: Proofstone) -> Path:
    """A folder with a document, and a workspace that lacks it so far."""
    (tmp_path / "metals.txt").write_text(document(), encoding="utf-8")
    assert proofstone("init", tmp_path / "w").code == 0
    return tmp_path


def ingest(proofstone: Proofstone, folder: Path, file: str, title: str) -> None:
    told = proofstone("ingest", folder / file, "--title", title, "-w", folder / "w")
    assert told.code == 0, told.err


def imported(proofstone: Proofstone, folder: Path, *rows: dict[str, Any]) -> Told:
    path = write_rows(folder / "questions.jsonl", rows)
    return proofstone("import", path, "--as", "bank", "-w", folder / "w")


def exported(proofstone: Proofstone, workspace: Path) -> list[dict[str, Any]]:
    file = workspace / "exported.jsonl"
    told = proofstone("export", "questions", "-o", file, "-w", workspace)
    assert told.code == 0, told.err
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_quotes_are_stored_with_their_places(folder: Path, proofstone: Proofstone) -> None:
    ingest(proofstone, folder, "metals.txt", TITLE)
    told = imported(proofstone, folder, row(0), several(1))
    assert told.code == 0, told.err
    rows = {each["type"]: each for each in exported(proofstone, folder / "w")}
    assert rows["multiple"]["answer"] == "AB"
    assert [each["option"] for each in rows["multiple"]["evidence"]] == ["A", "B"]
    (only,) = rows["single"]["evidence"]
    (span,) = only["spans"]
    assert document()[span["start"] : span["end"]] == span["text"] == sentence("copper", 0)
    assert rows["single"]["document_title"] == TITLE
    assert rows["single"]["written_by"] == "model"


def test_a_file_in_the_folder_of_the_rows_is_ingested(folder: Path, proofstone: Proofstone) -> None:
    told = imported(proofstone, folder, row(0, document="metals.txt"))
    assert told.code == 0, told.err
    assert len(exported(proofstone, folder / "w")) == 1


def test_a_file_of_questions_is_run_at_once(folder: Path, proofstone: Proofstone) -> None:
    """It becomes a bank, whose form has the questions as they are; the same file is not new."""
    file = write_rows(folder / "asked.jsonl", [row(n, document="metals.txt") for n in range(4)])
    for _again in range(2):
        told = proofstone("run", file, "-m", "sim/ann", "--json", "-q", "-w", folder / "w")
        assert told.code == 0, told.err
        (run,) = told.json
        assert run["total"] == 4
    banks = proofstone("list", "banks", "-w", folder / "w", "--json").json
    assert [bank["name"] for bank in banks] == ["asked"]
    (line,) = proofstone("list", "runs", "-w", folder / "w").out.splitlines()[1:]
    assert "context=document" in line


def test_a_file_that_cannot_be_read_is_one_problem_among_all(
    folder: Path, proofstone: Proofstone
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing of a document")
    told = imported(proofstone, folder, row(0, document="broken.pdf"), row(1, document="none.pdf"))
    assert told.code == 2
    assert "line 1, field document: broken.pdf cannot be read" in told.err
    assert 'line 2, field document: no document is named "none.pdf"' in told.err


def test_an_export_is_imported_again_unchanged(folder: Path, proofstone: Proofstone) -> None:
    ingest(proofstone, folder, "metals.txt", TITLE)
    imported(proofstone, folder, row(0), several(1))
    first = exported(proofstone, folder / "w")
    again = write_rows(folder / "questions.jsonl", first)
    proofstone("init", folder / "other")
    told = proofstone("import", again, "--as", "bank", "-w", folder / "other")
    assert told.code == 2
    assert "line 2, field document_id: Eight metals is not in this workspace" in told.err
    proofstone("ingest", folder / "metals.txt", "--title", TITLE, "-w", folder / "other")
    told = proofstone("import", again, "--as", "bank", "-w", folder / "other")
    assert told.code == 0, told.err
    assert exported(proofstone, folder / "other") == first


def test_quotes_of_an_export_that_moved_are_reported(folder: Path, proofstone: Proofstone) -> None:
    ingest(proofstone, folder, "metals.txt", TITLE)
    imported(proofstone, folder, row(0), row(1))
    first, second = sorted(
        exported(proofstone, folder / "w"), key=lambda each: str(each["question"])
    )
    span = first["evidence"][0]["spans"][0]
    span["start"], span["end"] = span["start"] + 3, span["end"] + 3
    second["evidence"][0]["spans"][0]["text"] = "Gold melts in the hand."
    told = imported(proofstone, folder, first, second)
    assert told.code == 2
    assert "it is at characters" in told.err
    assert '"Gold melts in the hand." is not at characters' in told.err


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"document": None}, "field document: is missing; expected a document's title"),
        ({"document": "Nine metals"}, 'no document is named "Nine metals": ingest it'),
        ({"answer": "AE"}, '"AE" is not among the 4 options'),
        ({"answer": "E"}, "answer"),
        ({"answer": "AA"}, '"AA" names an option twice'),
        ({"answer": "AB"}, "a single-answer question has 1 correct option, not 2"),
        ({"type": "multiple"}, "a multiple-answer question has 2 or 3 correct options, not 1"),
        ({"type": "multiple", "answer": "ABCD"}, "2 or 3 correct options, not 4"),
        ({"type": "both"}, 'expected single or multiple, got "both"'),
        ({"difficulty": "brutal"}, 'expected one of easy, moderate, hard, got "brutal"'),
        ({"evidence": None}, "field evidence: is missing or empty; expected verbatim quotes"),
        ({"evidence": {"F": [sentence("tin", 1)]}}, '"F" is not one of the options'),
        ({"evidence": {"A": ["Gold boils."]}}, '"Gold boils." is not in Eight metals'),
        (
            {"evidence": [sentence("tin", 1).replace("softened", "melted")]},
            f"the nearest text is: {sentence('tin', 1)}",
        ),
        ({"options": None}, "options"),
        ({"options": ["one"]}, "options"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_place(
    folder: Path, proofstone: Proofstone, changed: dict[str, Any], problem: str
) -> None:
    ingest(proofstone, folder, "metals.txt", TITLE)
    told = imported(proofstone, folder, row(0), row(1, **changed))
    assert told.code == 2
    assert "line 2" in told.err
    assert problem in " ".join(told.err.split())
    assert "Traceback" not in told.err


def test_all_problems_of_all_rows_are_reported(folder: Path, proofstone: Proofstone) -> None:
    ingest(proofstone, folder, "metals.txt", TITLE)
    told = imported(
        proofstone, folder, row(0, answer="AB"), row(1, document="Nine metals"),
        row(2, evidence={"A": ["Gold boils."]}), row(3), row(3),
    )  # fmt: skip
    assert told.code == 2
    for line in (1, 2, 3, 5):
        assert f"line {line}" in told.err
    assert proofstone("list", "banks", "-w", folder / "w", "--json").json == []


def test_a_short_document_is_refused(folder: Path, proofstone: Proofstone) -> None:
    (folder / "short.txt").write_text(document("Short", trials=4), encoding="utf-8")
    ingest(proofstone, folder, "short.txt", "Short")
    told = imported(proofstone, folder, row(0, document="Short"))
    assert told.code == 2
    assert "tokens; expected 4,096 or more" in told.err


def test_unusual_lengths_and_unknown_abbreviations_are_warnings(
    folder: Path, proofstone: Proofstone
) -> None:
    ingest(proofstone, folder, "metals.txt", TITLE)
    asked = "Under which load did copper soften, by XRD and DSC?"
    told = imported(proofstone, folder, row(0, question=asked))
    assert told.code == 0
    assert "8,192 to 128,000 are recommended" in " ".join(told.err.split())
    assert "Eight metals never uses DSC, XRD" in " ".join(told.err.split())


def test_two_documents_of_one_title_are_told_apart_by_ids(
    folder: Path, proofstone: Proofstone
) -> None:
    ingest(proofstone, folder, "metals.txt", TITLE)
    (folder / "other.txt").write_text(document() + "\n\nAn addendum.", encoding="utf-8")
    ingest(proofstone, folder, "other.txt", TITLE)
    told = imported(proofstone, folder, row(0))
    assert told.code == 2
    assert '2 documents are named "Eight metals": use source:' in told.err
    named = told.err.partition("use ")[2].split(",")[0].strip()
    assert imported(proofstone, folder, row(0, document=named)).code == 0


def test_options_may_be_lines_of_the_question(folder: Path, proofstone: Proofstone) -> None:
    """As the paper's release and many question files have them; letters in options stay text."""
    ingest(proofstone, folder, "metals.txt", TITLE)
    asked = "Which holds?\nA. f(A) = B\nB. (b) only\nC. A and B\nD. none"
    said = {"answer": "C", "type": "SA-MCQ", "evidence": [sentence("tin", 1)]}
    told = imported(proofstone, folder, row(0, question=asked, options=None, **said))
    assert told.code == 0, told.err
    (only,) = exported(proofstone, folder / "w")
    assert only["question"] == "Which holds?"
    assert only["options"] == ["f(A) = B", "(b) only", "A and B", "none"]
    assert only["answer"] == "C"


def test_quotes_over_lines_and_in_other_typography_are_found(
    folder: Path, proofstone: Proofstone
) -> None:
    text = (
        document().replace("softened at", "soft-\nened at", 1).replace("sample", "ﬁrst sample", 1)
    )
    (folder / "printed.txt").write_text(text, encoding="utf-8")
    ingest(proofstone, folder, "printed.txt", "Printed")
    quote = sentence("copper", 0).replace("sample", "first sample")
    told = imported(proofstone, folder, row(0, document="Printed", evidence={"A": [quote]}))
    assert told.code == 0, told.err
    (only,) = exported(proofstone, folder / "w")
    assert "soft-\nened" in only["evidence"][0]["spans"][0]["text"]
