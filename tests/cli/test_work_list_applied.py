"""A work list from results to corrections: written, filled in by a person, carried out, shown."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

from proofstone.api import create_workspace
from small_bank import write_lines
from told import Proofstone

N_MODELS = 9


@pytest.fixture(autouse=True)
def _ada(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFSTONE_ACTOR", "Ada")


@pytest.fixture(scope="module")
def asked_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve questions, each asked of nine models that know all."""
    folder = tmp_path_factory.mktemp("asked")
    questions = [
        {"question": f"What is {n} + 1?", "options": [str(n + 1), "0", "1"], "answer": "A"}
        for n in range(5, 17)
    ]
    with create_workspace(folder / "work") as workspace:
        form = workspace.import_form(write_lines(folder / "sums.jsonl", questions))
        workspace.run(form, models=[f"sim/n{who}?ability=1" for who in range(N_MODELS)])
    return folder / "work"


@pytest.fixture
def asked(asked_once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(asked_once, tmp_path / "work")


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def listed(proofstone: Proofstone, asked: Path, path: Path) -> list[dict[str, str]]:
    """The work list of all runs: every question is one that all get right."""
    assert proofstone("audit", "sums", "-w", asked, "--flagged-items", path).code == 0
    rows = read(path)
    assert len(rows) == 12
    assert {(row["action"], row["decision"], row["kind"]) for row in rows} == {("keep", "", "item")}
    return rows


def board(proofstone: Proofstone, asked: Path, *targets: str) -> Any:
    told = proofstone("leaderboard", *(targets or ["sums"]), "-w", asked, "--json").json
    return told["standings"][0]["ranked"]


def test_decisions_are_carried_out_and_the_leaderboard_shows_it(
    proofstone: Proofstone, asked: Path, tmp_path: Path
) -> None:
    """Two excluded, one answer key edited, one response overridden, one kept, seven undecided."""
    path = tmp_path / "work.csv"
    rows = listed(proofstone, asked, path)
    assert {row["estimate"]["n"] for row in board(proofstone, asked)} == {12}
    before = proofstone("list", "run", "-w", asked, "--json").json
    runs = [run["id"][:8] for run in before]
    names = [f"run:{run}" for run in runs]
    item = rows[3]["target"].removeprefix("item:")
    rows[0] |= {"decision": "exclude", "why": "all know it"}
    rows[1] |= {"decision": "Exclude"}
    rows[2] |= {"decision": "edit", "changes": "answer=B", "why": "the key was wrong"}
    rows[3] |= {"decision": "incorrect", "responses": f"{runs[0]}/{item}/0"}
    rows[4] |= {"decision": "keep"}
    fill(path, rows)

    done = proofstone("correct", "apply", path, "-w", asked)
    assert done.code == 0
    first, *lines = done.out.splitlines()
    assert first == "work.csv   1 edited, 2 excluded, 1 overridden   1 kept, 7 undecided"
    assert [line.split()[:2] for line in lines[:2]] == [
        [rows[0]["target"], "excluded"], [rows[1]["target"], "excluded"],
    ]  # fmt: skip
    assert "1 item differs" in done.out
    assert {row["estimate"]["n"] for row in board(proofstone, asked, *names)} == {10}
    counted = [row["corrections"]["lowered"] for row in board(proofstone, asked, *names)]
    assert sorted(counted) == [0] * (N_MODELS - 1) + [1]
    shown = proofstone("show", rows[0]["target"], "-w", asked)
    assert "all know it" in shown.out

    again = proofstone("correct", "apply", path, "-w", asked)
    assert again.out.startswith("work.csv   4 already in force   1 kept, 7 undecided")


def test_several_edits_make_one_newer_form(
    proofstone: Proofstone, asked: Path, tmp_path: Path
) -> None:
    """Three answers corrected: one form in which three items differ."""
    path = tmp_path / "work.csv"
    rows = listed(proofstone, asked, path)
    for row in rows[:3]:
        row |= {"decision": "edit", "changes": '{"answer": "C"}'}
    fill(path, rows)
    told = proofstone("correct", "apply", path, "-w", asked)
    (form,) = [line for line in told.out.splitlines() if line.startswith("  form ")]
    assert form.endswith("3 items differ")
    forms = proofstone("list", "form", "-w", asked, "--json").json
    assert len(forms) == 2


def test_all_problems_are_told_by_row_and_nothing_is_done(
    proofstone: Proofstone, asked: Path, tmp_path: Path
) -> None:
    path = tmp_path / "work.csv"
    rows = listed(proofstone, asked, path)
    rows[0] |= {"decision": "delete"}
    rows[1] |= {"decision": "perhaps"}
    fill(path, rows)
    told = proofstone("correct", "apply", path, "-w", asked)
    assert told.code == 2
    assert "line 2, decision: expected one of keep, exclude, edit," in told.err
    assert "line 3, decision:" in told.err

    rows[0] |= {"decision": "exclude"}
    rows[1] |= {"decision": "exclude", "target": "item:00000000"}
    rows[2] |= {"decision": "exclude", "target": ""}
    rows[3] |= {"decision": "edit", "changes": "answer"}
    rows[4] |= {"decision": "edit", "changes": "answer=Q"}
    rows[5] |= {"decision": "edit", "changes": ""}
    rows[6] |= {"decision": "correct"}
    rows[7] |= {"decision": "invalidated", "responses": "00000000/0000/0"}
    fill(path, rows)
    told = proofstone("correct", "apply", path, "-w", asked)
    assert told.code == 2
    assert "line 3: " in told.err
    assert "line 4: has no target: expected an item or a fact" in told.err
    assert "line 5: changes: expected FIELD=VALUE or a JSON object, got 'answer'" in told.err
    assert "line 7: edit has no changes (FIELD=VALUE); its fields are question," in told.err
    assert "line 8: decision correct needs responses; column responses is empty" in told.err
    assert "line 9: " in told.err
    assert {row["estimate"]["n"] for row in board(proofstone, asked)} == {12}


def test_an_edit_that_is_refused_leaves_the_other_rows_undone(
    proofstone: Proofstone, asked: Path, tmp_path: Path
) -> None:
    path = tmp_path / "work.csv"
    rows = listed(proofstone, asked, path)
    rows[0] |= {"decision": "exclude"}
    rows[1] |= {"decision": "edit", "changes": "answer=Q"}
    fill(path, rows)
    told = proofstone("correct", "apply", path, "-w", asked)
    assert told.code == 2
    assert "line 3" in told.err
    assert {row["estimate"]["n"] for row in board(proofstone, asked)} == {12}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["exclude", "item:0000"], "missing option --reason"),
        (["override", "a/b/0", "invalidated"], "missing option --reason"),
        (["override", "a/b/0", "--reason", "x"], "missing argument"),
        (["apply"], "missing argument"),
    ],
)
def test_one_or_the_other_is_named(
    proofstone: Proofstone, asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], told: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.csv").write_text("a\n1\n", encoding="utf-8")
    said = proofstone("correct", *arguments, "-w", asked)
    assert (said.code, told in said.err) == (2, True)


def test_a_file_without_decisions_is_no_work_list(
    proofstone: Proofstone, asked: Path, tmp_path: Path
) -> None:
    path = tmp_path / "other.csv"
    path.write_text("item,score\nq,1\n", encoding="utf-8")
    said = proofstone("correct", "apply", path, "-w", asked)
    assert said.code == 2
    assert "has no column 'decision'; it is not a file of flagged items" in said.err
