"""A judge of its own kin, and a contestant that had a hand in the questions, are named before
anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.api import create_workspace
from small_bank import rows, write_lines
from told import Proofstone

ANN, BOB = "sim/ann?ability=0.8", "sim/bob?ability=0.8"
BUILD = ("build", "drills", "30", "--name", "d")


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, with the method from outside on the path."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "outside"))
    create_workspace(tmp_path / "work").close()
    return tmp_path / "work"


@pytest.fixture
def told(at: Path, proofstone: Proofstone) -> Proofstone:
    """Commands in this workspace."""
    return lambda *arguments: proofstone(*arguments, "-w", at)


@pytest.fixture
def form(at: Path, told: Proofstone, tmp_path: Path) -> str:
    """A form of 12 questions; ann falsified every false statement under them."""
    marked = [row if row["correct"] else {**row, "perturbed_by": ANN} for row in rows()]
    told("import", write_lines(tmp_path / "bank.jsonl", marked), "--as", "bank", "--name", "b")
    return str(told("build", "form", "b", "--questions", "12", "--json").json[0]["form"])


def test_a_judge_that_is_the_author_is_named_before_the_build(told: Proofstone) -> None:
    line = (
        f"warning: the judge {ANN} is itself the writer: "
        "it may favor its own work (self-preference)\n"
    )
    both = (*BUILD, "-m", ANN, "--judge", ANN)
    assert told(*both).err.startswith(line)
    dry = told(*both, "--dry-run", "--pilot", "20", "--json")
    assert dry.err.startswith(line)
    part = {"role": "writer", "model": ANN, "is_same": True, "n_items": 0}
    assert [each["parts"] for each in dry.json["self_evaluation"]] == [[part]]
    assert "warning" not in told(*both, "-q").err


def test_a_judge_of_the_authors_family_is_named_with_it(told: Proofstone) -> None:
    sibling = "sim/ann?ability=0.3"
    err = told(*BUILD, "-m", ANN, "--judge", sibling).err
    assert err.startswith(
        f"warning: the judge {sibling} shares a model family (sim/ann) with the writer {ANN}: "
        "it may favor its own work (self-preference)\n"
    )


def test_judges_of_other_families_draw_no_warning(told: Proofstone) -> None:
    made = told(*BUILD, "-m", ANN, "--judge", BOB, "--json")
    assert "warning" not in made.err
    assert made.json["self_evaluation"] == []


def test_a_contestant_with_a_hand_in_the_questions_is_named_before_the_run(
    told: Proofstone, form: str
) -> None:
    """With how many of the questions it touched, in a dry run too; others are not."""
    dry = told("run", f"form:{form}", "-m", f"{ANN},{BOB}", "--dry-run", "--pilot", "0", "--json")
    (self_evaluation,) = dry.json["self_evaluation"]
    n = self_evaluation["parts"][0]["n_items"]
    assert (self_evaluation["model"], self_evaluation["n_items"]) == (ANN, 12)
    assert 0 < n <= 12
    line = (
        f"warning: self-evaluation: {ANN} helped make the items it answers: "
        f"perturbed {n} of 12 questions; leaderboards mark it\n"
    )
    assert line in dry.err
    made = told("run", f"form:{form}", "-m", f"{ANN},{BOB}", "--json")
    assert made.err.startswith(line)
    assert [len(result["self_evaluation"]) for result in made.json] == [1, 0]
    sibling = told("run", f"form:{form}", "-m", "sim/ann?ability=0.1")
    assert f"its family (sim/ann) perturbed {n} of 12 questions" in sibling.err
