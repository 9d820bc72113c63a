"""``plan`` as a person calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from told import Proofstone

ANN, BOB = "sim/ann?ability=0.8", "sim/bob?miss=0.5"


def test_from_plan_to_leaderboard(made: Path, proofstone: Proofstone, tmp_path: Path) -> None:
    """A new form is planned, run, listed and shown; the page has the plan's line too."""
    form = proofstone("build", "form", "old-books", "--seed", 9, "--questions", 8, "-w", made)
    name = form.out.split()[1]
    told = proofstone("build", "plan", name, "--compare", ANN, BOB, "--exclude", "none", "-w", made)
    assert told.code == 0
    plan = told.out.splitlines()[0]
    assert f"compare     {ANN} - {BOB}" in told.out
    assert "power       " in told.out
    run = proofstone("run", name, "-m", f"{ANN},{BOB}", "-w", made)
    assert run.err.count(f"was planned 20{run.err.split('was planned 20')[1][:2]}") == 2
    again = proofstone("run", name, "-m", ANN, "-w", made, "--json").json
    assert f"plan:{again[0]['plan']['id'][:8]}" == plan
    assert again[0]["plan"]["comparisons"] == [[ANN, BOB]]
    assert again[0]["plan"]["made_after_first_response"] is False
    assert plan in proofstone("list", "plan", "-w", made).out
    assert proofstone("list", "plan", "-w", made, "--json").json[0]["samples"] == 1
    assert proofstone("show", plan, "-w", made).out == told.out
    board = proofstone("leaderboard", name, "-w", made)
    assert "everything else here is exploratory" in board.out
    assert f"planned: {ANN} - {BOB}: " in board.out
    assert proofstone("leaderboard", name, "-w", made, "--json").json["plans"][0]["n_runs"] == 2
    page = tmp_path / "page.html"
    assert proofstone("report", name, "-o", page, "-w", made).code == 0
    assert "everything else here is exploratory" in page.read_text(encoding="utf-8")


def test_a_late_plan_is_told_at_once(made: Path, proofstone: Proofstone) -> None:
    """Four runs had replies before it."""
    told = proofstone("build", "plan", "old-books", "-w", made)
    assert told.code == 0
    assert "4 of its runs had responses already" in told.err
    assert (
        proofstone("build", "plan", "old-books", "-w", made, "--json").json["measure"] == "accuracy"
    )


@pytest.mark.parametrize(
    "second", ["sim/b?ability=0.5", "sim/b", "sim/b direct", "sim/b?ability=0.50 direct"]
)
def test_planned_models_are_found_in_any_spelling(
    second: str, made: Path, proofstone: Proofstone
) -> None:
    """A run shows ``sim/b?ability=0.5`` as ``sim/b``, because 0.5 is the default."""
    form = proofstone("build", "form", "old-books", "--seed", 9, "--questions", 8, "-w", made)
    name = form.out.split()[1]
    planned = proofstone("build", "plan", name, "--compare", ANN, second, "-w", made)
    assert planned.code == 0, planned.err
    assert proofstone("run", name, "-m", f"{ANN},sim/b?ability=0.5", "-w", made).code == 0
    board = proofstone("leaderboard", name, "-w", made).out
    assert f"planned: {ANN} - {second}: " in board
    assert "no run of" not in board
    assert "unavailable" not in board


def test_a_planned_model_without_a_run_is_named(made: Path, proofstone: Proofstone) -> None:
    told = proofstone("build", "plan", "old-books", "--compare", ANN, "sim/carl", "-w", made)
    assert told.code == 0
    board = proofstone("leaderboard", "old-books", "-w", made).out
    assert f"{ANN} - sim/carl: no run of sim/carl\n" in board


def test_one_model_in_two_spellings_is_not_compared(made: Path, proofstone: Proofstone) -> None:
    pair = ("sim/b", "sim/b?ability=0.5")
    told = proofstone("build", "plan", "old-books", "--compare", *pair, "-w", made)
    assert told.code == 2
    assert "name two different models" in told.err


def test_bad_plans_are_refused(made: Path, proofstone: Proofstone) -> None:
    told = proofstone("build", "plan", "old-books", "--measure", "luck", "-w", made)
    assert (told.code, told.out) == (2, "")
    assert "measures: accuracy" in told.err
