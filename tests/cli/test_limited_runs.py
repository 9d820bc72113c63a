"""Runs with a limit are ranked as a part of their form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proofstone.api import create_workspace
from scripted_server import answer, error
from serving import configure, serving
from small_bank import write_bank
from told import Proofstone

QUESTIONS = 8
PART = {"n_asked": 5, "n_items": QUESTIONS}


def limited(proofstone: Proofstone, folder: Path, models: str, n: int) -> None:
    proofstone("run", "old-books", "-m", models, "--limit", n, "-q", "-w", folder)


def standings(proofstone: Proofstone, folder: Path) -> list[dict[str, Any]]:
    found = proofstone("leaderboard", "old-books", "-w", folder, "--json").json["standings"]
    return list(found)


def part_of(standing: dict[str, Any]) -> dict[str, int] | None:
    part = standing["part"]
    return part and {name: part[name] for name in PART}


def test_beside_whole_runs_a_part_is_ranked_apart(
    made: Path, proofstone: Proofstone, tmp_path: Path
) -> None:
    """Two models with a limit of five, one of three: two further standings on the board and on the
    page, each with its n; the whole runs keep all of their questions."""
    limited(proofstone, made, "sim/cas,sim/dan", 5)
    limited(proofstone, made, "sim/eve", 3)
    whole, five, three = standings(proofstone, made)
    assert [part_of(each) for each in (whole, five, three)] == [
        None, PART, {"n_asked": 3, "n_items": QUESTIONS}
    ]  # fmt: skip
    assert [each["n_items"] for each in (whole, five, three)] == [QUESTIONS, 5, 3]
    assert sorted(row["name"] for row in five["ranked"]) == ["sim/cas", "sim/dan"]
    assert all(row["estimate"]["n"] == 5 and not row["missing"] for row in five["ranked"])
    assert not any(each["incomplete"] for each in (whole, five, three))
    text = proofstone("leaderboard", "old-books", "-w", made).out
    assert (
        "the first 5 of 8 items (--limit), ranked separately: scores on different parts of the "
        "items "
        "are not comparable.\n" in text
    )
    page = tmp_path / "page.html"
    proofstone("report", "old-books", "-o", page, "-w", made)
    assert "the first 5 of 8 items (--limit)" in page.read_text(encoding="utf-8")


def test_one_limit_for_all_is_one_board_that_says_so(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """All sections of a report are then made of that part."""
    folder = tmp_path / "work"
    with create_workspace(folder) as workspace:
        workspace.build_form(workspace.import_bank(write_bank(tmp_path)), questions=QUESTIONS)
    limited(proofstone, folder, "sim/cas,sim/dan", 5)
    (only,) = standings(proofstone, folder)
    assert (part_of(only), only["n_items"], len(only["ranked"])) == (None, 5, 2)
    text = proofstone("leaderboard", "old-books", "-w", folder).out
    assert (
        "All models were asked only the first 5 of 8 items (--limit). The same command without "
        "that option asks the rest.\n" in text
    )
    page = tmp_path / "page.html"
    proofstone("report", "old-books", "-o", page, "-w", folder)
    assert "All models were asked only the first 5 of 8 items" in page.read_text(encoding="utf-8")
    analysis = proofstone("report", "old-books", "--analysis", "levels", "-w", folder)
    assert analysis.code == 0, analysis.err


def test_asked_further_it_is_a_whole_run(made: Path, proofstone: Proofstone) -> None:
    """And a run that was stopped short of its limit stays incomplete."""
    limited(proofstone, made, "sim/cas", 5)
    proofstone("run", "old-books", "-m", "sim/cas", "-q", "-w", made)
    (whole,) = standings(proofstone, made)
    assert "sim/cas" in [row["name"] for row in whole["ranked"]]
    refused = error(400, {"error": {"message": "no"}})
    with serving(lambda seen: refused if seen.number == 2 else answer("Answer: A")) as server:
        configure(made, server.url)
        limited(proofstone, made, "scripted/one", 5)
    real, whole = standings(proofstone, made)
    assert not any(each["part"] for each in (real, whole))
    assert [row["name"] for row in real["incomplete"]] == ["scripted/one"]


def test_a_gate_takes_no_part_for_the_whole(made: Path, proofstone: Proofstone) -> None:
    names = []
    for model in ("sim/cas", "sim/dot"):
        asked = ("run", "old-books", "-m", model, "--limit", 5, "-q", "-w", made, "--json")
        names.append(f"run:{proofstone(*asked).json[0]['run'][:12]}")
    gated = proofstone("compare", names[1], names[0], "--gate", "--max-drop", 100, "-w", made)
    assert (gated.code, "lacks 3 responses" in " ".join(gated.out.split())) == (3, True)


def test_a_run_that_reached_its_limit_is_complete_for_it(
    made: Path, proofstone: Proofstone
) -> None:
    """By its own line, in JSON, in the exit code and in the status."""
    run = ("run", "old-books", "-m", "sim/cas", "-w", made)
    said = proofstone(*run, "--limit", 5)
    assert said.code == 0
    assert "5 of 5 scored, complete for its limit (ranked as the first 5 of 8 items)\n" in said.out
    assert "go on" not in said.err
    (shown,) = proofstone(*run, "--limit", 5, "--json").json
    assert (shown["complete"], shown["limit"], shown["total"]) == (True, 5, 5)
    status = proofstone("status", "-w", made)
    assert (
        "sim/cas direct  complete for its limit: ranked as the first 5 of 8 items\n" in status.out
    )
    assert "unfinished" not in status.out
    whole = proofstone(*run)
    assert "8 of 8 scored, complete\n" in whole.out
    assert "complete for its limit" not in proofstone("status", "-w", made).out
    less = proofstone(*run, "--limit", 5)
    assert (less.code, "8 of 8 scored, complete\n" in less.out) == (0, True)


def test_a_run_that_stopped_short_of_its_limit_is_not(made: Path, proofstone: Proofstone) -> None:
    refused = error(400, {"error": {"message": "no"}})
    with serving(lambda seen: refused if seen.number == 2 else answer("Answer: A")) as server:
        configure(made, server.url)
        said = proofstone("run", "old-books", "-m", "scripted/one", "--limit", 5, "-w", made)
    assert said.code == 3
    assert "4 of 5 scored, incomplete, 1 failed" in said.out
    assert "unfinished  run:" in proofstone("status", "-w", made).out
