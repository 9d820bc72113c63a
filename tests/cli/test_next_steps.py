"""Next steps: at most two, each a command that works as printed in that workspace."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from proofstone.session.terminal import say_next
from small_bank import write_bank
from told import Proofstone, Told


def _steps(told: Told, proofstone: Proofstone) -> list[str]:
    """Run the commands that ``told`` prints as next steps; return them."""
    lines = told.err.splitlines()
    steps = [line.removeprefix("Next: ") for line in lines if line.startswith("Next: ")]
    to_fill_in = [line for line in lines if line.startswith("Fill in: ")]
    assert 1 <= len(steps) <= len(steps) + len(to_fill_in) <= 2
    for step in steps:
        program, *words = shlex.split(step, comments=True)
        done = proofstone(*words)
        assert (program, done.code) == ("proofstone", 0), (step, done.err)
    return steps


@pytest.fixture
def here(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def test_next_steps_of_ingested_documents(here: Path, proofstone: Proofstone) -> None:
    (here / "notes.md").write_text("Iron is a metal. Water boils at 100 C.\n", encoding="utf-8")
    told = proofstone("ingest", "notes.md")
    (step,) = _steps(told, proofstone)
    assert step.startswith("proofstone show source:")
    fill_in = told.err.splitlines()[-1]
    assert fill_in.startswith("Fill in: proofstone build statements source:")
    assert fill_in.endswith(" -m PROVIDER/NAME --judge PROVIDER/NAME")


def test_next_steps_of_built_forms(here: Path, proofstone: Proofstone) -> None:
    told = proofstone("build", "form", "old-books", "--seeds", 2, "--questions", 4)
    (step,) = _steps(told, proofstone)
    assert step.startswith("proofstone show old-books-")
    assert here.is_dir()


def test_next_steps_of_statements_from_a_table(here: Path, proofstone: Proofstone) -> None:
    told = proofstone("build", "statements", "elements", "--limit", 20)
    assert told.code == 0
    assert _steps(told, proofstone)
    assert here.is_dir()


def test_wrong_responses_are_offered_of_the_first_run_that_has_some(
    here: Path, proofstone: Proofstone
) -> None:
    right, wrong = "sim/r?ability=1", "sim/w?ability=0"
    (report,) = _steps(proofstone("run", "old-books", "-m", right), proofstone)
    assert report.startswith("proofstone report ")
    told = proofstone("run", "old-books", "-m", f"{right},{wrong}", "--json")
    second = told.json[1]["run"]
    _, closer = _steps(proofstone("run", "old-books", "-m", f"{right},{wrong}"), proofstone)
    assert closer == f"proofstone show run:{second[:8]} --outcome wrong"
    assert "no matching response" not in proofstone(*closer.split()[1:]).err
    assert here.is_dir()


def test_next_steps_of_imports(here: Path, proofstone: Proofstone) -> None:
    bank = write_bank(here)
    told = proofstone("import", bank, "--as", "bank", "--name", "again")
    (step,) = _steps(told, proofstone)
    assert step.startswith("proofstone build form ")
    question = {"question": "2 + 2?", "options": ["4", "5", "6"], "answer": "A"}
    (here / "sums.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    told = proofstone("import", "sums.jsonl", "--as", "form")
    (step,) = _steps(told, proofstone)
    assert step.startswith("proofstone show sums-")
    assert "Fill in: proofstone run sums-" in told.err


def test_next_steps_of_a_workspace_status(here: Path, proofstone: Proofstone) -> None:
    assert _steps(proofstone("status"), proofstone) == ["proofstone list runs"]
    assert here.is_dir()


def test_commands_with_values_to_choose_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    say_next(["run a -m PROVIDER/NAME", "run --resume run:1 --budget AMOUNT", "show a"])
    assert capsys.readouterr().err == (
        "Fill in: proofstone run a -m PROVIDER/NAME\n"
        "Fill in: proofstone run --resume run:1 --budget AMOUNT\n"
    )


def test_the_folder_of_a_page_of_questions_is_described(here: Path, proofstone: Proofstone) -> None:
    told = proofstone("report", "old-books", "-o", "page.html")
    assert (here / "page_files").is_dir()
    sentence = "keep the folder page_files next to the page: it holds its questions and responses\n"
    assert sentence in told.err
    public = proofstone("report", "old-books", "-o", "public.html", "--audience", "public")
    assert "keep the folder" not in public.err
