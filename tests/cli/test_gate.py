"""``gate`` as CI calls it: an exit code, and files that CI reads."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from proofstone.api import open_workspace
from proofstone.records.ids import short
from told import Proofstone, Told

DOC = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "gate.md"


def write(path: Path, scores: str) -> Path:
    rows = "".join(f"q{place},{score}\n" for place, score in enumerate(scores))
    path.write_text(f"item,model-x\n{rows}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("scores", "code", "word"),
    [
        ("1" * 200, 0, "PASS"),
        ("0" * 60 + "1" * 140, 1, "FAIL"),
        ("0" + "1" * 199, 3, "INCONCLUSIVE"),
    ],
)
def test_the_exit_code_is_the_answer(
    tmp_path: Path, proofstone: Proofstone, scores: str, code: int, word: str
) -> None:
    """0, 1 and 3, with the answer first; files need no workspace."""
    baseline, run = write(tmp_path / "a.csv", "1" * 200), write(tmp_path / "b.csv", scores)
    told = proofstone("compare", baseline, run, "--gate", "--max-drop", 2)
    assert told.code == code
    assert told.out.startswith(f"gate      {word}\n")


@pytest.mark.parametrize("is_inside", [False, True])
def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, empty: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch,
    is_inside: bool,
) -> None:  # fmt: skip
    """By gate, compare and audit, inside of a workspace and outside; a name without suffix and
    folder may mean something in a workspace."""
    monkeypatch.chdir(empty if is_inside else tmp_path)
    there = write(tmp_path / "a.csv", "11")
    for words in (
        ("compare", there, "gone.csv", "--gate", "--max-drop", 2),
        ("compare", "runs/gone", there, "--gate", "--max-drop", 2),
        ("compare", "gone.jsonl", there),
        ("compare", there, "gone.csv.gz"),
        ("audit", "runs/gone"),
        ("audit", "gone.csv"),
    ):
        (name,) = [str(word) for word in words if "gone" in str(word)]
        told = proofstone(*words)
        assert told.code == 2
        assert f"file not found: {name}" in told.err
        assert "a.csv" not in told.err
        assert "init" not in told.err
    told = proofstone("compare", there, "gone", "--gate", "--max-drop", 2)
    assert "file not found" not in told.err
    assert ("is named 'gone'" if is_inside else "no workspace") in told.err


def test_ci_reads_what_is_written(made: Path, proofstone: Proofstone, tmp_path: Path) -> None:
    """JUnit XML that parses, a Markdown summary without any text of a question."""
    with open_workspace(made) as workspace:
        ann, bob = (
            f"run:{short(run.id)}"
            for _key, run in workspace.store.runs.every()
            if run.prompt_method == "direct"
        )
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    asked = "compare", ann, bob, "--gate", "--max-drop", 2, "--min", 80, "-w", made
    told = proofstone(*asked, "--junit", junit, "--markdown", summary)
    assert told.code in (1, 3)
    assert "SIMULATED" in told.out
    assert len(ET.parse(junit).findall(".//testcase")) == 4  # noqa: S314 - our own
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("## Gate: ")
    assert "Leaf" not in text
    assert "Leaf" in told.out
    assert proofstone(*asked, "--json").json["verdict"].upper() in told.out


def test_an_incomplete_run_does_not_pass(made: Path, proofstone: Proofstone) -> None:
    """Two of eight questions asked."""
    with open_workspace(made) as workspace:
        (result,) = workspace.run("old-books", models="sim/ann?ability=0.8", replicate="b", limit=2)
        run = f"run:{short(result.planned.run.id)}"
        whole = f"run:{short(workspace.store.runs.every()[0][1].id)}"
    told = proofstone("compare", whole, run, "--gate", "--max-drop", 100, "-w", made)
    assert told.code == 3
    assert "the run lacks 6 responses; an incomplete run cannot pass" in told.out


def test_a_form_of_several_is_refused(made: Path, proofstone: Proofstone) -> None:
    told = proofstone("compare", "old-books", "old-books", "--gate", "--max-drop", 2, "-w", made)
    assert told.code == 2
    assert "name one run" in told.err


def test_the_jobs_in_the_documents_parse() -> None:
    """The GitHub job writes the step's summary, the GitLab job keeps the JUnit file; both gate."""
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the inspect extra")
    blocks = DOC.read_text(encoding="utf-8").split("```yaml\n")[1:]
    github, gitlab = (yaml.safe_load(block.partition("```")[0]) for block in blocks)
    steps = github["jobs"]["gate"]["steps"]
    assert "$GITHUB_STEP_SUMMARY" in steps[-2]["run"]
    assert re.search(r"proofstone compare .* --gate", steps[-2]["run"])
    assert gitlab["gate"]["artifacts"]["reports"]["junit"] == "gate.xml"
    lines = gitlab["gate"]["script"]
    assert any(re.search(r"proofstone compare .* --gate", line) for line in lines)


def test_looks_are_recorded_and_allowed_for(tmp_path: Path, proofstone: Proofstone) -> None:
    """A second look at more items of the same pair has wider intervals; the same look again answers
    the same, and another candidate begins anew."""
    record = tmp_path / "looks.jsonl"

    def gate(n: int, lost: int, *more: str) -> Told:
        scores = "0" * lost + "1" * (n - lost)
        baseline, run = write(tmp_path / "a.csv", "1" * n), write(tmp_path / "b.csv", scores)
        asked = ("compare", baseline, run, "--gate", "--max-drop", 2, "--looks", record)
        return proofstone(*asked, *more)

    first = gate(150, 0)
    assert (first.code, "First look at this pair" in first.out) == (3, True)
    second = gate(300, 0)
    assert (second.code, "Look 2 at this pair" in second.out) == (3, True)
    assert gate(300, 0) == second
    assert gate(150, 0) == first
    assert len(record.read_text().splitlines()) == 2
    other = gate(300, 1)
    assert "First look at this pair" in other.out
    refused = gate(400, 0, "--single-look")
    assert (refused.code, "not its only look" in refused.err) == (2, True)
    record.write_text("{}\n")
    assert "line 1" in gate(300, 0).err
